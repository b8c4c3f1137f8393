// One chart with its title and its exports.
import { useLayoutEffect, useRef } from 'preact/hooks'
import { csvOf, jsonOf, save } from '../lib/files.js'
import { html } from '../lib/html.js'
import { useTheme } from '../lib/theme.js'
import { Plot } from './plot.js'

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
  const plot = useRef(null)

  // Layout effects run at once; others would wait for the next frame.
  useLayoutEffect(() => {
    plot.current = new Plot(place.current, name)
    return () => plot.current.dispose()
  }, [name])
  useLayoutEffect(() => {
    if (option) plot.current.show({ option, rows, mark, theme, animate })
  }, [name, option, theme])
  useLayoutEffect(() => {
    plot.current.move(mark)
  }, [mark?.x, mark?.y])
  useLayoutEffect(() => {
    plot.current.onPick = onPick
  })

  const exportAs = (kind, content, type) => save(`${name}.${kind}`, content, type)
  return html`<figure class=${`figure ${pending ? 'pending' : ''}`} data-figure=${name}>
    <figcaption><h3>${title}</h3><span class="tools" role="group" aria-label=${`Export ${title}`}>
      <button type="button" onClick=${async () => exportAs('png', await plot.current.png(), 'image/png')}>PNG</button>
      <button type="button" onClick=${() => exportAs('svg', plot.current.svg(), 'image/svg+xml')}>SVG</button>
      ${rows.length
        ? html`<button type="button" onClick=${() => exportAs('csv', csvOf(columns, rows), 'text/csv')}>CSV</button>
            <button type="button" onClick=${() => exportAs('json', jsonOf(columns, rows), 'application/json')}>JSON</button>`
        : null}
    </span></figcaption>
    <div class="chart" role="img" aria-label=${note ? `${title}. ${note}` : title} ref=${place} style=${{ height: `${height}px` }}></div>
    ${note ? html`<p class="hint">${note}</p>` : null}
  </figure>`
}
