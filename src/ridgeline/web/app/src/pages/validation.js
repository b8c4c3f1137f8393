import { useMemo } from 'preact/hooks'
import { useAnswer } from '../lib/api.js'
import { html } from '../lib/html.js'
import { fmt } from '../lib/units.js'
import { Choice, Slider } from '../ui/controls.js'
import { Figure } from '../ui/figure.js'
import { Answer, ErrorBox, Flags, Skeleton } from '../ui/notes.js'
import { Bench } from '../ui/page.js'
import { Reproduce } from '../ui/reproduce.js'
import { Table } from '../ui/table.js'
import { AREAS, areaOf, quantile, share, sourceOf } from './validation/areas.js'
import { ROW_COLUMNS, scatter, strips } from './validation/charts.js'

const percent = (value) => fmt(value, '%')
const signed = (value) => `${value > 0 ? '+' : ''}${percent(value)}`
const SCORES = [
  { key: 'rows', label: 'rows' },
  { key: 'groups', label: 'groups' },
  { key: 'median_error', label: 'median error', format: percent },
  { key: 'p90_error', label: '90 % within', format: percent },
  { key: 'bias', label: 'bias', format: signed },
  { key: 'band_coverage', label: 'inside its band', format: (value) => (value === null ? '–' : percent(value)) },
]
const FAMILIES = [
  { key: 'family', label: 'family', render: ({ family }) => html`<span class="dot-key" style=${{ background: `var(--${areaOf(family).colour})` }}></span>${family}` },
  { key: 'area', label: 'area' },
  ...SCORES,
]
const SOURCES = [{ key: 'source', label: 'source' }, { key: 'family', label: 'family' }, ...SCORES]

function chosen(rows, { area, family, source }) {
  return rows.filter((row) => (!area || areaOf(row.family).id === area) && (!family || row.family === family) && (!source || sourceOf(row) === source))
}

function Controls({ state, set, answer }) {
  const all = { value: '', label: 'all' }
  const rows = answer?.rows ?? []
  const names = (list) => [all, ...[...new Set(list)].sort()]
  return html`<${Choice} label="Area" name="area" value=${state.area} options=${[all, ...AREAS.filter(({ id }) => rows.some((row) => areaOf(row.family).id === id)).map(({ id, label }) => ({ value: id, label }))]}
      onChange=${(area) => set({ area, family: '', source: '' })} />
    <${Choice} label="Family" name="family" value=${state.family} options=${names(chosen(rows, { area: state.area }).map(({ family }) => family))} onChange=${(family) => set({ family, source: '' })} />
    <${Choice} label="Source" name="source" value=${state.source} options=${names(chosen(rows, { area: state.area, family: state.family }).map(sourceOf))} onChange=${(source) => set({ source })} />
    <${Slider} label="Rows shown" name="worst" value=${state.worst} stops=${[10, 20, 40, 80, 1000]} format=${(v) => (v === 1000 ? 'all' : fmt(v))} onChange=${(worst, commit) => set({ worst }, commit)} />
    <p class="hint">Error: predicted over published, less one. Families are scored by the median over groups of one source, model and device. A band is the 10 to 90 % of the other groups’ errors: it should hold 80 %.</p>`
}

function sentence(rows, families) {
  const off = rows.map(({ error }) => Math.abs(error))
  const ratio = ({ published, predicted }) => predicted / published
  const inTwo = share(rows, (row) => ratio(row) > 0.5 && ratio(row) < 2)
  const [bad, next] = [...families].sort((a, b) => b.median_error - a.median_error)
  return html`Over <strong>${fmt(rows.length)} published rows</strong>, half of the predictions are within <strong>${percent(quantile(off, 0.5))}</strong> and nine in ten within <strong>${percent(quantile(off, 0.9))}</strong>; ${percent(inTwo)} within a factor 2.
    ${families.length > 1 ? html` Worst: ${bad.family}, ${said(bad)}, and ${next.family}, ${said(next)}.` : null}`
}
const said = ({ bias, median_error: off }) => `${percent(off)} off, ${Math.abs(bias) < off / 3 ? 'to both sides' : bias > 0 ? 'too high' : 'too low'}`

