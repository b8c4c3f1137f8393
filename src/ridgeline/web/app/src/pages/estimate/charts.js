// The lecture's five pictures: C1-Q1 to C1-Q5, the board's lines and the detailed model together.
import { limitColour } from '../../lib/theme.js'
import { digits, fmt, tokens, whole } from '../../lib/units.js'
import { axis, band, contextAxis, GRID, line, range, regions, short, tip } from '../../ui/charts.js'
import { boardShares, costOf } from './data.js'

const batchAxis = (rows) =>
  axis({ name: 'batch', unit: 'sequences', type: 'log', min: rows[0].batch, max: rows.at(-1).batch, format: short })

const legend = { top: 0, left: 0, itemWidth: 16, itemHeight: 8, itemGap: 12, type: 'scroll' }
const pointer = { type: 'line', lineStyle: { type: 'dotted' } }

/** The detailed line: whole where it fits in memory, dotted beyond. */
function detailed(rows, at, c, extra) {
  const cut = rows.findIndex((row) => !row.fits)
  const inside = cut < 0 ? rows : rows.slice(0, cut)
  const beyond = cut < 0 ? [] : rows.slice(Math.max(0, cut - 1))
  return [
    line('detailed', inside.map(at), c.ink, { width: 3, z: 5, ...extra }),
    line('does not fit', beyond.map(at), c.ink, { width: 2, z: 5, dash: 'dotted' }),
  ]
}

const rowAt = (rows, x, key = 'batch') => rows.reduce((best, row) => (Math.abs(Math.log(row[key] / x)) < Math.abs(Math.log(best[key] / x)) ? row : best))
const fitsWords = (row) => (row.fits ? null : 'does not fit in memory')

/** C1-Q1: time of a step by batch. */
export const latency = (rows) => (c) => {
  const at = (key) => rows.map((r) => [r.batch, r[key] * 1e3])
  return {
    grid: GRID,
    legend: { ...legend, data: ['detailed', 'chalk', 'compute', 'weights', 'KV cache'] },
    tooltip: {
      trigger: 'axis',
      axisPointer: pointer,
      formatter: ([{ value }]) => {
        const r = rowAt(rows, value[0])
        return tip(`batch ${whole(r.batch)}`, [
          ['detailed', fmt(r.step_s, 's'), c.ink],
          ['p10 – p90', range(r.step_p10_s, r.step_p90_s, 's')],
          ['chalk', fmt(r.chalk_step_s, 's'), c.grey],
          ['compute', fmt(r.chalk_compute_s, 's'), c.vermillion],
          ['weights', fmt(r.chalk_weight_s, 's'), c.blue],
          ['KV cache', fmt(r.chalk_state_s, 's'), c.green],
          ['bound by', r.bound_by],
          ['', fitsWords(r)],
        ])
      },
    },
    xAxis: batchAxis(rows),
    yAxis: axis({ name: 'time of a step', unit: 'ms', type: 'log', gap: 44, min: floorOf(rows, 'chalk_weight_s', 1e3), format: short }),
    series: [
      band('p10 – p90', at('step_p10_s'), at('step_p90_s'), c.sky),
      line('chalk', at('chalk_step_s'), c.grey, { width: 4, z: 2 }),
      line('compute', at('chalk_compute_s'), c.vermillion, { width: 1.5, dash: 'dashed' }),
      line('weights', at('chalk_weight_s'), c.blue, { width: 1.5, dash: 'dashed' }),
      line('KV cache', at('chalk_state_s'), c.green, { width: 1.5, dash: 'dashed' }),
      ...detailed(rows, (r) => [r.batch, r.step_s * 1e3], c, {
        markArea: regions(rows, 'batch', 'bound_by', limitColour),
      }),
    ],
  }
}

/** A decade below the flat line is enough: the lines through the origin go down for ever. */
const floorOf = (rows, key, factor) => 10 ** (Math.floor(Math.log10(Math.min(...rows.map((row) => row[key])) * factor)) - 1)

