import { useMemo } from 'preact/hooks'
import { useAnswer } from '../lib/api.js'
import { html } from '../lib/html.js'
import { modelOf } from '../lib/state.js'
import { fmt, tokens } from '../lib/units.js'
import { ClusterPicker, ModelPicker, Slider } from '../ui/controls.js'
import { Figure } from '../ui/figure.js'
import { Answer, ErrorBox, Flags, Skeleton } from '../ui/notes.js'
import { Bench } from '../ui/page.js'
import { Reproduce } from '../ui/reproduce.js'
import { Table } from '../ui/table.js'

const BATCHES = Array.from({ length: 11 }, (_, i) => 2 ** i)
const COLUMNS = [
  { key: 'batch', label: 'batch', unit: 'sequences' },
  { key: 'step_s', label: 'step', unit: 's' },
  { key: 'usd_per_mtok', label: 'cost', unit: 'USD/Mtok' },
]

const chart = (rows) => ({
  grid: { left: 64, right: 16, top: 16, bottom: 48 },
  tooltip: { trigger: 'axis', valueFormatter: (value) => fmt(value / 1e3, 's') },
  xAxis: { type: 'log', logBase: 2, name: 'batch (sequences)', nameLocation: 'middle', nameGap: 28 },
  yAxis: { type: 'value', name: 'ms', nameLocation: 'middle', nameGap: 40 },
  series: [{ type: 'line', name: 'step', showSymbol: false, data: rows.map((row) => [row.batch, row.step_s * 1e3]) }],
})

function View({ state, set }) {
  const body = { ...modelOf(state), on: state.on, tp: state.tp, context: state.context }
  const curve = useAnswer('estimate', { ...body, batch: BATCHES, parts: false })
  const here = useAnswer('estimate', { ...body, batch: state.batch })
  const option = useMemo(() => curve.answer && chart(curve.answer.rows), [curve.answer])
  const row = here.answer?.rows[0]
  return html`<${Bench}
    controls=${html`<${ModelPicker} state=${state} set=${set} />
      <${ClusterPicker} value=${state.on} onChange=${(on) => set({ on })} />
      <${Slider} label="Batch" name="batch" value=${state.batch} min=${1} max=${1024} log integer unit="sequences" onChange=${(batch, commit) => set({ batch }, commit)} />
      <${Slider} label="Context" name="context" value=${state.context} stops=${[1024, 2048, 4096, 8192, 16384, 32768]} format=${tokens} onChange=${(context, commit) => set({ context }, commit)} />`}>
    <${ErrorBox} error=${here.error} />
    ${row ? html`<${Answer} pending=${here.pending}>${fmt(row.step_s, 's')} per token at batch ${fmt(row.batch)}: bound by ${row.bound_by}.<//>` : null}
    ${option ? html`<${Figure} name="latency" title="Time of one step by batch" option=${option} rows=${curve.answer.rows} columns=${COLUMNS} />` : html`<${Skeleton} />`}
    ${curve.answer ? html`<${Table} title="Steps" name="steps" columns=${COLUMNS} rows=${curve.answer.rows} />` : null}
    <${Flags} flags=${here.answer?.flags} />
    <${Reproduce} answer=${here.answer} />
  <//>`
}

export default {
  id: 'estimate',
  title: 'Estimate',
  question: 'How fast is a token, what does it cost, and what binds?',
  defaults: { model: 'llama-3.1-70b', config: '', on: 'hgx-h100-8', tp: 8, batch: 64, context: 8192 },
  View,
}
