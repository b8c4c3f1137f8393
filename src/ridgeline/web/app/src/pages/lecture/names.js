// What the lecture's inputs are called on the page, and in which unit.
import { html } from '../../lib/html.js'

const SYMBOLS = {
  balance_ratio: 'R', total_params: 'N_t', active_params: 'N_a', bytes_per_param: 'w', batch: 'B', micro_batch: 'b',
  micro_batches: 'M', stages: 'P', devices_per_stage: 'E', context_tokens: 'L', kv_bytes_per_token: 'k',
  peak_flop_per_s: 'F', bandwidth_bytes_per_s: 'W', capacity_bytes: 'C', sparsity: 's', bandwidth_ratio: 'ρ', racks: 'Q',
  relative_utilisation: 'η', usd_per_s: 'p', step_tokens: 'L*', experts_per_token: 'a',
}
const WORDS = {
  total_params: 'total parameters', active_params: 'active parameters', bytes_per_param: 'bytes per parameter',
  peak_flop_per_s: 'peak arithmetic', bandwidth_bytes_per_s: 'memory bandwidth', usd_per_s: 'price of the hardware',
  compute_s: 'compute', weights_s: 'weight read', kv_s: 'cache read', memory_s: 'memory',
  context_tokens: 'context', kv_bytes_per_token: 'cache per token', batch: 'sequences', mfu: 'MFU',
  flop_per_param_token: 'FLOP per parameter and token', device_bandwidth_bytes_per_s: 'bandwidth of a device',
}
const SUFFIXES = [
  ['_bytes_per_s', 'bytes/s'], ['_flop_per_s', 'flop/s'], ['_tokens_per_s', 'tokens/s'], ['_bytes_per_token', 'bytes/token'],
  ['_flop_per_byte', 'FLOP/B'], ['_usd_per_token', 'USD/token'], ['_s_per_token', 's/token'], ['_bytes', 'bytes'], ['_flop', 'flop'], ['_tokens', 'tokens'],
  ['_s', 's'],
]
const UNITS = {
  total_params: 'parameters', active_params: 'parameters', params: 'parameters', usd_per_s: 'USD/s', tokens: 'tokens',
  bytes_per_param: 'bytes', bytes_per_element: 'bytes', bytes_per_token: 'bytes', price: 'USD/Mtok', base_price: 'USD/Mtok',
}
/** Counts that only whole numbers make sense of. */
const WHOLE = new Set([
  'batch', 'micro_batch', 'micro_batches', 'stages', 'devices_per_stage', 'racks', 'racks_used', 'experts', 'experts_per_token', 'layers', 'rounds',
  'blocks', 'seed', 'devices', 'scale_up_devices', 'moe_layers', 'layers_per_stage', 'hidden_size', 'width', 'bits', 'head_dim', 'kv_heads', 'query_heads',
])
const SHARES = /(_share|_utilisation|^mfu|_probability|^bubble|^occupancy)$/

export function nameOf(key) {
  const suffix = SUFFIXES.find(([end]) => key.endsWith(end))
  const bare = WORDS[key] ?? (suffix ? key.slice(0, -suffix[0].length) : key).replaceAll('_', ' ')
  return { symbol: SYMBOLS[key] ?? '', words: bare, unit: UNITS[key] ?? suffix?.[1] ?? '' }
}

/** Unit as fmt() knows it: one prefix for what is per token too. */
export const scalable = (unit) => ({ 'bytes/token': 'bytes', 's/token': 's' })[unit] ?? unit

/** The range a slider moves over around the lecture's own value. */
export function rangeOf(key, original) {
  const integer = WHOLE.has(key) && Number.isInteger(original)
  if (SHARES.test(key) && original <= 1) return { min: 0.01, max: 1 }
  if (original === 0) return { min: 0, max: key.endsWith('tokens') ? 131_072 : 8, integer: WHOLE.has(key) }
  if (original < 0) return { min: original * 4, max: 0 }
  return { min: integer ? 1 : original / 16, max: integer ? Math.max(2 * original, 8) : original * 16, log: true, integer }
}

/** N_a with its index set low. */
export const typeset = (text = '') => (text ?? '').split(/_(\w+)/).map((part, i) => (i % 2 ? html`<sub>${part}</sub>` : part))
