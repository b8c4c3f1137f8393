// A view's state is its address: #/page?key=value, only what differs from the page's defaults.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'

const WRITE_MS = 200 // browsers limit how often the address may change

/** Returns {page, params} of the address. */
export function readHash(hash = location.hash) {
  const [path, query = ''] = hash.replace(/^#\/?/, '').split('?')
  return { page: path, params: new URLSearchParams(query) }
}

function decode(text, fallback) {
  if (Array.isArray(fallback)) {
    const items = text === '' ? [] : text.split(',')
    return typeof fallback[0] === 'number' ? items.map(Number).filter(Number.isFinite) : items
  }
  if (typeof fallback === 'boolean') return text === '1'
  if (typeof fallback === 'number') return text !== '' && Number.isFinite(Number(text)) ? Number(text) : fallback
  return text
}

const encode = (value) =>
  Array.isArray(value) ? value.join(',') : typeof value === 'boolean' ? (value ? '1' : '0') : String(value)

/** Returns the state that an address holds; unknown keys are ignored. */
export function fromParams(params, defaults) {
  const state = { ...defaults }
  for (const key of Object.keys(defaults)) {
    if (params.has(key)) state[key] = decode(params.get(key), defaults[key])
  }
  return state
}

/** Returns the address of a state. */
export function toHash(page, state, defaults) {
  const params = new URLSearchParams()
  for (const key of Object.keys(defaults)) {
    if (encode(state[key]) !== encode(defaults[key])) params.set(key, encode(state[key]))
  }
  const query = params.toString()
  return `#/${page}${query ? `?${query}` : ''}`
}

/**
 * Returns [state, set]. set(patch) is a step of the history; set(patch, false) is a drag under
 * way, which only replaces the address.
 * Types follow the defaults: numbers, strings, booleans, lists of numbers or of strings.
 */
export function useUrlState(defaults) {
  const [state, setState] = useState(() => fromParams(readHash().params, defaults))
  const now = useRef(state)
  const timer = useRef(0)
  const page = useRef(readHash().page)

  useEffect(() => {
    const onHash = () => {
      const { page: there, params } = readHash()
      if (there !== page.current) return
      clearTimeout(timer.current)
      now.current = fromParams(params, defaults)
      setState(now.current)
    }
    addEventListener('popstate', onHash)
    return () => {
      clearTimeout(timer.current)
      removeEventListener('popstate', onHash)
    }
  }, [])

  const set = useCallback((patch, commit = true) => {
    now.current = { ...now.current, ...patch }
    setState(now.current)
    clearTimeout(timer.current)
    const write = () => {
      const hash = toHash(page.current, now.current, defaults)
      if (hash === location.hash && !commit) return
      history[commit && hash !== location.hash ? 'pushState' : 'replaceState'](null, '', hash)
      dispatchEvent(new Event('ridgeline:address'))
    }
    if (commit) write()
    else timer.current = setTimeout(write, WRITE_MS)
  }, [])

  return [state, set]
}

/** Writes a config.json into the address: base64 of its JSON, in the alphabet of addresses. */
export function packConfig(config) {
  const bytes = new TextEncoder().encode(JSON.stringify(config))
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

export function unpackConfig(text) {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(binary, (char) => char.charCodeAt(0))))
}

/** Returns the part of a request's body that names the model: of state.model, or state.config. */
export function modelOf(state) {
  if (!state.config) return { model: state.model }
  try {
    return { config: unpackConfig(state.config), name: state.model || undefined }
  } catch {
    return { config: {}, name: state.model || undefined } // the server says what is missing
  }
}
