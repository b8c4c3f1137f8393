// Cost against hold time by tier, and drain times beside the lecture's.
import { digits, fmt } from '../../lib/units.js'
import { axis, line, tip } from '../../ui/charts.js'

export const MILLION = 1e6
const COLOURS = { hbm: 'vermillion', dram: 'orange', cxl: 'yellow', flash: 'blue', network_flash: 'sky', disk: 'purple', object: 'grey' }
const POINTS = 80
const DAY = 86400

/** A hold time: 5.00 min, 1.00 h, 6.4 d. */
export const span = (seconds) => {
  if (seconds === null || seconds === undefined) return '–'
  if (seconds >= DAY) return `${digits(seconds / DAY)} d`
  if (seconds >= 3600) return `${digits(seconds / 3600)} h`
  if (seconds >= 60) return `${digits(seconds / 60)} min`
  return fmt(seconds, 's')
}
/** USD per million sessions of a tier after a hold time [s]. */
export const costOf = (tier, hold) => MILLION * (tier.fixed_usd + (tier.hold_usd_per_hour * hold) / 3600)

/** Tiers that share a colour differ in their dash. */
function styles(tiers) {
  const used = {}
  return new Map(tiers.map((tier) => {
    const colour = COLOURS[tier.kind] ?? 'grey'
    used[colour] = (used[colour] ?? 0) + 1
    return [tier.tier, { colour, dash: ['solid', 'dashed', 'dotted'][used[colour] - 1] ?? 'dotted' }]
  }))
}

const grid = (from, until) => Array.from({ length: POINTS }, (_, i) => from * (until / from) ** (i / (POINTS - 1)))

/** {rows, columns} of the chart, for its exports. */
export function costRows(answer) {
  const { tiers, recompute_usd: again } = answer
  const times = grid(1, 60 * DAY)
  const rows = times.map((hold_s) => {
    const costs = Object.fromEntries(tiers.map((tier) => [tier.tier, costOf(tier, hold_s)]))
    return { hold_s, ...costs, recompute: MILLION * again, cheapest: Math.min(...Object.values(costs), MILLION * again) }
  })
  const unit = 'USD/million sessions'
  return { rows, columns: [{ key: 'hold_s', label: 'hold', unit: 's' }, ...tiers.map(({ tier }) => ({ key: tier, unit })), { key: 'recompute', unit }, { key: 'cheapest', unit }] }
}

export function costChart(answer, rows) {
  const { tiers, envelope, recompute_usd: again } = answer
  const looks = styles(tiers)
  const top = MILLION * again * 8
  const bottom = rows[0].cheapest / 2
  const ticks = innerWidth < 600 ? FEW : TICKS
  return (c) => ({
    grid: { left: 70, right: 24, top: 24, bottom: 46 },
    tooltip: {
      trigger: 'axis',
      formatter: (points) => {
        const row = rows[points[0].dataIndex]
        const costs = [...tiers.map(({ tier }) => [tier, row[tier], c[looks.get(tier).colour]]), ['recompute', row.recompute, c.ink]]
        return tip(`after ${span(row.hold_s)}: USD per million sessions`, costs.sort((a, b) => a[1] - b[1]).slice(0, 7).map(([name, cost, colour]) => [name, digits(cost), colour]))
      },
    },
    xAxis: axis({ name: 'hold time', type: 'log', min: 1, max: rows.at(-1).hold_s, axisLabel: { formatter: span, customValues: ticks }, axisTick: { customValues: ticks }, splitLine: { show: false } }),
    yAxis: axis({ name: 'cost', unit: 'USD per million sessions', type: 'log', gap: 50, min: bottom, max: top, format: (v) => digits(v) }),
    series: [
      {
        ...line('cheapest', rows.map((row) => [row.hold_s, row.cheapest]), c.ink, { width: 9, z: 1, lineStyle: { width: 9, color: c.ink, opacity: 0.14 } }),
        markLine: {
          silent: true, symbol: 'none', lineStyle: { color: c.muted, type: 'dotted' }, label: { position: 'insideEndTop', color: c.muted, fontSize: 11, rotate: 0 },
          data: [
            ...envelope.slice(1).filter(({ from_s: at }) => at > 1).map(({ from_s: at }) => ({ xAxis: at, label: { show: false } })),
          ],
        },
      },
      ...tiers.map((tier) => {
        const { colour, dash } = looks.get(tier.tier)
        return line(tier.tier, rows.map((row) => [row.hold_s, row[tier.tier]]), c[colour], { width: tier.dominated ? 1 : 2, dash, lineStyle: { color: c[colour], width: tier.dominated ? 1 : 2, type: dash, opacity: tier.dominated ? 0.55 : 1 } })
      }),
      line('recompute', rows.map((row) => [row.hold_s, row.recompute]), c.ink, { dash: 'dashed', width: 1.5 }),
    ],
  })
}

const TICKS = [1, 10, 60, 600, 3600, 21_600, DAY, 7 * DAY, 30 * DAY]
const FEW = [1, 60, 3600, DAY, 30 * DAY]

/** The key of the chart, with names and what is dominated; drawn as a table beside it. */
export function lookOf(answer) {
  const looks = styles(answer.tiers)
  return (tier) => looks.get(tier)
}

const DRAINS = [0.01, 0.1, 1, 10, 60, 600, 3600, DAY]
const DRAINS_FEW = [0.01, 1, 60, 3600, DAY]
const LECTURE = { '20 ms': [0.02, 0.02], '1-10 s': [1, 10], '1 min': [60, 60], '1 h': [3600, 3600] }

export function drainChart(tiers) {
  const shown = tiers.filter(({ drain_s: drain }) => drain !== null)
  const ticks = innerWidth < 600 ? DRAINS_FEW : DRAINS
  return (c) => ({
    grid: { left: 104, right: 24, top: 30, bottom: 46 },
    legend: { top: 0, left: 0, selectedMode: false, itemWidth: 14, data: ['the lecture’s ballpark', 'this part'] },
    tooltip: {
      trigger: 'item',
      formatter: ({ data }) => tip(data.tier.name, [
        ['capacity', fmt(data.tier.capacity_bytes, 'bytes')], ['read', fmt(data.tier.read_bytes_per_s, 'bytes/s')], ['drains in', span(data.tier.drain_s)], ['the lecture', data.tier.lecture_drain],
      ]),
    },
    xAxis: axis({ name: 'drain time', type: 'log', min: 0.01, max: 200_000, axisLabel: { formatter: span, customValues: ticks }, axisTick: { customValues: ticks }, splitLine: { show: false } }),
    yAxis: { type: 'category', inverse: true, data: shown.map(({ tier }) => tier), axisTick: { show: false }, splitLine: { show: true, lineStyle: { color: c.line, width: 0.7 } } },
    series: [
      {
        type: 'line', name: 'the lecture’s ballpark', symbol: 'rect', symbolSize: [10, 14], color: c.muted, lineStyle: { width: 14, color: c.muted, cap: 'butt' }, connectNulls: false,
        data: shown.flatMap((tier, i) => {
          const range = LECTURE[tier.lecture_drain]
          return range ? [{ value: [range[0], i], tier }, { value: [range[1], i], tier }, { value: [null, i], tier }] : []
        }),
      },
      { type: 'scatter', name: 'this part', color: c.blue, symbolSize: 12, z: 5, data: shown.map((tier, i) => ({ value: [tier.drain_s, i], tier })) },
    ],
  })
}

