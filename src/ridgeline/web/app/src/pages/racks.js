import { html } from '../lib/html.js'

function View() {
  return html`<p class="answer">This page comes with the next build.</p>`
}

export default {
  id: 'racks',
  title: 'Racks',
  question: 'What does it cost to spread the experts over racks?',
  defaults: { model: 'deepseek-v3', config: '', on: 'gb200-nvl72' },
  View,
}
