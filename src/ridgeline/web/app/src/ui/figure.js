// One chart with its title, its theme and its exports.
import { useEffect, useRef } from 'preact/hooks'
import { html } from '../lib/html.js'
import { csvOf, jsonOf, pngOf, save } from '../lib/files.js'
import { palette, SERIES, themeNow, useTheme } from '../lib/theme.js'
import { graphic, init } from './echarts.js'

const figures = {}
window.ridgeline = { ...window.ridgeline, figures }

// Everything but the tooltip, whose element is dear to make anew.
const REPLACED = ['series', 'xAxis', 'yAxis', 'grid', 'legend', 'visualMap', 'graphic']
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif'

function themeOf(name) {
  const c = palette(name)
  const axis = {
    axisLine: { show: true, lineStyle: { color: c.muted } },
    axisTick: { lineStyle: { color: c.muted } },
    minorTick: { lineStyle: { color: c.line } },
    axisLabel: { color: c.muted, fontSize: 12 },
    nameTextStyle: { color: c.ink, fontSize: 12 },
    splitLine: { lineStyle: { color: c.line, width: 0.7 } },
  }
  return {
    color: SERIES.map((key) => c[key]),
    backgroundColor: 'transparent',
    textStyle: { fontFamily: FONT, color: c.ink },
    valueAxis: axis,
    logAxis: axis,
    categoryAxis: { ...axis, splitLine: { show: false } },
    legend: { textStyle: { color: c.ink }, inactiveColor: c.grey },
    tooltip: {
      backgroundColor: c.raised, borderColor: c.line, borderWidth: 1, textStyle: { color: c.ink, fontSize: 12 }, confine: true,
    },
    visualMap: { textStyle: { color: c.ink } },
    graph: { lineStyle: { color: c.line } },
  }
}

/** A dot and a dotted line above a chart, as part of its drawing and so of its exports. */
function markerOf(chart, theme) {
  const c = palette(theme)
  const line = new graphic.Line({ silent: true, z: 90, style: { stroke: c.ink, lineWidth: 1.5, lineDash: [2, 3] } })
  const dot = new graphic.Circle({ silent: true, z: 91, shape: { r: 6 }, style: { fill: c.ink, stroke: c.paper, lineWidth: 2 } })
  let at = null
  chart.getZr().add(line)
  chart.getZr().add(dot)
  const move = (mark = at) => {
    at = mark
    const grid = chart.getModel()?.getComponent('grid')?.coordinateSystem?.getRect()
    const known = grid && mark && Number.isFinite(mark.x)
    const [x, y] = known ? chart.convertToPixel({ gridIndex: 0 }, [mark.x, mark.y ?? 1]) : []
    const inside = known && x >= grid.x - 1 && x <= grid.x + grid.width + 1
    line.attr({ invisible: !inside || mark.line === false, shape: inside ? { x1: x, x2: x, y1: grid.y, y2: grid.y + grid.height } : {} })
    dot.attr({ invisible: !inside || !Number.isFinite(mark.y), shape: inside && Number.isFinite(mark.y) ? { cx: x, cy: y, r: 6 } : {} })
  }
  return { move }
}

/**
 * A figure: option is ECharts' (or a function of the palette), rows and columns its data for the
 * exports, name the file name and the key under window.ridgeline.figures. onPick({data, name,
 * seriesName, dataIndex}) hears clicks. Nothing moves unless animate is set.
 * mark {x, y} is where a slider stands: a dot at (x, y), a line at x unless `line` is false. It moves
 * without the chart being drawn again.
 */
export function Figure({ title, option, rows = [], columns = [], name, height = 320, onPick, pending = false, note, animate = false, mark }) {
  const theme = useTheme()
  const place = useRef(null)
  const chart = useRef(null)
  const seen = useRef(true) // out of sight nothing is drawn: a slider waits for what is on the screen
  const pick = useRef(onPick)
  pick.current = onPick

  useEffect(() => {
    const made = init(place.current, themeOf(theme), { renderer: 'svg' })
    chart.current = made
    marker.current = markerOf(made, theme)
    made.on('click', (event) => pick.current?.(event))
    const watch = new ResizeObserver(() => {
      made.resize()
      marker.current.move()
    })
    watch.observe(place.current)
    return () => {
      watch.disconnect()
      made.dispose()
      chart.current = null
    }
  }, [theme])

  const marker = useRef(null)
  const draw = useRef(null)
  draw.current = () => {
    const full = typeof option === 'function' ? option(palette(theme)) : option
    figures[name] = { option: full, rows, mark, chart: chart.current }
    if (!seen.current) return
    chart.current.setOption({ animation: animate, ...full }, { replaceMerge: REPLACED })
    marker.current.move(mark)
    tell()
  }
  const tell = () => {
    place.current.dataset.drawn = String((Number(place.current.dataset.drawn) || 0) + 1)
    dispatchEvent(new CustomEvent('ridgeline:drawn', { detail: name }))
  }
  useEffect(() => {
    if (option) draw.current()
  }, [option, theme])
  useEffect(() => {
    if (!option || !figures[name]) return
    figures[name].mark = mark
    if (!seen.current) return
    marker.current.move(mark)
    tell()
  }, [mark?.x, mark?.y])
  useEffect(() => {
    const watch = new IntersectionObserver(([{ isIntersecting }]) => {
      const appears = isIntersecting && !seen.current
      seen.current = isIntersecting
      if (appears) draw.current()
    }, { rootMargin: '80px' })
    watch.observe(place.current)
    return () => {
      watch.disconnect()
      delete figures[name]
    }
  }, [name])

  const svg = () => {
    const node = place.current.querySelector('svg').cloneNode(true)
    node.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
    return new XMLSerializer().serializeToString(node)
  }
  const onPng = async () => {
    const { clientWidth, clientHeight } = place.current
    save(`${name}.png`, await pngOf(svg(), clientWidth, clientHeight, palette(themeNow()).paper), 'image/png')
  }
  return html`<figure class=${`figure ${pending ? 'pending' : ''}`} data-figure=${name}>
    <figcaption><h3>${title}</h3><span class="tools" role="group" aria-label=${`Export ${title}`}>
      <button type="button" onClick=${onPng}>PNG</button>
      <button type="button" onClick=${() => save(`${name}.svg`, svg(), 'image/svg+xml')}>SVG</button>
      ${rows.length
        ? html`<button type="button" onClick=${() => save(`${name}.csv`, csvOf(columns, rows), 'text/csv')}>CSV</button>
            <button type="button" onClick=${() => save(`${name}.json`, jsonOf(columns, rows), 'application/json')}>JSON</button>`
        : null}
    </span></figcaption>
    <div class="chart" role="img" aria-label=${note ? `${title}. ${note}` : title} ref=${place} style=${{ height: `${height}px` }}></div>
    ${note ? html`<p class="hint">${note}</p>` : null}
  </figure>`
}
