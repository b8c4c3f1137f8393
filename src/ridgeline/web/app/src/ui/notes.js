// What an answer rests on, what went wrong, and what is on its way.
import { html } from '../lib/html.js'

/** The answer in one sentence, first on the page. Live: screen readers hear it when it changes. */
export const Answer = ({ children, pending }) =>
  html`<p class=${`answer ${pending ? 'pending' : ''}`} aria-live="polite">${children}</p>`

/** What the answer assumes: the API's flags. */
export function Flags({ flags, title = 'Assumed' }) {
  if (!flags?.length) return null
  return html`<details class="flags"><summary>${title} (${flags.length})</summary>
    <ul>${flags.map((flag) => html`<li key=${flag}>${flag}</li>`)}</ul></details>`
}

/** The error's sentence. */
export const ErrorBox = ({ error }) => (error ? html`<p class="error" role="alert">${error}</p>` : null)

/** Grey room for what is not there yet, so that nothing jumps. */
export const Skeleton = ({ height = 320 }) =>
  html`<div class="skeleton" style=${{ height: `${height}px` }} aria-busy="true" aria-label="Computing"></div>`

/** Progress of a job with its Cancel. */
export function Progress({ job, cancel }) {
  if (!job || (job.status !== 'queued' && job.status !== 'running')) return null
  return html`<div class="progress">
    <progress max=${job.total || undefined} value=${job.total ? job.done : undefined}></progress>
    <span>${job.status === 'queued' ? 'Waiting' : job.total ? `${job.done} of ${job.total}` : 'Working'}</span>
    <button type="button" onClick=${cancel}>Cancel</button>
  </div>`
}
