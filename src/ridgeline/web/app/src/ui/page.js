// The frame of a view: controls at the left (on top of a phone), the answer beside them.
import { html } from '../lib/html.js'

const wide = matchMedia('(min-width: 861px)')

/** controls and children are content; the controls fold away on a phone. */
export const Bench = ({ controls, children }) => html`<div class="bench">
  <aside class="controls" aria-label="Settings">${controls}</aside>
  <div class="results">${children}</div>
</div>`

/** A group of controls under a heading. */
export const Group = ({ title, children }) => html`<fieldset><legend>${title}</legend>${children}</fieldset>`

/** Settings that fold away on a phone, so that the answer is near. */
export const More = ({ title, children }) => html`<details class="more" open=${wide.matches}>
  <summary>${title}</summary>${children}</details>`
