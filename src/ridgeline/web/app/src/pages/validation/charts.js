// Predicted against published: the scatter, and the ratio by family.
import { digits, fmt } from '../../lib/units.js'
import { axis, tip } from '../../ui/charts.js'
import { AREAS, areaOf } from './areas.js'

const number = (value, unit) => `${digits(value)} ${unit}`
const words = (row) =>
  tip(row.id, [
    [row.model || row.family, ''], ['on', row.chip], ['measures', row.metric.replaceAll('_', ' ')], ['published', number(row.published, row.unit)], ['predicted', number(row.predicted, row.unit)],
    ['error', `${row.error > 0 ? '+' : ''}${fmt(row.error, '%')}`], ['bound by', row.bound],
  ])

const pretty = (value) => {
  const power = Math.round(Math.log10(value))
  return power > 5 || power < -2 ? `1e${power}` : digits(value)
}

export function scatter(rows) {
  const sizes = rows.flatMap(({ published, predicted }) => [published, predicted])
  const low = 10 ** Math.floor(Math.log10(Math.min(...sizes)))
  const high = 10 ** Math.ceil(Math.log10(Math.max(...sizes)))
  const interval = Math.log10(high / low) > 6 ? 2 : 1
  const diagonal = (name, factor, colour, type) => ({
    type: 'line', name, data: [[low, low * factor], [high, high * factor]], symbol: 'none', silent: true, color: colour, z: 1, clip: true, lineStyle: { color: colour, type, width: 1.2 }, tooltip: { show: false },
  })
  const shown = AREAS.filter(({ id }) => rows.some((row) => areaOf(row.family).id === id))
  return (c) => ({
    grid: { left: 66, right: 20, top: innerWidth < 600 ? 96 : 56, bottom: 46 },
    legend: { top: 0, left: 0, itemWidth: 16, data: [...shown.map(({ label }) => label), '1 : 1', 'factor 2'] },
    tooltip: { trigger: 'item', formatter: ({ data }) => (data.row ? words(data.row) : '') },
    xAxis: axis({ name: 'published, in the row’s own unit', type: 'log', min: low, max: high, interval, format: pretty }),
    yAxis: axis({ name: 'predicted', type: 'log', gap: 46, min: low, max: high, interval, format: pretty }),
    series: [
      diagonal('1 : 1', 1, c.ink, 'solid'),
      diagonal('factor 2', 2, c.muted, 'dashed'),
      { ...diagonal('factor 2', 0.5, c.muted, 'dashed') },
      ...shown.map(({ id, label, colour }) => ({
        type: 'scatter', name: label, color: c[colour], symbolSize: 7, itemStyle: { opacity: 0.75 },
        data: rows.filter((row) => areaOf(row.family).id === id).map((row) => ({ value: [row.published, row.predicted], row })),
      })),
    ],
  })
}

export function strips(rows, families, picked) {
  const names = families.map(({ family }) => family)
  const at = new Map(names.map((name, i) => [name, i]))
  const seen = {}
  return (c) => ({
    grid: { left: 128, right: 20, top: 12, bottom: 46 },
    tooltip: { trigger: 'item', formatter: ({ data }) => (data.row ? words(data.row) : '') },
    xAxis: axis({ name: 'predicted over published', type: 'log', min: 0.25, max: 4, logBase: 2, format: (v) => `${digits(v)}×`, axisLine: { onZero: false } }),
    yAxis: {
      type: 'value', inverse: true, min: -0.6, max: names.length - 0.4, interval: 1, splitLine: { show: false }, axisLine: { show: false }, axisTick: { show: false },
      axisLabel: { customValues: names.map((_, i) => i), formatter: (i) => names[i] ?? '', color: c.ink, fontSize: 12 },
    },
    series: [
      {
        type: 'scatter', name: 'rows', symbolSize: 6, itemStyle: { opacity: 0.7 }, silent: false,
        data: rows.map((row) => {
          const i = at.get(row.family)
          const turn = (seen[row.family] = (seen[row.family] ?? 0) + 1)
          const jitter = ((turn * 0.618) % 1) * 0.56 - 0.28
          return { value: [Math.min(Math.max(row.predicted / row.published, 0.26), 3.9), i + jitter], row, itemStyle: { color: c[areaOf(row.family).colour], opacity: picked && picked !== row.family ? 0.2 : 0.7 } }
        }),
        markLine: { silent: true, symbol: 'none', label: { show: false }, lineStyle: { color: c.ink, width: 1 }, data: [{ xAxis: 1 }] },
        markArea: { silent: true, itemStyle: { color: c.green, opacity: 0.09 }, data: [[{ xAxis: 1 / 1.2 }, { xAxis: 1.2 }]] },
      },
    ],
  })
}

export const ROW_COLUMNS = [
  { key: 'id', label: 'source and row' },
  { key: 'family', label: 'family' },
  { key: 'model', label: 'model' },
  { key: 'chip', label: 'device' },
  { key: 'metric', label: 'measures', format: (text) => text.replaceAll('_', ' ') },
  { key: 'published', label: 'published', format: (value, row) => number(value, row.unit) },
  { key: 'predicted', label: 'predicted', format: (value, row) => number(value, row.unit) },
  { key: 'error', label: 'error', format: (value) => `${value > 0 ? '+' : ''}${fmt(value, '%')}` },
  { key: 'bound', label: 'bound by' },
]
