// SPDX-License-Identifier: Apache-2.0
// The page of a sweep: its metrics over its axes, and the points that failed.
import { WHERE_TITLE } from '../charts/congestion.js';
import { congestionCharts, sweepCharts } from '../charts/index.js';
import { initial } from '../charts/sweep.js';
import * as format from '../format.js';
import { sweepStory } from '../story/sweep.js';
import { ChartView } from './chart-view.js';
import { origin, section } from './details.js';
import { h, longTable, scroller } from './dom.js';
import { leftOut, progress, sameRuns } from './progress.js';

// The combinations that cannot be run, and why.
function invalid(sweep) {
  const rows = leftOut(sweep);
  return rows.length > 0 && [
    h('h3', {}, 'Left out: invalid'),
    scroller('Left out: invalid', longTable({ className: 'words', rows, columns: [
      { name: 'combination', left: true }, { name: 'why it cannot be run', left: true }] }))];
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

// The charts. All show the metric that is chosen in one, and `told(number)` is called with it.
export function explorer(sweep, id, told = () => {}) {
  const views = sweepCharts(sweep, id).map((chart) => new ChartView(chart));
  for (const view of views)
    view.onset = (key, value) => {
      if (key !== 'metric')
        return;
      views.filter((other) => other !== view && key in other.state)
        .forEach((other) => other.follow(key, value));
      told(Number(value));
    };
  return views.map(({ element }) => element);
}

// The winner, in sentences that follow the metric.
function findings(sweep) {
  const element = h('div', { class: 'findings', 'aria-live': 'polite' });
  const fill = (number) => {
    const sentences = [...sweepStory(sweep, number), ...sameRuns(sweep)];
    element.replaceChildren(...sentences.map((text) => h('p', {}, text)));
    element.hidden = sentences.length === 0;
  };
  fill(Number(initial(sweep).metric));
  return { element, fill };
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
  if (sweep.zipped)
    axes.push('The values of all axes go together: the first of each, the second of each, \u2026');
  const won = findings(sweep), shown = explorer(sweep, id, won.fill);
  return h('div', {},
    h('div', { class: 'title' },
      h('p', { class: 'kind' }, 'A sweep'),
      h('h1', {}, title),
      h('p', { class: 'lead' }, sweep.parameters.find(([key]) => key === 'description')?.[1] ?? ''),
      axes.map((axis) => h('p', { class: 'about' }, axis)),
      h('p', { class: 'about' }, [progress(sweep), info.repeats > 1
        && `${info.repeats} repeats from seed ${info.seed}`, info.program]
        .filter(Boolean).join(' · '))),
    section(`${id}-results`, 'Results', shown.length > 0
      ? [won.element, h('div', { class: 'charts' }, shown)]
      : h('p', { class: 'without' }, 'No point has a result yet.'), failures(sweep),
    invalid(sweep)),
    whereSection(sweep, id),
    origin(id, [sweep]));
}
