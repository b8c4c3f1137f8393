// Rows with units in the header, and their export.
import { html } from '../lib/html.js'
import { csvOf, jsonOf, save } from '../lib/files.js'
import { digits, scaleOf, whole } from '../lib/units.js'

export const ExportRows = ({ name, columns, rows }) => html`
  <button type="button" onClick=${() => save(`${name}.csv`, csvOf(columns, rows), 'text/csv')}>CSV</button>
  <button type="button" onClick=${() => save(`${name}.json`, jsonOf(columns, rows), 'application/json')}>JSON</button>`

/**
 * columns: {key, label, unit, format(value, row), render(row)}; rows: objects. A unit is scaled once
 * for the column (ms, GB) and written in the header. onPick(row) makes rows clickable; picked(row)
 * marks one.
 */
export function Table({ title, columns, rows, name = 'table', onPick, picked, exports = true }) {
  const scales = columns.map(({ key, unit }) => (unit ? scaleOf(rows.map((row) => row[key]), unit) : null))
  const tiny = columns.map(({ key }) => 1e-12 * Math.max(0, ...rows.map((row) => (Number.isFinite(row[key]) ? Math.abs(row[key]) : 0))))
  const cell = (row, column, i) => {
    if (column.render) return column.render(row)
    const value = row[column.key]
    if (column.format) return column.format(value, row)
    if (typeof value !== 'number') return value ?? '–'
    if (Math.abs(value) < tiny[i]) return '0' // what is left of a difference that is none
    return scales[i] && scales[i].factor !== 1 ? digits(value / scales[i].factor) : Number.isInteger(value) ? whole(value) : digits(value)
  }
  const numeric = columns.map(({ key, render }) => !render && rows.some((row) => typeof row[key] === 'number'))
  return html`<figure class="table">
    ${title || exports
      ? html`<figcaption><h3>${title}</h3><span class="tools">${exports ? html`<${ExportRows} name=${name} columns=${columns} rows=${rows} />` : null}</span></figcaption>`
      : null}
    <div class="scroll" tabindex="0" role="region" aria-label=${title ?? name}><table>
      <thead><tr>${columns.map(
        (column, i) => html`<th key=${column.key} scope="col" class=${numeric[i] ? 'number' : ''}>${column.label ?? column.key}
          ${scales[i]?.unit ? html`<span class="unit">${scales[i].unit}</span>` : null}</th>`,
      )}</tr></thead>
      <tbody>${rows.map(
        (row, r) => html`<tr key=${row.key ?? r} class=${`${onPick ? 'pick' : ''} ${picked?.(row) ? 'picked' : ''}`}
          tabindex=${onPick ? 0 : undefined} aria-selected=${onPick ? Boolean(picked?.(row)) : undefined}
          onClick=${onPick ? () => onPick(row) : undefined}
          onKeyDown=${onPick ? (event) => { if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); onPick(row) } } : undefined}>
          ${columns.map((column, i) => html`<td key=${column.key} class=${numeric[i] ? 'number' : ''}>${cell(row, column, i)}</td>`)}</tr>`,
      )}</tbody></table></div>
  </figure>`
}
