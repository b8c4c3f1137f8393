import { useAnswer } from '../lib/api.js'
import { html } from '../lib/html.js'
import { modelOf } from '../lib/state.js'
import { digits, fmt, tokens } from '../lib/units.js'
import { Choice, ClusterPicker, ModelPicker, Number, Slider, Text } from '../ui/controls.js'
import { Answer, ErrorBox, Flags, Skeleton } from '../ui/notes.js'
import { Bench, Group, More } from '../ui/page.js'
import { Reproduce } from '../ui/reproduce.js'
import { Bill } from './prices/bill.js'
import { Coverage, PublishedDay } from './prices/record.js'
import { BreakEven, Margin, Modes } from './prices/serving.js'
import { Findings, Posterior, sentence, Sheet, SheetPicker } from './prices/sheet.js'

const POWERS = Array.from({ length: 11 }, (_, i) => 2 ** (10 + i))
const TIERS = ['standard', 'batch', 'flex', 'priority', 'fast', 'balanced', 'ultrafast']
const dated = (body, date) => (date ? { ...body, date } : body)

function Controls({ state, set, truth }) {
  return html`<${SheetPicker} value=${state.price} date=${state.date} onChange=${(price) => set({ price })} />
    <${Text} label="Day" name="date" value=${state.date} placeholder="today" onChange=${(date) => set({ date })} help="2026-11-30; empty is today" />
    <${Group} title="A fast mode, if it has one"><div class="row">
      <${Number} label="speed" name="fastSpeed" unit="×" min=${0} value=${state.fastSpeed} onChange=${(fastSpeed) => set({ fastSpeed })} />
      <${Number} label="price" name="fastPrice" unit="×" min=${0} value=${state.fastPrice} onChange=${(fastPrice) => set({ fastPrice })} />
    </div><//>
    <${More} title="A request"><div class="stack">
      <${Slider} label="Prompt, and context of the modes" name="context" value=${state.context} stops=${POWERS} format=${tokens} onChange=${(context, commit) => set({ context }, commit)} />
      <${Slider} label="Output" name="osl" value=${state.osl} min=${16} max=${8192} log integer unit="tokens" onChange=${(osl, commit) => set({ osl }, commit)} />
      <${Slider} label="Share of the prompt that hits the cache" name="cached" value=${state.cached} min=${0} max=${1} format=${(v) => fmt(v, '%')} onChange=${(cached, commit) => set({ cached }, commit)} />
      <${Choice} label="Tier" name="tier" value=${state.tier} options=${TIERS} onChange=${(tier) => set({ tier })} />
    </div><//>
    <${More} title="If I served it"><div class="stack">
      <${ModelPicker} state=${state} set=${set} label="Model that is really served" />
      ${truth && truth.model !== state.model ? html`<button type="button" onClick=${() => set({ model: truth.model, config: '' })}>Serve ${truth.model}</button>` : null}
      <${ClusterPicker} value=${state.on} onChange=${(on) => set({ on })} />
      <${Slider} label="Share of capacity sold" name="utilisation" value=${state.utilisation} min=${0.05} max=${1} format=${(v) => fmt(v, '%')} onChange=${(utilisation, commit) => set({ utilisation }, commit)} />
      <${Slider} label="Speed of every user" name="speed" value=${state.speed} min=${5} max=${200} log unit="tokens/s" onChange=${(speed, commit) => set({ speed }, commit)} />
      <${Slider} label="Fast mode of my own" name="fast" value=${state.fast} min=${1} max=${5} format=${(v) => `${digits(v)}×`} onChange=${(fast, commit) => set({ fast }, commit)} />
    </div><//>`
}

