// One step taken apart: four bars on one axis of time, and the parts as a table.
import { byComponent, byLimit, limitWords } from '../../lib/limits.js'
import { limitColour } from '../../lib/theme.js'
import { fmt } from '../../lib/units.js'
import { axis, tip } from '../../ui/charts.js'

const BARS = ['by part', 'by what binds', 'chalk: memory', 'chalk: compute']
const COMPONENTS = {
  attention: 'green', mixer: 'green', ffn: 'blue', expert: 'blue', experts: 'blue', shared_expert: 'sky', router: 'yellow',
  network: 'purple', elementwise: 'yellow', embedding: 'sky', head: 'orange', engine: 'grey', host: 'vermillion',
}

/** Every piece of every bar: {bar, name, time_s, share, colour}. */
export function piecesOf(row, c) {
  const piece = (bar, [name, time_s], colour) => ({ bar: BARS[bar], name, time_s, share: time_s / row.step_s, colour })
  return [
    ...byComponent(row.parts).map((entry) => piece(0, entry, c[COMPONENTS[entry[0]] ?? 'grey'])),
    ...byLimit(row.parts).map((entry) => piece(1, entry, limitColour(entry[0]))),
    piece(2, ['weights', row.chalk_weight_s], c.blue),
    piece(2, ['KV cache', row.chalk_state_s], c.green),
    piece(3, ['compute', row.chalk_compute_s], c.vermillion),
  ].filter(({ time_s }) => time_s > 0)
}

export const PIECE_COLUMNS = [
  { key: 'bar', label: 'bar' },
  { key: 'name', label: 'piece' },
  { key: 'time_s', label: 'time', unit: 's' },
  { key: 'share', label: 'share of the step', unit: '%' },
]

export const breakdown = (row) => (c) => {
  const pieces = piecesOf(row, c)
  const most = Math.max(...BARS.map((bar) => pieces.filter((piece) => piece.bar === bar).reduce((sum, { time_s }) => sum + time_s, 0)))
  return {
    grid: { left: 112, right: 18, top: 6, bottom: 44 },
    tooltip: {
      trigger: 'item',
      formatter: ({ data }) =>
        tip(data.piece.bar, [[data.piece.name, fmt(data.piece.time_s, 's'), data.piece.colour], ['of the step', fmt(data.piece.share, '%')]]),
    },
    xAxis: axis({ name: 'time', unit: 'ms', min: 0 }),
    yAxis: { type: 'category', inverse: true, data: BARS, axisTick: { show: false } },
    series: pieces.map((piece) => ({
      type: 'bar',
      name: piece.name,
      stack: 'step',
      barWidth: '68%',
      color: piece.colour,
      itemStyle: { borderColor: c.paper, borderWidth: 1 },
      emphasis: { disabled: true },
      label: {
        show: piece.time_s / most > 0.075,
        formatter: piece.name,
        fontSize: 12,
        width: 1, // replaced by layout: labels never leave their piece
        overflow: 'none',
        color: '#fff',
        textBorderColor: 'rgba(0,0,0,.55)',
        textBorderWidth: 2,
      },
      data: [{ value: [piece.time_s * 1e3, piece.bar], piece }],
    })),
  }
}

export const partRows = (row) =>
  [...row.parts]
    .sort((a, b) => b.time_s - a.time_s)
    .map((part) => ({ ...part, share: part.time_s / row.step_s, binds: limitWords(part.bound_by) }))

export const PART_COLUMNS = [
  { key: 'name', label: 'part' },
  { key: 'component', label: 'component' },
  { key: 'count', label: 'times' },
  { key: 'time_s', label: 'time', unit: 's' },
  { key: 'share', label: 'share', unit: '%' },
  { key: 'binds', label: 'bound by' },
  { key: 'flop', label: 'arithmetic', unit: 'flop' },
  { key: 'bytes', label: 'traffic', unit: 'bytes' },
  { key: 'algorithm', label: 'algorithm' },
]
