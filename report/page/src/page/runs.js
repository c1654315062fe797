// SPDX-License-Identifier: Apache-2.0
// The page of one run, or of several of one scenario side by side.
import { WHERE_TITLE } from '../charts/congestion.js';
import { isAll, rangesOf } from '../charts/flow-sizes.js';
import { runCharts } from '../charts/index.js';
import { percentileOf } from '../charts/percentiles.js';
import { runsTitle, schemeOf } from '../charts/run-names.js';
import { textWidth } from '../charts/text-width.js';
import { story } from '../story/story.js';
import { LIGHT } from '../theme.js';
import * as format from '../format.js';
import { ChartView } from './chart-view.js';
import { origin, section } from './details.js';
import { deflectedFlows } from './deflected.js';
import { DocumentScale } from './document-scale.js';
import { h, scroller, table } from './dom.js';
import { jobTables } from './jobs.js';
import { comparison, isLoad, metric, numberOf, percentile } from './numbers.js';
import { pauseForest, stop, victims } from './pauses.js';
import { sameNote } from './same-runs.js';
import { telling } from './telling.js';

const hasTail = (run) => percentile('slowdown', 99)(run) !== null;
// [name, value of a run, its explanation, true if it is shown for a run]. With several runs, one
// that shows it is enough.
const TILES = [
  ['Flows delivered', metric('flows.delivered'),
    (run) => `of ${metric('flows.started')(run)}`],
  ['Slowdown, p99', (run) => percentile('slowdown', 99)(run) ?? '–',
    (run) => `p50 ${metric('slowdown.all.p50')(run)}`, hasTail],
  ['Slowdown, largest', metric('slowdown.all.max'),
    (run) => `p50 ${metric('slowdown.all.p50')(run)}`, (run) => !hasTail(run)],
  ['Completion time, p50', metric('fct.all.p50'), (run) => (hasTail(run)
    ? `p99 ${metric('fct.all.p99')(run)}` : `largest ${metric('fct.all.max')(run)}`)],
  ['Load delivered until arrivals stop', metric('load.delivered'),
    (run) => `of ${metric('load.offered')(run)} offered`, isLoad],
  ['Goodput, all hosts', metric('goodput'), () => 'payload in order, to the end of the run',
    (run) => !isLoad(run)],
  ['PAUSE frames', metric('pauses'),
    (run) => `ports held ${metric('pause_time')(run)}`],
  ['Sent again', metric('retransmitted_packets'), (run) =>
    `data packets, ${metric('timeouts')(run)} ${
    numberOf(run, 'timeouts') === 1 ? 'timeout' : 'timeouts'}`],
];

const swatch = (i) => h('span', { class: 'swatch', 'data-line': i % LIGHT.lines.length });

function headline(runs) {
  // As wide as the longest, so that the values stand below each other.
  const longest = Math.max(...runs.map(({ label }) => textWidth(label, 13)));
  const names = (run, i) => (runs.length > 1 ? h('span', { class: 'run-name',
    style: { minWidth: `min(12em, ${longest + 18}px)` } }, swatch(i), run.label) : null);
  const tile = ([name, value, about]) => h('div', { class: 'tile' }, h('h3', {}, name),
    runs.map((run, i) => h('p', {}, names(run, i), h('span', { class: 'figure' }, value(run)),
      h('span', { class: 'about' }, about(run)))));
  const shown = TILES.filter(([, , , has]) => !has || runs.some(has));
  return h('div', { class: 'tiles' }, shown.map(tile));
}

const storyOf = (runs) => h('dl', { class: 'story' }, story(runs).map(([question, answer]) =>
  h('div', {}, h('dt', {}, question), h('dd', {}, answer.map(([label, text]) => h('p', {},
    label && [swatch(runs.findIndex((run) => run.label === label)), h('b', {}, label), ' '],
    text))))));

function bySize(runs) {
  const of = (range, quantity, unit) => [0, 1, 2, 3].map((which) =>
    format.value(percentileOf(range, quantity, which), unit));
  const rows = runs.flatMap((run) => rangesOf(run).map((range) => ({ range, run })))
    .sort((a, b) => Number(isAll(a.range)) - Number(isAll(b.range))
      || a.range.from - b.range.from)
    .map(({ range, run }) => [format.sizes(range.from, range.to),
      ...(runs.length > 1 ? [run.label] : []), format.grouped(range.started),
      format.grouped(range.delivered), ...of(range, 'slowdown', 'ratio'),
      ...of(range, 'fct', 's')]);
  const { note, ...shown } = telling({ rows, columns: ['flow size',
    ...(runs.length > 1 ? ['run'] : []), 'started', 'delivered', 'slowdown p50',
    'slowdown p90', 'slowdown p99', 'slowdown p99.9', 'FCT p50', 'FCT p90', 'FCT p99',
    'FCT p99.9'] },
  ['run', 'started', 'delivered']);
  return [scroller('By flow size', table({ ...shown, className: 'brief' })),
    h('p', { class: 'caption' },
      ['–: too few flows; p90 needs 10, p99 100, p99.9 1,000.', note].join(' '))];
}