/** C1-Q2: cost of a token by batch. */
export const cost = (rows) => (c) => {
  const at = (key) => rows.map((r) => [r.batch, costOf(r, r[key])])
  const least = Math.min(...rows.map((r) => Math.max(costOf(r, r.chalk_compute_s), costOf(r, r.chalk_state_s))))
  return {
    grid: GRID,
    legend: { ...legend, data: ['detailed', 'chalk', 'compute', 'weights', 'KV cache'] },
    tooltip: {
      trigger: 'axis',
      axisPointer: pointer,
      formatter: ([{ value }]) => {
        const r = rowAt(rows, value[0])
        const usd = (key) => fmt(costOf(r, r[key]), 'USD/Mtok')
        return tip(`batch ${whole(r.batch)}`, [
          ['detailed', fmt(r.usd_per_mtok, 'USD/Mtok'), c.ink],
          ['p10 – p90', range(costOf(r, r.step_p10_s), costOf(r, r.step_p90_s), 'USD/Mtok')],
          ['chalk', usd('chalk_step_s'), c.grey],
          ['compute', usd('chalk_compute_s'), c.vermillion],
          ['weights', usd('chalk_weight_s'), c.blue],
          ['KV cache', usd('chalk_state_s'), c.green],
          ['', fitsWords(r)],
        ])
      },
    },
    xAxis: batchAxis(rows),
    yAxis: axis({ name: 'cost', unit: 'USD/Mtok', type: 'log', gap: 44, min: 10 ** Math.floor(Math.log10(least / 1.5)), format: short }),
    series: [
      band('p10 – p90', at('step_p10_s'), at('step_p90_s'), c.sky),
      line('chalk', at('chalk_step_s'), c.grey, { width: 4, z: 2 }),
      line('compute', at('chalk_compute_s'), c.vermillion, { width: 1.5, dash: 'dashed' }),
      line('weights', at('chalk_weight_s'), c.blue, { width: 1.5, dash: 'dashed' }),
      line('KV cache', at('chalk_state_s'), c.green, { width: 1.5, dash: 'dashed' }),
      ...detailed(rows, (r) => [r.batch, r.usd_per_mtok], c, {
        markArea: regions(rows, 'batch', 'bound_by', limitColour),
      }),
    ],
  }
}

/** C1-Q3: what speed costs; the batch runs along the line. */
export const frontier = (rows) => (c) => {
  const board = rows.map((r) => [1 / r.chalk_step_s, costOf(r, r.chalk_step_s), r.batch])
  const edge = (key) => rows.map((r) => [r.tokens_per_s_per_user * (r.step_s / r[key]), costOf(r, r[key])])
  return {
    grid: { ...GRID, top: 34 },
    legend: { ...legend, data: ['detailed', 'chalk'] },
    tooltip: {
      trigger: 'item',
      formatter: ({ seriesName, value: [speed, usd, batch] }) =>
        tip(`batch ${whole(batch)}, ${seriesName}`, [
          ['speed', fmt(speed, 'tokens/s per user')],
          ['cost', fmt(usd, 'USD/Mtok')],
          ['time per token', fmt(1 / speed, 's')],
        ]),
    },
    xAxis: axis({ name: 'speed', unit: 'tokens/s per user', min: 0, format: short }),
    yAxis: axis({ name: 'cost', unit: 'USD/Mtok', type: 'log', gap: 44, format: short }),
    series: [
      band('p10 – p90', edge('step_p10_s'), edge('step_p90_s'), c.sky),
      line('chalk', board, c.grey, { width: 4, z: 2, showSymbol: true, symbolSize: 5, encode: { x: 0, y: 1 } }),
      ...detailed(rows, (r) => [r.tokens_per_s_per_user, r.usd_per_mtok, r.batch], c, { showSymbol: true }),
    ],
  }
}

