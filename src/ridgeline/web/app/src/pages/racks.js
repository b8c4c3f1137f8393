// Chapter 2 of the lecture: the experts of one model spread over racks.
import { useMemo } from 'preact/hooks'
import { useAnswer } from '../lib/api.js'
import { html } from '../lib/html.js'
import { modelOf } from '../lib/state.js'
import { digits, fmt, tokens } from '../lib/units.js'
import { Choice, ClusterPicker, ModelPicker, Slider, Text } from '../ui/controls.js'
import { Figure } from '../ui/figure.js'
import { Answer, ErrorBox, Flags, Skeleton } from '../ui/notes.js'
import { Bench, Group, More } from '../ui/page.js'
import { Reproduce } from '../ui/reproduce.js'
import { Table } from '../ui/table.js'
import { cliff, domains, networks, rowsAt, traffic } from './racks/charts.js'
import { Placement } from './racks/placement.js'
import { Topology } from './racks/topology.js'

const RATIOS = [1, 4, 8, 18]
const CONTEXTS = Array.from({ length: 12 }, (_, i) => 512 * 2 ** i)
const WIDTHS = [{ value: 2, label: 'bf16, 2 B' }, { value: 1, label: 'fp8, 1 B' }, { value: 0.5, label: 'fp4, ½ B' }]

const defaults = {
  model: 'deepseek-v3', config: '', on: 'gb200-nvl72', size: '', racks: 4, ratio: 18, tokens: 128, context: 4096,
  dispatch: 1, combine: 2,
}

function bodyOf(state) {
  return {
    ...modelOf(state),
    on: state.on,
    ...(state.size === '' ? {} : { devices_per_rack: Number.isInteger(Number(state.size)) ? Number(state.size) : state.size }),
    num_racks: Array.from({ length: state.racks }, (_, i) => i + 1),
    ratios: [...new Set([...RATIOS, state.ratio])].sort((a, b) => a - b),
    tokens_per_device: state.tokens,
    context: state.context,
    dispatch_bytes: Number(state.dispatch),
    combine_bytes: Number(state.combine),
  }
}

const CLIFF = [
  { key: 'racks', label: 'racks' },
  { key: 'ratio', label: 'ratio' },
  { key: 'crossing_share', label: 'leaves rack', unit: '%' },
  { key: 'crossing_bytes_per_device', label: 'per device', unit: 'bytes' },
  { key: 'slowdown_chalk', label: 'slowdown, chalk' },
  { key: 'time_chalk_s', label: 'chalk', unit: 's' },
  { key: 'time_ideal_s', label: 'bound', unit: 's' },
  { key: 'time_ideal_once_per_rack_s', label: 'bound, one copy', unit: 's' },
  { key: 'time_detailed_s', label: 'detailed', unit: 's' },
  { key: 'algorithm', label: 'algorithm' },
]
const NETWORKS = [
  { key: 'network', label: 'network' },
  { key: 'devices', label: 'devices' },
  { key: 'time_ideal_s', label: 'bound', unit: 's' },
  { key: 'time_ideal_once_per_rack_s', label: 'bound, one copy per node', unit: 's' },
  { key: 'time_detailed_s', label: 'detailed', unit: 's' },
  { key: 'algorithm', label: 'algorithm' },
]
const DOMAINS = [
  { key: 'cluster', label: 'scale-up domain' },
  { key: 'devices', label: 'devices' },
  { key: 'capacity_bytes', label: 'memory', unit: 'bytes' },
  { key: 'kv_reserve_bytes', label: 'kept for caches', unit: 'bytes' },
  { key: 'params_bf16', label: 'bf16', unit: 'parameters' },
  { key: 'params_fp8', label: 'fp8', unit: 'parameters' },
  { key: 'params_fp4', label: 'fp4', unit: 'parameters' },
]
const TRAFFIC = [{ key: 'from', label: 'from rack' }, { key: 'to', label: 'to rack' }, { key: 'bytes', label: 'dispatch of one layer', unit: 'bytes' }]

const trafficRows = (answer) =>
  answer.rack_to_rack_dispatch_bytes_per_layer.flatMap((row, from) => row.map((bytes, to) => ({ from: from + 1, to: to + 1, bytes })))

function Controls({ state, set, answer, own }) {
  const on = (key) => (value, commit) => set({ [key]: value }, commit)
  return html`
    <${ModelPicker} state=${state} set=${set} label="Model (a mixture of experts)" />
    <${ClusterPicker} value=${state.on} onChange=${(value) => set({ on: value, size: '' })} />
    <${Group} title="Racks">
      <${Slider} label="Racks" name="racks" value=${state.racks} min=${1} max=${8} integer onChange=${on('racks')} />
      <${Slider} label="Scale-up over scale-out bandwidth" name="ratio" value=${state.ratio} min=${1} max=${64} log
        format=${(value) => `${digits(value)} to 1`} onChange=${on('ratio')} />
      ${own && Math.abs(own / state.ratio - 1) > 0.005
        ? html`<button type="button" onClick=${() => set({ ratio: Number(own.toPrecision(3)) })}>The cluster’s own: ${digits(own)} to 1</button>`
        : null}
      <${Text} label="Devices per rack" name="size" value=${state.size} help="A rack is one scale-up domain."
        placeholder=${answer ? String(answer.request.devices_per_rack) : ''} onChange=${on('size')} />
    <//>
    <${More} title="Traffic and caches"><${Group} title="Traffic and caches">
      <${Slider} label="Tokens per device and step" name="tokens" value=${state.tokens} min=${1} max=${4096} log integer onChange=${on('tokens')} />
      <${Slider} label="Context, for the caches" name="context" value=${state.context} stops=${CONTEXTS} format=${(value) => `${tokens(value)} tokens`} onChange=${on('context')} />
      <div class="row"><${Choice} label="Sent out in" name="dispatch" value=${Number(state.dispatch)} options=${WIDTHS} onChange=${(v) => set({ dispatch: Number(v) })} />
      <${Choice} label="Sent back in" name="combine" value=${Number(state.combine)} options=${WIDTHS} onChange=${(v) => set({ combine: Number(v) })} /></div>
    <//><//>`
}