// Views of charts whose scales `scale` chooses.
const figures = (charts, wide, scale) => h('div', { class: wide ? 'charts' : 'charts two' },
  charts.map((chart) => {
    const view = new ChartView(chart);
    scale?.add(view);
    return view.element;
  }));

function without(text) {
  return h('p', { class: 'without' }, text);
}

// The runs of several in which no port was held: they have no timelines.
function notHeld(runs) {
  const free = runs.filter((run) => numberOf(run, 'pauses') === 0 && !run.held.timeline?.ports
    .length).map(({ label }) => label);
  return free.length > 0 && h('p', { class: 'without' }, `No port was held: ${free.join(', ')}.`);
}

export function runsPage(document, id, grid) {
  const { runs } = document;
  const [{ info }] = runs;
  const charts = runCharts(runs, grid, id);
  const topologies = [...new Set(runs.map((run) => run.info.topology))];
  const several = runs.length > 1;
  const all = (of) => [...new Set(runs.map(of))].join(', ');
  const scale = new DocumentScale(id, runs, charts.parts.length + charts.held.length
    + charts.ranks.length > 1);
  const jobs = jobTables(runs);
  const over = (list, wide) => figures(list, wide, scale); // charts over time

  return h('div', {},
    h('div', { class: 'title' },
      h('p', { class: 'kind' }, several ? `${runs.length} runs of a scenario` : 'A run'),
      h('h1', {}, runsTitle(document)),
      info.description && h('p', { class: 'lead' }, info.description),
      topologies.map((topology) => h('p', { class: 'about' }, topology)),
      h('p', { class: 'about' }, `congestion control ${all(schemeOf)} · recovery ${
        all((run) => run.info.recovery)} · seed ${all((run) => run.info.seed)} · ${
        all((run) => run.info.program)}`)),
    section(`${id}-summary`, 'Summary', runs.map((run) => stop(run, several)),
      sameNote(runs), storyOf(runs), headline(runs)),
    jobs && section(`${id}-jobs`, 'Jobs', jobs, charts.ranks.length > 0
      ? [scale.element(), over(charts.ranks, true)]
      : without('What the ranks did is not known: the run kept no time series '
        + '(measure.interval).')),
    section(`${id}-flows`, 'Flows', charts.flows.length > 0
      ? [figures(charts.flows.slice(0, 2)), figures(charts.flows.slice(2), true), bySize(runs)]
      : without('No flow was delivered within the measured time.')),
    charts.congestion.length > 0 && section(`${id}-congestion`, WHERE_TITLE,
      figures(charts.congestion, charts.congestion.length < 2)),
    section(`${id}-time`, 'Throughput over time', charts.all.length > 0
      ? [scale.element(), over(charts.all, true), over(charts.parts, !several)]
      : without('The run kept no time series: measure.interval was 0, or the run too short.')),
    section(`${id}-queues`, 'Queues', charts.queues.length > 0
      ? [scale.element(), over(charts.queues)]
      : without('No queue is known over time: the run kept no time series (measure.interval), '
        + 'or an earlier version wrote it. measure.queues names queues to watch, such as '
        + '"tor0:host3".')),
    section(`${id}-pauses`, 'PAUSE', charts.frames.length + charts.held.length > 0
      ? [scale.element(), over(charts.frames, true), over(charts.held, charts.held.length < 2)]
      : without(runs.some((run) => numberOf(run, 'pauses') > 0)
        ? 'When ports were held is not known: the run kept no time series (measure.interval).'
        : 'No port was held.'),
    charts.held.length > 0 && notHeld(runs),
    runs.map((run) => [pauseForest(run, several), victims(run, several)])),
    charts.ways.length > 0 && section(`${id}-deflected`, 'Deflected flows',
      figures(charts.ways, true), runs.map((run) => deflectedFlows(run, several))),
    section(`${id}-links`, 'Links', figures(charts.links, !several)),
    section(`${id}-numbers`, 'All numbers', comparison(runs)),
    origin(id, runs));
}
