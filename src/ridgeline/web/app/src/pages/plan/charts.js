// Charts of a plan from its answer.
import { limitColour } from '../../lib/theme.js'
import { digits, fmt, scaleOf } from '../../lib/units.js'
import { INSIDE, LEGEND, piece } from '../../ui/bars.js'
import { axis, escaped, GRID, tip } from '../../ui/charts.js'
import { howText, named } from './words.js'

const STAR = 'path://M0,-10L2.9,-3.1L10,-3.1L4.3,1.2L6.2,8.1L0,4L-6.2,8.1L-4.3,1.2L-10,-3.1L-2.9,-3.1Z'
const VALUES = {
  tokens_per_s_per_device: { name: 'throughput', unit: 'output tokens/s per device' },
  usd_per_mtok: { name: 'cost', unit: 'USD per 10⁶ output tokens' },
}
/** Labels of a log axis that ends between its ticks. */
const INNER = { formatter: (value) => digits(value), showMinLabel: false, showMaxLabel: false }
const CAPTIONS = { mixed: 'prefill and decode together', pools: 'separate pools' }

function describe({ title, option: o }) {
  const lines = [
    ['batch', digits(o.batch)],
    ['per user', fmt(o.tokens_per_s_per_user, 'tokens/s')],
    ['per device', fmt(o.tokens_per_s_per_device, 'tokens/s')],
    ['cost', o.usd_per_mtok === null ? null : fmt(o.usd_per_mtok, 'USD/Mtok')],
    ['first token', fmt(o.ttft_s, 's')],
    ['per token', fmt(o.tpot_s, 's')],
  ]
  return tip(title, lines).replace('</b>', `</b><div class="how">${escaped(howText(o))}</div>`)
}

/** What speed per user costs, in throughput or money; every mark can be picked by its name. */
export const front = (answer, key, chosen) => (c) => {
  const marks = named(answer)
  const at = (mark) => ({ value: [mark.option.tokens_per_s_per_user, mark.option[key]], name: mark.name, mark })
  const of = (test) => marks.filter(test).map(at)
  const scatter = (name, data, rest) => ({
    type: 'scatter', name, data, symbolSize: 10, cursor: 'pointer', emphasis: { disabled: true },
    itemStyle: { borderColor: c.paper, borderWidth: 1 }, ...rest,
  })
  const onFront = (kind) => of(({ name, option }) => name[0] === 'f' && option.kind === kind)
  const { tpot_s: target } = answer.request
  const speeds = marks.map(({ option }) => option.tokens_per_s_per_user)
  const values = marks.map(({ option }) => option[key])
  const [low, high] = [Math.min(...speeds) / 1.25, Math.max(...speeds) * 1.25]
  // the side of the target that is too slow
  const slow = target && 1 / target > low && {
    silent: true,
    itemStyle: { color: c.grey, opacity: 0.12 },
    label: { position: 'insideBottomLeft', color: c.muted, fontSize: 11 },
    data: [[{ xAxis: low, name: `slower than ${fmt(target, 's')} per token` }, { xAxis: Math.min(high, 1 / target) }]],
  }
  const line = {
    type: 'line', name: 'front', silent: true, showSymbol: false, color: c.grey, lineStyle: { width: 1.5 }, z: 1, tooltip: { show: false },
    data: answer.front.map((option) => [option.tokens_per_s_per_user, option[key]]),
    markArea: slow,
  }
  const ring = scatter('chosen', of(({ name }) => name === chosen), {
    silent: true, symbol: 'circle', symbolSize: 26, z: 6, itemStyle: { color: 'transparent', borderColor: c.ink, borderWidth: 2.5 }, tooltip: { show: false },
  })
  const { name, unit } = VALUES[key]
  return {
    grid: { ...GRID, top: 34, left: 66 },
    legend: { ...LEGEND, data: [CAPTIONS.mixed, CAPTIONS.pools, 'runners-up', 'winner'] },
    tooltip: { trigger: 'item', formatter: ({ data }) => describe(data.mark) },
    xAxis: axis({ name: 'speed', unit: 'output tokens/s per user', type: 'log', logBase: 2, min: low, max: high, axisLabel: INNER }),
    yAxis: axis({ name, unit, type: 'log', logBase: 2, gap: 44, min: Math.min(...values) / 1.3, max: Math.max(...values) * 1.3, axisLabel: INNER }),
    series: [
      line,
      scatter(CAPTIONS.mixed, onFront('mixed'), { color: c.blue, symbol: 'circle', z: 2 }),
      scatter(CAPTIONS.pools, onFront('pools'), { color: c.green, symbol: 'rect', z: 2 }),
      scatter('runners-up', of(({ name: n }) => n[0] === 'r'), { color: c.orange, symbol: 'diamond', symbolSize: 12, z: 3 }),
      scatter('winner', of(({ name: n }) => n === 'winner'), { color: c.vermillion, symbol: STAR, symbolSize: 20, z: 4 }),
      ring,
    ],
  }
}