function wet(margin) {
  const from = margin.output_under_water_from_tokens
  const { base_price: base, factor, step_tokens: at, target_margin: target } = margin.price_step
  const last = margin.rows.at(-1)
  return html`${from
    ? html`<strong>From ${tokens(Math.round(from))} tokens on, an output token costs more than it sells for.</strong>`
    : html`An output token sells for <strong>${digits(last.output_price / last.output_cost)}×</strong> its cost at ${tokens(last.context)} tokens, the longest context computed.`}
    ${' '}To keep a margin of ${fmt(target, '%')} an owner would ask ${digits(base)} USD/Mtok of output up to ${tokens(Math.round(at))} tokens, ${digits(base * factor)} above.`
}

function Given({ state, decoded }) {
  const { price, date } = state
  const sheet = useAnswer(`prices/sheet?model=${encodeURIComponent(price)}${date ? `&date=${date}` : ''}`)
  return html`<${ErrorBox} error=${decoded.error ?? sheet.error} />
    ${decoded.answer
      ? html`<${Answer} pending=${decoded.pending}>${sentence(decoded.answer)}<//>
          <${Posterior} answer=${decoded.answer} />
          <${Findings} answer=${decoded.answer} />`
      : decoded.error ? null : html`<${Skeleton} height=${400} />`}
    ${sheet.answer ? html`<${Sheet} answer=${sheet.answer} />` : null}
    ${(sheet.answer?.disagreements ?? []).length ? html`<${Flags} title="Lists disagree" flags=${sheet.answer.disagreements.map(String)} />` : null}
    <${Flags} flags=${decoded.answer?.flags} />
    <${Reproduce} answer=${decoded.answer} />`
}

function Served({ state, decoded }) {
  const base = { ...modelOf(state), on: state.on, utilisation: state.utilisation, speed: state.speed }
  const margin = useAnswer('prices/margin', dated({ ...base, price: state.price, output_tokens: state.osl }, state.date))
  const modes = useAnswer('prices/modes', { ...base, context: state.context, fast_ratio: state.fast })
  const buy = useAnswer('prices/breakeven', dated({ ...base, price: state.price, isl: state.context, osl: state.osl, cached_share: state.cached }, state.date))
  return html`<section class="part"><h2>What serving it would cost</h2>
    <${ErrorBox} error=${margin.error} />
    ${margin.answer && !margin.error ? html`<${Answer} pending=${margin.pending}>${wet(margin.answer)}<//>` : null}
    <${Margin} margin=${margin.answer} decoded=${decoded} pending=${margin.pending} />
    <div class="charts"><div><${ErrorBox} error=${modes.error} />${modes.error ? null : html`<${Modes} answer=${modes.answer} pending=${modes.pending} />`}</div>
      <div><${ErrorBox} error=${buy.error} />${buy.answer && !buy.error ? html`<${BreakEven} answer=${buy.answer} />` : null}</div></div>
    <${Flags} flags=${margin.answer?.flags} />
    <${Reproduce} answer=${margin.answer} /></section>`
}

function View({ state, set }) {
  const fast = state.fastSpeed > 0 && state.fastPrice > 0 ? { fast_speed: state.fastSpeed, fast_price: state.fastPrice } : {}
  const decoded = useAnswer('prices/decode', dated({ model: state.price, ...fast }, state.date))
  return html`<${Bench} controls=${html`<${Controls} state=${state} set=${set} truth=${decoded.answer?.truth} />`}>
    <${Given} state=${state} decoded=${decoded} />
    <${Served} state=${state} decoded=${decoded.answer} />
    <${Bill} state=${state} dated=${(body) => dated(body, state.date)} />
    <section class="part"><h2>On record</h2><${Coverage} date=${state.date} /><${PublishedDay} /></section>
  <//>`
}

export default {
  id: 'prices',
  title: 'Prices',
  question: 'What do the list prices give away?',
  defaults: {
    price: 'google/gemini-3.1-pro-preview', date: '', fastSpeed: 0, fastPrice: 0, model: 'llama-4-maverick-17b-128e-instruct', config: '', on: 'gb200-nvl72',
    utilisation: 0.5, speed: 20, context: 8192, osl: 500, cached: 0, tier: 'standard', fast: 1.25,
  },
  View,
}
