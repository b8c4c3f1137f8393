import { useMemo } from 'preact/hooks'
import { useAnswer } from '../lib/api.js'
import { html } from '../lib/html.js'
import { modelOf } from '../lib/state.js'
import { palette, useTheme } from '../lib/theme.js'
import { digits, fmt, tokens } from '../lib/units.js'
import { Choice, ClusterPicker, ModelPicker, Number, Slider, Text, Toggle } from '../ui/controls.js'
import { Figure } from '../ui/figure.js'
import { Answer, ErrorBox, Flags, Skeleton } from '../ui/notes.js'
import { Bench, Group, More } from '../ui/page.js'
import { Reproduce } from '../ui/reproduce.js'
import { Table } from '../ui/table.js'
import { costChart, costOf, costRows, drainChart, lookOf, MILLION, span } from './cache/charts.js'
import { SheetPicker } from './prices/sheet.js'

const CONTEXTS = Array.from({ length: 11 }, (_, i) => 2 ** (10 + i))
/** The question for some hold times; the curves do not depend on them. */
function bodyOf(state, hold) {
  return {
    ...modelOf(state), on: state.on, context: state.context, hold, stall: state.stall,
    ...(state.usdPerGb > 0 ? { usd_per_gb: { [state.priceOf]: state.usdPerGb } } : {}),
    ...(state.only.length ? { only: state.only } : {}),
    ...(state.provider ? { provider_price: state.provider } : {}),
    ...(state.kv ? { kv_cache_dtype: state.kv } : {}),
  }
}

function Tiers({ state, set, all }) {
  const on = (id) => !state.only.length || state.only.includes(id)
  const flip = (id, wanted) => {
    const next = all.filter((one) => (one === id ? wanted : on(one)))
    set({ only: next.length === all.length ? [] : next })
  }
  return html`<${More} title="Tiers"><${Group} title="Tiers considered"><div class="stack">${all.map(
    (id) => html`<${Toggle} key=${id} label=${id} name=${`tier-${id}`} value=${on(id)} onChange=${(wanted) => flip(id, wanted)} />`,
  )}</div><//><//>`
}

function Controls({ state, set, all }) {
  return html`<${ModelPicker} state=${state} set=${set} />
    <${ClusterPicker} value=${state.on} onChange=${(on) => set({ on })} />
    <${Slider} label="Context of a session" name="context" value=${state.context} stops=${CONTEXTS} format=${(v) => `${tokens(v)} tokens`} onChange=${(context, commit) => set({ context }, commit)} />
    <${Slider} label="The user is back after" name="after" value=${state.after} min=${1} max=${2_592_000} log integer format=${span} onChange=${(after, commit) => set({ after }, commit)} />
    <${More} title="More settings"><div class="stack">
      <${Text} label="Also show hold times" name="hold" value=${state.hold} onChange=${(hold) => set({ hold })} />
      <${Choice} label="Cache format" name="kv" value=${state.kv} options=${[{ value: '', label: 'as the model keeps it' }, 'bf16', 'fp8']} onChange=${(kv) => set({ kv })} />
      <${Slider} label="Share of a load the accelerators wait" name="stall" value=${state.stall} min=${0} max=${1} format=${(v) => fmt(v, '%')} onChange=${(stall, commit) => set({ stall }, commit)} />
      <${Group} title="Another purchase price; 0 is the catalogue’s"><div class="row">
        <${Choice} label="tier" name="priceOf" value=${state.priceOf} options=${all.length ? all : [state.priceOf]} onChange=${(priceOf) => set({ priceOf })} />
        <${Number} label="price" unit="USD/GB" name="usdPerGb" min=${0} value=${state.usdPerGb} onChange=${(usdPerGb) => set({ usdPerGb })} /></div><//>
      <${SheetPicker} label="Whose cache writes to compare" value=${state.provider} onChange=${(provider) => set({ provider })} />
    </div><//>
    <${Tiers} state=${state} set=${set} all=${all} />`
}

const COLUMNS = [
  { key: 'name', label: 'what it is' },
  { key: 'usd_per_gb_month', label: 'capacity', unit: 'USD/GB-month' },
  { key: 'move', label: 'move once', unit: 'USD/M sessions' },
  { key: 'hold', label: 'hold', unit: 'USD/M sessions/h' },
  { key: 'retrieve_s', label: 'retrieve', format: (v) => fmt(v, 's') },
  { key: 'cheaper_than_recompute_until_s', label: 'recompute after', format: (v) => (v === null ? '–' : v <= 0 ? 'always' : span(v)) },
  { key: 'sessions_per_unit', label: 'sessions per unit' },
  { key: 'drain_s', label: 'drain', format: (v) => span(v) },
  { key: 'lecture_drain', label: 'the lecture', format: (v) => v ?? '–' },
]

function TierTable({ answer }) {
  const look = lookOf(answer)
  const colours = palette(useTheme())
  const columns = [
    { key: 'tier', label: 'tier', render: ({ tier, dominated }) => html`<span class="key-line ${look(tier).dash}" style=${{ borderColor: colours[look(tier).colour] }}></span><b class=${dominated ? 'faint' : ''}>${tier}</b>${dominated ? html` <span class="unit">dominated</span>` : null}` },
    ...COLUMNS,
  ]
  const rows = answer.tiers.map((tier) => ({ ...tier, move: MILLION * tier.fixed_usd, hold: MILLION * tier.hold_usd_per_hour }))
  return html`<div class="wide-table widest tiers"><${Table} title="Tiers" name="cache-tiers" columns=${columns} rows=${rows} /></div>`
}

