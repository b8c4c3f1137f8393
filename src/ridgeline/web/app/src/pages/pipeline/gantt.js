// The decode loop as charts of one time scale: stages in rows, a cursor that sweeps over them.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { html } from '../../lib/html.js'
import { fmt } from '../../lib/units.js'
import { useWidth } from '../../ui/width.js'

const LEFT = 26
const RIGHT = 8
const AXIS = 22
const SWEEP_MS = 14_000 // over the longest loop
const HUES = 6

const sign = (m, p) => (m < p ? '<' : m > p ? '>' : '=')
const calm = () => matchMedia('(prefers-reduced-motion: reduce)').matches

/** A step of the animation: what the slowest stage takes. */
export const slotOf = (loops) => Math.max(...loops.flatMap(({ tasks }) => tasks.map((task) => task.end_s - task.start_s)))

export const endOf = (loops) => Math.max(...loops.map(({ tasks }) => tasks.at(-1).end_s))

/** Tokens that left the last stage by time t, and stages at work at t. */
export function countAt({ tasks, stages }, t) {
  let tokens = 0
  let busy = 0
  for (const task of tasks) {
    if (task.stage === stages - 1 && task.end_s <= t * (1 + 1e-9)) tokens += 1
    if (task.start_s <= t && t < task.end_s) busy += 1
  }
  return { tokens, busy }
}

/** Round times along the axis, about one in 90 px. */
export function ticks(end, width) {
  const rough = end / Math.max(2, width / 90)
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = power * [1, 2, 5, 10].find((n) => n * power >= rough)
  return Array.from({ length: Math.floor(end / step) + 1 }, (_, i) => i * step)
}

function Bars({ tasks, x, row, clip, numbers }) {
  return html`<g clip-path=${clip} class=${clip ? '' : 'future'} aria-hidden=${clip ? undefined : 'true'}>
    ${tasks.map((task) => {
      const width = Math.max(0.5, x(task.end_s) - x(task.start_s) - 0.8)
      const top = task.stage * row
      return html`<rect x=${x(task.start_s)} y=${top + 1} width=${width} height=${row - 2} rx="2"
          class=${`hue-${task.micro_batch % HUES} ${task.token % 2 ? 'odd' : 'even'}`} />
        ${numbers && width > 16
          ? html`<text class="number" x=${x(task.start_s) + width / 2} y=${top + row / 2 + 4} text-anchor="middle">${task.micro_batch + 1}</text>`
          : null}`
    })}
  </g>`
}

