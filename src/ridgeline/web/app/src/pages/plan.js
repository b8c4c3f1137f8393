// The chapters put to work: which layout, batch and pools serve this load within the targets.
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { useJob } from '../lib/api.js'
import { html } from '../lib/html.js'
import { modelOf } from '../lib/state.js'
import { fmt } from '../lib/units.js'
import { Choice, ClusterPicker, ModelPicker, Text, Toggle } from '../ui/controls.js'
import { Figure } from '../ui/figure.js'
import { Answer, ErrorBox, Flags, Progress, Skeleton } from '../ui/notes.js'
import { Bench, Group, More } from '../ui/page.js'
import { Reproduce } from '../ui/reproduce.js'
import { Table } from '../ui/table.js'
import { front } from './plan/charts.js'
import { Point } from './plan/point.js'
import { howText, lostText, named, pointAt } from './plan/words.js'

const WAIT_MS = 300
const OBJECTIVES = [
  { value: 'throughput', label: 'throughput per device' }, { value: 'cost', label: 'cost per token' }, { value: 'latency', label: 'speed per user' },
]

const defaults = {
  model: 'deepseek-v3', config: '', on: 'gb200-nvl72', devices: '', isl: '4k', osl: '1k', ttft: '', tpot: '50', objective: 'throughput',
  dtype: 'auto', kv: 'auto,fp8', pools: true, usd: '', point: 'winner', engine: 'vllm',
}

/** A number where the text is one; else the text itself, about which the server says the rule. */
const number = (text, scale = 1) => (Number.isFinite(Number(text)) ? Number(text) * scale : text)
const given = (key, text, scale) => (text === '' ? {} : { [key]: number(text, scale) })
const list = (text) => text.split(',').map((word) => word.trim()).filter(Boolean)

function bodyOf(state) {
  return {
    ...modelOf(state),
    on: state.on,
    ...given('devices', state.devices),
    isl: state.isl,
    osl: state.osl,
    ...given('ttft_s', state.ttft, 1e-3),
    ...given('tpot_s', state.tpot, 1e-3),
    objective: state.objective,
    dtypes: list(state.dtype),
    kv_cache_dtypes: list(state.kv),
    pools: state.pools,
    ...given('usd_per_device_hour', state.usd),
  }
}

function Controls({ state, set, answer, onPlan }) {
  const on = (key) => (value) => set({ [key]: value })
  const text = (key, label, rest) => html`<${Text} name=${key} label=${label} value=${state[key]} onChange=${on(key)} ...${rest} />`
  const price = answer?.request.usd_per_device_hour
  return html`
    <${ModelPicker} state=${state} set=${set} />
    <${ClusterPicker} value=${state.on} onChange=${(value) => set({ on: value, devices: '' })} />
    ${text('devices', 'Devices', { placeholder: answer ? `${answer.request.devices}, all` : 'all' })}
    <${Group} title="Load, in tokens"><div class="row">${text('isl', 'Prompt')}${text('osl', 'Output')}</div><//>
    <${Group} title="Targets, in ms (empty: none)"><div class="row">${text('ttft', 'First token')}${text('tpot', 'Per token')}</div>
      <${Choice} label="Best by" name="objective" value=${state.objective} options=${OBJECTIVES} onChange=${on('objective')} /><//>
    <${More} title="Formats, pools, price"><${Group} title="Formats to try">
      <div class="row">${text('dtype', 'Weights')}${text('kv', 'KV cache')}</div>
      <${Toggle} label="Separate prefill and decode pools too" name="pools" value=${state.pools} onChange=${on('pools')} />
      ${text('usd', 'USD per device-hour', { placeholder: price ? `${fmt(price)}, listed` : 'not listed' })}
    <//><//>
    <button type="button" onClick=${onPlan}>Plan again</button>`
}

function Sentence({ answer, pending }) {
  const { winner, request } = answer
  const cost = winner.usd_per_mtok === null ? '' : `, ${fmt(winner.usd_per_mtok, 'USD')} per million`
  return html`<${Answer} pending=${pending}><strong>${howText(winner)}</strong> gives ${fmt(winner.tokens_per_s_per_device, 'tokens/s')} per
    ${' '}device at ${fmt(winner.tokens_per_s_per_user, 'tokens/s')} per user${cost}: the best ${OBJECTIVES.find(({ value }) => value === request.objective).label}
    ${' '}of ${fmt(answer.num_combinations)} combinations, of which ${fmt(answer.num_fitting)} fit.<//>`
}

/** Why there is no plan, and what the nearest option would need. */
function Infeasible({ error, relax, set }) {
  const up = (seconds) => String(Number((seconds * 1e3 * 1.0005).toPrecision(4)))
  const words = { ttft: (ms) => `${ms} ms to the first token`, tpot: (ms) => `${ms} ms per token`, devices: (count) => `${count} devices` }
  const patch = {
    ...(relax?.ttft_s ? { ttft: up(relax.ttft_s) } : {}),
    ...(relax?.tpot_s ? { tpot: up(relax.tpot_s) } : {}),
    ...(relax?.devices ? { devices: String(relax.devices) } : {}),
  }
  const keys = Object.keys(patch)
  return html`<${ErrorBox} error=${error} />
    ${keys.length
      ? html`<div class="relax"><button type="button" class="primary" onClick=${() => set(patch)}>Allow ${keys.map((key) => words[key](patch[key])).join(' and ')}</button>
          ${patch.devices ? null : html`<button type="button" onClick=${() => set({ ttft: '', tpot: '' })}>Drop the targets</button>`}</div>`
      : null}`
}