/** Device time per output token by limit: the chosen point against the winner, or the winner against the runner-up. */
export const compared = (bars) => (c) => {
  const limits = [...new Set(bars.flatMap(({ point }) => Object.keys(point.device_s_per_token)))]
  const longest = Math.max(...bars.map(({ point }) => Object.values(point.device_s_per_token).reduce((total, time) => total + time, 0)))
  const { factor, unit } = scaleOf([longest], 's')
  return stacked(c, {
    unit: `${unit} per output token`,
    name: 'device time',
    bars: bars.map(({ title }) => title),
    pieces: limits.map((limit) => ({ name: limit, colour: limit.startsWith('prefill') ? c.sky : limitColour(limit), values: bars.map(({ point }) => (point.device_s_per_token[limit] ?? 0) / factor) })),
    format: (value) => fmt(value * factor, 's'),
  })
}

export const PHASES = { decode: 'decode step', mixed: 'with a prompt', prefill: 'prefill' }

/** What the steps of a point spend their time on, as shares. */
export const steps = (point) => (c) => {
  const limits = [...new Set(point.steps.flatMap(({ limits_s: limit }) => Object.keys(limit)))]
  return stacked(c, {
    name: 'share of the step',
    unit: '%',
    max: 100,
    bars: point.steps.map((step) => `${PHASES[step.phase]}\n${fmt(step.step_s, 's')}`),
    pieces: limits.map((limit) => ({
      name: limit, colour: limitColour(limit), values: point.steps.map((step) => (100 * (step.limits_s[limit] ?? 0)) / step.step_s),
    })),
    format: (value) => fmt(value / 100, '%'),
  })
}

const MEMORY = { weights: 'blue', 'kv cache': 'green', activations: 'yellow', runtime: 'grey', drafts: 'sky' }

export const memory = (point) => (c) => {
  const used = Object.values(point.memory_bytes).reduce((total, bytes) => total + bytes, 0)
  const pieces = Object.entries(point.memory_bytes).map(([name, bytes]) => ({ name, colour: c[MEMORY[name] ?? 'grey'], values: [bytes / 1e9] }))
  return stacked(c, {
    name: 'memory of one device',
    unit: 'GB',
    max: point.capacity_bytes / 1e9,
    bars: [`${fmt(used, 'bytes')} of\n${fmt(point.capacity_bytes, 'bytes')}`],
    pieces,
    format: (value) => fmt(value * 1e9, 'bytes'),
  })
}

function stacked(c, { name, unit, max, bars, pieces, format }) {
  const total = Math.max(...bars.map((_, i) => pieces.reduce((sum, { values }) => sum + values[i], 0)))
  const most = max ?? total
  return {
    grid: { left: 104, right: 20, top: 34, bottom: 44 },
    legend: LEGEND,
    tooltip: {
      trigger: 'axis',
      axisPointer: { type: 'shadow' },
      formatter: ([{ dataIndex: i }]) => tip(bars[i].replace('\n', ', '), pieces.filter(({ values }) => values[i] > 0).map((p) => [p.name, format(p.values[i]), p.colour])),
    },
    xAxis: axis({ name, unit, min: 0, max, axisLabel: { formatter: (value) => digits(value), showMaxLabel: max === 100 || max === undefined } }),
    yAxis: { type: 'category', inverse: true, data: bars, axisTick: { show: false }, axisLabel: { lineHeight: 15, width: 96, overflow: 'break' } },
    series: pieces.map((p) =>
      piece(p.name, p.values.map((value) => ({ value, label: { show: value / most > 0.13 } })), p.colour, c, {
        stack: 'all', barWidth: '66%', label: { ...INSIDE, formatter: ({ value }) => digits(value, 2) },
      }),
    ),
  }
}
