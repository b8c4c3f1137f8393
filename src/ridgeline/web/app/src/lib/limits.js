// The API's words for what binds, in a sentence.
const WORDS = {
  compute: 'arithmetic',
  'weight read': 'reading weights',
  'state read': 'reading the cache',
  activations: 'moving activations',
  launch: 'launching kernels',
  host: 'the host',
  draft: 'drafting',
}

export const limitWords = (limit) =>
  WORDS[limit] ?? (limit.startsWith('network') ? 'the network' : limit)

/** Time of a step by what binds each part: [[limit, seconds]], largest first; networks are one. */
export function byLimit(parts) {
  const sums = new Map()
  for (const part of parts) {
    for (const [limit, seconds] of Object.entries(part.limits_s)) {
      const key = limit.startsWith('network') ? 'network' : limit
      if (seconds > 0) sums.set(key, (sums.get(key) ?? 0) + seconds)
    }
  }
  return [...sums].sort((a, b) => b[1] - a[1])
}

export function byComponent(parts) {
  const sums = new Map()
  for (const { component, time_s } of parts) sums.set(component, (sums.get(component) ?? 0) + time_s)
  return [...sums].sort((a, b) => b[1] - a[1])
}
