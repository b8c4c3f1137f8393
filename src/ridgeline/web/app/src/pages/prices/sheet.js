// What a price sheet lists, and what each figure gives away.
import { useMemo, useState } from 'preact/hooks'
import { useAnswer } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { digits, fmt } from '../../lib/units.js'
import { tip } from '../../ui/charts.js'
import { Search } from '../../ui/controls.js'
import { Figure } from '../../ui/figure.js'
import { Table } from '../../ui/table.js'

/** Every provider/model in force; the list (1 MB) is asked for when the field is used. */
export function SheetPicker({ value, date, onChange, label = 'Price sheet: provider/model' }) {
  const [wanted, setWanted] = useState(false)
  const { answer } = useAnswer(wanted ? `prices${date ? `?date=${date}` : ''}` : null)
  const options = useMemo(() => {
    const found = new Map()
    for (const row of answer?.prices ?? []) {
      if (!found.has(row.id)) found.set(row.id, { value: row.id, detail: `${digits(row.input_usd_per_mtok)} in, ${digits(row.output_usd_per_mtok)} out USD/Mtok` })
    }
    return [...found.values()]
  }, [answer])
  return html`<div onFocusIn=${() => setWanted(true)} onPointerOver=${() => setWanted(true)}>
    <${Search} label=${label} name="price" value=${value} options=${options} onChange=${onChange} /></div>`
}

const SHEET_COLUMNS = [
  { key: 'tier', label: 'tier', format: (tier, row) => (row.hours_utc ? `${tier}, ${row.hours_utc}` : tier) },
  { key: 'above_tokens', label: 'above', unit: 'tokens' },
  { key: 'input_usd_per_mtok', label: 'input', unit: 'USD/Mtok' },
  { key: 'output_usd_per_mtok', label: 'output', unit: 'USD/Mtok' },
  { key: 'cache_read_usd_per_mtok', label: 'cache read', unit: 'USD/Mtok' },
  { key: 'cache_write', label: 'cache write' },
  { key: 'when', label: 'in force', format: (when) => when || '–' },
  { key: 'list', label: 'list', render: (row) => html`<span title=${row.source}>${row.list}, ${row.as_of}</span>` },
]

export const Sheet = ({ answer }) => html`<div class="wide-table"><${Table} title=${`Listed for ${answer.model}`} name="price-sheet" columns=${SHEET_COLUMNS} rows=${answer.prices} /></div>`

const bandText = ({ low, high, unit }) => {
  const one = (value) => (unit === 'B' ? fmt(value, 'bytes') : unit === 'params' ? people(value) : digits(value))
  const word = unit === '1' || unit === 'B' || unit === 'params' ? '' : ` ${unit}`
  if (low === null) return `at most ${one(high)}${word}`
  if (high === null) return `at least ${one(low)}${word}`
  if (Math.abs(high / low - 1) < 0.005) return one(low) + word
  return `${one(low)} to ${one(high)}${word}`
}
/** 37e9 -> "37B", as model names say it. */
export const people = (count) => (count >= 1e12 ? `${digits(count / 1e12)}T` : count >= 1e9 ? `${digits(count / 1e9)}B` : `${digits(count / 1e6)}M`)

/** Figure, hypothesis, implied parameter with its band, plausibility. */
export function Findings({ answer }) {
  const columns = [
    { key: 'figure', label: 'figure' },
    { key: 'hypothesis', label: 'if' },
    { key: 'implied', label: 'then', render: (row) => html`${row.implied}: <b class="nobreak">${bandText(row)}</b>` },
    { key: 'plausibility', label: 'so' },
  ]
  return html`<div class="findings"><${Table} title="Figure by figure" name="price-findings" columns=${columns} rows=${answer.findings} /></div>`
}

const PARAMETERS = [
  { key: 'active_params', label: 'active parameters', short: people },
  { key: 'kv_bytes_per_token', label: 'cache per token, bf16', short: (v) => fmt(v, 'bytes') },
  { key: 'markup', label: 'price over cost', short: (v) => `${digits(v)}×` },
  { key: 'batch_over_critical', label: 'batch over critical batch', short: (v) => digits(v) },
  { key: 'kv_share', label: 'cache share of a decode step', short: (v) => fmt(v, '%') },
]

export const posteriorRows = (answer) =>
  PARAMETERS.map(({ key, label }) => ({ parameter: label, truth: answer.truth?.[key] ?? null, ...answer.posterior[key] }))

export const POSTERIOR_COLUMNS = [
  { key: 'parameter' }, { key: 'low', label: '10 %' }, { key: 'median' }, { key: 'high', label: '90 %' },
  { key: 'prior_low', label: 'before, 10 %' }, { key: 'prior_high', label: 'before, 90 %' }, { key: 'truth', label: 'published' },
]

