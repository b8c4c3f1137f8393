// Chapters 3 and 4 of the lecture: a model cut into stages.
import { useMemo } from 'preact/hooks'
import { useAnswer } from '../lib/api.js'
import { html } from '../lib/html.js'
import { modelOf } from '../lib/state.js'
import { tokens } from '../lib/units.js'
import { Choice, ClusterPicker, ModelPicker, Slider, Text } from '../ui/controls.js'
import { Figure } from '../ui/figure.js'
import { Answer, ErrorBox, Flags, Skeleton } from '../ui/notes.js'
import { Bench, Group, More } from '../ui/page.js'
import { Reproduce } from '../ui/reproduce.js'
import { Table } from '../ui/table.js'
import { latency, memory, stages } from './pipeline/charts.js'
import { Gantt } from './pipeline/gantt.js'

const CONTEXTS = Array.from({ length: 12 }, (_, i) => 512 * 2 ** i)
const FORMATS = ['auto', 'bf16', 'fp8', 'fp8_block', 'int8', 'nvfp4', 'mxfp4', 'int4']

const defaults = {
  model: 'deepseek-v3', config: '', on: 'hgx-h100-8', stages: 4, batch: 32, context: 8192, size: '', micro: '',
  dtype: 'auto', kv: 'auto', step: -1,
}

const number = (text) => (Number.isInteger(Number(text)) ? Number(text) : text)

function bodyOf(state) {
  return {
    ...modelOf(state),
    on: state.on,
    pp: [...[1, 2, 4, 8].filter((count) => count < state.stages), state.stages],
    batch: state.batch,
    context: state.context,
    ...(state.size === '' ? {} : { devices_per_stage: number(state.size) }),
    ...(state.micro === '' ? {} : { micro_batches: number(state.micro) }),
    ...(state.dtype === 'auto' ? {} : { dtype: state.dtype }),
    ...(state.kv === 'auto' ? {} : { kv_cache_dtype: state.kv }),
  }
}

const ROWS = [
  { key: 'stages', label: 'P' },
  { key: 'devices', label: 'devices' },
  { key: 'micro_batches', label: 'M' },
  { key: 'weight_bytes_per_device', label: 'weights', unit: 'bytes' },
  { key: 'kv_bytes_per_device', label: 'KV of M·b', unit: 'bytes' },
  { key: 'kv_bytes_per_device_batch_fixed', label: 'KV of b', unit: 'bytes' },
  { key: 'fits', label: 'fits', format: (fits) => (fits ? 'yes' : html`<span class="bad">no</span>`) },
  { key: 'tpot_s', label: 'per token', unit: 's' },
  { key: 'hop_s', label: 'one hop', unit: 's' },
  { key: 'idle_share', label: 'idle', unit: '%' },
  { key: 'stage_imbalance', label: 'slowest / mean' },
  { key: 'tokens_per_s_per_device', label: 'per device', unit: 'tokens/s' },
]
const STAGES = [{ key: 'number', label: 'stage' }, { key: 'time_s', label: 'one micro-batch', unit: 's' }, { key: 'layers', label: 'layers' }]

function Controls({ state, set, answer }) {
  const on = (key) => (value, commit) => set({ [key]: value }, commit)
  const withOwn = (options, value) => (options.includes(value) ? options : [...options, value])
  return html`
    <${ModelPicker} state=${state} set=${set} />
    <${ClusterPicker} value=${state.on} onChange=${(value) => set({ on: value, size: '' })} />
    <${Group} title="Pipeline">
      <${Slider} label="Stages P" name="stages" value=${state.stages} min=${1} max=${16} integer onChange=${on('stages')} />
      <${Slider} label="Sequences per micro-batch b" name="batch" value=${state.batch} min=${1} max=${1024} log integer onChange=${on('batch')} />
      <${Slider} label="Context" name="context" value=${state.context} stops=${CONTEXTS} format=${(value) => `${tokens(value)} tokens`} onChange=${on('context')} />
    <//>
    <${More} title="Stages and precision"><${Group} title="Stages (empty: chosen for you)">
      <div class="row"><${Text} label="Devices per stage" name="size" value=${state.size} placeholder=${answer ? String(answer.request.devices_per_stage) : ''} onChange=${on('size')} />
      <${Text} label="Micro-batches M" name="micro" value=${state.micro} placeholder="M = P" onChange=${on('micro')} /></div>
    <//>
    <${Group} title="Precision">
      <div class="row"><${Choice} label="Weights" name="dtype" value=${state.dtype} options=${withOwn(FORMATS, state.dtype)} onChange=${on('dtype')} />
      <${Choice} label="KV cache" name="kv" value=${state.kv} options=${withOwn(['auto', 'bf16', 'fp8'], state.kv)} onChange=${on('kv')} /></div>
    <//><//>`
}

function Results({ answer, state, set, pending }) {
  const deepest = answer.rows.at(-1).stages
  const charts = {
    memory: useMemo(() => memory(answer), [answer]),
    latency: useMemo(() => latency(answer), [answer]),
    stages: useMemo(() => stages(answer), [answer]),
  }
  const numbered = answer.stages.map((row) => ({ ...row, number: row.stage + 1 }))
  const onStep = (step, commit) => set({ step }, commit)
  return html`
    <${Answer} pending=${pending}>${answer.verdict}<//>
    <section><h2>The decode loop</h2><${Gantt} loops=${answer.loops} step=${state.step} onStep=${onStep} /></section>
    <div class="charts three">
      <${Figure} name="memory" title="Weights fall, the cache stays" option=${charts.memory} rows=${answer.rows} columns=${ROWS}
        note="A full pipeline holds M = P micro-batches of b sequences: each device keeps the cache it had." />
      <${Figure} name="latency" title="Time per token" option=${charts.latency} rows=${answer.rows} columns=${ROWS}
        note="Stages add no speed to a token: it passes through all of them." />
      <${Figure} name="stages" title=${`Stages of P = ${deepest}`} option=${charts.stages} rows=${numbered} columns=${STAGES}
        note="The slowest stage sets the pace of all." />
    </div>
    <${Table} title="By number of stages, per device" name="pipeline" columns=${ROWS} rows=${answer.rows} picked=${(row) => row.stages === deepest} />
    <${Table} title=${`Layers of P = ${deepest}`} name="stages" columns=${STAGES} rows=${numbered} />
    <${Flags} flags=${answer.flags} />
    <${Reproduce} answer=${answer} />`
}

function View({ state, set }) {
  const { answer, error, pending } = useAnswer('pipelines', bodyOf(state))
  return html`<${Bench} controls=${html`<${Controls} state=${state} set=${set} answer=${answer} />`}>
    <${ErrorBox} error=${error} />
    ${answer
      ? html`<div class=${`results ${error ? 'stale' : ''}`}><${Results} answer=${answer} state=${state} set=${set} pending=${pending} /></div>`
      : error ? null : html`<${Skeleton} height=${60} /><${Skeleton} height=${420} />`}
  <//>`
}

export default { id: 'pipeline', title: 'Pipeline', question: 'What does cutting a model into stages buy?', defaults, View }
