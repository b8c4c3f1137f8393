// Pieces of chart options that several pages use.
import { fmt, tokens } from '../lib/units.js'

const ESCAPES = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
export const escaped = (text) => String(text).replace(/[&<>"]/g, (char) => ESCAPES[char])

/** Room around the plot for both axis names and a legend above. */
export const GRID = { left: 62, right: 18, top: 50, bottom: 46 }

/** An axis with its name and unit: axis({name: 'batch', unit: 'sequences', type: 'log'}). */
export function axis({ name, unit, type = 'value', gap = 28, format, ...rest }) {
  return {
    type,
    name: unit ? `${name} (${unit})` : name,
    nameLocation: 'middle',
    nameGap: gap,
    axisLabel: format ? { formatter: format } : {},
    ...rest,
  }
}

export const short = (value) =>
  value >= 1e6 ? `${value / 1e6}M` : value >= 1e3 ? `${value / 1e3}k` : String(Number(value.toPrecision(3)))

/** Token counts in powers of two, on a log axis with base 2. */
export const contextAxis = (rest) =>
  axis({ name: 'context', unit: 'tokens', type: 'log', logBase: 2, interval: 2, format: tokens, ...rest })

/** A line: points are [x, y]; points without a y are left out. */
export const line = (name, points, colour, { width = 2, dash, z = 3, ...rest } = {}) => ({
  type: 'line',
  name,
  z,
  showSymbol: false,
  symbol: 'circle',
  symbolSize: 6,
  color: colour,
  lineStyle: { color: colour, width, type: dash ?? 'solid' },
  emphasis: { disabled: true },
  data: points.filter(([, y]) => y !== null && y !== undefined && Number.isFinite(y)),
  ...rest,
})

/** A filled band between two lines of points [x, y], on any axes. */
export function band(name, lower, upper, colour, { opacity = 0.22 } = {}) {
  const ring = [...upper, ...[...lower].reverse()].filter((point) => point.every(Number.isFinite))
  return {
    type: 'custom',
    name,
    z: 1,
    color: colour,
    silent: true,
    clip: true,
    tooltip: { show: false },
    encode: { x: 0, y: 1 },
    data: ring.length ? [ring[0]] : [],
    renderItem: (_, api) => ({
      type: 'polygon',
      shape: { points: ring.map((point) => api.coord(point)) },
      style: { fill: colour, opacity },
    }),
  }
}

/** Vertical stripes that say where what binds: runs of the same word along x (a log axis). */
export function regions(rows, x, word, colourOf, opacity = 0.1) {
  const runs = []
  for (const row of rows) {
    const last = runs.at(-1)
    if (last && last.word === row[word]) last.to = row[x]
    else runs.push({ word: row[word], from: row[x], to: row[x] })
  }
  const first = rows[0]?.[x]
  const end = rows.at(-1)?.[x]
  const width = Math.log(end / first)
  return {
    silent: true,
    data: runs.map((run, i) => {
      const from = i ? Math.sqrt(runs[i - 1].to * run.from) : run.from
      const to = i < runs.length - 1 ? Math.sqrt(run.to * runs[i + 1].from) : run.to
      const wide = Math.log(to / from) / width > 0.2
      return [
        {
          xAxis: from,
          name: run.word,
          itemStyle: { color: colourOf(run.word), opacity },
          label: { show: wide, position: 'top', distance: 3, fontSize: 11, color: colourOf(run.word) },
        },
        { xAxis: to },
      ]
    }),
  }
}

/** Lines of a tooltip: [name, value text, colour?]. */
export function tip(head, lines) {
  const rows = lines
    .filter(([, value]) => value !== null && value !== undefined)
    .map(
      ([name, value, colour]) =>
        `<tr><td>${colour ? `<i class="dot" style="background:${colour}"></i>` : ''}${escaped(name)}</td><td class="number">${escaped(value)}</td></tr>`,
    )
  return `<b>${escaped(head)}</b><table class="tip">${rows.join('')}</table>`
}

/** "18.9 ms – 23.2 ms", or nothing where there is no band. */
export const range = (low, high, unit) =>
  low === null || high === null || low === undefined ? null : `${fmt(low, unit)} – ${fmt(high, unit)}`
