import { useEffect, useMemo, useState } from 'preact/hooks'
import { useAnswer } from '../lib/api.js'
import { html } from '../lib/html.js'
import { Choice } from '../ui/controls.js'
import { Answer, ErrorBox, Skeleton } from '../ui/notes.js'
import { Bench } from '../ui/page.js'
import { ClaimView, KINDS, Verdict } from './lecture/claim.js'
import { Card, Mark, scoreOf, stateOf, useMarks } from './lecture/quiz.js'

const VIEWS = [
  { id: 'path', label: 'Seven chapters' },
  { id: 'cards', label: '27 cards' },
  { id: 'problems', label: '17 problems' },
]
const PREFIX = { K: 'cards', P: 'problems' }

/** The claim of the address decides the view and the chapter, so that a link needs only the claim. */
function viewOf(state) {
  return state.view || PREFIX[state.claim[0]] || 'path'
}

const Tabs = ({ view, set }) => html`<div class="tabs" role="group" aria-label="Parts of the lecture">${VIEWS.map(
  ({ id, label }) => html`<button key=${id} type="button" aria-pressed=${view === id} onClick=${() => set({ view: id === 'path' ? '' : id, claim: '', value: 0, edit: [] })}>${label}</button>`,
)}</div>`

/** On a phone the list folds away; a click on an entry closes it. */
function List({ title, children }) {
  const [wide, setWide] = useState(innerWidth > 860)
  useEffect(() => {
    const onSize = () => setWide(innerWidth > 860)
    addEventListener('resize', onSize)
    return () => removeEventListener('resize', onSize)
  }, [])
  return html`<details class="claims" open=${wide}><summary>${title}</summary>${children}</details>`
}

function Step({ before, after, go }) {
  return html`<nav class="steps" aria-label="Previous and next">
    ${before ? html`<button type="button" onClick=${() => go(before)}>← ${before.label}</button>` : html`<span></span>`}
    ${after ? html`<button type="button" class="primary" onClick=${() => go(after)}>${after.label} →</button>` : html`<span></span>`}
  </nav>`
}

