// Exports: a blob to a file of the user's, and text to the clipboard.

export function save(name, content, type) {
  const blob = content instanceof Blob ? content : new Blob([content], { type })
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 1000)
}

const cell = (value) => {
  if (value === null || value === undefined) return ''
  const text = Array.isArray(value) || typeof value === 'object' ? JSON.stringify(value) : String(value)
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Full precision in SI, the unit in the header: what a spreadsheet wants. */
export function csvOf(columns, rows) {
  const header = columns.map(({ key, label, unit }) => cell(unit ? `${label ?? key} [${unit}]` : label ?? key))
  const lines = rows.map((row) => columns.map(({ key }) => cell(row[key])).join(','))
  return [header.join(','), ...lines, ''].join('\n')
}

export const jsonOf = (columns, rows) =>
  JSON.stringify(
    {
      columns: columns.map(({ key, label, unit }) => ({ key, label: label ?? key, unit: unit ?? '' })),
      rows: rows.map((row) => Object.fromEntries(columns.map(({ key }) => [key, row[key] ?? null]))),
    },
    null,
    2,
  )

export async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea') // plain http of another machine has no clipboard API
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
  return undefined
}

/** Draws an SVG text at twice its size. */
export async function pngOf(svg, width, height, paper) {
  const address = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }))
  try {
    const image = new Image()
    image.src = address
    await image.decode()
    const canvas = document.createElement('canvas')
    canvas.width = width * 2
    canvas.height = height * 2
    const context = canvas.getContext('2d')
    context.fillStyle = paper
    context.fillRect(0, 0, canvas.width, canvas.height)
    context.drawImage(image, 0, 0, canvas.width, canvas.height)
    return await new Promise((done) => canvas.toBlob(done, 'image/png'))
  } finally {
    URL.revokeObjectURL(address)
  }
}
