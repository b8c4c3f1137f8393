// Questions to the server: the newest one wins, old answers stay until the next arrives.
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'

const KEPT = 60
const PATIENCE_MS = 1500 // a request in flight this long gives way to a newer one
const POLL_MS = 250
const answers = new Map()

/** Questions on their way, as <html data-asking>: for styles and tests. */
function count(change) {
  const { dataset } = document.documentElement
  dataset.asking = String(Number(dataset.asking ?? 0) + change)
}

/** The sentence of an error document. */
function sentenceOf(document, status) {
  const first = document?.detail?.[0]
  if (!first) return `The server answered ${status}.`
  const nearest = first.nearest?.length && !first.msg.includes(first.nearest[0]) ? ` Nearest: ${first.nearest.join(', ')}.` : ''
  // a type that is wrong is said without the name of what has it
  const where = first.msg.startsWith('Input should') ? `${first.loc?.filter((part) => part !== 'body').join(' ')}: ` : ''
  return where + first.msg + nearest
}

/** Asks once. Throws an Error whose message is the sentence for people and whose detail is the API's. */
export async function ask(route, body, { signal, method } = {}) {
  const options = { signal, method: method ?? (body === undefined || body === null ? 'GET' : 'POST') }
  if (options.method === 'POST') {
    options.headers = { 'content-type': 'application/json' }
    options.body = JSON.stringify(body)
  }
  let response
  let document
  count(1)
  try {
    response = await fetch(`/api/v1/${route}`, options)
    document = await response.json().catch(() => null)
  } catch (error) {
    if (error.name === 'AbortError') throw error
    throw new Error('The server does not answer. Is `ridgeline explore` still running?')
  } finally {
    count(-1)
  }
  if (!response.ok || document === null) {
    throw Object.assign(new Error(sentenceOf(document, response.status)), { detail: document?.detail ?? [], status: response.status })
  }
  return document
}

function keep(key, answer) {
  answers.delete(key)
  answers.set(key, answer)
  if (answers.size > KEPT) answers.delete(answers.keys().next().value)
}

/**
 * Returns {answer, error, detail, pending} of a route; the body undefined asks with GET, the route
 * null asks nothing. One request at a time: while one is in flight the newest question waits.
 */
export function useAnswer(route, body, { wait = 0 } = {}) {
  const [view, setView] = useState({ answer: null, error: null, detail: [], pending: true })
  const box = useRef({ wanted: null, flight: null, timer: 0 }).current
  const key = route === null ? null : `${route} ${body === undefined ? '' : JSON.stringify(body)}`

  const send = useCallback(() => {
    const { wanted } = box
    if (!wanted || wanted.key === box.shown) return
    if (box.flight) {
      if (performance.now() - box.flight.start < PATIENCE_MS) return
      box.flight.controller.abort()
    }
    if (answers.has(wanted.key)) {
      box.shown = wanted.key
      setView({ answer: answers.get(wanted.key), error: null, detail: [], pending: false })
      return
    }
    const controller = new AbortController()
    const flight = { controller, start: performance.now() }
    box.flight = flight
    const settle = (change) => {
      if (box.flight !== flight) return
      box.flight = null
      if (box.gone) return
      box.shown = wanted.key
      setView((old) => ({ ...old, ...change, pending: box.wanted?.key !== wanted.key }))
      send()
    }
    ask(wanted.route, wanted.body, { signal: controller.signal }).then(
      (answer) => {
        keep(wanted.key, answer)
        settle({ answer, error: null, detail: [] })
      },
      (error) => {
        if (error.name !== 'AbortError') settle({ error: error.message, detail: error.detail ?? [] })
      },
    )
  }, [])

  // Asks at once: an ordinary effect would wait for the next frame.
  useLayoutEffect(() => {
    if (key === null) {
      box.wanted = null
      setView((old) => (old.pending ? { ...old, pending: false } : old))
      return undefined
    }
    box.wanted = { key, route, body }
    if (key !== box.shown && !answers.has(key)) setView((old) => (old.pending ? old : { ...old, pending: true }))
    if (wait > 0) box.timer = setTimeout(send, wait)
    else send()
    return () => clearTimeout(box.timer)
  }, [key])

  useEffect(
    () => () => {
      box.gone = true
      box.flight?.controller.abort()
    },
    [],
  )
  return view
}

/** Returns {start, cancel, job, error}: a long question with progress; job.result is the answer. */
export function useJob(route) {
  const [job, setJob] = useState(null)
  const [error, setError] = useState(null)
  const box = useRef({ turn: 0, id: null }).current

  const cancel = useCallback(async () => {
    box.turn += 1
    const { id } = box
    box.id = null
    setJob((old) => (old && (old.status === 'queued' || old.status === 'running') ? { ...old, status: 'cancelled' } : old))
    if (id) await ask(`jobs/${id}`, null, { method: 'DELETE' }).catch(() => {})
  }, [])

  const start = useCallback(
    async (body) => {
      await cancel()
      const turn = ++box.turn
      setError(null)
      setJob({ status: 'queued', done: 0, total: 0, seconds: 0, result: null })
      try {
        let document = await ask(route, body)
        box.id = document.id
        for (;;) {
          if (turn !== box.turn) return
          setJob(document)
          if (document.status !== 'queued' && document.status !== 'running') break
          await new Promise((done) => setTimeout(done, POLL_MS))
          if (turn !== box.turn) return
          document = await ask(`jobs/${document.id}`)
        }
        box.id = null
        if (document.status === 'failed') setError(sentenceOf(document, 'failed'))
      } catch (failure) {
        if (turn !== box.turn) return
        setJob(null)
        setError(failure.message)
      }
    },
    [route],
  )

  useEffect(() => () => void cancel(), [])
  return { start, cancel, job, error }
}