function Found({ answer, state, set }) {
  const rows = useMemo(() => chosen(answer.rows, state), [answer, state.area, state.family, state.source])
  const families = useMemo(() => {
    const names = new Set(rows.map(({ family }) => family))
    return answer.families.filter(({ family }) => names.has(family)).map((score) => ({ ...score, area: areaOf(score.family).label })).sort((a, b) => a.median_error - b.median_error)
  }, [answer, rows])
  const cloud = useMemo(() => (rows.length ? scatter(rows) : null), [rows])
  const ratios = useMemo(() => (rows.length ? strips(rows, families, '') : null), [rows])
  if (!rows.length) return html`<p>No row of that family in that source.</p>`
  const worst = [...rows].sort((a, b) => Math.abs(Math.log(b.predicted / b.published)) - Math.abs(Math.log(a.predicted / a.published))).slice(0, state.worst)
  const names = new Set(families.map(({ family }) => family))
  const sources = answer.sources.filter(({ family, source }) => names.has(family) && (!state.source || source === state.source)).sort((a, b) => b.median_error - a.median_error)
  const outside = rows.filter((row) => row.flags.length)
  return html`<${Answer}>${sentence(rows, families)}<//>
    <div class="charts"><${Figure} name="validation" title="Predicted against published" option=${cloud} rows=${rows} columns=${ROW_COLUMNS.concat({ key: 'unit' })} height=${520} />
      <${Figure} name="validation-ratio" title="How far off, by family" option=${ratios} rows=${rows.map((row) => ({ ...row, ratio: row.predicted / row.published }))} columns=${[{ key: 'id' }, { key: 'family' }, { key: 'ratio' }]} height=${Math.max(200, 66 + 21 * families.length)}
        note="Green: within 20 %. Best family first." /></div>
    <div class="wide-table"><${Table} title="By family" name="validation-families" columns=${FAMILIES} rows=${families} onPick=${(row) => set({ family: state.family === row.family ? '' : row.family, source: '' })} picked=${(row) => row.family === state.family} /></div>
    <div class="tall wide-table"><${Table} title="By source, worst first" name="validation-sources" columns=${SOURCES} rows=${sources} onPick=${(row) => set({ family: row.family, source: row.source })} picked=${(row) => row.source === state.source} /></div>
    <div class="wide-table widest"><${Table} title="Rows, worst first" name="validation-worst" columns=${ROW_COLUMNS} rows=${worst} /></div>
    ${answer.worse_than_recorded.length ? html`<p class="warn">Worse than when last recorded: ${answer.worse_than_recorded.map(({ family, source, recorded, median_error: now }) => `${family}, ${source}: ${percent(now)}, recorded ${percent(recorded)}`).join('; ')}.</p>` : null}
    ${answer.not_predicted.length ? html`<${Flags} title="Not predicted" flags=${answer.not_predicted.map(({ source, reason, rows: count }) => `${source}: ${count} rows, ${reason}`)} />` : null}
    ${outside.length ? html`<${Flags} title="Rows predicted outside what was measured" flags=${[...new Set(outside.flatMap(({ flags }) => flags))]} />` : null}
    <${Reproduce} answer=${answer} />`
}

function View({ state, set }) {
  const { answer, error } = useAnswer('validate')
  return html`<${Bench} controls=${html`<${Controls} state=${state} set=${set} answer=${answer} />`}>
    <${ErrorBox} error=${error} />
    ${answer ? html`<${Found} answer=${answer} state=${state} set=${set} />` : error ? null : html`<${Answer}>Predicting every packaged measurement…<//><${Skeleton} height=${520} />`}
  <//>`
}

export default {
  id: 'validation',
  title: 'Validation',
  question: 'How far from published measurements are the predictions?',
  defaults: { area: '', family: '', source: '', worst: 20 },
  View,
}
