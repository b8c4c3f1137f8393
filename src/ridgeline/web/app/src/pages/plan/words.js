// Options of a plan in words, and by their name in the address.
import { fmt } from '../../lib/units.js'

const DEGREES = ['tp', 'pp', 'ep', 'dp', 'cp']

export function layoutText(layout) {
  const words = DEGREES.filter((key) => layout[key] > 1).map((key) => `${key} ${layout[key]}`)
  if (layout.num_redundant_experts) words.push(`${layout.num_redundant_experts} redundant experts`)
  return words.join(' ') || 'one device'
}

/** "9 × [tp 8]", or "prefill 2 × [ep 5 dp 5] + decode 1 × [ep 62 dp 62]". */
export function howText(option) {
  const main = `${option.replicas} × [${layoutText(option.layout)}]`
  if (!option.prefill_layout) return main
  return `prefill ${option.prefill_replicas} × [${layoutText(option.prefill_layout)}] + decode ${main}`
}

/** Devices of one replica; expert parallelism takes none of its own. */
export const sizeOf = ({ tp, pp, dp, cp }) => tp * pp * dp * cp

const sum = (values) => values.reduce((total, value) => total + value, 0)

/** What a point loses most on against the best, in device time per output token. */
export function lostOn(best, other) {
  const limits = new Set([...Object.keys(best.device_s_per_token), ...Object.keys(other.device_s_per_token)])
  const gaps = [...limits].map((limit) => ({
    limit,
    gap_s: (other.device_s_per_token[limit] ?? 0) - (best.device_s_per_token[limit] ?? 0),
  }))
  return gaps.reduce((worst, gap) => (gap.gap_s > worst.gap_s ? gap : worst))
}

/** "launch: +14 µs", or null where the other takes no more device time in all. */
export function lostText(best, other) {
  const total = (point) => sum(Object.values(point.device_s_per_token))
  if (total(other) <= total(best) * 1.001) return null
  const { limit, gap_s: gap } = lostOn(best, other)
  return `${limit}: +${fmt(gap, 's')}`
}

/** Every option that can be chosen: {name, title, option}. Names are winner, r1, f12. */
export const named = ({ winner, runners_up: others, front }) => [
  { name: 'winner', title: 'winner', option: winner },
  ...others.map((option, i) => ({ name: `r${i + 1}`, title: `runner-up ${i + 1}`, option })),
  ...front.map((option, i) => ({ name: `f${i + 1}`, title: `point ${i + 1} of the front`, option })),
]

/** The point of a name, taken apart; null when the plan has none. */
export function pointAt({ winner, runners_up: others, front }, name) {
  if (name === 'winner') return winner
  const list = { r: others, f: front }[name[0]] ?? []
  return list[Number(name.slice(1)) - 1] ?? null
}
