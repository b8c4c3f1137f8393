// The same answer at the prompt and in Python.
import { useState } from 'preact/hooks'
import { html } from '../lib/html.js'
import { copy } from '../lib/files.js'

export function Snippet({ label, text }) {
  const [copied, setCopied] = useState(false)
  const onCopy = async () => {
    await copy(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  return html`<div class="snippet"><div class="snippet-head"><span>${label}</span>
    <button type="button" aria-label=${`Copy ${label}`} onClick=${onCopy}>${copied ? 'Copied' : 'Copy'}</button></div>
    <pre tabindex="0"><code>${text}</code></pre></div>`
}

/** answer has `cli` and `python`, as every answer of the API does. */
export function Reproduce({ answer }) {
  if (!answer?.cli) return null
  return html`<section class="reproduce" aria-label="Reproduce this"><h2>Reproduce</h2>
    <div class="snippets"><${Snippet} label="Command line" text=${answer.cli} />
    <${Snippet} label="Python" text=${answer.python} /></div>
    <p class="hint">The address of this page holds every setting: share it, and the same view opens.</p></section>`
}
