// SPDX-License-Identifier: Apache-2.0
// A reproduced figure: curves beside published points, claims with verdicts, differences.
import { figureCharts } from '../charts/figure.js';
import * as format from '../format.js';
import { ChartView } from './chart-view.js';
import { fold, origin, section } from './details.js';
import { h, scroller } from './dom.js';
import { progress } from './progress.js';
import { recordedVerdicts } from './recorded.js';
import { recordedStatements } from './statements.js';
import { explorer, failures, whereSection } from './sweep.js';
import { chip, UNSURE, VERDICTS, verdictOf } from './verdict.js';

const IN_SHAPE = 'In shape: beyond the tolerance, but within the wider band (“shape”). '
  + 'A factor is one up or down.';

// The number of claims with each verdict. Those with a question mark are counted separately.
const counts = (claims) => Object.entries(VERDICTS).flatMap(([name, verdict]) =>
  [false, true].map((unsure) => ({ verdict, unsure, count: claims.filter((claim) =>
    claim.verdict === name && Boolean(claim.unsure) === unsure).length })))
  .filter(({ count }) => count > 0);

const SOURCES = { text: 'from the paper\u2019s text', plot: 'read off its plots',
  memory: 'from memory', own: 'this project\u2019s own' };
const sourcesOf = (claims) => Object.keys(SOURCES).filter((source) =>
  claims.some((claim) => claim.source === source));

// A figure is judged, and gets its name, when all of its runs have been tried.
const isJudged = ({ info }) => Boolean(info.figure);
const NOT_JUDGED = 'Not judged yet: not all of its runs have been made. The same command goes on.';

// All claims as one bar, with words below.
function tally(claims) {
  const found = counts(claims);
  if (claims.length === 0)
    return h('p', { class: 'without' }, 'No claim is made.');
  return h('div', { class: 'tally' },
    h('div', { class: 'tally-bar', 'aria-hidden': 'true' }, found.map(({ verdict, count }) =>
      h('span', { class: verdict.kind, style: { flexGrow: String(count) } }))),
    h('p', {}, `${claims.length} ${claims.length === 1 ? 'claim' : 'claims'}: `,
      found.map(({ verdict, unsure, count }) => h('span', { class: 'tally-part' },
        h('b', {}, String(count)), ' ', chip(verdict, unsure)))));
}

// The verdicts by the claims' sources, if there are several.
function bySource(claims) {
  const sources = sourcesOf(claims);
  if (sources.length < 2)
    return null;
  return h('ul', { class: 'sources' }, sources.map((source) => {
    const those = claims.filter((claim) => claim.source === source);
    return h('li', {}, `${those.length} ${SOURCES[source]}: `, counts(those).map(
      ({ verdict, unsure, count }) => h('span', { class: 'tally-part' },
        h('b', {}, String(count)), ' ', chip(verdict, unsure))));
  }));
}

// The measured value of a claim: the judged number, or that of another reading.
function measured(claim, { measured: value, low, high, verdict } = claim) {
  if (value === null) // judged without a number: the event of the claim did not happen
    return /reproduced|in shape/.test(verdict) ? 'never' : '–';
  // In the paper's unit: per cent beside per cent.
  const unit = claim.unit === 'ratio' && /%|point/.test(claim.published_text + claim.tolerance)
    ? 'share' : claim.unit;
  const text = format.value(value, unit);
  if (low === null || high === null || low === high)
    return text;
  return h('span', {}, text, h('span', { class: 'interval' }, `${format.value(low, unit)} to `
    + format.value(high, unit)));
}

// "loss 1e-3, scheme a; loss 1e-3, scheme b": "loss 1e-3, scheme a / b".
function together(condition) {
  const places = condition.split('; ').map((place) => place.split(', ').map((part) =>
    [part.slice(0, part.lastIndexOf(' ')), part.slice(part.lastIndexOf(' ') + 1)]));
  const keys = places[0].map(([key]) => key);
  if (places.length < 2 || keys.includes('')
    || places.some((place) => place.map(([key]) => key).join() !== keys.join()))
    return condition;
  return keys.map((key, i) =>
    `${key} ${[...new Set(places.map((place) => place[i][1]))].join(' / ')}`).join(', ');
}

// Why a verdict is not better. Text of an earlier claim is not repeated.
function explanation(claim, claims) {
  if (!claim.explanation || claim.verdict === 'reproduced')
    return null;
  const first = claims.find((other) => other.explanation === claim.explanation
    && other.verdict !== 'reproduced');
  return h('span', { class: 'explanation' }, first === claim ? claim.explanation
    : `As for “${first.text || first.name}”.`);
}

function claimTable(claims) {
  const columns = ['Claim', 'Published', 'Measured', 'Tolerance', 'Verdict'];
  const cell = (i, ...content) => h('td', { 'data-name': columns[i] }, ...content);
  return scroller('Claims', h('table', { class: 'claims' },
    h('thead', {}, h('tr', {}, columns.map((name) => h('th', { scope: 'col' }, name)))),
    h('tbody', {}, claims.map((claim) => h('tr', {},
      h('th', { scope: 'row' },
        h('span', { class: 'claim-text' }, claim.text || claim.name),
        h('span', { class: 'claim-about' }, [claim.place, SOURCES[claim.source], claim.confidence
          && `confidence: ${claim.confidence}`].filter(Boolean).join(' · ')),
        h('span', { class: 'claim-about' }, [claim.quantity, together(claim.condition)]
          .filter(Boolean).join(' · ')),
        explanation(claim, claims)),
      cell(1, claim.published_text || format.value(claim.published, claim.unit)),
      cell(2, measured(claim)),
      cell(3, claim.tolerance || '–'),
      cell(4, chip(verdictOf(claim), claim.unsure)))))),
  claims.length > 0 && h('p', { class: 'caption' },
    claims.some(({ unsure }) => unsure) ? `${IN_SHAPE} ?: ${UNSURE.toLowerCase()}` : IN_SHAPE));
}

