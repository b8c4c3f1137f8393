import { html } from '../lib/html.js'

function View() {
  return html`<p class="answer">This page comes with the next build.</p>`
}

export default {
  id: 'plan',
  title: 'Plan',
  question: 'Which layout meets my targets at the lowest cost?',
  defaults: { model: 'deepseek-v3', config: '', on: 'gb200-nvl72' },
  View,
}
