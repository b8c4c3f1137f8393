// C1 of the lecture with the user's own model and cluster: time, cost, speed, balance, utilisation.
import { useMemo } from 'preact/hooks'
import { useAnswer } from '../lib/api.js'
import { html } from '../lib/html.js'
import { byLimit, limitWords } from '../lib/limits.js'
import { fmt, tokens } from '../lib/units.js'
import { Choice, ClusterPicker, ModelPicker, Slider, Text } from '../ui/controls.js'
import { Figure } from '../ui/figure.js'
import { Answer, ErrorBox, Flags, Skeleton } from '../ui/notes.js'
import { Bench, Group, More } from '../ui/page.js'
import { Reproduce } from '../ui/reproduce.js'
import { Table } from '../ui/table.js'
import { breakdown, PART_COLUMNS, partRows, PIECE_COLUMNS, piecesOf } from './estimate/breakdown.js'
import { cost, frontier, latency, slopes, utilisation } from './estimate/charts.js'
import { CONTEXTS, defaults, requestsOf, ROW_COLUMNS, shownRows } from './estimate/data.js'
import { figureRows } from './estimate/figures.js'
import { palette } from '../lib/theme.js'

const FORMATS = ['auto', 'bf16', 'fp8', 'fp8_block', 'int8', 'nvfp4', 'mxfp4', 'int4']
const ENGINES = ['auto', 'vllm', 'sglang', 'trtllm', 'llamacpp', 'ideal']
const DEGREES = [['tp', 'TP'], ['pp', 'PP'], ['ep', 'EP'], ['dp', 'DP'], ['cp', 'CP']]

function Controls({ state, set, answer }) {
  const on = (key) => (value, commit) => set({ [key]: value }, commit)
  const chosen = answer?.request
  const listed = chosen?.usd_per_device_hour
  const layout = (key) => (chosen ? String(chosen.layout[key]) : 'auto')
  return html`
    <${ModelPicker} state=${state} set=${set} />
    <${ClusterPicker} value=${state.on} onChange=${on('on')} />
    <${Group} title="Load">
      <${Slider} label="Batch" name="batch" value=${state.batch} min=${1} max=${16384} log integer unit="sequences" onChange=${on('batch')} />
      <${Slider} label="Context" name="context" value=${state.context} stops=${CONTEXTS} format=${(value) => `${tokens(value)} tokens`} onChange=${on('context')} />
      <${Slider} label="Price" name="price" value=${state.price || listed || 1} min=${0.1} max=${20} log
        format=${(value) => (state.price || listed ? `${fmt(value, 'USD')}/h per device` : 'not listed')} onChange=${on('price')}
        help=${chosen && !listed && !state.price ? 'Set one to see what a token costs.' : undefined} />
      ${state.price ? html`<button type="button" onClick=${() => set({ price: 0 })}>Listed price</button>` : null}
    <//>
    <${More} title="Precision, layout, engine"><${Group} title="Precision">
      <div class="row"><${Choice} label="Weights" name="dtype" value=${state.dtype} options=${withOwn(FORMATS, state.dtype)} onChange=${on('dtype')} />
      <${Choice} label="KV cache" name="kv" value=${state.kv} options=${withOwn(['auto', 'bf16', 'fp8'], state.kv)} onChange=${on('kv')} /></div>
    <//>
    <${Group} title="Layout (empty: chosen for you)">
      <div class="row five">${DEGREES.map(
        ([key, label]) => html`<${Text} key=${key} label=${label} name=${key} value=${state[key]} placeholder=${layout(key)} onChange=${on(key)} />`,
      )}</div>
    <//>
    <${Group} title="Engine">
      <div class="row"><${Choice} label="Engine" name="engine" value=${state.engine} options=${withOwn(ENGINES, state.engine)} onChange=${on('engine')} />
      <${Choice} label="Overlap" name="overlap" value=${state.overlap} options=${['none', 'two-batch', 'full']} onChange=${on('overlap')} /></div>
    <//><//>`
}

const FIGURE_COLUMNS = [
  { key: 'name', label: 'figure' },
  { key: 'value', label: 'value', format: (value, { unit }) => html`<span class="nowrap">${fmt(value, unit)}</span>` },
  { key: 'meaning', label: 'meaning' },
]

/** A shared address may name a value that the list does not have. */
const withOwn = (options, value) => (options.includes(value) ? options : [...options, value])

function Sentence({ row, request, pending }) {
  const [[first, time], ...rest] = byLimit(row.parts)
  const network = rest.find(([limit]) => limit === 'network')
  const share = (seconds) => fmt(Math.round((seconds / row.step_s) * 100), '') + ' %'
  const spread = row.step_p10_s === null ? '' : ` (${fmt(row.step_p10_s, 's')} to ${fmt(row.step_p90_s, 's')})`
  return html`<${Answer} pending=${pending}><strong>${fmt(row.step_s, 's')} per token</strong>${spread}:
    ${' '}${fmt(row.tokens_per_s_per_user, 'tokens/s')} for each of ${fmt(row.batch)} users${row.usd_per_mtok === null ? '' : `, ${fmt(row.usd_per_mtok, 'USD')} per million tokens`} on ${fmt(request.devices)} devices.
    ${' '}${share(time)} of the step is ${limitWords(first)}${network ? `, ${share(network[1])} the network` : ''}; the board's bound is ${fmt(row.chalk_step_s, 's')}.
    ${row.fits ? '' : html` <strong class="bad">It does not fit in memory.</strong>`}<//>`
}

