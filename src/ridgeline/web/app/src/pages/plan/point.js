// One option taken apart: its figures, what binds its steps, its memory, its launch commands.
import { useMemo } from 'preact/hooks'
import { html } from '../../lib/html.js'
import { digits, fmt } from '../../lib/units.js'
import { Figure } from '../../ui/figure.js'
import { Snippet } from '../../ui/reproduce.js'
import { Table } from '../../ui/table.js'
import { compared, memory, PHASES, steps } from './charts.js'
import { howText, lostText, sizeOf } from './words.js'

const ENGINES = { vllm: 'vLLM', sglang: 'SGLang', trtllm: 'TensorRT-LLM' }

function factsOf(o) {
  const pooled = o.prefill_layout !== null
  const devices = pooled ? `${sizeOf(o.layout)} per decode replica, ${sizeOf(o.prefill_layout)} per prefill replica` : `${sizeOf(o.layout)} per replica`
  return [
    ['layout', howText(o)],
    ['devices', `${devices}, ${o.idle_devices} idle`],
    ['in flight', `${fmt(o.batch)} ${o.batch === 1 ? 'request' : 'requests'} per ${pooled ? 'decode ' : ''}replica`],
    ['formats', `weights ${o.weights}, cache ${o.kv}`],
    ['first token', `${fmt(o.ttft_s, 's')}, without queueing`],
    ['per token', `${fmt(o.tpot_s, 's')}: ${fmt(o.tokens_per_s_per_user, 'tokens/s')} per user`],
    ['throughput', `${fmt(o.tokens_per_s_per_device, 'tokens/s')} per device, ${digits(o.requests_per_s)} requests/s in all`],
    ...(o.usd_per_mtok === null ? [] : [['cost', `${fmt(o.usd_per_mtok, 'USD')} per million output tokens, prompts included`]]),
  ]
}

const Facts = ({ option }) =>
  html`<dl class="facts">${factsOf(option).map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`

const refused = (text) => !text.includes('\n')

/** The command that prints the same: the winner's, or a point's of the front; runners-up have none. */
const emitted = (cli, name, engine) => (name[0] === 'r' ? null : `${cli}${name[0] === 'f' ? ` --point ${name.slice(1)}` : ''} --emit ${engine}`)

function Launch({ point, name, cli, engine: wanted, onEngine }) {
  const engine = wanted in ENGINES ? wanted : 'vllm'
  const text = point.launch[engine]
  const command = emitted(cli, name, engine)
  return html`<div class="launch"><h3>Launch</h3>
    <div class="tabs" role="group" aria-label="Engine">${Object.entries(ENGINES).map(
      ([id, name]) => html`<button key=${id} type="button" aria-pressed=${id === engine} onClick=${() => onEngine(id)}>${name}${refused(point.launch[id]) ? ' (cannot)' : ''}</button>`,
    )}</div>
    ${refused(text) ? html`<p class="hint">${text.replace(/^# /, '')}</p>` : html`<${Snippet} label=${`${ENGINES[engine]}, servers and benchmark`} text=${text} />`}
    ${command && !refused(text) ? html`<${Snippet} label="Command line that prints this" text=${command} />` : null}</div>`
}

const STEPS = [
  { key: 'phase', label: 'step' }, { key: 'limit', label: 'limit' }, { key: 'time_s', label: 'time', unit: 's' }, { key: 'share', label: 'share', unit: '%' },
]
const PARTS = [
  { key: 'phase', label: 'step' }, { key: 'name', label: 'part' }, { key: 'time_s', label: 'time', unit: 's' },
  { key: 'share', label: 'share', unit: '%' }, { key: 'limit', label: 'bound by' },
]
const MEMORY = [{ key: 'name', label: 'what' }, { key: 'bytes', label: 'per device', unit: 'bytes' }]
const DEVICE = [{ key: 'title', label: 'option' }, { key: 'limit', label: 'limit' }, { key: 'time_s', label: 'device time per output token', unit: 's' }]

const rowsOf = (point, inner) => point.steps.flatMap((step) => inner(step).map((row) => ({ ...row, phase: PHASES[step.phase], share: row.time_s / step.step_s })))

/** bars: the points compared, first the chosen one. */
export function Point({ point, name, cli, best, title, against, engine, onEngine }) {
  const bars = useMemo(
    () => (against ? [{ title, point }, { title: against.title, point: against.point }] : [{ title, point }]),
    [point, against?.point, title],
  )
  const options = {
    compared: useMemo(() => compared(bars), [bars]),
    steps: useMemo(() => steps(point), [point]),
    memory: useMemo(() => memory(point), [point]),
  }
  const lost = point === best ? null : lostText(best, point)
  const parts = rowsOf(point, (step) => step.parts)
  const limits = rowsOf(point, (step) => Object.entries(step.limits_s).map(([limit, time_s]) => ({ limit, time_s })))
  const device = bars.flatMap((bar) => Object.entries(bar.point.device_s_per_token).map(([limit, time_s]) => ({ title: bar.title, limit, time_s })))
  const why = against && point === best ? lostText(best, against.point) : null
  return html`<section class="point" aria-label=${`The chosen option: ${title}`}>
    <h2>${title[0].toUpperCase() + title.slice(1)}</h2>
    ${lost ? html`<p>Against the winner it loses most on <strong>${lost}</strong> of device time per output token.</p>` : null}
    ${point !== best && !lost ? html`<p>It costs no more device time per token than the winner: it misses a target, or is slower per user.</p>` : null}
    ${why ? html`<p>Why it wins: ${against.title} loses most on <strong>${why}</strong> of device time per output token.</p>` : null}
    <${Facts} option=${point.option} />
    <div class="charts three">
      <${Figure} name="steps" title="Time of its steps" height=${190} option=${options.steps} rows=${limits} columns=${STEPS} />
      <${Figure} name="device-time" title=${against ? `Against ${against.title}` : 'Device time'} height=${190} option=${options.compared} rows=${device} columns=${DEVICE} />
      <${Figure} name="memory" title="Memory of one device" height=${190} option=${options.memory}
        rows=${Object.entries(point.memory_bytes).map(([name, bytes]) => ({ name, bytes }))} columns=${MEMORY} />
    </div>
    <${Launch} point=${point} name=${name} cli=${cli} engine=${engine} onEngine=${onEngine} />
    <details class="parts"><summary>All ${parts.length} parts of its steps</summary><${Table} name="parts" columns=${PARTS} rows=${parts} /></details>
  </section>`
}