const ENVELOPE = [
  { key: 'choice', label: 'cheapest' },
  { key: 'from_s', label: 'from', format: (v) => (v ? span(v) : '0') },
  { key: 'until_s', label: 'until', format: (v) => (v === null ? 'ever' : span(v)) },
]
const HOLDS = [
  { key: 'hold_s', label: 'hold', format: span },
  { key: 'best', label: 'cheapest' },
  { key: 'best_usd', label: 'costs', unit: 'USD/M sessions' },
  { key: 'recompute', label: 'recompute', unit: 'USD/M sessions' },
  { key: 'usable_share', label: 'unit usable before it must be read', format: (v) => fmt(v, '%') },
]
const TTLS = [
  { key: 'ttl', label: 'lifetime' },
  { key: 'usd_per_mtok_hour', label: 'implied price of holding', unit: 'USD/Mtok/h' },
  { key: 'break_even_reads', label: 'pays from', unit: 'reads' },
  { key: 'dearest_tier', label: 'dearest tier it covers', format: (v) => v ?? 'none' },
]

/** Of the curves, so that the slider is followed without a question. */
function sentence(answer, { after, context }) {
  const { choice } = answer.envelope.find(({ until_s: until }) => until === null || after < until)
  const again = MILLION * answer.recompute_usd
  const best = answer.tiers.map((tier) => ({ ...tier, usd: costOf(tier, after) })).sort((x, y) => x.usd - y.usd)[0]
  return choice === 'recompute'
    ? html`After ${span(after)}, <strong>compute it again</strong>: ${fmt(answer.recompute_s, 's')} and ${digits(again)} USD per million sessions of ${tokens(context)} tokens; the best tier, ${best.tier}, costs ${digits(best.usd)}.`
    : html`Back after ${span(after)}: keep the ${fmt(answer.cache_bytes, 'bytes')} in <strong>${best.name}</strong>, ${digits(best.usd)} USD per million sessions and ${fmt(best.retrieve_s, 's')} to retrieve;
        computing it again costs <strong>${digits(again / best.usd)}×</strong> as much and ${fmt(answer.recompute_s, 's')}.`
}

function View({ state, set }) {
  const whole = useAnswer('cache', { ...modelOf(state), on: state.on })
  const { answer, error, pending } = useAnswer('cache', bodyOf(state, state.hold))
  const now = useAnswer('cache', bodyOf(state, `${state.after}s`), { wait: 200 })
  const all = (whole.answer?.tiers ?? []).map(({ tier }) => tier)
  const data = useMemo(() => (answer ? costRows(answer) : null), [answer])
  const option = useMemo(() => (answer ? costChart(answer, data.rows) : null), [answer])
  const mark = useMemo(() => ({ x: state.after }), [state.after])
  const drain = useMemo(() => (answer ? drainChart(answer.tiers) : null), [answer])
  const holds = (answer?.holds ?? []).map((row) => ({ ...row, best_usd: MILLION * row.usd, recompute: MILLION * row.recompute_usd }))
  return html`<${Bench} controls=${html`<${Controls} state=${state} set=${set} all=${all} />`}>
    <${ErrorBox} error=${error} />
    ${answer
      ? html`<${Answer} pending=${pending}>${sentence(answer, state)}<//>
        <${Figure} name="cache-cost" title="Cost against hold time" option=${option} rows=${data.rows} columns=${data.columns} height=${400} pending=${pending} mark=${mark}
          note="The grey band is the cheapest choice; thin verticals are where it changes; the heavier one is when the user is back; the dashed horizontal is computing the prompt again." />
        <${TierTable} answer=${answer} />
        <div class="charts"><div class="stack"><${Table} title="The cheapest choice by hold time" name="cache-envelope" columns=${ENVELOPE} rows=${answer.envelope} />
          <${Table} title="At these hold times" name="cache-holds" columns=${HOLDS} rows=${holds} />
          ${answer.ttls?.length ? html`<${Table} title=${`What ${state.provider} asks for a cache write`} name="cache-ttls" columns=${TTLS} rows=${answer.ttls} />` : null}</div>
          <${Figure} name="cache-drain" title="Drain times of real parts and the lecture’s" option=${drain} rows=${answer.tiers} columns=${DRAIN} height=${360}
            note="Drain time is capacity over read bandwidth of one unit: data that stays longer than that is cheap to keep there." /></div>
        <${Flags} flags=${answer.flags} />
        <${Reproduce} answer=${now.answer ?? answer} />`
      : error ? null : html`<${Skeleton} height=${480} />`}
  <//>`
}

const DRAIN = [
  { key: 'tier' }, { key: 'capacity_bytes', label: 'capacity', unit: 'bytes' }, { key: 'read_bytes_per_s', label: 'read', unit: 'bytes/s' },
  { key: 'drain_s', label: 'drain', unit: 's' }, { key: 'lecture_drain', label: 'the lecture' },
]

export default {
  id: 'cache',
  title: 'Cache',
  question: 'Where should a cache live while its user thinks?',
  defaults: {
    model: 'deepseek-v3', config: '', on: 'gb200-nvl72', context: 32768, after: 600, hold: '5m,1h,24h', kv: '', stall: 1, priceOf: 'host-ddr5', usdPerGb: 0,
    only: [], provider: 'anthropic/claude-opus-4-5',
  },
  View,
}
