// The price against what serving would cost: over context, over speed, over volume.
import { useMemo } from 'preact/hooks'
import { html } from '../../lib/html.js'
import { digits, fmt, tokens } from '../../lib/units.js'
import { axis, contextAxis, line, tip } from '../../ui/charts.js'
import { Figure } from '../../ui/figure.js'
import { Table } from '../../ui/table.js'

const percent = (value) => html`<span class=${value < 0 ? 'bad' : ''}>${digits(value)} %</span>`
const usd = (value) => `${digits(value)} USD/Mtok`

/** [context, price] with the step where the list has it, not where we computed. */
function priceLine(decoded, key, first, last) {
  const steps = [decoded.price, ...decoded.steps].sort((a, b) => a.above_tokens - b.above_tokens)
  return steps.flatMap((step, i) => {
    const from = Math.max(step.above_tokens, first)
    const to = Math.min(steps[i + 1]?.above_tokens ?? last, last)
    return from < last ? [[from, step[key]], [to, step[key]]] : []
  })
}

const MARGIN_COLUMNS = [
  { key: 'context', label: 'context', unit: 'tokens', format: tokens },
  { key: 'batch', label: 'batch' },
  { key: 'input_price', label: 'input price', unit: 'USD/Mtok' },
  { key: 'input_cost', label: 'input cost', unit: 'USD/Mtok' },
  { key: 'output_price', label: 'output price', unit: 'USD/Mtok' },
  { key: 'output_cost', label: 'output cost', unit: 'USD/Mtok' },
  { key: 'output_margin_percent', label: 'output margin', format: percent },
  { key: 'request_price_usd', label: 'request', unit: 'USD' },
  { key: 'request_cost_usd', label: 'its cost', unit: 'USD' },
  { key: 'request_margin_percent', label: 'request margin', format: percent },
]

function chart(margin, decoded) {
  const narrow = innerWidth < 600
  const { rows } = margin
  const first = rows[0].context
  const last = rows.at(-1).context
  const wet = margin.output_under_water_from_tokens
  const of = (key) => rows.map((row) => [row.context, row[key]])
  const step = margin.price_step
  const late = wet && Math.log(wet / first) > 0.6 * Math.log(last / first)
  return (c) => ({
    grid: { left: 62, right: 24, top: narrow ? 110 : 66, bottom: 46 },
    legend: { top: 0, left: 0, itemWidth: 18 },
    tooltip: {
      trigger: 'axis',
      formatter: (points) => tip(`${tokens(Math.round(points[0].value[0]))} tokens`, points.map(({ seriesName, value, color }) => [seriesName, usd(value[1]), color])),
    },
    xAxis: contextAxis({ min: first, max: last }),
    yAxis: axis({ name: 'price and cost', unit: 'USD/Mtok', type: 'log', gap: 44, format: (v) => digits(v) }),
    series: [
      {
        ...line('output price', priceLine(decoded, 'output_usd_per_mtok', first, last), c.vermillion, { dash: 'dashed' }),
        markLine: {
          silent: true, symbol: 'none', lineStyle: { color: c.muted, type: 'dotted' },
          label: { color: c.muted, fontSize: 11, position: 'end', rotate: 0 },
          data: [
            ...decoded.steps.filter(({ above_tokens: at }) => at > first && at < last).slice(0, 1).map(({ above_tokens: at }) => ({ xAxis: at, label: { formatter: `step at ${tokens(at)}` } })),
            ...(wet ? [{ xAxis: wet, lineStyle: { color: c.vermillion, type: 'solid' }, label: { formatter: 'output under water', color: c.vermillion, position: 'end', rotate: 0, padding: [0, 0, 16, 0], align: late ? 'right' : 'center' } }] : []),
          ],
        },
      },
      line('output cost', of('output_cost'), c.vermillion),
      line('input price', priceLine(decoded, 'input_usd_per_mtok', first, last), c.blue, { dash: 'dashed' }),
      line('input cost', of('input_cost'), c.blue),
      { ...line(`own output price for ${fmt(step.target_margin, '%')} margin`, ownPrice(step, first, last), c.green, { width: 1.5, dash: 'dotted' }) },
    ],
  })
}

/** The two-level price of one's own that covers the cost over all contexts. */
function ownPrice({ base_price: base, step_tokens: at, factor }, first, last) {
  const step = Math.min(at, last)
  return [[first, base], [step, base], [step, base * factor], [last, base * factor]]
}

export function Margin({ margin, decoded, pending }) {
  const option = useMemo(() => (margin && decoded ? chart(margin, decoded) : null), [margin, decoded])
  if (!option) return null
  return html`<${Figure} name="margin" title="Cost against price over context" option=${option} rows=${margin.rows} columns=${MARGIN_COLUMNS} height=${380} pending=${pending} />
    <div class="wide-table"><${Table} title="Margins by context" name="margins" columns=${MARGIN_COLUMNS} rows=${margin.rows} /></div>`
}

