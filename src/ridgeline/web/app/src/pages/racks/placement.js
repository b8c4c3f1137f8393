// Experts placed over ranks, from routing counts that somebody drops here.
import { useMemo, useState } from 'preact/hooks'
import { useJob } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { digits, fmt } from '../../lib/units.js'
import { Number as Figures } from '../../ui/controls.js'
import { axis, tip } from '../../ui/charts.js'
import { Figure } from '../../ui/figure.js'
import { Answer, ErrorBox, Flags, Progress } from '../../ui/notes.js'
import { Snippet } from '../../ui/reproduce.js'
import { Table } from '../../ui/table.js'
import { exampleCounts, parseCounts } from './counts.js'

const NUMBERS = [
  ['ranks', 'Ranks', 1], ['ranks_per_node', 'Ranks per node', 1], ['nodes_per_rack', 'Nodes per rack', 1], ['num_redundant', 'Redundant experts', 0],
]
const START = { ranks: 32, ranks_per_node: 8, nodes_per_rack: 2, num_redundant: 32 }

/** Load over the mean by layer and rank, before and after, on one scale of colour. */
const heat = (answer) => (c) => {
  const cells = (loads, half) =>
    loads.flatMap((row, layer) => {
      const mean = row.reduce((sum, load) => sum + load, 0) / row.length
      return row.map((load, rank) => ({ value: [rank, layer, load / mean], half }))
    })
  const [before, after] = [cells(answer.rank_loads_before, 'in order'), cells(answer.rank_loads_after, 'placed')]
  const most = Math.max(...[...before, ...after].map(({ value }) => value[2]))
  const ranks = answer.rank_loads_before[0].map((_, i) => i)
  const layers = answer.layers.map(({ layer }) => layer)
  const box = (i) => ({ left: 54, right: 90, height: '33%', top: i ? '55%' : '7%' })
  const title = (text, top) => ({ type: 'text', left: 54, top, style: { text, fill: c.ink, fontSize: 12, fontWeight: 600 } })
  const shown = { axisTick: { show: false }, splitLine: { show: false } }
  return {
    grid: [box(0), box(1)],
    graphic: [title('experts in order', 6), title('placed', '50%')],
    tooltip: {
      formatter: ({ value: [rank, layer, load], data }) =>
        tip(`layer ${layers[layer]}, rank ${rank}, ${data.half}`, [['load', `${digits(load)} × the mean`]]),
    },
    visualMap: {
      type: 'continuous', min: 0, max: most, dimension: 2, right: 0, top: 'middle', itemHeight: 140, calculable: false,
      text: [`${digits(most)} ×`, '0'], inRange: { color: [c.raised, c.sky, c.orange, c.vermillion] },
    },
    xAxis: [0, 1].map((i) => ({ ...axis({ type: 'category', name: i ? 'rank' : '', data: ranks }), ...shown, gridIndex: i })),
    yAxis: [0, 1].map((i) => ({ ...axis({ type: 'category', name: 'layer', gap: 34, data: layers, inverse: true }), ...shown, gridIndex: i })),
    series: [before, after].map((data, i) => ({ type: 'heatmap', name: ['in order', 'placed'][i], data, xAxisIndex: i, yAxisIndex: i, emphasis: { disabled: true } })),
  }
}

const HEAT = [
  { key: 'layer', label: 'layer' }, { key: 'rank', label: 'rank' },
  { key: 'before', label: 'tokens, experts in order' }, { key: 'after', label: 'tokens, placed' },
]
const LAYERS = [
  { key: 'layer', label: 'layer' },
  { key: 'tokens', label: 'tokens' },
  { key: 'imbalance_before', label: 'fullest rank / mean, in order' },
  { key: 'imbalance_after', label: 'placed', format: (value) => digits(value, 4) },
  { key: 'imbalance_bound', label: 'no placement beats', format: (value) => digits(value, 4) },
  { key: 'cross_rack_bytes_before', label: 'leaves the rack, in order', unit: 'bytes' },
  { key: 'cross_rack_bytes_after', label: 'placed', unit: 'bytes' },
]

const heatRows = (answer) =>
  answer.layers.flatMap(({ layer }, i) =>
    answer.rank_loads_before[i].map((before, rank) => ({ layer, rank, before, after: answer.rank_loads_after[i][rank] })),
  )

function Placed({ answer }) {
  const option = useMemo(() => heat(answer), [answer])
  const crossing = answer.layers.some((row) => row.cross_rack_bytes_before !== null && row.cross_rack_bytes_before > 0)
  const columns = LAYERS.filter(({ key }) => crossing || !key.startsWith('cross'))
  return html`
    <${Answer}><strong>The fullest rank gets ${digits(answer.imbalance_after, 4)} times the mean, not ${digits(answer.imbalance_before)}</strong>:
      ${' '}no placement on ${fmt(answer.num_ranks)} ranks can do better than ${digits(answer.imbalance_bound, 4)}.<//>
    <${Figure} name="placement" title="Load of every rank" height=${420} option=${option} rows=${heatRows(answer)} columns=${HEAT} />
    <${Table} title="Layers" name="placement-layers" columns=${columns} rows=${answer.layers} />
    <${Flags} flags=${answer.flags} />
    <${Snippet} label="Command line" text=${answer.cli} />`
}

export function Placement({ hidden }) {
  const [counts, setCounts] = useState(null)
  const [source, setSource] = useState('')
  const [fault, setFault] = useState(null)
  const [over, setOver] = useState(false)
  const [form, setForm] = useState(START)
  const { start, cancel, job, error } = useJob('experts')
  const run = (rows, name, numbers = form) => {
    setFault(null)
    setCounts(rows)
    setSource(name)
    start({ counts: rows, ...numbers, ...(hidden ? { hidden_size: hidden } : {}) })
  }
  const read = async (file) => {
    if (!file) return
    try {
      run(parseCounts(await file.text()), file.name)
    } catch (problem) {
      setFault(`${file.name}: ${problem.message}`)
    }
  }
  const change = (key) => (value) => {
    const numbers = { ...form, [key]: value }
    setForm(numbers)
    if (counts) run(counts, source, numbers)
  }
  return html`<section class=${`placement ${over ? 'over' : ''}`} aria-label="Placement of experts"
    onDragOver=${(event) => { event.preventDefault(); setOver(true) }} onDragLeave=${() => setOver(false)}
    onDrop=${(event) => { event.preventDefault(); setOver(false); read(event.dataTransfer.files[0]) }}>
    <h2>Where should each expert live?</h2>
    <p class="hint">Drop a CSV of routing counts here: a header layer,expert,count, or one row of counts per layer. It is computed on, never stored.</p>
    <div class="take"><span class="file">Choose a CSV<input type="file" name="counts" aria-label="Routing counts" accept=".csv,.txt,text/csv" onChange=${(event) => read(event.currentTarget.files[0])} /></span>
      <button type="button" onClick=${() => run(exampleCounts(), 'made-up counts (Zipf)')}>Try made-up counts</button>
      ${counts ? html`<span class="hint">${source}: ${fmt(counts.length)} layers of ${fmt(counts[0].length)} experts</span>` : null}</div>
    <div class="row">${NUMBERS.map(([key, label, min]) => html`<${Figures} key=${key} name=${key} label=${label} min=${min} step=${1} value=${form[key]} onChange=${change(key)} />`)}</div>
    <${ErrorBox} error=${fault ?? error} />
    <${Progress} job=${job} cancel=${cancel} />
    ${job?.status === 'done' ? html`<${Placed} answer=${job.result} />` : null}
  </section>`
}
