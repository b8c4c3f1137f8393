// Inputs, each with a label. onChange(value, commit): commit is false while a drag is under way.
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { useAnswer } from '../lib/api.js'
import { html } from '../lib/html.js'
import { packConfig } from '../lib/state.js'
import { fmt } from '../lib/units.js'

const STEPS = 200

function useField(help) {
  const id = useId()
  return { id, helpId: help ? `${id}-help` : undefined }
}

const Help = ({ id, text }) => (text ? html`<small id=${id}>${text}</small>` : null)

/** Maps a value to 0..1 and back; stops are the only values there are. */
function mapping({ min, max, log, integer, stops }) {
  if (stops) {
    const last = stops.length - 1
    const nearest = (value) => stops.reduce((best, stop, i) => (Math.abs(stop - value) < Math.abs(stops[best] - value) ? i : best), 0)
    return { steps: last, at: (i) => stops[i], of: nearest }
  }
  const lo = log ? Math.log(min) : min
  const hi = log ? Math.log(max) : max
  const round = (value) => {
    if (integer) return Math.round(value)
    return Number(value.toPrecision(3))
  }
  return {
    steps: STEPS,
    at: (i) => round(log ? Math.exp(lo + ((hi - lo) * i) / STEPS) : lo + ((hi - lo) * i) / STEPS),
    of: (value) => Math.round(((log ? Math.log(Math.max(value, min)) : value) - lo) / (hi - lo) * STEPS),
  }
}

/** A slider with its value beside it: {label, value, min, max, log, integer, stops, unit, format, onChange, help}. */
export function Slider({ label, value, unit = '', format, onChange, help, name, ...range }) {
  const { id, helpId } = useField(help)
  const map = mapping(range)
  const text = format ? format(value) : fmt(value, unit)
  const at = (event) => map.at(Number(event.currentTarget.value))
  return html`<div class="field">
    <div class="field-head"><label for=${id}>${label}</label><output for=${id}>${text}</output></div>
    <input
      id=${id} type="range" min="0" max=${map.steps} step="1" value=${map.of(value)} name=${name} data-value=${value}
      aria-valuetext=${text} aria-describedby=${helpId}
      onInput=${(event) => onChange(at(event), false)}
      onChange=${(event) => onChange(at(event), true)}
    />
    <${Help} id=${helpId} text=${help} />
  </div>`
}

/** One of a few: options are values or {value, label}. */
export function Choice({ label, value, options, onChange, help, name }) {
  const { id, helpId } = useField(help)
  return html`<div class="field">
    <label for=${id}>${label}</label>
    <select id=${id} name=${name} aria-describedby=${helpId} value=${value} onChange=${(event) => onChange(event.currentTarget.value, true)}>
      ${options.map((option) => {
        const { value: key, label: words } = typeof option === 'object' ? option : { value: option, label: option }
        return html`<option key=${key} value=${key} selected=${key === value}>${words}</option>`
      })}
    </select>
    <${Help} id=${helpId} text=${help} />
  </div>`
}

/** What is typed until it is done: an answer that arrives meanwhile must not undo it. */
function useTyped(value) {
  const [typed, setTyped] = useState(null)
  return { shown: typed ?? value, onInput: (event) => setTyped(event.currentTarget.value), done: () => setTyped(null) }
}

export function Text({ label, value, onChange, help, name, placeholder }) {
  const { id, helpId } = useField(help)
  const { shown, onInput, done } = useTyped(value)
  return html`<div class="field">
    <label for=${id}>${label}</label>
    <input id=${id} name=${name} type="text" spellcheck=${false} autocomplete="off" placeholder=${placeholder} value=${shown}
      aria-describedby=${helpId} onInput=${onInput} onBlur=${done}
      onChange=${(event) => { done(); onChange(event.currentTarget.value.trim(), true) }} />
    <${Help} id=${helpId} text=${help} />
  </div>`
}

/** A number typed: {min, max, step, unit}. Out of bounds stays as typed: the server says the rule. */
export function Number_({ label, value, onChange, help, name, unit, min, max, step = 'any' }) {
  const { id, helpId } = useField(help)
  const { shown, onInput, done } = useTyped(value)
  const onDone = (event) => {
    const number = event.currentTarget.valueAsNumber
    done()
    if (Number.isFinite(number)) onChange(number, true)
  }
  return html`<div class="field">
    <label for=${id}>${label}${unit ? html` <span class="unit">${unit}</span>` : null}</label>
    <input id=${id} name=${name} type="number" min=${min} max=${max} step=${step} value=${shown} aria-describedby=${helpId}
      onInput=${onInput} onBlur=${done} onChange=${onDone} />
    <${Help} id=${helpId} text=${help} />
  </div>`
}
export { Number_ as Number }

export function Toggle({ label, value, onChange, help, name }) {
  const { id, helpId } = useField(help)
  return html`<div class="field field-toggle">
    <input id=${id} name=${name} type="checkbox" checked=${value} aria-describedby=${helpId}
      onChange=${(event) => onChange(event.currentTarget.checked, true)} />
    <label for=${id}>${label}</label>
    <${Help} id=${helpId} text=${help} />
  </div>`
}

