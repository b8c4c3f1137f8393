// Devices in racks, drawn with the networks that join them; lines are as wide as the bandwidth.
import { html } from '../../lib/html.js'
import { digits, fmt } from '../../lib/units.js'
import { useWidth } from '../../ui/width.js'

const MOST_RACKS = 8
const MOST_DEVICES = 144
const GAP = 14
const WIDEST = 9
const CELL = 17
const MOST_ROWS = 9

/** Where the devices of a rack stand, in cells: the planes of a torus side by side, else even rows. */
export function gridOf(devices, dimensions, width) {
  if (dimensions.length > 1) {
    const [columns, rows] = dimensions
    const planes = Math.ceil(devices / (columns * rows))
    return { columns, rows, planes, across: planes * columns + (planes - 1) * 0.6 }
  }
  const rows = Math.min(MOST_ROWS, Math.ceil((devices * CELL) / width))
  const columns = Math.ceil(devices / rows)
  return { columns, rows: Math.ceil(devices / columns), planes: 1, across: columns }
}

function planOf({ width, inner, devices }) {
  const torus = inner.topology === 'torus'
  const count = Math.min(devices, MOST_DEVICES)
  const grid = gridOf(count, torus && devices === inner.size ? inner.dimensions : [], width - 12)
  const cell = Math.min(CELL, (width - 12) / grid.across)
  const top = torus ? 30 : 50
  return { torus, count, grid, cell, top, height: top + grid.rows * cell + 8 }
}

/** Links of a torus between neighbours of the drawing; those that wrap around are left out. */
function wires(count, { columns, rows }) {
  const found = []
  const plane = columns * rows
  for (let i = 0; i < count; i += 1) {
    if ((i + 1) % columns && i + 1 < count) found.push([i, i + 1])
    if (i + columns < count && (i % plane) + columns < plane) found.push([i, i + columns])
  }
  return found
}

function Rack({ index, x, y, width, inner, devices, stroke }) {
  const { torus, count, grid, cell, top, height } = planOf({ width, inner, devices })
  const left = x + (width - grid.across * cell) / 2
  const at = (i) => {
    const plane = Math.floor(i / (grid.columns * grid.rows))
    const column = (i % grid.columns) + plane * (grid.columns + 0.6)
    return [left + (column + 0.5) * cell, y + top + ((Math.floor(i / grid.columns) % grid.rows) + 0.5) * cell]
  }
  const size = Math.max(2, cell * 0.62)
  const stub = Math.min(stroke, cell * 0.45)
  return html`<g>
    <rect class="rack" x=${x} y=${y} width=${width} height=${height} rx="4" />
    <text x=${x + width / 2} y=${y + 17} text-anchor="middle">${width > 50 ? 'rack ' : ''}${index + 1}</text>
    ${torus
      ? wires(count, grid).map(([a, b]) => {
          const [[x1, y1], [x2, y2]] = [at(a), at(b)]
          return html`<line class="up" stroke-width="1.5" x1=${x1} y1=${y1} x2=${x2} y2=${y2} />`
        })
      : html`${Array.from({ length: grid.columns }, (_, i) => html`<line class="up" stroke-width=${stub}
          x1=${left + (i + 0.5) * cell} x2=${left + (i + 0.5) * cell} y1=${y + 32} y2=${y + top + 2} />`)}
        <rect class="up" x=${x + 6} y=${y + 25} width=${width - 12} height="9" rx="2" />`}
    ${Array.from({ length: count }, (_, i) => {
      const [cx, cy] = at(i)
      return html`<rect class="device" x=${cx - size / 2} y=${cy - size / 2} width=${size} height=${size} rx="1" />`
    })}
  </g>`
}

function Drawing({ width, inner, devices, racks, ratio, words }) {
  const shown = Math.min(racks, MOST_RACKS)
  const each = Math.min(380, (width - GAP * (shown - 1)) / shown)
  const left = (i) => i * (each + GAP)
  const top = racks > 1 ? 50 : 2
  const end = left(shown - 1) + each
  const stroke = (relative) => Math.max(1, WIDEST * relative)
  const height = top + planOf({ width: each, inner, devices }).height + 2
  return html`<svg width=${Math.max(1, end)} height=${height} role="img" aria-label=${words}>
    ${racks > 1
      ? html`${Array.from({ length: shown }, (_, i) => html`<line class="out" stroke-width=${stroke(1 / Math.max(1, ratio))}
          x1=${left(i) + each / 2} x2=${left(i) + each / 2} y1="12" y2=${top} />`)}
        <rect class="out" x="0" y="4" width=${end} height="9" rx="2" />`
      : null}
    ${Array.from({ length: shown }, (_, i) => html`<${Rack} index=${i} x=${left(i)} y=${top} width=${each} inner=${inner}
      devices=${devices} stroke=${stroke(Math.min(1, ratio))} />`)}
  </svg>`
}

export function Topology({ tiers, devices, racks, ratio, own }) {
  const [box, width] = useWidth()
  const inner = tiers[0]
  const inside = inner.bandwidth_bytes_per_s
  const shape = inner.topology === 'torus' && devices === inner.size ? ` ${inner.dimensions.join(' × ')}` : ''
  const drawn = [racks > MOST_RACKS && `${MOST_RACKS} of ${racks} racks`, devices > MOST_DEVICES && `${MOST_DEVICES} of ${devices} devices`, shape && 'planes side by side, their ends wrap around']
  const words = `${racks} racks of ${devices} devices: ${fmt(inside, 'bytes/s')} per device inside, ${fmt(inside / ratio, 'bytes/s')} between`
  return html`<figure class="topology">
    <div ref=${box}>${width > 0
      ? html`<${Drawing} width=${width} inner=${inner} devices=${devices} racks=${racks} ratio=${ratio} words=${words} />`
      : null}</div>
    <figcaption><span><i class="swatch up"></i>inside a rack (${inner.topology.replace('_', ' ')}${shape}): ${fmt(inside, 'bytes/s')} per device and direction, ${fmt(inner.latency_s, 's')}</span>
      ${racks > 1
        ? html`<span><i class="swatch out"></i>between racks: ${fmt(inside / ratio, 'bytes/s')} per device and direction, ratio ${digits(ratio)}${
            own && Math.abs(own / ratio - 1) < 0.005 ? ', the cluster’s own' : ''}</span>`
        : null}
      ${drawn.some(Boolean) ? html`<span>drawn: ${drawn.filter(Boolean).join(', ')}</span>` : null}
    </figcaption>
  </figure>`
}
