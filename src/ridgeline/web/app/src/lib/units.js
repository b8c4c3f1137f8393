// Numbers for people: three significant digits and a unit with its prefix.

const PREFIXES = [
  [1e18, 'E'], [1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k'],
  [1, ''], [1e-3, 'm'], [1e-6, 'µ'], [1e-9, 'n'],
]
const LARGE = { bytes: 'B', 'bytes/s': 'B/s', flop: 'FLOP', 'flop/s': 'FLOP/s', parameters: 'parameters' }

// Hundreds of numbers per move of a slider: toLocaleString takes 0.1 ms for each.
const grouped = (text) => text.replace(/^(-?\d+)/, (integer) => integer.replace(/\B(?=(\d{3})+$)/g, ','))

/** Three significant digits, thousands separated: 1234 -> "1,230", 18.98 -> "19.0", 0.1 -> "0.1". */
export function digits(value, count = 3) {
  if (value === null || value === undefined || Number.isNaN(value)) return '–'
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞'
  if (value === 0) return '0'
  const size = Math.abs(value)
  if (size >= 1e12 || size < 1e-4) return value.toExponential(count - 1)
  const rounded = Number(value.toPrecision(count))
  const decimals = Math.max(0, count - 1 - Math.floor(Math.log10(Math.abs(rounded))))
  const exact = Number(value.toPrecision(12)) === rounded // a setting or a tick: 0.1, not 0.100
  return grouped(exact ? String(rounded) : rounded.toFixed(decimals))
}

/** Whole numbers in full up to six digits: 8192 -> "8,192". */
export const whole = (value) =>
  Number.isInteger(value) && Math.abs(value) < 1e6 ? grouped(String(value)) : digits(value)

/** Token counts as the command line writes them: 8192 -> "8k", 1048576 -> "1M". */
export function tokens(value) {
  if (value >= 2 ** 20 && value % 2 ** 20 === 0) return `${value / 2 ** 20}M`
  if (value >= 1024 && value % 1024 === 0) return `${value / 1024}k`
  if (value >= 1024 && value % 512 === 0) return `${value / 1024}k`
  return whole(value)
}

/** Returns {factor, unit}: divide a column of values by factor and write unit in its header. */
export function scaleOf(values, unit) {
  const sizes = values.filter((value) => Number.isFinite(value) && value !== 0).map(Math.abs)
  const typical = sizes.length ? Math.max(...sizes) : 1
  if (unit === '%') return { factor: 0.01, unit: '%' }
  if (unit === 's') {
    if (typical >= 86400 * 2) return { factor: 86400, unit: 'd' }
    if (typical >= 3600 * 2) return { factor: 3600, unit: 'h' }
    if (typical >= 120) return { factor: 60, unit: 'min' }
    return prefixed(typical, 's', (factor) => factor <= 1)
  }
  if (unit in LARGE) return prefixed(typical, LARGE[unit], (factor) => factor >= 1)
  return { factor: 1, unit: unit ?? '' }
}

function prefixed(typical, unit, allowed) {
  const usable = PREFIXES.filter(([factor]) => allowed(factor))
  // 999.6 ms reads "1,000 ms" after rounding: go one prefix up
  const [factor, prefix] = usable.find(([size]) => typical >= size * 0.9995) ?? usable[usable.length - 1]
  return { factor, unit: unit === 'parameters' ? `${prefix} parameters` : prefix + unit }
}

/**
 * One value with its unit: fmt(0.0582, 's') -> "58.2 ms". Units: s bytes bytes/s flop flop/s USD
 * USD/Mtok tokens tokens/s % (of a share) or any other word; '' has none.
 */
export function fmt(value, unit = '') {
  if (value === null || value === undefined || Number.isNaN(value)) return '–'
  if (typeof value !== 'number') return String(value)
  if (!Number.isFinite(value)) return digits(value)
  if (unit === 'context') return tokens(value)
  const { factor, unit: name } = scaleOf([value], unit)
  const text = Number.isInteger(value) && factor === 1 ? whole(value) : digits(value / factor)
  if (name === '') return text
  return `${text}\u00a0${name}`
}