function Loop({ loop, index, end, width, register }) {
  const { micro_batches: m, stages: p } = loop
  const row = p > 8 ? 14 : 20
  const inner = Math.max(50, width - LEFT - RIGHT)
  const x = (seconds) => LEFT + (seconds / end) * inner
  const height = p * row
  const title = `M = ${m} ${sign(m, p)} P = ${p}`
  const drawing = useMemo(
    () => html`${Array.from({ length: p }, (_, i) => html`<text x=${LEFT - 6} y=${i * row + row / 2 + 4} text-anchor="end">${i + 1}</text>`)}
      <${Bars} tasks=${loop.tasks} x=${x} row=${row} />
      <${Bars} tasks=${loop.tasks} x=${x} row=${row} clip=${`url(#past-${index})`} numbers />
      <g class="axis">${ticks(end, inner).map((s) => html`<line x1=${x(s)} x2=${x(s)} y1=${height} y2=${height + 4} />
        <text x=${x(s)} y=${height + 17} text-anchor=${s === 0 ? 'start' : x(s) > width - 24 ? 'end' : 'middle'}>${fmt(s, 's')}</text>`)}</g>`,
    [loop, width, end],
  )
  return html`<figure class="gantt">
    <figcaption><b>${title}</b><span>${fmt(loop.token_period_s, 's')} per token, stages ${fmt(loop.idle_share, '%')} idle</span>
      <span ref=${(element) => register(index, 'words', element)}></span></figcaption>
    <svg width=${width} height=${height + AXIS} role="img" aria-label=${`${title}: which stage runs which micro-batch when`}>
      <clipPath id=${`past-${index}`}><rect x="0" y="0" height=${height} width=${width} ref=${(element) => register(index, 'past', element)} /></clipPath>
      ${drawing}
      <line class="cursor" y1="0" y2=${height} x1="0" x2="0" ref=${(element) => register(index, 'cursor', element)} />
    </svg>
  </figure>`
}

/** Moves clip, cursor and words of every chart to time t, without rendering them again. */
function draw(loops, parts, { t, end, width }) {
  const now = Math.min(t, end)
  const x = LEFT + (now / end) * Math.max(50, width - LEFT - RIGHT)
  loops.forEach((loop, i) => {
    const { past, cursor, words } = parts[i] ?? {}
    if (!past || !cursor || !words) return
    past.setAttribute('width', x)
    cursor.setAttribute('x1', x)
    cursor.setAttribute('x2', x)
    const { tokens, busy } = countAt(loop, now)
    const last = loop.tasks.at(-1).end_s
    words.textContent = `${tokens} ${tokens === 1 ? 'token' : 'tokens'} by ${fmt(Math.min(now, last), 's')}${now < last ? `, ${busy} of ${loop.stages} stages at work` : ''}`
  })
}

/** step counts slots from the start; −1 is the end. onStep(step, commit). */
export function Gantt({ loops, step, onStep }) {
  const [box, width] = useWidth()
  const [playing, setPlaying] = useState(false)
  const parts = useRef([]).current
  const now = useRef(0)
  const bar = useRef(null)
  const { end, slot, last } = useMemo(() => {
    const [all, one] = [endOf(loops), slotOf(loops)]
    return { end: all, slot: one, last: Math.ceil(all / one) }
  }, [loops])
  const at = step < 0 || step > last ? last : step

  const register = (i, name, element) => {
    parts[i] = { ...parts[i], [name]: element }
  }
  const show = (t) => {
    now.current = t
    draw(loops, parts, { t, end, width })
    if (bar.current) bar.current.value = String(Math.round(Math.min(t, end) / slot))
  }
  useEffect(() => {
    if (!playing) show(at * slot)
  }, [loops, width, at, playing])

  useEffect(() => {
    if (!playing) return undefined
    const from = now.current >= end ? 0 : now.current
    let began = null
    let frame = 0
    const tick = (time) => {
      began ??= time
      const gone = ((time - began) / SWEEP_MS) * end
      const t = from + (calm() ? Math.floor(gone / slot) * slot : gone)
      show(t)
      if (t < end) frame = requestAnimationFrame(tick)
      else go(last)
    }
    frame = requestAnimationFrame(tick)
    return () => cancelAnimationFrame(frame)
  }, [playing, loops, width])

  const here = () => Math.round(Math.min(now.current, end) / slot)
  // Shown at once, not after the next render: a second key may come before it and counts from here.
  const go = (to) => {
    const next = Math.min(last, Math.max(0, to))
    setPlaying(false)
    show(next * slot)
    onStep(next === last ? -1 : next, true)
  }
  const toggle = () => (playing ? go(here()) : setPlaying(true))
  const keys = {
    ' ': toggle, ArrowLeft: () => go(here() - 1), ArrowRight: () => go(here() + 1), Home: () => go(0), End: () => go(last),
  }
  const onKeyDown = (event) => {
    if (!keys[event.key] || (event.key === ' ' && event.target.tagName === 'BUTTON')) return
    event.preventDefault()
    keys[event.key]()
  }
  return html`<div class="player" role="group" aria-label="Decode loop, step by step" onKeyDown=${onKeyDown}>
    <div class="player-bar">
      <button type="button" class="play" onClick=${toggle}>${playing ? 'Pause' : 'Play'}</button>
      <button type="button" onClick=${() => go(here() - 1)} aria-label="One step back">◀</button>
      <button type="button" onClick=${() => go(here() + 1)} aria-label="One step on">▶</button>
      <input type="range" min="0" max=${last} step="1" ref=${bar} aria-label="Step" onInput=${(event) => go(Number(event.currentTarget.value))} />
    </div>
    <div class="loops" ref=${box}>${width > 0
      ? loops.map((loop, i) => html`<${Loop} key=${i} loop=${loop} index=${i} end=${end} width=${width} register=${register} />`)
      : null}</div>
    <p class="hint">Rows are stages; number and colour are the micro-batch, its tokens alternate between full and pale. One time scale for all.
      ${' '}Space plays, arrow keys step.</p>
  </div>`
}