function Charts({ here, overBatch, overContext, slope, context }) {
  const row = here.rows[0]
  const shown = overBatch ? shownRows(overBatch.rows, overBatch.derived, row.batch).length : 0
  const rows = useMemo(() => overBatch && overBatch.rows.slice(0, shown), [overBatch, shown])
  const priced = row.usd_per_mtok !== null
  const options = {
    latency: useMemo(() => rows && latency(rows), [rows]),
    cost: useMemo(() => rows && priced && cost(rows), [rows, priced]),
    frontier: useMemo(() => rows && priced && frontier(rows), [rows, priced]),
    utilisation: useMemo(() => overContext && utilisation(overContext.rows), [overContext]),
    slopes: useMemo(() => slope && slopes(slope.rows), [slope]),
  }
  const atContext = overContext?.rows.find((one) => one.context === context)
  const marks = {
    latency: { x: row.batch, y: row.step_s * 1e3 },
    cost: { x: row.batch, y: row.usd_per_mtok },
    frontier: { x: row.tokens_per_s_per_user, y: row.usd_per_mtok, line: false },
    utilisation: { x: context, y: atContext ? atContext.mfu * 100 : NaN },
  }
  const figures = useMemo(
    () => html`<${Table} title="The board in figures" name="figures" rows=${figureRows(here.derived)} columns=${FIGURE_COLUMNS} />`,
    [here],
  )
  const draw = (name, title, data, note) =>
    options[name]
      ? html`<${Figure} key=${name} name=${name} title=${title} option=${options[name]} mark=${marks[name]} rows=${data} columns=${ROW_COLUMNS} note=${note} />`
      : null
  if (!rows) return html`<div class="charts"><${Skeleton} /><${Skeleton} /></div>`
  return html`<div class="charts">
    ${draw('latency', 'Time of a step by batch', rows, 'Board: the two closed forms of the lecture, without losses. Detailed: kernels, messages and engine as fitted. Shaded: what binds the detailed step; pale blue: its 10 to 90 % band.')}
    ${priced ? draw('cost', 'Cost of a token by batch', rows, 'Weights are shared by the batch; compute and cache are everyone’s own.') : null}
    ${priced ? draw('frontier', 'What speed costs', rows, 'Every point is a batch. Money cannot buy speed past the right end; waiting saves nothing past the bottom.') : null}
    ${draw('utilisation', 'Arithmetic in use by context', overContext?.rows ?? [], 'On the board, at any batch: all of it up to L*, then L*/L.')}
    ${draw('slopes', 'Around the balance context L*', slope?.rows ?? [], 'Whole lines: chalk; dotted: detailed. At L* the board runs parallel to compute, both limits at once.')}
    ${figures}
  </div>`
}

function Step({ row }) {
  const option = useMemo(() => breakdown(row), [row])
  return html`
    <${Figure} name="breakdown" title="One step taken apart" height=${210} option=${option} rows=${piecesOf(row, palette())} columns=${PIECE_COLUMNS} />
    <${Table} title="Parts of the step" name="parts" rows=${partRows(row)} columns=${PART_COLUMNS} />`
}

function View({ state, set }) {
  const base = requestsOf(state, null)
  const here = useAnswer('estimate', base.here)
  const overBatch = useAnswer('estimate', base.overBatch)
  const overContext = useAnswer('estimate', base.overContext)
  const derived = overBatch.answer?.derived
  const { slopes: slopesBody } = requestsOf(state, derived)
  const slope = useAnswer(slopesBody ? 'estimate' : null, slopesBody)
  const error = here.error ?? overBatch.error
  const row = here.answer?.rows[0]
  // The same nodes for the same answer: nothing below is compared again while a slider moves.
  const below = useMemo(
    () => row && html`<${Step} row=${row} /><${Flags} flags=${here.answer.flags} /><${Reproduce} answer=${here.answer} />`,
    [here.answer],
  )
  return html`<${Bench} controls=${html`<${Controls} state=${state} set=${set} answer=${here.answer} />`}>
    <${ErrorBox} error=${error} />
    ${row
      ? html`<div class=${`results ${error ? 'stale' : ''}`}>
          ${error ? html`<p class="hint">Below is the last answer: ${here.answer.request.model} on ${here.answer.request.on}.</p>` : null}
          <${Sentence} row=${row} request=${here.answer.request} pending=${here.pending} />
          <${Charts} here=${here.answer} overBatch=${overBatch.answer} overContext=${overContext.answer} slope=${slopesBody ? slope.answer : null} context=${state.context} />
          ${below}
        </div>`
      : error
        ? null
        : html`<${Skeleton} height=${60} /><div class="charts"><${Skeleton} /><${Skeleton} /><${Skeleton} /></div>`}
  <//>`
}

export default {
  id: 'estimate',
  title: 'Estimate',
  question: 'How fast is a token, what does it cost, and what binds?',
  defaults,
  View,
}
