// What the board says in figures, and what the detailed model makes of them.
export function figureRows(derived) {
  const rows = [
    ['Balance ratio R', derived.balance_ratio, '', 'arithmetic the device does while it reads one weight'],
    ['Critical batch', derived.critical_batch, 'sequences', 'compute equals reading the weights, KV dropped'],
    ['… with the KV cache', derived.critical_batch_with_kv, 'sequences', derived.critical_batch_with_kv === null ? 'none: beyond the balance context no batch is compute-bound' : 'at this context'],
    ['Balance context L*', derived.balance_context, 'tokens', 'reading the cache takes as long as computing'],
    ['Latency floor', derived.latency_floor_s, 's', 'detailed, batch 1, empty cache'],
    ['… chalkboard', derived.chalk_latency_floor_s, 's', 'all weights read once'],
    ['Cost floor', derived.cost_floor_usd_per_mtok, 'USD/Mtok', 'detailed, batch without limit'],
    ['… chalkboard', derived.chalk_cost_floor_usd_per_mtok, 'USD/Mtok', 'the larger of compute and KV'],
    ['Drain time', derived.drain_time_s, 's', 'memory capacity over bandwidth'],
    ['Largest batch', derived.max_batch, 'sequences', 'that fits at this context'],
    ['Longest context', derived.max_context, 'tokens', 'that fits at this batch'],
  ]
  return rows.map(([name, value, unit, meaning], key) => ({ key, name, value, unit, meaning }))
}
