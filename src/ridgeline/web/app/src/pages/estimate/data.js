// From the settings to requests, and from rows to what the charts draw.
import { modelOf } from '../../lib/state.js'

const halfOctaves = (from, to) => {
  const values = []
  for (let value = from; value <= to; value *= 2) values.push(value, ...(value > 1 && value * 1.5 < to ? [value * 1.5] : []))
  return values
}

export const BATCHES = halfOctaves(1, 16384)
export const CONTEXTS = halfOctaves(512, 2 ** 20)
const DEGREES = ['tp', 'pp', 'ep', 'dp', 'cp']

export const defaults = {
  model: 'llama-3.1-70b',
  config: '',
  on: 'hgx-h100-8',
  batch: 64,
  context: 8192,
  price: 0,
  dtype: 'auto',
  kv: 'auto',
  tp: '',
  pp: '',
  ep: '',
  dp: '',
  cp: '',
  engine: 'auto',
  overlap: 'none',
}

/** The part of every request that no slider moves. */
export function deploymentOf(state) {
  const body = { ...modelOf(state), on: state.on, parts: false }
  if (state.dtype !== 'auto') body.dtype = state.dtype
  if (state.kv !== 'auto') body.kv_cache_dtype = state.kv
  if (state.engine !== 'auto') body.engine = state.engine
  if (state.overlap !== 'none') body.overlap = state.overlap
  for (const degree of DEGREES) {
    if (state[degree] !== '') body[degree] = Number.isInteger(Number(state[degree])) ? Number(state[degree]) : state[degree]
  }
  return body
}

/** The four requests of the page; a slider changes only those that it means. */
export function requestsOf(state, derived) {
  const fixed = deploymentOf(state)
  const price = state.price > 0 ? { usd_per_device_hour: state.price } : {}
  const { critical_batch: critical, balance_context: balance } = derived ?? {}
  return {
    here: { ...fixed, ...price, batch: state.batch, context: state.context, parts: true },
    overBatch: { ...fixed, ...price, batch: BATCHES, context: state.context },
    overContext: { ...fixed, batch: state.batch, context: CONTEXTS },
    slopes:
      critical && balance
        ? {
            ...fixed,
            batch: [...new Set(Array.from({ length: 13 }, (_, i) => Math.max(1, Math.round((critical * 2.5 * i) / 12))))],
            context: slopeContexts(balance),
          }
        : null,
  }
}

export const slopeContexts = (balance) => [balance / 4, balance, balance * 4].map((context) => Math.max(1, Math.round(context)))

/** Batches worth drawing: up to 256, 1024, ... where the largest that fits and the chosen one lie. */
export function shownRows(rows, derived, batch) {
  const wanted = Math.max(256, batch, derived.max_batch ?? 0)
  const most = 4 ** Math.ceil(Math.log(wanted) / Math.log(4) - 1e-9)
  return rows.filter((row) => row.batch <= most)
}

/** Cost of `seconds` of a row's step, from the price in its own cost. */
export const costOf = (row, seconds) => (row.usd_per_mtok === null ? null : (row.usd_per_mtok * seconds) / row.step_s)

/** The board's utilisation at a context: at this batch, without limit, and reading √L of the context. */
export function boardShares(row) {
  const { context, chalk_compute_s: compute, chalk_state_s: state, chalk_step_s: step } = row
  return {
    here: compute / step,
    limit: state > 0 ? Math.min(1, compute / state) : 1,
    sparse: state > 0 ? Math.min(1, compute / (state / Math.sqrt(context))) : 1,
  }
}

export const ROW_COLUMNS = [
  { key: 'batch', label: 'batch', unit: 'sequences' },
  { key: 'context', label: 'context', unit: 'tokens' },
  { key: 'step_s', label: 'step', unit: 's' },
  { key: 'step_p10_s', label: 'p10', unit: 's' },
  { key: 'step_p90_s', label: 'p90', unit: 's' },
  { key: 'chalk_step_s', label: 'chalk', unit: 's' },
  { key: 'chalk_compute_s', label: 'chalk compute', unit: 's' },
  { key: 'chalk_weight_s', label: 'chalk weights', unit: 's' },
  { key: 'chalk_state_s', label: 'chalk KV', unit: 's' },
  { key: 'tokens_per_s_per_user', label: 'speed', unit: 'tokens/s per user' },
  { key: 'tokens_per_s_per_device', label: 'throughput', unit: 'tokens/s per device' },
  { key: 'usd_per_mtok', label: 'cost', unit: 'USD/Mtok' },
  { key: 'mfu', label: 'MFU', unit: '%' },
  { key: 'mbu', label: 'MBU', unit: '%' },
  { key: 'bound_by', label: 'bound by' },
  { key: 'fits', label: 'fits' },
]
