import { html } from '../lib/html.js'

function View() {
  return html`<p class="answer">This page comes with the next build.</p>`
}

export default {
  id: 'lecture',
  title: 'Lecture',
  question: 'Does the blackboard add up?',
  defaults: { model: 'deepseek-v3', config: '', on: 'gb200-nvl72' },
  View,
}
