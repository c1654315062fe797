// SPDX-License-Identifier: Apache-2.0
// The page of one run, or of several of one scenario side by side.
import { WHERE_TITLE } from '../charts/congestion.js';
import { rangesOf } from '../charts/flow-sizes.js';
import { runCharts } from '../charts/index.js';
import { runsTitle } from '../charts/run-names.js';
import { story } from '../story/story.js';
import { LIGHT } from '../theme.js';
import * as format from '../format.js';
import { ChartView } from './chart-view.js';
import { origin, section } from './details.js';
import { deflectedFlows } from './deflected.js';
import { h, scroller, table } from './dom.js';
import { pauseForest, stop, victims } from './pauses.js';
import { steady } from './steady.js';

// A metric of a run as text.
const metric = (name) => (run) => format.value(...(run.metrics[name] ?? [NaN, '']));
const numberOf = (run, name) => (run.metrics[name] ?? [0])[0];
const cause = (name, text) => ['Loss and recovery', `timeouts: ${text}`,
  metric(`timeouts.${name}`), (run) => numberOf(run, `timeouts.${name}`) > 0];
const percentiles = (group, name) => ['p50', 'p90', 'p99', 'p99.9'].map((p) =>
  [group, p, metric(`${name}.all.${p}`)]);
// Rows of the table: [group, name, value of a run as text or null, whether a run has any of it].
const ROWS = [
  ['Flows', 'started', metric('flows.started')],
  ['Flows', 'delivered', metric('flows.delivered')],
  ['Flows', 'unfinished at the end', metric('flows.unfinished')],
  ['Flows', 'failed', metric('flows.failed')],
  ['Flows', 'left out: began in warm-up', metric('flows.in_warmup')],
  ...percentiles('Flow completion time', 'fct'),
  ...percentiles('Slowdown', 'slowdown'),
  ['Goodput', 'all hosts', metric('goodput')],
  ['Goodput', 'Jain\u2019s index of flows', metric('jain')],
  ['Loss and recovery', 'data packets sent again', metric('retransmitted_packets')],
  ['Loss and recovery', 'ACK timeouts', metric('timeouts')],
  cause('last_packet', 'the last packet was lost'),
  cause('last_ack', 'the last ACK was lost'),
  cause('nak_lost', 'the NAK was lost'),
  cause('lost_twice', 'the same packet was lost twice'),
  cause('nak_held', 'the NAK waited for its interval'),
  cause('other', 'the answer was on its way'),
  ['Loss and recovery', 'NAKs', metric('naks')],
  ['Loss and recovery', 'dropped by switches', metric('drops')],
  ['Loss and recovery', 'dropped by slow receivers', metric('receive_buffer.drops'), (run) =>
    numberOf(run, 'receive_buffer.drops') > 0],
  ['Loss and recovery', 'lost on links', metric('lost')],
  ['Congestion', 'packets marked CE', metric('marks')],
  ['Congestion', 'CNPs', metric('cnps')],
  ['PAUSE', 'frames sent', metric('pauses')],
  ['PAUSE', 'frames that hosts sent', metric('pauses.host'), (run) =>
    numberOf(run, 'pauses.host') > 0],
  ['PAUSE', 'ports held, sum', metric('pause_time')],
  ['PAUSE', 'host ports held, sum', metric('pause_time.host')],
  ['PAUSE', 'most that one port was held', metric('pause_time.max')],
  ['PAUSE', 'ports where PAUSEs began', metric('pause_roots')],
  ['PAUSE', 'victims of congestion elsewhere', metric('victims')],
  ['The run', 'congestion control', (run) => run.info.congestion_control],
  ['The run', 'recovery', (run) => run.info.recovery],
  ['The run', 'simulated time', metric('simulated_time')],
  ['The run', 'of which measured', metric('measured_time')],
  ['The run', 'until stable, 95 % interval', steady, (run) => steady(run) !== null],
  ['The run', 'packet-hops', metric('packet_hops')],
];

const TILES = [
  ['Flows delivered', metric('flows.delivered'),
    (run) => `of ${metric('flows.started')(run)}`],
  ['Completion time, p50', metric('fct.all.p50'),
    (run) => `p99 ${metric('fct.all.p99')(run)}`],
  ['Slowdown, p99', metric('slowdown.all.p99'),
    (run) => `p50 ${metric('slowdown.all.p50')(run)}`],
  ['Goodput, all hosts', metric('goodput'), () => 'payload in order'],
  ['PAUSE frames', metric('pauses'),
    (run) => `ports held ${metric('pause_time')(run)}`],
  ['Sent again', metric('retransmitted_packets'), (run) =>
    `data packets, ${metric('timeouts')(run)} ${
    numberOf(run, 'timeouts') === 1 ? 'timeout' : 'timeouts'}`],
];

const swatch = (i) => h('span', { class: 'swatch', 'data-line': i % LIGHT.lines.length });

function headline(runs) {
  const names = (run, i) => (runs.length > 1
    ? h('span', { class: 'run-name' }, swatch(i), run.label) : null);
  const tile = ([name, value, about]) => h('div', { class: 'tile' }, h('h3', {}, name),
    runs.map((run, i) => h('p', {}, names(run, i), h('span', { class: 'figure' }, value(run)),
      h('span', { class: 'about' }, about(run)))));
  return h('div', { class: 'tiles' }, TILES.map(tile));
}