/** One of many, found by typing: options {value, detail}. Any text is passed on; the server knows more names. */
export function Search({ label, value, options, onChange, help, name }) {
  const { id, helpId } = useField(help)
  const [typed, setTyped] = useState(null)
  const [at, setAt] = useState(0)
  const list = useRef(null)
  const words = (typed ?? '').toLowerCase().split(/\s+/).filter(Boolean)
  const open = typed !== null
  const found = open
    ? options.filter((option) => words.every((word) => `${option.value} ${option.detail ?? ''}`.toLowerCase().includes(word)))
    : []
  const close = () => setTyped(null)
  const take = (chosen) => {
    close()
    if (chosen && chosen !== value) onChange(chosen, true)
  }
  const onKey = (event) => {
    const last = found.length - 1
    const move = { ArrowDown: Math.min(last, at + 1), ArrowUp: Math.max(0, at - 1) }[event.key]
    if (event.key === 'Enter') {
      take(found[at]?.value ?? typed?.trim())
    } else if (event.key === 'Escape') close()
    else if (move !== undefined) {
      if (!open) setTyped('')
      setAt(open ? move : 0)
    } else return
    event.preventDefault()
  }
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' })
  }, [at, open])
  return html`<div class="field field-search">
    <label for=${id}>${label}</label>
    <input id=${id} name=${name} type="text" role="combobox" autocomplete="off" spellcheck=${false}
      aria-expanded=${open} aria-controls=${`${id}-list`} aria-describedby=${helpId}
      aria-activedescendant=${open && found[at] ? `${id}-${at}` : undefined}
      value=${open ? typed : value} placeholder=${value}
      onFocus=${() => { setTyped(''); setAt(0) }}
      onClick=${() => { if (!open) { setTyped(''); setAt(0) } }}
      onInput=${(event) => { setTyped(event.currentTarget.value); setAt(0) }}
      onKeyDown=${onKey} onBlur=${close} />
    ${open
      ? html`<ul id=${`${id}-list`} role="listbox" ref=${list}>
          ${found.slice(0, 200).map(
            (option, i) => html`<li key=${option.value} id=${`${id}-${i}`} role="option" aria-selected=${i === at}
              onPointerDown=${(event) => { event.preventDefault(); take(option.value); document.activeElement?.blur() }}>
              <span>${option.value}</span><small>${option.detail}</small></li>`,
          )}
          ${found.length ? null : html`<li class="none">Nothing by that name in the catalogue.</li>`}
        </ul>`
      : null}
    <${Help} id=${helpId} text=${help} />
  </div>`
}

/**
 * A model of the catalogue, or the user's config.json (its content goes into the address and the
 * request; it is never stored). state has `model` and `config`; set takes a patch of them.
 * A request names the model with ...modelOf(state) of lib/state.js.
 */
export function ModelPicker({ state, set, label = 'Model' }) {
  const { answer } = useAnswer('catalog/models')
  const [fault, setFault] = useState(null)
  const [over, setOver] = useState(false)
  const id = useId()
  const options = (answer?.entries ?? []).map((entry) => ({ value: entry.id, detail: describe(entry) }))
  const read = async (file) => {
    if (!file) return
    try {
      const config = JSON.parse(await file.text())
      if (config === null || typeof config !== 'object' || Array.isArray(config)) throw new Error('not an object')
      setFault(null)
      set({ config: packConfig(config), model: file.name.replace(/\.json$/i, '') })
    } catch (error) {
      setFault(`${file.name} is not a config.json: ${error.message}.`)
    }
  }
  return html`<div class=${`picker ${over ? 'over' : ''}`}
    onDragOver=${(event) => { event.preventDefault(); setOver(true) }}
    onDragLeave=${() => setOver(false)}
    onDrop=${(event) => { event.preventDefault(); setOver(false); read(event.dataTransfer.files[0]) }}>
    ${state.config
      ? html`<div class="field"><span class="label">${label}</span>
          <div class="taken"><code>${state.model || 'config.json'}</code>
          <button type="button" onClick=${() => set({ config: '', model: options[0]?.value ?? '' })}>Back to the catalogue</button></div></div>`
      : html`<${Search} label=${label} name="model" value=${state.model} options=${options} onChange=${(model) => set({ model, config: '' })} />`}
    <div class="drop"><label for=${id}>or drop a config.json, or choose one</label>
      <input id=${id} name="config" type="file" accept=".json,application/json" onChange=${(event) => read(event.currentTarget.files[0])} /></div>
    ${fault ? html`<p class="error" role="alert">${fault}</p>` : null}
  </div>`
}

const billions = (count) => (count >= 1e9 ? `${Number((count / 1e9).toPrecision(3))}B` : `${Number((count / 1e6).toPrecision(3))}M`)

function describe({ num_params: all, num_active_params: active, owner }) {
  const size = active < all * 0.95 ? `${billions(all)}, ${billions(active)} active` : billions(all)
  return `${size} · ${owner}`
}

/** A cluster of the catalogue. */
export function ClusterPicker({ value, onChange, label = 'Cluster', name = 'on' }) {
  const { answer } = useAnswer('catalog/clusters')
  const options = (answer?.entries ?? []).map((entry) => ({
    value: entry.id,
    detail: `${entry.num_devices} × ${entry.device} · ${fmt(entry.memory_bytes, 'bytes')}`,
  }))
  return html`<${Search} label=${label} name=${name} value=${value} options=${options} onChange=${onChange} />`
}