const strip = (i, name, low, high, colour, width) => ({
  type: 'line', name, xAxisIndex: i, yAxisIndex: i, data: [[low, 0], [high, 0]], symbol: 'none', color: colour, z: 2,
  lineStyle: { width, color: colour, cap: 'butt' }, silent: true,
})
const mark = (i, name, value, colour, symbol, size, words) => ({
  type: 'scatter', name, xAxisIndex: i, yAxisIndex: i, data: [[value, 0]], symbol, symbolSize: size, color: colour, z: 5, tooltip: { formatter: () => words },
})

/** One strip per parameter, each on its own log axis: before the sheet, after it, and the truth. */
function bands(answer, narrow) {
  const room = narrow ? 74 : 56
  const top = narrow ? 76 : 40
  return (c) => {
    const option = { grid: [], xAxis: [], yAxis: [], series: [], graphic: [] }
    PARAMETERS.forEach(({ key, label, short }, i) => {
      const band = answer.posterior[key]
      const truth = answer.truth?.[key]
      const sizes = [band.low, band.high, band.prior_low, band.prior_high, ...(truth ? [truth] : [])]
      const y = top + i * room
      option.grid.push({ left: narrow ? 8 : 200, right: 16, top: y, height: 22 })
      option.xAxis.push({
        type: 'log', gridIndex: i, min: Math.min(...sizes) / 1.15, max: Math.max(...sizes) * 1.15, splitLine: { show: false }, axisLine: { show: false },
        axisLabel: { formatter: short, fontSize: 11, hideOverlap: true, showMinLabel: false, showMaxLabel: false },
      })
      option.yAxis.push({ type: 'category', gridIndex: i, data: [''], show: false })
      option.graphic.push({ type: 'text', left: narrow ? 8 : 0, top: narrow ? y - 18 : y + 4, silent: true, style: { text: label, fill: c.ink, fontSize: 12 } })
      const words = tip(label, [
        ['median', short(band.median)], ['10 to 90 %', `${short(band.low)} to ${short(band.high)}`],
        ['before the sheet', `${short(band.prior_low)} to ${short(band.prior_high)}`], ...(truth ? [['published', short(truth)]] : []),
      ])
      option.series.push(
        strip(i, 'before the sheet', band.prior_low, band.prior_high, c.line, 18),
        strip(i, 'after it, 10 to 90 %', band.low, band.high, c.blue, 10),
        mark(i, 'median', band.median, c.ink, 'rect', [3, 22], words),
      )
      if (truth) option.series.push(mark(i, 'published', truth, c.vermillion, 'diamond', 15, words))
    })
    const names = ['before the sheet', 'after it, 10 to 90 %', 'median', ...(answer.truth ? ['published'] : [])]
    return { ...option, legend: { top: 0, left: 0, itemWidth: 14, itemHeight: 9, icon: 'rect', selectedMode: false, data: names }, tooltip: { trigger: 'item' } }
  }
}

export function Posterior({ answer }) {
  const narrow = innerWidth < 600
  const option = useMemo(() => bands(answer, narrow), [answer, narrow])
  return html`<${Figure} name="posterior" title="What cost alone would make of the sheet" option=${option} height=${narrow ? 76 + 74 * PARAMETERS.length : 40 + 56 * PARAMETERS.length}
    rows=${posteriorRows(answer)} columns=${POSTERIOR_COLUMNS}
    note=${`${fmt(answer.draws)} draws over device, precision, margin and utilisation (prior of ${answer.prior}); ${fmt(Math.round(answer.effective_draws))} carry the weight. A hypothesis is not a fact.`} />`
}

export function sentence(answer) {
  const { active_params: n, kv_bytes_per_token: k } = answer.posterior
  const { price, truth } = answer
  return html`<strong>${digits(price.input_usd_per_mtok)} USD in and ${digits(price.output_usd_per_mtok)} USD out</strong> per million tokens: if price follows cost,
    ${' '}<strong>${people(n.low)} to ${people(n.high)}</strong> active parameters and <strong>${fmt(k.low, 'bytes')} to ${fmt(k.high, 'bytes')}</strong> of cache per token.
    ${truth ? html` Published for ${truth.model}: ${people(truth.active_params)} and ${fmt(truth.kv_bytes_per_token, 'bytes')}: ${inside(truth.active_params, n)}, ${inside(truth.kv_bytes_per_token, k)}.` : null}
    ${answer.explained < 0.05 ? html` <span class="warn">Cost explains it in ${fmt(answer.explained, '%')} of the draws: this is a price, not a cost.</span>` : null}`
}
const inside = (value, { low, high }) => (value < low ? 'below the band' : value > high ? 'above the band' : 'inside the band')
