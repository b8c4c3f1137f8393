// Charts of the pipeline study from its answer.
import { fmt } from '../../lib/units.js'
import { LEGEND, piece } from '../../ui/bars.js'
import { axis, GRID, line, short, tip } from '../../ui/charts.js'

const GB = 1e9
const shadow = { trigger: 'axis', axisPointer: { type: 'shadow' } }
const stagesAxis = (rows) => axis({ type: 'category', name: 'stages P', data: rows.map((row) => String(row.stages)), axisTick: { show: false } })

/** C4-Q1, Q2: memory of one device by stages; the cache stays as long as the batch grows with P. */
export const memory = (answer) => (c) => {
  const { rows, request } = answer
  const runtime = request.runtime_bytes_per_device
  const usable = request.usable_bytes_per_device
  const fixed = (row) => row.weight_bytes_per_device + row.kv_bytes_per_device_batch_fixed + runtime
  const at = (of) => rows.map((row, i) => [i, of(row) / GB])
  const stack = (name, of, colour) => piece(name, at(of), colour, c, { stack: 'memory', z: 2 })
  return {
    grid: { ...GRID, top: 50 },
    legend: { ...LEGEND, data: ['weights', 'KV cache of M·b', 'runtime', 'sum if the batch stayed at b'] },
    tooltip: {
      ...shadow,
      formatter: ([{ dataIndex: i }]) =>
        tip(`${rows[i].stages} stages of ${request.devices_per_stage} devices`, [
          ['weights', fmt(rows[i].weight_bytes_per_device, 'bytes'), c.blue],
          ['KV cache of M·b', fmt(rows[i].kv_bytes_per_device, 'bytes'), c.green],
          ['KV cache of b', fmt(rows[i].kv_bytes_per_device_batch_fixed, 'bytes')],
          ['runtime', fmt(runtime, 'bytes'), c.grey],
          ['usable', fmt(usable, 'bytes')],
          ['', rows[i].fits ? null : 'does not fit'],
        ]),
    },
    xAxis: stagesAxis(rows),
    yAxis: axis({ name: 'memory per device', unit: 'GB', gap: 42, min: 0, format: short, max: (value) => Math.ceil((Math.max(value.max, usable / GB) * 1.08) / 10) * 10 }),
    series: [
      stack('weights', (row) => row.weight_bytes_per_device, c.blue),
      stack('KV cache of M·b', (row) => row.kv_bytes_per_device, c.green),
      {
        ...stack('runtime', () => runtime, c.grey),
        markLine: {
          silent: true, symbol: 'none', lineStyle: { color: c.vermillion, type: 'solid', width: 1.5 },
          label: { formatter: `usable ${fmt(usable, 'bytes')}`, position: 'insideEndTop', color: c.ink, fontSize: 11 },
          data: [{ yAxis: usable / GB }],
        },
      },
      line('sum if the batch stayed at b', at(fixed), c.ink, { dash: 'dashed', width: 1.5, showSymbol: true, z: 5 }),
    ],
  }
}

const hops = (row) => (row.stages > 1 ? row.stages * row.hop_s : 0)

/** A token's time in all stages: what they do for M micro-batches in a period, over M. */
const work = (row) => ((1 - row.idle_share) * row.stages * row.tpot_s) / row.micro_batches
const waits = (row) => Math.max(0, row.tpot_s - work(row) - hops(row))

/** Time per token by stages: they work on it, it waits for its turn, it moves between them. */
export const latency = (answer) => (c) => {
  const { rows } = answer
  const stack = (name, of, colour) => piece(name, rows.map((row) => of(row) * 1e3), colour, c, { stack: 'time' })
  return {
    grid: { ...GRID, top: 34 },
    legend: LEGEND,
    tooltip: {
      ...shadow,
      formatter: ([{ dataIndex: i }]) =>
        tip(`${rows[i].stages} stages`, [
          ['per token', fmt(rows[i].tpot_s, 's')],
          ['in the stages', fmt(work(rows[i]), 's'), c.blue],
          ['waiting for its turn', fmt(waits(rows[i]), 's'), c.orange],
          ['hops between stages', fmt(hops(rows[i]), 's'), c.purple],
          ['per device', fmt(rows[i].tokens_per_s_per_device, 'tokens/s')],
        ]),
    },
    xAxis: stagesAxis(rows),
    yAxis: axis({ name: 'time per token', unit: 'ms', gap: 42, min: 0, format: short }),
    series: [
      stack('in the stages', work, c.blue),
      stack('waiting for its turn', waits, c.orange),
      stack('hops between stages', hops, c.purple),
    ],
  }
}

/** Time of every stage of the deepest pipeline: layers do not divide evenly, the ends do more. */
export const stages = (answer) => (c) => {
  const rows = answer.stages
  const mean = rows.reduce((sum, row) => sum + row.time_s, 0) / rows.length
  const slowest = Math.max(...rows.map((row) => row.time_s))
  return {
    grid: { ...GRID, top: 34 },
    legend: { show: false },
    tooltip: {
      ...shadow,
      formatter: ([{ dataIndex: i }]) => tip(`stage ${i + 1}`, [['one micro-batch', fmt(rows[i].time_s, 's')], ['layers', rows[i].layers]]),
    },
    xAxis: axis({ type: 'category', name: 'stage', data: rows.map((row) => String(row.stage + 1)), axisTick: { show: false } }),
    yAxis: axis({ name: 'time of one micro-batch', unit: 'ms', gap: 42, min: 0, format: short }),
    series: [
      piece('stage', rows.map((row) => ({ value: row.time_s * 1e3, itemStyle: { color: row.time_s === slowest ? c.orange : c.blue } })), c.blue, c, {
        markLine: {
          silent: true, symbol: 'none', lineStyle: { color: c.ink, type: 'dotted' },
          label: { formatter: `mean ${fmt(mean, 's')}`, position: 'insideStartTop', color: c.ink, fontSize: 11 },
          data: [{ yAxis: mean * 1e3 }],
        },
      }),
    ],
  }
}
