// What kind of measurement a family is, with one colour each.
export const AREAS = [
  { id: 'kernels', label: 'kernels', colour: 'blue', families: /gemm|attention|elementwise|layer operations|mla/ },
  { id: 'network', label: 'network', colour: 'purple', families: /collective|exchange/ },
  { id: 'steps', label: 'steps of an engine', colour: 'green', families: /step/ },
  { id: 'local', label: 'local inference', colour: 'sky', families: /^local/ },
  { id: 'serving', label: 'serving', colour: 'vermillion', families: /serving|offline|wide-EP/ },
  { id: 'memory', label: 'memory', colour: 'orange', families: /capacity/ },
  { id: 'other', label: 'other', colour: 'grey', families: /./ },
]
export const areaOf = (family) => AREAS.find(({ families }) => families.test(family))
export const sourceOf = (row) => row.id.split('/')[0]

const sorted = (values) => [...values].sort((a, b) => a - b)
export const quantile = (values, q) => {
  const line = sorted(values)
  const at = (line.length - 1) * q
  const low = Math.floor(at)
  return line[low] + (line[Math.min(low + 1, line.length - 1)] - line[low]) * (at - low)
}
export const share = (rows, holds) => rows.filter(holds).length / rows.length
