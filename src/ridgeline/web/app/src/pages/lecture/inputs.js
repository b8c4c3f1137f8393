// The inputs of one value: a slider and a number in a fitting unit.
import { useId } from 'preact/hooks'
import { html } from '../../lib/html.js'
import { scaleOf } from '../../lib/units.js'
import { nameOf, rangeOf, scalable, typeset } from './names.js'

const STEPS = 200

function mapping({ min, max, log, integer }) {
  const lo = log ? Math.log(min) : min
  const hi = log ? Math.log(max) : max
  const round = (value) => (integer ? Math.round(value) : Number(value.toPrecision(3)))
  return {
    at: (i) => round(log ? Math.exp(lo + ((hi - lo) * i) / STEPS) : lo + ((hi - lo) * i) / STEPS),
    of: (value) => Math.round((((log ? Math.log(Math.max(value, min)) : value) - lo) / (hi - lo)) * STEPS),
  }
}

export const unitText = (original, unit) => {
  const { factor, unit: scaled } = scaleOf([original], scalable(unit))
  if (unit === 'parameters') return { factor, unit: factor > 1 ? scaled.replace(' parameters', 'param') : '' }
  return { factor, unit: unit.endsWith('/token') ? `${scaled}/token` : scaled }
}

function NumberInput({ name, value, original, onChange }) {
  const id = useId()
  const { symbol, words, unit } = nameOf(name)
  const { factor, unit: shown } = unitText(original, unit)
  const map = mapping(rangeOf(name, original))
  const onType = (event) => {
    const number = event.currentTarget.valueAsNumber
    if (Number.isFinite(number)) onChange(number * factor, true)
  }
  const text = Number((value / factor).toPrecision(4))
  return html`<div class="chalk-input ${value === original ? '' : 'edited'}">
    <label for=${id}>${symbol ? html`<var>${typeset(symbol)}</var> ` : null}${words}</label>
    <input type="range" min="0" max=${STEPS} step="1" value=${map.of(value)} aria-label=${`${words}, slider`} aria-valuetext=${`${text} ${shown}`}
      onInput=${(event) => onChange(map.at(Number(event.currentTarget.value)), false)}
      onChange=${(event) => onChange(map.at(Number(event.currentTarget.value)), true)} />
    <span class="with-unit"><input id=${id} name=${name} type="number" step="any" value=${text} onInput=${onType} /><span class="unit">${shown}</span></span>
  </div>`
}

function FlagInput({ name, value, onChange }) {
  const id = useId()
  return html`<div class="chalk-input"><label for=${id}>${nameOf(name).words}</label>
    <input id=${id} name=${name} type="checkbox" checked=${value} onChange=${(event) => onChange(event.currentTarget.checked, true)} /></div>`
}

/** inputs: the lecture's own; edits: {name: value} over them; onChange(name, value, commit). */
export function Inputs({ inputs, edits, onChange }) {
  return html`<div class="chalk-inputs">${Object.entries(inputs).map(([name, original]) => {
    const take = (value, commit) => onChange(name, value, commit)
    if (typeof original === 'boolean') return html`<${FlagInput} key=${name} name=${name} value=${edits[name] ?? original} onChange=${take} />`
    if (typeof original !== 'number') return html`<p key=${name} class="hint">${nameOf(name).words}: ${original}</p>`
    return html`<${NumberInput} key=${name} name=${name} value=${edits[name] ?? original} original=${original} onChange=${take} />`
  })}</div>`
}
