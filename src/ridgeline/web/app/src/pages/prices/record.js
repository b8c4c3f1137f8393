// How far the decoder can be trusted, and a day that a provider published.
import { useState } from 'preact/hooks'
import { useAnswer } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { digits, fmt } from '../../lib/units.js'
import { ErrorBox, Skeleton } from '../../ui/notes.js'
import { Reproduce } from '../../ui/reproduce.js'
import { Table } from '../../ui/table.js'
import { people } from './sheet.js'

/** Asked for only when opened. */
function Fold({ title, route, children }) {
  const [open, setOpen] = useState(false)
  const { answer, error } = useAnswer(open ? route : null)
  return html`<details class="fold" onToggle=${(event) => setOpen(event.currentTarget.open)}><summary>${title}</summary>
    ${open ? html`<div class="fold-body"><${ErrorBox} error=${error} />${answer ? html`${children(answer)}<${Reproduce} answer=${answer} />` : error ? null : html`<${Skeleton} height=${160} />`}</div>` : null}</details>`
}

const percent = (value) => fmt(value, '%')
const SCORES = [
  { key: 'group', label: 'sheets' },
  { key: 'num_cases', label: 'number' },
  { key: 'num_models', label: 'models' },
  { key: 'active_coverage', label: 'active size in its band', format: percent },
  { key: 'active_prior_coverage', label: 'in the prior', format: percent },
  { key: 'active_decades', label: 'width', unit: 'decades' },
  { key: 'kv_coverage', label: 'cache in its band', format: percent },
  { key: 'kv_prior_coverage', label: 'in the prior', format: percent },
  { key: 'kv_decades', label: 'width', unit: 'decades' },
]
const MISSES = [
  { key: 'price', label: 'sheet' },
  { key: 'model', label: 'model' },
  { key: 'active_params', label: 'active', format: (v) => people(v) },
  { key: 'active_high', label: 'band', format: (_, r) => `${people(r.active_low)} to ${people(r.active_high)}` },
  { key: 'kv_bytes_per_token', label: 'cache per token', format: (v) => fmt(v, 'bytes') },
  { key: 'kv_high', label: 'band', format: (_, r) => `${fmt(r.kv_low, 'bytes')} to ${fmt(r.kv_high, 'bytes')}` },
  { key: 'why', label: 'why it missed' },
]

export const Coverage = ({ date }) => html`<${Fold} title="How often do these bands hold the truth?" route=${`prices/coverage${date ? `?date=${date}` : ''}`}>${(answer) => {
  const [all] = answer.scores
  return html`<p>On ${fmt(all.num_cases)} sheets of ${all.num_models} models whose architecture is public, the band holds the active size in <b>${percent(all.active_coverage)}</b> of cases and the cache per token in <b>${percent(all.kv_coverage)}</b>;
      the prior alone, before any sheet is read, holds ${percent(all.active_prior_coverage)} and ${percent(all.kv_prior_coverage)}.</p>
    <${Table} title="By family" name="coverage" columns=${SCORES} rows=${answer.scores} />
    <div class="tall"><${Table} title="Misses" name="coverage-misses" columns=${MISSES} rows=${answer.cases.filter(({ why }) => why)} /></div>`
}}<//>`

const DAY = [
  { key: 'quantity', label: 'quantity' },
  { key: 'published', label: 'published' },
  { key: 'computed', label: 'ours' },
  { key: 'error', label: 'difference', format: (v) => (v === null ? '–' : `${digits(v)} %`) },
]

export const PublishedDay = () => html`<${Fold} title="A day that a provider published: DeepSeek, 28 February 2025" route="prices/day">${(answer) => html`
  <p>Cost ${fmt(Math.round(answer.cost_usd))} USD, income at list prices ${fmt(Math.round(answer.income_usd))} USD: ${digits(100 * answer.profit_over_cost)} % over cost, recomputed from its own inputs. The throughputs are predicted.</p>
  <${Table} title="Published and ours" name="published-day" columns=${DAY} rows=${answer.rows} />`}<//>`
