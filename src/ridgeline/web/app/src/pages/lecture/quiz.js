// Cards and problems: every answer with its unit is marked by the server; the score stays in this browser.
import { useEffect, useState } from 'preact/hooks'
import { ask } from '../../lib/api.js'
import { html } from '../../lib/html.js'
import { fmt } from '../../lib/units.js'
import { LABELS, QUESTIONS } from './cards.js'
import { valueText } from './claim.js'
import { unitText } from './inputs.js'
import { nameOf, typeset } from './names.js'

const KEY = 'ridgeline-quiz'
const SIGNS = { right: '✓', close: '≈', wrong: '✗', 'wrong unit': '✗' }
const CLASSES = { right: 'good', close: 'warn', wrong: 'bad', 'wrong unit': 'bad' }

function load() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? {}
  } catch {
    return {}
  }
}

/** Returns [marks, setMark, clear]: {"K5.0": {answer, mark, shown}}, kept in this browser. */
export function useMarks() {
  const [marks, setMarks] = useState(load)
  const keep = (next) => {
    localStorage.setItem(KEY, JSON.stringify(next))
    setMarks(next)
  }
  const setMark = (key, mark) => keep({ ...load(), [key]: mark })
  return [marks, setMark, () => keep({})]
}

export const keysOf = (claim) => claim.values.map((_, i) => `${claim.id}.${i}`)

export function scoreOf(claims, marks) {
  const keys = claims.flatMap(keysOf)
  const count = (mark) => keys.filter((key) => marks[key]?.mark === mark).length
  return { all: keys.length, tried: keys.filter((key) => marks[key]).length, right: count('right'), close: count('close'), wrong: count('wrong') + count('wrong unit') }
}

/** The worst mark of a card, or '' where something is not tried yet. */
export function stateOf(claim, marks) {
  const found = keysOf(claim).map((key) => marks[key]?.mark)
  if (!found.length || found.some((mark) => !mark)) return ''
  return ['wrong unit', 'wrong', 'close', 'right'].find((mark) => found.includes(mark))
}

export const Mark = ({ mark }) => (mark ? html`<span class="verdict ${CLASSES[mark]}" title=${mark}><span aria-hidden="true">${SIGNS[mark]}</span> <span class="mark-word">${mark}</span></span>` : null)

const Given = ({ inputs }) => html`<p class="given">${Object.entries(inputs).map(([name, value]) => {
  const { symbol, words, unit } = nameOf(name)
  const { factor, unit: shown } = unitText(value, unit)
  const text = typeof value === 'number' ? `${fmt(value / factor)} ${shown}` : String(value)
  return html`<span key=${name}>${symbol ? html`<var>${typeset(symbol)}</var> ` : null}${words} <b>${text}</b></span>`
})}</p>`

function Question({ claim, index, kept, setMark }) {
  const value = claim.values[index]
  const key = `${claim.id}.${index}`
  const [typed, setTyped] = useState(kept?.answer ?? '')
  const [error, setError] = useState(null)
  const [found, setFound] = useState(null)
  const [busy, setBusy] = useState(false)
  useEffect(() => {
    if (!kept) {
      setTyped('')
      setFound(null)
    }
  }, [kept === undefined])
  const check = async (event) => {
    event?.preventDefault()
    setBusy(true)
    try {
      const answer = await ask('quiz/check', { claim: claim.id, value: index, answer: typed })
      setError(null)
      setFound(answer)
      setMark(key, { answer: typed, mark: answer.mark, shown: kept?.shown ?? false })
    } catch (failure) {
      setError(failure.message)
    }
    setBusy(false)
  }
  const id = `answer-${key}`
  const shown = kept?.shown
  return html`<form class="question" onSubmit=${check} data-question=${key}>
    <label for=${id}>${LABELS[key] ?? value.label}</label>
    <${Given} inputs=${value.inputs} />
    <div class="reply">
      <input id=${id} name=${id} type="text" autocomplete="off" spellcheck=${false} placeholder="a number with its unit" value=${typed} onInput=${(event) => setTyped(event.currentTarget.value)} />
      <button type="submit" disabled=${busy || !typed.trim()}>Check</button>
      <span class="reply-mark" aria-live="polite"><${Mark} mark=${kept?.mark} /></span>
    </div>
    ${error ? html`<p class="error" role="alert">${error}</p>` : null}
    ${found?.why ? html`<p class="hint">${found.why}</p>` : null}
    ${kept?.mark === 'close' ? html`<p class="hint">Within 10 %; right is within 2 %.</p>` : null}
    ${kept && !shown ? html`<button type="button" class="quiet" onClick=${() => setMark(key, { ...kept, shown: true })}>Show the answer</button>` : null}
    ${shown ? html`<p class="shown"><strong>${valueText(value.computed, value.unit)}</strong>${value.equation ? html` <span class="equation">${typeset(value.equation)}</span>` : null}
      <a href=${`#/lecture?claim=${claim.id}&value=${index}&view=path`}>Change its inputs</a></p>` : null}
  </form>`
}

export function Card({ claim, marks, setMark }) {
  const [open, setOpen] = useState(false)
  const asked = QUESTIONS[claim.id] ?? claim.claim
  const tried = claim.values.length === 0 || keysOf(claim).every((key) => marks[key])
  return html`<article class="claim quiz" data-claim=${claim.id}>
    <p class="kicker">${claim.kind === 'flashcard' ? 'Card' : 'Problem'} ${claim.id.slice(1)} · chapter ${claim.chapter}</p>
    <h2>${asked}</h2>
    ${claim.values.length === 0 ? html`<p>Say it to yourself, then compare: this one has no number to check.</p>` : null}
    ${claim.values.map((_, i) => html`<${Question} key=${`${claim.id}.${i}`} claim=${claim} index=${i} kept=${marks[`${claim.id}.${i}`]} setMark=${setMark} />`)}
    ${asked !== claim.claim
      ? open
        ? html`<p class="shown card-text"><strong>The card:</strong> ${claim.claim}${claim.note ? html` <span class="hint">${claim.note}</span>` : null}</p>`
        : html`<p><button type="button" class="quiet" disabled=${!tried} onClick=${() => setOpen(true)}>Show the card’s text</button>${tried ? null : html` <span class="hint">after trying every part</span>`}</p>`
      : null}
  </article>`
}