const storyOf = (runs) => h('dl', { class: 'story' }, story(runs).map(([question, answer]) =>
  h('div', {}, h('dt', {}, question), h('dd', {}, answer.map(([label, text]) => h('p', {},
    label && [swatch(runs.findIndex((run) => run.label === label)), h('b', {}, label), ' '],
    text))))));

// A small table for each group of rows.
function comparison(runs) {
  const groups = [...new Set(ROWS.map(([group]) => group))];
  const cells = (row) => [row[1], ...runs.map((run) => row[2](run) ?? '–')];
  const isShown = ([, , , has]) => !has || runs.some(has);
  const wide = runs.length > 3;
  return h('div', { class: wide ? 'groups wide-groups' : 'groups' }, groups.map((group) =>
    scroller(group, table({ className: 'numbers',
      columns: [group, ...runs.map(({ label }) => (runs.length > 1 ? label : ''))],
      rows: ROWS.filter((row) => row[0] === group && isShown(row)).map(cells) }))));
}

function bySize(runs) {
  const rows = runs.flatMap((run) => rangesOf(run).map((range) => [
    format.sizes(range.from, range.to), ...(runs.length > 1 ? [run.label] : []),
    format.grouped(range.started), format.grouped(range.delivered),
    ...[0, 1, 2, 3].map((at) => format.value(range.fct[at], 's')),
    ...[0, 1, 2, 3].map((at) => format.value(range.slowdown[at], 'ratio'))]));
  const order = (row) => runs[0].flows.ranges.findIndex((range) =>
    format.sizes(range.from, range.to) === row[0]);
  rows.sort((a, b) => order(a) - order(b));
  return scroller('By flow size', table({ rows, columns: ['flow size',
    ...(runs.length > 1 ? ['run'] : []), 'started', 'delivered', 'FCT p50', 'p90', 'p99', 'p99.9',
    'slowdown p50', 'p90', 'p99', 'p99.9'] }));
}

const figures = (charts, wide) => h('div', { class: wide ? 'charts' : 'charts two' },
  charts.map((chart) => new ChartView(chart).element));

function without(text) {
  return h('p', { class: 'without' }, text);
}

export function runsPage(document, id, grid) {
  const { runs } = document;
  const [{ info }] = runs;
  const charts = runCharts(runs, grid, id);
  const topologies = [...new Set(runs.map((run) => run.info.topology))];
  const several = runs.length > 1;

  return h('div', {},
    h('div', { class: 'title' },
      h('p', { class: 'kind' }, several ? `${runs.length} runs of a scenario` : 'A run'),
      h('h1', {}, runsTitle(document)),
      info.description && h('p', { class: 'lead' }, info.description),
      topologies.map((topology) => h('p', { class: 'about' }, topology)),
      h('p', { class: 'about' }, `congestion control ${[...new Set(runs.map((run) =>
        run.info.congestion_control))].join(', ')} · recovery ${[...new Set(runs.map((run) =>
        run.info.recovery))].join(', ')} · seed ${[...new Set(runs.map((run) =>
        run.info.seed))].join(', ')} · ${[...new Set(runs.map((run) =>
        run.info.program))].join(', ')}`)),
    section(`${id}-summary`, 'Summary', runs.map((run) => stop(run, several)),
      storyOf(runs), headline(runs)),
    section(`${id}-flows`, 'Flows', charts.flows.length > 0
      ? [figures(charts.flows.slice(0, 2)), figures(charts.flows.slice(2), true), bySize(runs)]
      : without('No flow was delivered within the measured time.')),
    charts.congestion.length > 0 && section(`${id}-congestion`, WHERE_TITLE,
      figures(charts.congestion, charts.congestion.length < 2)),
    section(`${id}-time`, 'Throughput over time', charts.all.length > 0
      ? [figures(charts.all, true), figures(charts.parts, !several)]
      : without('The run kept no time series: measure.interval was 0, or the run too short.')),
    section(`${id}-queues`, 'Queues', charts.queues.length > 0 ? figures(charts.queues)
      : without('The scenario watches no queue; measure.queues names some, such as '
        + '"tor0:host3".')),
    section(`${id}-pauses`, 'PAUSE', charts.frames.length + charts.held.length > 0
      ? [figures(charts.frames, true), figures(charts.held, charts.held.length < 2)]
      : without(runs.some((run) => numberOf(run, 'pauses') > 0)
        ? 'When ports were held is not known: the run kept no time series (measure.interval).'
        : 'No port was held.'),
    runs.map((run) => [pauseForest(run, several), victims(run, several)])),
    charts.ways.length > 0 && section(`${id}-deflected`, 'Deflected flows',
      figures(charts.ways, true), runs.map((run) => deflectedFlows(run, several))),
    section(`${id}-links`, 'Links', figures(charts.links, !several)),
    section(`${id}-numbers`, 'All numbers', comparison(runs)),
    origin(id, runs));
}
