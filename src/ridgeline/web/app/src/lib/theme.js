// Light, dark or what the system says; colours that colour-blind people tell apart (Okabe & Ito).
import { useEffect, useState } from 'preact/hooks'

const KEY = 'ridgeline-theme'
const dark = matchMedia('(prefers-color-scheme: dark)')

export const chosenTheme = () => localStorage.getItem(KEY) ?? 'auto'
export const themeNow = () => (chosenTheme() === 'auto' ? (dark.matches ? 'dark' : 'light') : chosenTheme())

export function applyTheme(choice = chosenTheme()) {
  if (choice === 'auto') localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, choice)
  document.documentElement.dataset.theme = themeNow()
  dispatchEvent(new Event('ridgeline:theme'))
}

dark.addEventListener('change', () => applyTheme())

/** Returns 'light' or 'dark', and again when it changes. */
export function useTheme() {
  const [theme, setTheme] = useState(themeNow())
  useEffect(() => {
    const onTheme = () => setTheme(themeNow())
    addEventListener('ridgeline:theme', onTheme)
    return () => removeEventListener('ridgeline:theme', onTheme)
  }, [])
  return theme
}

/** The eight colours, of which black and yellow depend on the paper. */
export function palette(theme = themeNow()) {
  const isDark = theme === 'dark'
  return {
    ink: isDark ? '#e8eaed' : '#1b1f24',
    muted: isDark ? '#a3abb5' : '#59636e',
    line: isDark ? '#3a424c' : '#d3d9df',
    paper: isDark ? '#14181d' : '#ffffff',
    raised: isDark ? '#1d2329' : '#f5f7f9',
    orange: '#e69f00',
    sky: '#56b4e9',
    green: isDark ? '#1fb98c' : '#009e73',
    yellow: isDark ? '#f0e442' : '#c9b800',
    blue: isDark ? '#4c9fe0' : '#0072b2',
    vermillion: isDark ? '#f07d35' : '#d55e00',
    purple: isDark ? '#dd93bb' : '#b5558b',
    grey: isDark ? '#8b949e' : '#7d8590',
  }
}

export const SERIES = ['blue', 'vermillion', 'green', 'purple', 'orange', 'sky', 'yellow', 'grey']

const LIMITS = {
  compute: 'vermillion',
  'weight read': 'blue',
  'state read': 'green',
  activations: 'yellow',
  launch: 'grey',
  host: 'orange',
  draft: 'sky',
}

/** The colour of what binds: the same on every page. */
export function limitColour(limit, theme = themeNow()) {
  const name = LIMITS[limit] ?? (limit.startsWith('network') ? 'purple' : 'grey')
  return palette(theme)[name]
}
