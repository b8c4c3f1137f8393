// What a request, or a trace of requests, costs under every list.
import { useId, useState } from 'preact/hooks'
import { useAnswer } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { digits, fmt, tokens } from '../../lib/units.js'
import { ErrorBox } from '../../ui/notes.js'
import { Reproduce } from '../../ui/reproduce.js'
import { Table } from '../../ui/table.js'

const INPUT = ['ContextTokens', 'input_length', 'num_prefill_tokens', 'Request tokens', 'isl']
const OUTPUT = ['GeneratedTokens', 'output_length', 'num_decode_tokens', 'Response tokens', 'osl']
const MOST = 60_000 // of which a request of at most 1 MB holds the lengths

function lengthsOf(text) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim())
  let records
  if (lines[0]?.trimStart().startsWith('{')) records = lines.map((line) => JSON.parse(line))
  else {
    const header = (lines[0] ?? '').split(',').map((word) => word.trim())
    records = lines.slice(1).map((line) => Object.fromEntries(line.split(',').map((cell, i) => [header[i], cell])))
  }
  const pick = (record, names, i) => {
    const value = Number(record[names.find((name) => name in record)])
    if (!Number.isInteger(value) || value < 0) throw new Error(`request ${i + 1} needs one of ${names.join(', ')} as a whole number`)
    return value
  }
  const found = records.map((record, i) => [pick(record, INPUT, i), pick(record, OUTPUT, i)])
  if (!found.length) throw new Error('no requests found')
  if (found.length > MOST) throw new Error(`${fmt(found.length)} requests: at most ${fmt(MOST)} here; the command line takes more`)
  return found
}

const QUOTES = [
  { key: 'list', label: 'list', format: (list, row) => (row.hours_utc ? `${list}, ${row.hours_utc}` : list) },
  { key: 'above_tokens', label: 'priced above', unit: 'tokens' },
  { key: 'input_usd', label: 'input', unit: 'USD' },
  { key: 'cached_usd', label: 'cached', unit: 'USD' },
  { key: 'output_usd', label: 'output', unit: 'USD' },
  { key: 'total_usd', label: 'a request', unit: 'USD' },
  { key: 'thousand', label: 'a thousand', unit: 'USD' },
]
const TRACES = [
  { key: 'list', label: 'list', format: (list, row) => (row.hours_utc ? `${list}, ${row.hours_utc}` : list) },
  { key: 'num_requests', label: 'requests' },
  { key: 'num_long', label: 'priced as long' },
  { key: 'input_tokens', label: 'input', unit: 'tokens' },
  { key: 'output_tokens', label: 'output', unit: 'tokens' },
  { key: 'total_usd', label: 'total', unit: 'USD' },
]

function Trace({ state, dated }) {
  const [trace, setTrace] = useState(null)
  const [fault, setFault] = useState(null)
  const id = useId()
  const body = trace && dated({ model: state.price, lengths: trace.lengths, cached_share: state.cached, tier: state.tier })
  const { answer, error } = useAnswer(trace ? 'prices/trace' : null, body)
  const read = async (file) => {
    if (!file) return
    try {
      setTrace({ name: file.name, lengths: lengthsOf(await file.text()) })
      setFault(null)
    } catch (problem) {
      setFault(`${file.name} is not a trace: ${problem.message}.`)
    }
  }
  return html`<div class="drop" onDragOver=${(event) => event.preventDefault()} onDrop=${(event) => { event.preventDefault(); read(event.dataTransfer.files[0]) }}>
      <label for=${id}>Price a whole trace: drop an Azure CSV or a Mooncake JSONL here, or choose one. It is read in this browser; only lengths are sent.</label>
      <input id=${id} name="trace" type="file" accept=".csv,.jsonl,.txt" onChange=${(event) => read(event.currentTarget.files[0])} /></div>
    <${ErrorBox} error=${fault ?? error} />
    ${trace && answer?.traces ? html`<div class="wide-table"><${Table} title=${`Bill of ${trace.name}`} name="trace-bill" columns=${TRACES} rows=${answer.traces} /></div><${Reproduce} answer=${answer} />` : null}`
}

export function Bill({ state, dated }) {
  const cached = Math.round(state.context * state.cached)
  const { answer, error } = useAnswer('prices/cost', dated({ model: state.price, input_tokens: state.context, output_tokens: state.osl, cached_tokens: cached, tier: state.tier }))
  const rows = (answer?.quotes ?? []).map((quote) => ({ ...quote, thousand: 1000 * quote.total_usd }))
  const totals = rows.map(({ total_usd: total }) => total)
  const [low, high] = [Math.min(...totals), Math.max(...totals)]
  return html`<section class="part"><h2>What a request costs</h2>
    <${ErrorBox} error=${error} />
    ${rows.length && !error
      ? html`<p class="answer">${tokens(state.context)} tokens in, ${fmt(state.cached, '%')} of them cached, and ${fmt(state.osl)} out: <strong>${digits(1000 * low)}${high > low * 1.005 ? ` to ${digits(1000 * high)}` : ''} USD for a thousand requests</strong>, tier ${state.tier}.</p>
          <div class="wide-table"><${Table} title="Under every list in force" name="bill" columns=${QUOTES} rows=${rows} /></div>`
      : null}
    <${Trace} state=${state} dated=${dated} /></section>`
}
