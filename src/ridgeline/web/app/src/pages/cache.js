import { html } from '../lib/html.js'

function View() {
  return html`<p class="answer">This page comes with the next build.</p>`
}

export default {
  id: 'cache',
  title: 'Cache',
  question: 'Where should a cache live while its user thinks?',
  defaults: { model: 'deepseek-v3', config: '', on: 'gb200-nvl72' },
  View,
}
