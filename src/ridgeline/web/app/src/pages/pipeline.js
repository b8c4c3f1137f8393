import { html } from '../lib/html.js'

function View() {
  return html`<p class="answer">This page comes with the next build.</p>`
}

export default {
  id: 'pipeline',
  title: 'Pipeline',
  question: 'What does cutting the model into stages fix?',
  defaults: { model: 'deepseek-v3', config: '', on: 'gb200-nvl72' },
  View,
}
