export { html } from 'htm/preact'