/** C1-Q4: below, at and above the balance context. */
export const slopes = (rows) => (c) => {
  const contexts = [...new Set(rows.map((r) => r.context))].sort((a, b) => a - b)
  const colours = [c.sky, c.ink, c.green]
  const names = contexts.map((context, i) => `${tokens(context)}${['', ' = L*', ''][i] ?? ''}`)
  const of = (context) => rows.filter((r) => r.context === context)
  return {
    grid: { ...GRID, left: 58, top: 34 },
    legend: { ...legend, data: [...names, 'compute'] },
    tooltip: {
      trigger: 'axis',
      axisPointer: pointer,
      formatter: (found) =>
        tip(`batch ${whole(found[0].value[0])}`, found.map(({ seriesName, value, color }) => [seriesName, fmt(value[1] / 1e3, 's'), color])),
    },
    xAxis: axis({ name: 'batch', unit: 'sequences', min: 0, format: short }),
    yAxis: axis({ name: 'time of a step', unit: 'ms', gap: 40, min: 0, format: short }),
    series: [
      ...contexts.map((context, i) => line(names[i], of(context).map((r) => [r.batch, r.chalk_step_s * 1e3]), colours[i], { width: 2.5 })), // the board
      ...contexts.map((context, i) => line(`${names[i]}, detailed`, of(context).map((r) => [r.batch, r.step_s * 1e3]), colours[i], { width: 1.5, dash: 'dotted' })),
      line('compute', of(contexts[0]).map((r) => [r.batch, r.chalk_compute_s * 1e3]), c.vermillion, { width: 1.5, dash: 'dashed' }),
    ],
  }
}

/** C1-Q5: the share of the arithmetic that is used, by context. */
export const utilisation = (rows) => (c) => {
  const shares = rows.map((r) => ({ ...boardShares(r), context: r.context }))
  const at = (key) => shares.map((share) => [share.context, share[key] * 100])
  const edge = (key) => rows.map((r) => [r.context, (r.mfu * r.step_s * 100) / r[key]])
  const batch = `batch ${whole(rows[0].batch)}`
  return {
    grid: { ...GRID, left: 54 },
    legend: { ...legend, data: ['detailed', 'chalk', 'chalk, any batch', 'chalk, √L read'] },
    tooltip: {
      trigger: 'axis',
      axisPointer: pointer,
      formatter: ([{ value }]) => {
        const r = rowAt(rows, value[0], 'context')
        const share = boardShares(r)
        return tip(`context ${tokens(r.context)}, ${batch}`, [
          ['detailed', fmt(r.mfu, '%'), c.ink],
          ['p10 – p90', range((r.mfu * r.step_s) / r.step_p90_s, (r.mfu * r.step_s) / r.step_p10_s, '%')],
          ['chalk', fmt(share.here, '%'), c.grey],
          ['chalk, any batch', fmt(share.limit, '%'), c.blue],
          ['chalk, √L read', fmt(share.sparse, '%'), c.purple],
          ['bound by', r.bound_by],
          ['', fitsWords(r)],
        ])
      },
    },
    xAxis: contextAxis({ min: rows[0].context, max: rows.at(-1).context }),
    yAxis: axis({ name: 'MFU', unit: '%', min: 0, max: 100, gap: 36, format: (value) => digits(value) }),
    series: [
      band('p10 – p90', edge('step_p90_s'), edge('step_p10_s'), c.sky),
      line('chalk', at('here'), c.grey, { width: 4, z: 2 }),
      line('chalk, any batch', at('limit'), c.blue, { width: 1.5, dash: 'dashed' }),
      line('chalk, √L read', at('sparse'), c.purple, { width: 1.5, dash: 'dotted' }),
      ...detailed(rows, (r) => [r.context, r.mfu * 100], c, {
        markArea: regions(rows, 'context', 'bound_by', limitColour),
      }),
    ],
  }
}
