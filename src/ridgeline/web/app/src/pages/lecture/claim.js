// One claim of the lecture: its values, and the picked one recomputed live.
import { useMemo } from 'preact/hooks'
import { useAnswer } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { ErrorBox } from '../../ui/notes.js'
import { Reproduce } from '../../ui/reproduce.js'
import { Table } from '../../ui/table.js'
import { Curve } from './curve.js'
import { Inputs } from './inputs.js'
import { typeset } from './names.js'

export const KINDS = { formula: 'Formulas', number: 'Numbers', picture: 'Pictures', slip: 'Slips on air' }
const KIND = { formula: 'formula', number: 'number', picture: 'picture', slip: 'slip on air', flashcard: 'card', problem: 'problem' }
const SIGNS = { agrees: '✓', rounds: '≈', 'depends on an assumption': '△', 'slip on air': '✗', statement: '“' }
const CLASSES = { agrees: 'good', rounds: 'good', 'depends on an assumption': 'warn', 'slip on air': 'bad', statement: 'plain' }

export const Verdict = ({ verdict, bare, words }) =>
  html`<span class="verdict ${CLASSES[verdict]}" title=${verdict}><span aria-hidden="true">${SIGNS[verdict]}</span>${bare ? html`<span class="unseen">${verdict}</span>` : ` ${words ?? verdict}`}</span>`

export const valueText = (value, unit) => {
  if (value === null || value === undefined) return '–'
  const size = Math.abs(value)
  const text = value !== 0 && (size >= 1e6 || size < 1e-3) && !Number.isInteger(value) ? value.toExponential(2) : Number(value.toPrecision(4)).toLocaleString('en-US', { maximumSignificantDigits: 4 })
  return unit ? `${text}\u00a0${unit}` : text
}

/** "name:value" of the address to {name: value}. */
export function editsOf(list) {
  const pairs = list.filter((item) => item.includes(':')).map((item) => item.split(':'))
  return Object.fromEntries(pairs.map(([name, text]) => [name, text === 'true' || text === 'false' ? text === 'true' : Number(text)]))
}

const WORDS = { agrees: 'agrees with the lecture', rounds: 'within the rounding of speech', 'slip on air': 'does not agree' }

function Live({ claim, index, edits, set }) {
  const value = claim.values[index]
  const known = Object.fromEntries(Object.entries(edits).filter(([name]) => name in value.inputs))
  const { answer, error, pending } = useAnswer('chalk', { claim: claim.id, value: index, inputs: known })
  const now = answer?.claim === claim.id && answer.value === index ? answer : null
  const shown = now ?? { ...value, substituted: null, changed: [] }
  const onChange = (name, number, commit) => {
    const next = { ...known, [name]: number }
    if (number === value.inputs[name]) delete next[name]
    set({ claim: claim.id, edit: Object.entries(next).map(([key, v]) => `${key}:${v}`) }, commit)
  }
  const edited = Object.keys(known).length > 0
  return html`<section class="chalk" aria-label="The value, live">
    <div class="chalk-board ${pending ? 'pending' : ''}" aria-live="polite" data-value=${shown.computed}>
      <p class="chalk-label">${value.label}</p>
      ${shown.equation ? html`<p class="equation">${typeset(shown.equation)}</p>` : null}
      ${shown.substituted ? html`<p class="equation substituted">${typeset(shown.substituted)}</p>` : null}
      <p class="chalk-result"><strong>${valueText(shown.computed, shown.unit)}</strong>
        <span>stated ${shown.stated_text || '–'}${edited ? html`<span class="unit">; your numbers give ${shown.verdict === 'slip on air' ? 'another' : 'the same'}</span>` : html` <${Verdict} verdict=${shown.verdict} words=${WORDS[shown.verdict]} />`}</span></p>
    </div>
    <div class="chalk-left"><${ErrorBox} error=${error} />
      <${Inputs} inputs=${value.inputs} edits=${known} onChange=${onChange} />
      ${edited ? html`<p><button type="button" onClick=${() => set({ edit: [] })}>Back to the lecture’s numbers</button></p>` : null}</div>
    <${Curve} claim=${claim.id} index=${index} value=${value} edits=${known} now=${shown} />
    <${Reproduce} answer=${now} />
  </section>`
}

/** state: {claim, value, edit}; set takes a patch of the page's state. */
export function ClaimView({ claim, state, set }) {
  const { values } = claim
  const index = Math.min(state.value, Math.max(values.length - 1, 0))
  const edits = useMemo(() => editsOf(state.edit), [state.edit.join()])
  const columns = [
    { key: 'label', label: 'value' },
    { key: 'stated_text', label: 'stated', format: (text) => text || '–' },
    { key: 'computed', label: 'computed', render: (row) => valueText(row.computed, row.unit) },
    { key: 'verdict', label: 'verdict', render: (row) => html`<${Verdict} verdict=${row.verdict} />` },
  ]
  return html`<article class="claim" data-claim=${claim.id}>
    <p class="kicker">${claim.id} · ${KIND[claim.kind]}</p>
    <h2>${claim.claim}</h2>
    <p class="claim-verdict"><${Verdict} verdict=${claim.verdict} />${claim.assumption ? html`: ${claim.assumption}.` : null}</p>
    ${claim.note ? html`<p class="hint">${claim.note}</p>` : null}
    ${values.length > 1
      ? html`<${Table} title="Its values" name=${`claim-${claim.id}`} columns=${columns} rows=${values.map((row, i) => ({ ...row, at: i }))}
          onPick=${(row) => set({ claim: claim.id, value: row.at, edit: [] })} picked=${(row) => row.at === index} />`
      : null}
    ${values.length
      ? html`<${Live} key=${`${claim.id} ${index}`} claim=${claim} index=${index} edits=${edits} set=${set} />`
      : html`<p>A statement: there is nothing to recompute.</p>`}
  </article>`
}