const FRONTIER_COLUMNS = [
  { key: 'batch', label: 'batch' },
  { key: 'tokens_per_s_per_user', label: 'speed', unit: 'tokens/s' },
  { key: 'usd_per_mtok', label: 'output cost', unit: 'USD/Mtok' },
]

export function Modes({ answer, pending }) {
  const option = useMemo(() => {
    if (!answer) return null
    return (c) => ({
      grid: { left: 62, right: 40, top: 20, bottom: 46 },
      tooltip: {
        trigger: 'item',
        formatter: ({ data }) => tip(data.mode ?? `batch ${fmt(data.row.batch)}`, [['batch', fmt(data.row.batch)], ['speed', fmt(data.value[0], 'tokens/s')], ['cost', usd(data.value[1])]]),
      },
      xAxis: axis({ name: 'speed of every user', unit: 'tokens/s', min: 0 }),
      yAxis: axis({ name: 'output cost', unit: 'USD/Mtok', type: 'log', gap: 44, format: (v) => digits(v) }),
      series: [
        {
          type: 'line', name: 'frontier', color: c.blue, symbol: 'circle', symbolSize: 5,
          data: answer.frontier.map((row) => ({ value: [row.tokens_per_s_per_user, row.usd_per_mtok], row })),
        },
        {
          type: 'scatter', name: 'modes', color: c.vermillion, symbolSize: 11,
          data: distinct(answer.modes).map((row) => ({ value: [row.speed, row.cost], row, mode: row.mode, label: { position: SIDES[row.mode] ?? 'left' } })),
          label: { show: true, formatter: ({ data }) => data.mode, color: c.ink, fontSize: 12 },
        },
      ],
    })
  }, [answer])
  if (!option) return null
  const { slow_saving: slow, fast_price_ratio: fast, speed_ceiling: most } = answer
  return html`<${Figure} name="modes" title="Fast and slow modes" option=${option} rows=${answer.frontier} columns=${FRONTIER_COLUMNS} height=${340} pending=${pending}
    note=${`A slow mode saves at most ${fmt(slow, '%')}; the fast one must cost ${digits(fast)}×; no price buys more than ${digits(most)}× the standard speed.`} />`
}

const SIDES = { slowest: 'bottom', standard: 'top', fast: 'bottom' }

/** Modes that are one point share a label: "slowest, standard". */
function distinct(modes) {
  const found = []
  for (const mode of modes) {
    const same = found.find(({ batch }) => batch === mode.batch)
    if (same) same.mode += `, ${mode.mode}`
    else found.push({ ...mode })
  }
  return found
}

const TOKEN_COLUMNS = [
  { key: 'kind', label: 'per million tokens' },
  { key: 'rental', label: 'rented', unit: 'USD' },
  { key: 'owned', label: 'owned', unit: 'USD' },
]

export function BreakEven({ answer }) {
  const kinds = [['fresh input', 'input'], ['cached input', 'cached'], ['output', 'output'], ['blended over the mix', 'blended']]
  const rows = kinds.map(([kind, key]) => ({ kind, rental: answer.rental[`${key}_usd_per_mtok`], owned: answer.owned[`${key}_usd_per_mtok`] }))
  const share = (volume) => (volume > answer.capacity_tokens_per_day ? 'more than these devices make' : `${fmt(volume / answer.capacity_tokens_per_day, '%')} of what they can make`)
  const asked = answer.api_usd_per_mtok
  const day = (volume) => html`<b>${large(volume)} tokens a day</b> (${share(volume)})`
  return html`<div><${Table} title="Made or bought" name="break-even" columns=${TOKEN_COLUMNS} rows=${rows} />
    <p class="hint-text">${asked ? html`For ${fmt(answer.input_tokens)} tokens in and ${fmt(answer.output_tokens)} out the list asks ${usd(asked)}.
      Renting pays from ${day(answer.rental_break_even_tokens_per_day)}, owning from ${day(answer.owned_break_even_tokens_per_day)}.` : null}
      ${' '}Owned: ${fmt(answer.owner.capex_usd)} USD per device over ${fmt(answer.owner.life_years)} years, ${fmt(answer.owner.power_w)} W, ${digits(answer.owner.usd_per_kwh)} USD/kWh;
      ${' '}${digits(answer.energy_j_per_output_token)} J per output token.</p></div>`
}
const large = (value) => (value >= 1e9 ? `${digits(value / 1e9)} G` : `${digits(value / 1e6)} M`)
