// The value against one of its inputs, asked point by point.
import { useEffect, useMemo, useState } from 'preact/hooks'
import { ask } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { Choice } from '../../ui/controls.js'
import { Figure } from '../../ui/figure.js'
import { nameOf, rangeOf } from './names.js'
import { unitText } from './inputs.js'
import { digits } from '../../lib/units.js'

const POINTS = 25
const CALM_MS = 150

function grid(key, original) {
  const { min, max, log, integer } = rangeOf(key, original)
  const at = (i) => (log ? min * (max / min) ** (i / (POINTS - 1)) : min + ((max - min) * i) / (POINTS - 1))
  const values = Array.from({ length: POINTS }, (_, i) => (integer ? Math.round(at(i)) : Number(at(i).toPrecision(4))))
  return [...new Set([...values, original])].sort((a, b) => a - b)
}

/** Where a curve tells most: what the lecture varies, or else the first input. */
const PREFERRED = ['batch', 'context_tokens', 'stages', 'hold_s', 'racks', 'balance_ratio', 'active_params']

async function sweep(claim, index, edits, key, points, signal) {
  const one = (x) =>
    ask('chalk', { claim, value: index, inputs: { ...edits, [key]: x } }, { signal }).then(
      (answer) => ({ x, y: answer.computed }),
      (error) => {
        if (error.name === 'AbortError') throw error
        return null // no value there: a gap
      },
    )
  const found = []
  for (let i = 0; i < points.length; i += 5) found.push(...(await Promise.all(points.slice(i, i + 5).map(one))))
  return found.filter(Boolean)
}

export function Curve({ claim, index, value, edits, now }) {
  const keys = Object.entries(value.inputs).filter(([, v]) => typeof v === 'number').map(([k]) => k)
  const [chosen, setChosen] = useState(PREFERRED.find((key) => keys.includes(key)) ?? keys[0])
  const [rows, setRows] = useState(null)
  const others = Object.fromEntries(Object.entries(edits).filter(([key]) => key !== chosen))
  const question = JSON.stringify([claim, index, chosen, others])
  useEffect(() => {
    if (!chosen) return undefined
    const controller = new AbortController()
    const timer = setTimeout(() => {
      sweep(claim, index, others, chosen, grid(chosen, value.inputs[chosen]), controller.signal).then(setRows, () => {})
    }, CALM_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [question])
  const x = chosen ? (edits[chosen] ?? value.inputs[chosen]) : 0
  const option = useMemo(() => (rows?.length > 1 ? chart({ rows, key: chosen, original: value.inputs[chosen], value }) : null), [rows])
  const mark = useMemo(() => chosen && { x: x / unitText(value.inputs[chosen], nameOf(chosen).unit).factor, y: now.computed, line: false }, [x, now.computed, chosen])
  if (!chosen || (rows && rows.length < 2)) return null
  const { words, unit } = nameOf(chosen)
  return html`<div class="curve">
    ${keys.length > 1 ? html`<${Choice} label="Draw against" name="against" value=${chosen} options=${keys.map((key) => ({ value: key, label: nameOf(key).words }))} onChange=${setChosen} />` : null}
    ${option ? html`<${Figure} name="chalk-curve" title=${`${value.label} against ${words}`} option=${option} rows=${rows} height=${280} mark=${mark}
      columns=${[{ key: 'x', label: words, unit }, { key: 'y', label: value.label, unit: value.unit }]} />` : null}
  </div>`
}

function chart({ rows, key, original, value }) {
  const { words, unit } = nameOf(key)
  const { factor, unit: shown } = unitText(original, unit)
  const { log } = rangeOf(key, original)
  const data = rows.map((row) => [row.x / factor, row.y])
  const sizes = rows.map((row) => row.y)
  const wide = Math.min(...sizes) > 0 && Math.max(...sizes) / Math.min(...sizes) > 20
  const axis = `${words}${shown ? ` (${shown})` : ''}`
  const stated = typeof value.stated === 'number' ? value.stated : null
  return (c) => ({
    grid: { left: 72, right: 24, top: 20, bottom: 48 },
    tooltip: { trigger: 'axis', valueFormatter: (v) => `${digits(v)} ${value.unit}` },
    xAxis: { type: log ? 'log' : 'value', name: axis, nameLocation: 'middle', nameGap: 28, min: data[0][0], max: data[data.length - 1][0], axisLabel: { formatter: (v) => digits(v), hideOverlap: true } },
    yAxis: { type: wide ? 'log' : 'value', name: value.unit, nameLocation: 'end', axisLabel: { formatter: (v) => digits(v) } },
    series: [
      {
        type: 'line', name: value.label, showSymbol: false, data, color: c.blue, lineStyle: { width: 2 },
        markLine: stated && (!wide || stated > 0)
          ? { silent: true, symbol: 'none', lineStyle: { type: 'dashed', color: c.muted }, label: { formatter: 'stated', color: c.muted, position: 'insideEndTop' }, data: [{ yAxis: stated }] }
          : undefined,
      },
    ],
  })
}
