// A chart in its place: drawn when it is on the screen and the library is there.
import { pngOf } from '../lib/files.js'
import { palette, SERIES } from '../lib/theme.js'

// Loads beside the page's first questions, not before them.
const library = import('./echarts.js')

/** What every chart of the page shows, by name: {option, rows, mark, chart}. */
const figures = {}
window.ridgeline = { ...window.ridgeline, figures }

const RESTED_MS = 300
// Everything but the tooltip, whose element is dear to make anew.
const REPLACED = ['series', 'xAxis', 'yAxis', 'grid', 'legend', 'visualMap', 'graphic']
const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif'

function themeOf(name) {
  const c = palette(name)
  const axis = {
    axisLine: { show: true, lineStyle: { color: c.muted } },
    axisTick: { lineStyle: { color: c.muted } },
    minorTick: { lineStyle: { color: c.line } },
    axisLabel: { color: c.muted, fontSize: 12, hideOverlap: true },
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
function markerOf(chart, graphic, theme) {
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

export class Plot {
  constructor(place, name) {
    this.place = place
    this.name = name
    this.seen = true // what is out of sight is drawn when the sliders rest
    this.onPick = null
    this.sight = new IntersectionObserver(([{ isIntersecting }]) => {
      this.seen = isIntersecting
      if (isIntersecting && this.later) this.draw()
    }, { rootMargin: '80px' })
    this.sight.observe(place)
    this.size = new ResizeObserver(() => {
      this.chart?.resize()
      this.marker?.move()
    })
    this.size.observe(place)
    library.then((echarts) => {
      this.echarts = echarts
      if (this.shown) this.draw()
    })
  }

  /** Draws {option, rows, mark, theme, animate}; the option is of the palette where it is a function. */
  show(shown) {
    this.shown = { ...shown, option: typeof shown.option === 'function' ? shown.option(palette(shown.theme)) : shown.option }
    this.draw()
  }

  /** Moves the mark alone. */
  move(mark) {
    if (!this.shown) return
    this.shown.mark = mark
    if (!this.marker) return
    figures[this.name].mark = mark
    this.marker.move(mark)
    this.tell()
  }

  draw() {
    if (!this.echarts || this.gone) return
    clearTimeout(this.later)
    this.later = 0
    if (this.seen) this.drawNow()
    else this.later = setTimeout(() => this.drawNow(), RESTED_MS)
  }

  drawNow() {
    this.later = 0
    if (this.gone) return
    const { option, rows, mark, theme, animate } = this.shown
    if (this.theme !== theme) this.make(theme)
    this.chart.setOption({ animation: animate, ...option }, { replaceMerge: REPLACED })
    this.marker.move(mark)
    figures[this.name] = { option, rows, mark, chart: this.chart }
    this.tell()
  }

  make(theme) {
    this.chart?.dispose()
    this.theme = theme
    this.chart = this.echarts.init(this.place, themeOf(theme), { renderer: 'svg' })
    this.chart.on('click', (event) => this.onPick?.(event))
    this.marker = markerOf(this.chart, this.echarts.graphic, theme)
  }

  tell() {
    this.place.dataset.drawn = String((Number(this.place.dataset.drawn) || 0) + 1)
    dispatchEvent(new CustomEvent('ridgeline:drawn', { detail: this.name }))
  }

  svg() {
    const node = this.place.querySelector('svg').cloneNode(true)
    node.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
    return new XMLSerializer().serializeToString(node)
  }

  png() {
    return pngOf(this.svg(), this.place.clientWidth, this.place.clientHeight, palette(this.theme).paper)
  }

  dispose() {
    this.gone = true
    clearTimeout(this.later)
    this.sight.disconnect()
    this.size.disconnect()
    this.chart?.dispose()
    delete figures[this.name]
  }
}
