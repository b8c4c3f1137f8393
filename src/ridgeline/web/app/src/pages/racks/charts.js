// Charts of the rack study from its answer.
import { digits, fmt } from '../../lib/units.js'
import { INSIDE, LEGEND, piece } from '../../ui/bars.js'
import { axis, GRID, line, short, tip } from '../../ui/charts.js'

const ms = (seconds) => seconds * 1e3
export const rowsAt = (cliff, ratio) => cliff.filter((row) => row.ratio === ratio)
const ratiosOf = (cliff) => [...new Set(cliff.map((row) => row.ratio))].sort((a, b) => a - b)

/** C2-Q2: time of the exchange by racks, a line for each ratio; the chosen one with its bounds. */
export const cliff = (answer, ratio) => (c) => {
  const ratios = ratiosOf(answer.cliff)
  const chosen = rowsAt(answer.cliff, ratio)
  const others = [c.sky, c.green, c.purple, c.orange, c.yellow, c.blue]
  const points = (rows, key) => rows.map((row) => [row.racks, ms(row[key])])
  const name = (r) => `ratio ${digits(r)}`
  return {
    grid: { ...GRID, right: 24 },
    legend: { ...LEGEND, data: [...ratios.map(name), 'chalk', 'bound, one copy per rack'] },
    tooltip: {
      trigger: 'axis',
      axisPointer: { type: 'line', lineStyle: { type: 'dotted' } },
      formatter: (found) =>
        tip(`${found[0].value[0]} racks`, found.map(({ seriesName, value, color }) => [seriesName, fmt(value[1] / 1e3, 's'), color])),
    },
    xAxis: axis({ name: 'racks', min: chosen[0].racks, max: Math.max(2, chosen.at(-1).racks), minInterval: 1 }),
    yAxis: axis({ name: 'all-to-all of one step', unit: 'ms', gap: 42, min: 0, format: short }),
    series: [
      line('chalk', points(chosen, 'time_chalk_s'), c.grey, { width: 4, z: 2 }),
      line('bound, one copy per rack', points(chosen, 'time_ideal_once_per_rack_s'), c.muted, { dash: 'dotted' }),
      ...ratios.map((r, i) =>
        line(name(r), points(rowsAt(answer.cliff, r), 'time_detailed_s'), r === ratio ? c.vermillion : others[i % others.length], {
          width: r === ratio ? 3.5 : 1.5, z: r === ratio ? 5 : 3, showSymbol: true,
        }),
      ),
    ],
  }
}

/** C2-Q1: bytes from rack to rack; the colours are those of the networks in the drawing. */
export const traffic = (answer) => (c) => {
  const blocks = answer.rack_to_rack_dispatch_bytes_per_layer
  const names = blocks.map((_, i) => String(i + 1))
  const most = Math.max(...blocks.flat())
  const where = (from, to) => (from === to ? 'stays' : 'crosses')
  const data = blocks.flatMap((row, from) =>
    row.map((bytes, to) => ({
      value: [to, from, bytes],
      itemStyle: { color: from === to ? c.blue : c.vermillion, opacity: 0.25 + 0.75 * (bytes / most), borderColor: c.paper, borderWidth: 2 },
    })),
  )
  return {
    grid: { left: 48, right: 12, top: 8, bottom: 46 },
    tooltip: {
      formatter: ({ value: [to, from, bytes] }) => tip(`rack ${from + 1} to rack ${to + 1}`, [['per layer', fmt(bytes, 'bytes')], ['network', from === to ? 'scale-up' : 'scale-out']]),
    },
    xAxis: axis({ type: 'category', name: 'receiving rack', data: names, axisTick: { show: false } }),
    yAxis: axis({ type: 'category', name: 'sending rack', gap: 28, data: names, inverse: true, axisTick: { show: false } }),
    series: [
      {
        type: 'heatmap',
        data,
        label: { show: blocks.length <= 4, ...INSIDE, lineHeight: 16, formatter: ({ value: [to, from, bytes] }) => `${fmt(bytes, 'bytes')}\n${where(from, to)}` },
        emphasis: { disabled: true },
      },
    ],
  }
}

/** C2-Q4: the largest model beside its caches, by scale-up domain. */
export const domains = (answer) => (c) => {
  const rows = answer.domains
  const names = rows.map((row) => `${row.cluster}\n${row.devices} devices`)
  const widths = [['bf16', c.blue], ['fp8', c.orange], ['fp4', c.green]]
  return {
    grid: { ...GRID, top: 34, bottom: 64 },
    legend: LEGEND,
    tooltip: {
      trigger: 'axis',
      axisPointer: { type: 'shadow' },
      formatter: ([{ dataIndex: i }]) =>
        tip(rows[i].cluster, [
          ...widths.map(([width, colour]) => [`${width} weights`, rows[i].kv_fits ? fmt(rows[i][`params_${width}`], 'parameters') : 'none: the caches fill it', colour]),
          ['memory', fmt(rows[i].capacity_bytes, 'bytes')],
          ['kept for caches', fmt(rows[i].kv_reserve_bytes, 'bytes')],
        ]),
    },
    xAxis: axis({ type: 'category', name: 'scale-up domain', gap: 44, data: names, axisLabel: { interval: 0, fontSize: 11, lineHeight: 14, hideOverlap: true } }),
    yAxis: axis({ name: 'largest model', unit: '10⁹ parameters', type: 'log', gap: 42, min: 100, format: short }),
    series: widths.map(([width, colour]) =>
      piece(`${width} weights`, rows.map((row) => (row.kv_fits ? row[`params_${width}`] / 1e9 : null)), colour, c)),
  }
}

/** NVL72 against nine boards of 8; a torus against a switch of the same links. */
export const networks = (answer) => (c) => {
  const rows = answer.topologies
  const most = Math.max(...rows.map((row) => row.time_detailed_s))
  const bar = (name, key, colour) =>
    piece(name, rows.map((row) => ms(row[key])), colour, c, {
      label: { show: true, position: 'right', color: c.ink, fontSize: 11, formatter: ({ value }) => fmt(value / 1e3, 's') },
    })
  return {
    grid: { left: 150, right: 18, top: 34, bottom: 46 },
    legend: LEGEND,
    tooltip: {
      trigger: 'axis',
      axisPointer: { type: 'shadow' },
      formatter: ([{ dataIndex: i }]) =>
        tip(rows[i].network, [
          ['detailed', fmt(rows[i].time_detailed_s, 's'), c.vermillion],
          ['bound', fmt(rows[i].time_ideal_s, 's'), c.grey],
          ['algorithm', rows[i].algorithm],
        ]),
    },
    xAxis: axis({ name: 'all-to-all of one step', unit: 'ms', min: 0, max: ms(most) * 1.3, axisLabel: { formatter: short, showMaxLabel: false } }),
    yAxis: {
      type: 'category', inverse: true, axisTick: { show: false },
      data: rows.map((row) => row.network), axisLabel: { width: 138, overflow: 'break', fontSize: 11, lineHeight: 13 },
    },
    series: [bar('detailed', 'time_detailed_s', c.vermillion), bar('bound', 'time_ideal_s', c.grey)],
  }
}
