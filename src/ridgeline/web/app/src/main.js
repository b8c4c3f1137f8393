// The shell: navigation, theme, and the page that the address names.
import { render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { html } from './lib/html.js'
import { readHash, toHash, useUrlState } from './lib/state.js'
import { applyTheme, chosenTheme } from './lib/theme.js'
import { PAGES } from './pages/index.js'
import { ErrorBox, Skeleton } from './ui/notes.js'

const CARRIED = ['model', 'config', 'on'] // a model stays chosen from page to page

function pageOfAddress() {
  const { page } = readHash()
  return PAGES.some(({ id }) => id === page) ? page : PAGES[0].id
}

/** The address of another page, with the model and cluster that are chosen on this one. */
function linkTo(id) {
  const { params } = readHash()
  const kept = new URLSearchParams()
  for (const key of CARRIED) if (params.has(key)) kept.set(key, params.get(key))
  const query = kept.toString()
  return `#/${id}${query ? `?${query}` : ''}`
}

function Navigation({ current }) {
  const [, turn] = useState(0)
  useEffect(() => {
    const onAddress = () => turn((count) => count + 1)
    addEventListener('ridgeline:address', onAddress)
    return () => removeEventListener('ridgeline:address', onAddress)
  }, [])
  const list = useRef(null)
  useEffect(() => list.current.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' }), [current])
  return html`<nav aria-label="Pages" ref=${list}><ul>${PAGES.map(
    ({ id, title }) => html`<li key=${id}><a href=${linkTo(id)} aria-current=${id === current ? 'page' : undefined}>${title}</a></li>`,
  )}</ul></nav>`
}

function ThemeButton() {
  const [choice, setChoice] = useState(chosenTheme())
  const next = { auto: 'light', light: 'dark', dark: 'auto' }[choice]
  const onClick = () => {
    applyTheme(next)
    setChoice(next)
  }
  return html`<button type="button" class="theme" onClick=${onClick} aria-label=${`Theme: ${choice}. Change to ${next}.`}>
    <span aria-hidden="true">${{ auto: '◐', light: '○', dark: '●' }[choice]}</span> ${choice}</button>`
}

function Page({ page }) {
  const [state, set] = useUrlState(page.defaults)
  useEffect(() => {
    document.title = `${page.title} · ridgeline`
  }, [page])
  return html`<h1 tabindex="-1" id="question">${page.question}</h1><${page.View} state=${state} set=${set} />`
}

function Shell() {
  const [current, setCurrent] = useState(pageOfAddress())
  const [page, setPage] = useState(null)
  const [error, setError] = useState(null)
  useEffect(() => {
    const onHash = () => setCurrent(pageOfAddress())
    addEventListener('hashchange', onHash)
    addEventListener('popstate', onHash)
    return () => {
      removeEventListener('hashchange', onHash)
      removeEventListener('popstate', onHash)
    }
  }, [])
  useEffect(() => {
    let here = true
    setError(null)
    const { load } = PAGES.find(({ id }) => id === current)
    load().then(
      (module) => here && setPage(module.default),
      () => here && setError('The page could not be loaded. Is `ridgeline explore` still running?'),
    )
    return () => {
      here = false
    }
  }, [current])
  const ready = page?.id === current
  return html`<a class="skip" href="#question" onClick=${(event) => { event.preventDefault(); document.getElementById('question')?.focus() }}>Skip to the question</a>
    <header class="top"><a class="brand" href="#/estimate">ridgeline</a><${Navigation} current=${current} /><${ThemeButton} /></header>
    <main><${ErrorBox} error=${error} />${ready ? html`<${Page} key=${page.id} page=${page} />` : html`<${Skeleton} height=${480} />`}</main>`
}

if (!PAGES.some(({ id }) => id === readHash().page)) history.replaceState(null, '', toHash(PAGES[0].id, {}, {}))
applyTheme()
render(html`<${Shell} />`, document.getElementById('app'))