function Sentence({ rows, pending }) {
  const [one, many] = [rows[0], rows.at(-1)]
  const time = fmt(many.time_detailed_s, 's')
  if (many.racks === 1) return html`<${Answer} pending=${pending}>In one rack the all-to-all of a step takes <strong>${time}</strong>; the board says ${fmt(one.time_chalk_s, 's')}.<//>`
  return html`<${Answer} pending=${pending}><strong>${time} over ${many.racks} racks, ${digits(many.time_detailed_s / one.time_detailed_s)} times the ${fmt(one.time_detailed_s, 's')} of one rack</strong>: ${fmt(many.crossing_share, '%')} of the copies leave their rack, ${fmt(many.crossing_bytes_per_device, 'bytes')} per device and step, if every copy crosses on its own. The board says ${fmt(many.time_chalk_s, 's')}, ${digits(many.slowdown_chalk)} times its one rack.<//>`
}

function networkNote(rows) {
  const times = (a, b) => digits(rows[a].time_detailed_s / rows[b].time_detailed_s)
  return `72 devices on nine boards take ${times(1, 0)} times one NVL72; a torus takes ${times(2, 3)} times its links on one switch with 64 devices, ${times(4, 5)} times with 512.`
}

function Results({ answer, ratio, own, pending }) {
  const rows = rowsAt(answer.cliff, ratio)
  const options = {
    cliff: useMemo(() => cliff(answer, ratio), [answer, ratio]),
    traffic: useMemo(() => traffic(answer), [answer]),
    networks: useMemo(() => networks(answer), [answer]),
    domains: useMemo(() => domains(answer), [answer]),
  }
  return html`
    <${Sentence} rows=${rows} pending=${pending} />
    <${Topology} tiers=${answer.request.tiers} devices=${answer.request.devices_per_rack} racks=${rows.at(-1).racks} ratio=${ratio} own=${own} />
    <div class="charts two">
      ${rows.length > 1
        ? html`<${Figure} key="cliff" name="cliff" title="The rack cliff" option=${options.cliff} rows=${answer.cliff} columns=${CLIFF}
            note="Detailed lines use the best algorithm and measured latency. Board: every copy crosses on its own." />
          <${Figure} key="traffic" name="traffic" title="Who sends to whom" option=${options.traffic} rows=${trafficRows(answer)} columns=${TRAFFIC}
            note="Dispatch of one layer from rack to rack. Blue stays on the scale-up network, orange crosses." />`
        : null}
      <${Figure} name="networks" title="The same experts on other networks" option=${options.networks} rows=${answer.topologies} columns=${NETWORKS}
        note=${networkNote(answer.topologies)} />
      <${Figure} name="domains" title="Largest model of one domain" option=${options.domains} rows=${answer.domains} columns=${DOMAINS}
        note=${`Beside the caches of ${fmt(answer.request.tokens_per_device)} sequences of ${tokens(answer.request.context)} tokens on every device.`} />
    </div>
    <${Table} title=${`The rack cliff at ratio ${digits(ratio)}`} name="cliff" columns=${CLIFF} rows=${rows} />
    <${Flags} flags=${answer.flags} />
    <${Reproduce} answer=${answer} />`
}

function View({ state, set }) {
  const { answer, error, pending } = useAnswer('racks', bodyOf(state))
  const [up, out] = answer?.request.tiers ?? []
  const own = out ? up.bandwidth_bytes_per_s / out.bandwidth_bytes_per_s : null
  // an answer on its way keeps the last one's ratio
  const ratio = answer && (answer.cliff.some((row) => row.ratio === state.ratio) ? state.ratio : answer.cliff[0].ratio)
  return html`<${Bench} controls=${html`<${Controls} state=${state} set=${set} answer=${answer} own=${own} />`}>
    <${ErrorBox} error=${error} />
    ${answer
      ? html`<div class=${`results ${error ? 'stale' : ''}`}><${Results} answer=${answer} ratio=${ratio} own=${own} pending=${pending} /></div>`
      : error ? null : html`<${Skeleton} height=${60} /><div class="charts two"><${Skeleton} /><${Skeleton} /></div>`}
    <${Placement} hidden=${answer?.exchange.hidden_size} />
  <//>`
}

export default { id: 'racks', title: 'Racks', question: 'What does it cost to spread the experts over racks?', defaults, View }
