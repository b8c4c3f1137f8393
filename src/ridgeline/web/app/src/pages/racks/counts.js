// Routing counts from a CSV: layer,expert,count with a header, or a bare matrix.

export function parseCounts(text) {
  const rows = text.split(/\r?\n/).map((line) => line.trim()).filter(Boolean)
    .map((line) => line.split(/[,;\t]/).map((cell) => cell.trim()))
  if (!rows.length) throw new Error('The file is empty.')
  const header = rows[0].map((cell) => cell.toLowerCase())
  if (header.includes('expert')) return parseLong(header, rows.slice(1))
  const matrix = rows.map((row) => row.map(Number))
  if (matrix.some((row) => row.length !== matrix[0].length || row.some((x) => !(x >= 0)))) {
    throw new Error('A bare matrix has one row per layer, all of equal length, and counts of at least 0.')
  }
  return matrix
}

function parseLong(header, rows) {
  const at = (name) => header.indexOf(name)
  const [layer, expert, count] = ['layer', 'expert', 'count'].map(at)
  if (layer < 0 || count < 0) throw new Error('The header must name layer, expert and count.')
  const cells = rows.map((row) => [row[layer], row[expert], row[count]].map(Number))
  if (cells.some((cell) => cell.some((x) => !(x >= 0)) || cell[0] % 1 || cell[1] % 1)) {
    throw new Error('layer, expert and count must be numbers of at least 0.')
  }
  const layers = [...new Set(cells.map((c) => c[0]))].sort((a, b) => a - b)
  const experts = Math.max(...cells.map((c) => c[1])) + 1
  const table = new Map(layers.map((l) => [l, new Array(experts).fill(0)]))
  for (const [l, e, n] of cells) table.get(l)[e] += n
  return layers.map((l) => table.get(l))
}

// Made-up counts: Zipf's law, its order of experts another in every layer.
export function exampleCounts(layers = 8, experts = 64) {
  let seed = 1
  const random = () => {
    seed = (seed * 48271) % 2147483647
    return seed / 2147483647
  }
  return Array.from({ length: layers }, () => {
    const order = Array.from({ length: experts }, (_, i) => [random(), i]).sort((a, b) => a[0] - b[0])
    const row = new Array(experts)
    order.forEach(([, expert], rank) => {
      row[expert] = Math.round(10000 / (rank + 1))
    })
    return row
  })
}