// The claims under other readings of the paper: the verdict of each reading in a column.
function readingsTable(claims) {
  const labels = [...new Set(claims.flatMap(({ readings }) => readings.map(({ label }) => label)))];
  if (labels.length === 0)
    return null;
  return scroller('Other readings', h('table', { class: 'words' },
    h('thead', {}, h('tr', {}, ['Claim', 'Judged', ...labels].map((name) =>
      h('th', { scope: 'col' }, name)))),
    h('tbody', {}, claims.map((claim) => h('tr', {},
      h('th', { scope: 'row' }, claim.text || claim.name),
      [{ ...claim, own: true }, ...labels.map((label) =>
        claim.readings.find((reading) => reading.label === label))].map((reading) => h('td', {},
        reading && [measured(claim, reading), ' ',
          chip(verdictOf(reading), reading.own && claim.unsure)])))))));
}

export function figurePage(figure, id) {
  const { info } = figure;
  const charts = figureCharts(figure, id);
  const explored = figure.metrics.length > 0 && figure.axes.length > 0;
  return h('div', {},
    h('div', { class: 'title' },
      h('p', { class: 'kind' }, [info.paper, info.place].filter(Boolean).join(' · ')),
      h('h1', {}, info.title || info.figure || id),
      info.description && h('p', { class: 'lead' }, info.description),
      isJudged(figure) ? tally(figure.claims) : h('p', { class: 'without' }, NOT_JUDGED),
      h('p', { class: 'about' }, [info.mode && `${info.mode} mode`, progress(figure),
        info.repeats > 1 && `${info.repeats} repeats`, info.program].filter(Boolean).join(' · '))),
    charts.length > 0 && section(`${id}-figure`, 'Measured and published',
      h('div', { class: 'charts' }, charts.map((chart) => new ChartView({ ...chart,
        heading: chart.title !== info.title && chart.title !== id }).element))),
    figure.claims.length > 0 && section(`${id}-claims`, 'Claims', claimTable(figure.claims)),
    figure.claims.some(({ readings }) => readings.length > 0) && section(`${id}-readings`,
      'Under other readings of the paper', readingsTable(figure.claims)),
    figure.differences.length > 0 && section(`${id}-differences`,
      'Differences from the paper\u2019s set-up',
      h('ul', { class: 'differences' }, figure.differences.map((text) => h('li', {}, text)))),
    whereSection(figure, id),
    (explored || figure.not_done > 0) && section(`${id}-runs`, 'The runs behind it',
      explored && fold('All metrics of these runs', h('div', { class: 'charts' },
        explorer(figure, id))), failures(figure)),
    origin(id, [figure]));
}

// A small figure that links to the full one.
function card({ one, id }, show) {
  const [chart, ...others] = figureCharts(one, `${id}-small`);
  const open = (event) => {
    event.preventDefault();
    show(id);
    document.getElementById(`tab-${id}`)?.focus();
  };
  return h('article', { class: 'card' },
    h('h3', {}, h('a', { href: `#${id}`, onclick: open }, one.info.figure || id), ' ',
      one.info.title ?? ''),
    !isJudged(one) && h('p', { class: 'without' }, NOT_JUDGED),
    h('p', { class: 'chips' }, counts(one.claims).map(({ verdict, unsure, count }) =>
      h('span', { class: 'tally-part' }, h('b', {}, String(count)), ' ',
        chip(verdict, unsure)))),
    chart && h('div', { class: 'small-plot' },
      others.length > 0 && h('p', { class: 'caption' },
        `${chart.title} (first of ${others.length + 1} plots)`),
      new ChartView({ ...chart, heading: false, small: true }).element));
}

// All figures at a glance. `recorded`: the verdicts kept beside the papers, or nothing.
export function overviewPage(figures, recorded, show) {
  const claims = figures.flatMap(({ one }) => one.claims);
  const papers = [...new Set(figures.map(({ one }) => one.info.paper).filter(Boolean))];
  const commits = [...new Set(figures.map(({ one }) => one.info.tolerances_commit)
    .filter(Boolean))];
  const modes = [...new Set(figures.map(({ one }) => one.info.mode).filter(Boolean))];
  const statements = recorded && recordedStatements(recorded, papers);
  return h('div', {},
    h('div', { class: 'title' },
      h('p', { class: 'kind' }, 'A reproduction'),
      h('h1', {}, papers.join(', ') || 'Figures'),
      tally(claims),
      bySource(claims),
      h('p', { class: 'about' }, `${figures.length} figures`, modes.length > 0
        && ` · ${modes.join(', ')} mode`, commits.length > 0 && ' · tolerances fixed by ',
      commits.map((commit, i) => [i > 0 && ', ',
        h('code', { title: commit }, commit.slice(0, 13))]))),
    statements && section('overview-statements', 'What the papers say', statements),
    section('overview-figures', 'Figures', h('div', { class: 'cards' },
      figures.map((figure) => card(figure, show)))),
    recorded?.length > 0 && section('overview-recorded', 'Recorded verdicts of all papers',
      recordedVerdicts(recorded)));
}