function Path({ state, set }) {
  const ofChapter = /^C(\d)-/.exec(state.claim)?.[1] // others say their chapter themselves
  const single = useAnswer(state.claim && !ofChapter ? `lecture/${encodeURIComponent(state.claim)}` : null)
  const own = single.answer?.claims.find(({ id }) => id === state.claim) // not the claim of the answer before
  const chapter = state.claim ? Number(ofChapter ?? own?.chapter ?? state.chapter) : state.chapter
  const { answer, error } = useAnswer(`lecture/${chapter}`)
  const ready = answer?.claims.some((claim) => claim.chapter === chapter)
  const groups = useMemo(
    () => (ready ? Object.entries(KINDS).map(([kind, title]) => ({ title, claims: answer.claims.filter((claim) => claim.kind === kind && claim.chapter === chapter) })) : []),
    [answer, chapter],
  )
  const order = groups.flatMap(({ claims }) => claims)
  const others = ready ? answer.claims : []
  const claim = others.find(({ id }) => id === state.claim) ?? (state.claim ? null : order[0])
  const at = order.indexOf(claim)
  useEffect(() => {
    if (innerWidth > 860) document.querySelector('.claims a[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [claim])
  const open = (next) => {
    set({ view: '', claim: next.claim ?? '', chapter: next.chapter ?? chapter, value: 0, edit: [] })
    document.getElementById('question')?.scrollIntoView({ block: 'start' })
  }
  const chapters = answer?.chapters ?? {}
  const step = (k) => {
    if (order[at + k]) return { claim: order[at + k].id, chapter, label: order[at + k].id }
    const there = chapter + Math.sign(k)
    return at >= 0 && chapters[there] ? { chapter: there, label: `Chapter ${there}` } : null
  }
  const agree = order.filter(({ verdict }) => verdict === 'agrees' || verdict === 'rounds').length
  const numbered = order.filter(({ verdict }) => verdict !== 'statement').length
  return html`<${Bench} controls=${html`<${Tabs} view="path" set=${set} />
      <${Choice} label="Chapter" name="chapter" value=${String(chapter)} options=${Object.entries(chapters).map(([n, title]) => ({ value: n, label: `${n} · ${title}` }))}
        onChange=${(n) => open({ chapter: Number(n) })} />
      <${List} title="Claims of this chapter">${groups.filter(({ claims }) => claims.length).map(
        ({ title, claims }) => html`<div key=${title}><h3>${title}</h3><ul>${claims.map(
          (one) => html`<li key=${one.id}><a href=${`#/lecture?claim=${one.id}`} aria-current=${one === claim ? 'true' : undefined}
            onClick=${(event) => { event.preventDefault(); open({ claim: one.id }) }}><${Verdict} verdict=${one.verdict} bare /><span><b>${one.id.split('-').pop()}</b> ${one.claim}</span></a></li>`,
        )}</ul></div>`,
      )}<//>`}>
    <${ErrorBox} error=${single.error ?? error ?? (ready && ofChapter && !claim ? `No claim ${state.claim} in chapter ${chapter}.` : null)} />
    ${ready ? html`<${Answer}>Chapter ${chapter}, ${lower(chapters[chapter])}: ${agree} of ${numbered} claims agree with the arithmetic as spoken.<//>` : null}
    ${claim ? html`<${ClaimView} key=${claim.id} claim=${claim} state=${state} set=${set} /><${Step} before=${step(-1)} after=${step(1)} go=${open} />` : ready || single.error ? null : html`<${Skeleton} height=${420} />`}
  <//>`
}

const lower = (text) => (/^[A-Z][a-z]/.test(text ?? '') && !/^(What|How|Why)\b/.test(text) ? text[0].toLowerCase() + text.slice(1) : `“${text}”`)

function Quiz({ kind, state, set }) {
  const { answer, error } = useAnswer(`lecture/${kind}`)
  const [marks, setMark, clear] = useMarks()
  const claims = answer?.claims[0]?.kind === (kind === 'cards' ? 'flashcard' : 'problem') ? answer.claims : []
  const claim = claims.find(({ id }) => id === state.claim) ?? claims[0]
  const at = claims.indexOf(claim)
  const score = scoreOf(claims, marks)
  const open = ({ id }) => {
    set({ view: kind, claim: id, value: 0, edit: [] })
    document.getElementById('question')?.scrollIntoView({ block: 'start' })
  }
  const step = (k) => (claims[at + k] ? { id: claims[at + k].id, label: claims[at + k].id } : null)
  return html`<${Bench} controls=${html`<${Tabs} view=${kind} set=${set} />
      <${List} title=${kind === 'cards' ? 'Cards' : 'Problems'}><ul class="deck">${claims.map(
        (one) => html`<li key=${one.id}><a href=${`#/lecture?claim=${one.id}`} aria-current=${one === claim ? 'true' : undefined}
          onClick=${(event) => { event.preventDefault(); open(one) }}><b>${one.id}</b> <${Mark} mark=${stateOf(one, marks)} /></a></li>`,
      )}</ul><//>
      <p class="hint">Marks stay in this browser.</p>
      ${score.tried ? html`<button type="button" onClick=${clear}>Start over</button>` : null}`}>
    <${ErrorBox} error=${error} />
    ${claim
      ? html`<${Answer}><span data-score=${score.right}>${score.tried ? html`<strong>${score.right} right</strong>, ${score.close} close, ${score.wrong} wrong: ${score.tried} of ${score.all} answers tried.` : `${score.all} answers to find. Right is within 2 %, and the unit counts.`}</span><//>
          <${Card} key=${claim.id} claim=${claim} marks=${marks} setMark=${setMark} /><${Step} before=${step(-1)} after=${step(1)} go=${open} />`
      : html`<${Skeleton} height=${420} />`}
  <//>`
}

function View({ state, set }) {
  const view = viewOf(state)
  return view === 'path' ? html`<${Path} state=${state} set=${set} />` : html`<${Quiz} key=${view} kind=${view} state=${state} set=${set} />`
}

export default {
  id: 'lecture',
  title: 'Lecture',
  question: 'Does the blackboard add up?',
  defaults: { view: '', chapter: 1, claim: '', value: 0, edit: [] },
  View,
}