const OPTIONS = [
  { key: 'title', label: 'option', format: (title) => html`<span class="nowrap">${title}</span>` },
  { key: 'how', label: 'layout', format: (how) => html`<span class="wide">${how}</span>` },
  { key: 'batch', label: 'batch' },
  { key: 'ttft_s', label: 'first token', unit: 's' },
  { key: 'tpot_s', label: 'per token', unit: 's' },
  { key: 'tokens_per_s_per_user', label: 'per user', unit: 'tokens/s' },
  { key: 'tokens_per_s_per_device', label: 'per device', unit: 'tokens/s' },
  { key: 'usd_per_mtok', label: 'cost', unit: 'USD/Mtok' },
  { key: 'lost', label: 'loses most on, per token', format: (lost) => html`<span class="wide">${lost}</span>` },
]

/** Rows of all options that can be chosen, with what each lost on. */
function rowsOf(answer) {
  const best = answer.points.winner
  return named(answer).map(({ name, title, option }) => {
    const point = pointAt(answer.points, name)
    return { ...option, key: name, title, how: howText(option), lost: point === best ? 'wins' : lostText(best, point) ?? 'nothing: slower per user' }
  })
}

function Picks({ chosen, front: count, set }) {
  const at = chosen[0] === 'f' ? Number(chosen.slice(1)) : 0
  const go = (to) => set({ point: `f${Math.min(count, Math.max(1, to))}` })
  return html`<div class="picks" role="group" aria-label="Choose a point of the front">
    <button type="button" aria-label="Previous point of the front" onClick=${() => go(at ? at - 1 : 1)}>◀</button>
    <button type="button" aria-label="Next point of the front" onClick=${() => go(at + 1)}>▶</button>
    <button type="button" onClick=${() => set({ point: 'winner' })}>Winner</button>
    <span>Pick any mark for its layout, what binds it, and its launch command.</span></div>`
}

function Results({ answer, state, set, pending }) {
  const { points } = answer
  const chosen = pointAt(points, state.point) ? state.point : 'winner'
  const point = pointAt(points, chosen)
  const rows = useMemo(() => rowsOf(answer), [answer])
  const speed = useMemo(() => front(answer, 'tokens_per_s_per_device', chosen), [answer, chosen])
  const money = useMemo(() => front(answer, 'usd_per_mtok', chosen), [answer, chosen])
  const title = rows.find(({ key }) => key === chosen).title
  const second = points.runners_up.length ? { title: 'runner-up 1', point: points.runners_up[0] } : null
  const against = chosen === 'winner' ? second : { title: 'winner', point: points.winner }
  const onPick = ({ data }) => data?.mark && set({ point: data.mark.name })
  const draw = (name, heading, option) =>
    html`<${Figure} name=${name} title=${heading} height=${400} option=${option} rows=${rows} columns=${OPTIONS} onPick=${onPick} pending=${pending} />`
  return html`
    <${Sentence} answer=${answer} pending=${pending} />
    <div class="charts two">
      ${draw('front', 'What speed costs in throughput', speed)}
      ${answer.winner.usd_per_mtok === null
        ? html`<p class="hint">No price is listed for this cluster: give one to see the front in money.</p>`
        : draw('front-cost', 'What speed costs in money', money)}
    </div>
    <${Picks} chosen=${chosen} front=${points.front.length} set=${set} />
    <${Point} point=${point} name=${chosen} cli=${answer.cli} best=${points.winner} title=${title} against=${against} engine=${state.engine} onEngine=${(engine) => set({ engine })} />
    <${Table} title="Best of other layouts" name="options" columns=${OPTIONS} rows=${rows.filter(({ key }) => key[0] !== 'f')}
      onPick=${(row) => set({ point: row.key })} picked=${(row) => row.key === chosen} />
    <${Flags} flags=${answer.flags} />
    <${Reproduce} answer=${answer} />`
}

function View({ state, set }) {
  const { start, cancel, job, error } = useJob('plan')
  const body = bodyOf(state)
  const key = JSON.stringify(body)
  const kept = useRef(null) // the last plan stays until the next arrives
  if (job?.status === 'done') kept.current = job.result
  useEffect(() => {
    const timer = setTimeout(() => start(body), kept.current ? WAIT_MS : 0)
    return () => clearTimeout(timer)
  }, [key])
  const answer = kept.current
  const busy = job?.status === 'queued' || job?.status === 'running'
  return html`<${Bench} controls=${html`<${Controls} state=${state} set=${set} answer=${answer} onPlan=${() => start(body)} />`}>
    <${Progress} job=${job} cancel=${cancel} />
    ${job?.status === 'cancelled' ? html`<p role="status">Cancelled: the plan below, if any, is of earlier settings.</p>` : null}
    ${error ? html`<${Infeasible} error=${error} relax=${job?.detail?.[0]?.relax} set=${set} />` : null}
    ${answer
      ? html`<div class=${`results ${error || busy ? 'stale' : ''}`}><${Results} answer=${answer} state=${state} set=${set} pending=${busy} /></div>`
      : error || job?.status === 'cancelled' ? null : html`<div class="charts two"><${Skeleton} height=${400} /><${Skeleton} height=${400} /></div>`}
  <//>`
}

export default { id: 'plan', title: 'Plan', question: 'Which layout, batch and pools should serve this?', defaults, View }
