// SPDX-License-Identifier: Apache-2.0
// The page of a sweep: its metrics over its axes, and the points that failed.
import { WHERE_TITLE } from '../charts/congestion.js';
import { congestionCharts, sweepCharts } from '../charts/index.js';
import * as format from '../format.js';
import { ChartView } from './chart-view.js';
import { origin, section } from './details.js';
import { h, longTable, scroller } from './dom.js';

const expected = (sweep) => sweep.axes.reduce((product, { values }) => product * values.length, 1)
  * Math.max(1, Number(sweep.info.repeats ?? 1));

// How far it came, in words.
export function progress(sweep) {
  const done = sweep.points - sweep.not_done;
  const parts = [`${format.grouped(done)} points done`];
  const by = (status) => sweep.listed.filter((point) => point.status === status).length;
  if (by('failed') > 0)
    parts.push(`${by('failed')} failed`);
  if (by('crashed') > 0)
    parts.push(`${by('crashed')} crashed`);
  if (sweep.kind === 'sweep' && expected(sweep) > sweep.points)
    parts.push(`${format.grouped(expected(sweep) - sweep.points)} not run yet`);
  return parts.join(', ');
}

export function failures(sweep) {
  if (sweep.not_done === 0)
    return null;
  const rows = sweep.listed.map((point) => [format.grouped(point.point),
    ...sweep.axes.map(({ values }, i) => values[sweep.combinations[i][point.combination]]),
    String(point.seed), h('span', { class: `status ${point.status === 'crashed' ? 'crashed'
      : 'failed'}` }, point.status), point.error]);
  return [
    h('h3', {}, 'Points without a result'),
    scroller('Points without a result', longTable({ className: 'words', rows, columns: ['point',
      ...sweep.axes.map(({ key }) => ({ name: key, left: true })), 'seed',
      { name: 'status', left: true }, { name: 'what was said', left: true }] })),
    sweep.not_done > sweep.listed.length
      && h('p', { class: 'without' }, `and ${format.grouped(sweep.not_done - sweep.listed.length)} `
        + 'more'),
  ];
}

export function explorer(sweep, id) {
  return sweepCharts(sweep, id).map((chart) => new ChartView(chart).element);
}

export function whereSection(sweep, id) {
  const charts = congestionCharts(sweep, id);
  return charts.length > 0 && section(`${id}-congestion`, WHERE_TITLE,
    h('div', { class: charts.length > 1 ? 'charts two' : 'charts' },
      charts.map((chart) => new ChartView(chart).element)));
}

export function sweepPage(sweep, id, grid, title) {
  const { info } = sweep;
  const axes = sweep.axes.map(({ key, values }) => `${key}: ${values.join(', ')}`);
  const shown = explorer(sweep, id);
  return h('div', {},
    h('div', { class: 'title' },
      h('p', { class: 'kind' }, 'A sweep'),
      h('h1', {}, title),
      h('p', { class: 'lead' }, sweep.parameters.find(([key]) => key === 'description')?.[1] ?? ''),
      axes.map((axis) => h('p', { class: 'about' }, axis)),
      h('p', { class: 'about' }, [progress(sweep), info.repeats > 1
        && `${info.repeats} repeats from seed ${info.seed}`, info.program]
        .filter(Boolean).join(' · '))),
    section(`${id}-results`, 'Results', shown.length > 0 ? h('div', { class: 'charts' }, shown)
      : h('p', { class: 'without' }, 'No point has a result yet.'), failures(sweep)),
    whereSection(sweep, id),
    origin(id, [sweep]));
}
