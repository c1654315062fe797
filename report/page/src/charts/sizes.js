// SPDX-License-Identifier: Apache-2.0
/*
 * Slowdown and completion time over the size of flows: the middle and the tail of each size, with
 * the 95 % interval of each percentile (report/interval.h) and the number of flows. A percentile of
 * too few flows is not drawn.
 */
import { FONT, style } from '../theme.js';
import * as format from '../format.js';
import { axis, extent } from './axis.js';
import { base, legend, line, pointer } from './base.js';
import { intervalOf, NAMES, percentileOf } from './percentiles.js';
import { textWidth } from './text-width.js';

const PAIRS = {
  near: { label: 'p50 and p90', at: [0, 1] },
  tail: { label: 'p50 and p99', at: [0, 2] },
  far: { label: 'p90 and p99.9', at: [1, 3] },
  mean: { label: 'mean and largest', at: [5, 4] },
};
const MOST_INTERVALS = 4; // runs: with more, intervals hide each other

// The place of a range of sizes: its middle on a log axis.
const middle = (range) => Math.sqrt(Math.max(range.from, 50) * (range.to ?? range.from * 2));

// Bars of intervals with end marks: [[x, low, high, open], …]; an open one has no upper end.
function whiskers(context, name, i, points, { number, of }) {
  const { color } = style(context.theme, i);
  const aside = (number - (of - 1) / 2) * Math.min(5, 16 / of);
  return {
    of: name, type: 'custom', silent: true, clip: true, z: 2, tooltip: { show: false },
    data: points, encode: { x: 0, y: [1, 2] },
    renderItem(params, api) {
      const [x, low] = api.coord([api.value(0), api.value(1)]);
      const high = api.coord([api.value(0), api.value(2)])[1], at = x + aside;
      const part = (x1, y1, x2, y2) => ({ type: 'line', shape: { x1, y1, x2, y2 },
        style: { stroke: color, lineWidth: 1, opacity: 0.6 } });
      return { type: 'group', children: [part(at, low, at, high), part(at - 3, low, at + 3, low),
        ...(api.value(3) ? [part(at - 3, high + 4, at, high), part(at + 3, high + 4, at, high)]
          : [part(at - 3, high, at + 3, high)])] };
    },
  };
}

export function sizes(runs) {
  const unit = (state) => (state.of === 'fct' ? 's' : 'ratio');
  const ranges = (run) => run.flows.fine.filter((range) => range.delivered > 0);
  const edges = [...new Set(runs.flatMap((run) => ranges(run).map(middle)))].sort((a, b) => a - b);
  if (edges.length < 2)
    return null; /* flows of one size: the distributions show everything */
  const atEdge = (run, edge) => ranges(run).find((range) => middle(range) === edge);
  const all = runs.flatMap(ranges);
  const offered = Object.entries(PAIRS).filter(([, { at: [, tail] }]) =>
    all.some((range) => percentileOf(range, 'slowdown', tail) !== null
      || percentileOf(range, 'fct', tail) !== null));
  // The tail, if at least half of the sizes have it.
  const isKnown = (range, key) => percentileOf(range, 'slowdown', PAIRS[key].at[1]) !== null;
  const known = (key) => all.filter((range) => isKnown(range, key)).length;
  const first = known('tail') * 2 >= all.length ? 'tail' : known('near') > 0 ? 'near' : 'mean';
  const interval = (range, state, which) => {
    const [low, high] = intervalOf(range, state.of, which) ?? [];
    return Number.isFinite(low) ? [low, high ?? Math.max(low, range[state.of][4]), high === null]
      : null;
  };
  // "223", or "45 to 47" where the runs differ.
  const counts = (edge) => {
    const [low, high] = extent(runs.map((run) => atEdge(run, edge)?.delivered));
    return low === high ? format.grouped(low) : `${format.grouped(low)}\u2009–\u2009${
      format.grouped(high)}`;
  };
  const rangeText = (range, state, which) => {
    const value = format.value(percentileOf(range, state.of, which), unit(state));
    const [low, high] = intervalOf(range, state.of, which) ?? [];
    return Number.isFinite(low) ? `${value} (${high === null ? 'above ' : ''}${
      format.value(low, unit(state))}${high === null ? '' : ` to ${
      format.value(high, unit(state))}`})` : value;
  };

  return {
    id: 'sizes', title: 'Slowdown by flow size', along: 'x', zooms: true,
    zoomUnit: () => 'bytes',
    caption: (state) => (state.of === 'fct' ? 'Completion time of flows of each size.'
      : 'Completion time over that of the same flow alone in the network, for flows of each size. '
      + '1 is the best there is.')
      + ` Solid: ${state.pair === 'mean' ? 'the mean' : 'the typical flow'}; dashed: ${
        state.pair === 'mean' ? 'the slowest' : 'the slow ones'}.${state.pair === 'mean' ? ''
        : ` Bars: the 95 % interval, with an arrow where its upper end is not known${
          runs.length > MOST_INTERVALS ? `; of up to ${MOST_INTERVALS} runs that are shown` : ''
        }.`} n: flows of that size. p90 needs 10 of `
      + 'them, p99 100, p99.9 1,000.',
    controls: [
      { key: 'of', label: 'Quantity', value: 'slowdown',
        options: [['slowdown', 'slowdown'], ['fct', 'completion time']] },
      { key: 'pair', label: 'Show', value: first,
        options: offered.map(([key, pair]) => [key, pair.label]) },
    ],
    height: (width) => (width < 520 ? 290 : 360),
    legend: () => runs.length > 1
      && runs.map((run, i) => ({ name: run.label, line: i, solid: true })),
    option(context, state) {
      const pair = PAIRS[state.pair].at;
      const points = (run, which) => ranges(run)
        .map((range) => [middle(range), percentileOf(range, state.of, which)])
        .filter(([, y]) => y !== null);
      const shown = runs.filter(({ label }) => !context.hidden?.has(label));
      const bars = (run, which) => ranges(run).flatMap((range) => {
        const ends = interval(range, state, which);
        return ends ? [[middle(range), ...ends]] : [];
      });
      const series = runs.flatMap((run, i) => [
        line(context, run.label, i, points(run, pair[0]), { lineStyle: { type: 'solid' } }),
        line(context, run.label, i, points(run, pair[1]), { lineStyle: { type: [6, 4] } }),
        ...(shown.length <= MOST_INTERVALS ? pair.map((which) => whiskers(context, run.label, i,
          bars(run, which), { number: shown.indexOf(run), of: shown.length })) : []),
      ]);
      const ys = series.flatMap(({ data }) => data.flatMap(([, y, high]) =>
        (Number.isFinite(high) ? [y, high] : [y])));
      const least = extent(ys)?.[0];
      const x = axis(context, { name: 'flow size', scale: 'log', unit: 'bytes', values: edges });
      return base(context, {
        grid: { top: 48 },
        legend: legend(context, this.legend(state) || []),
        tooltip: pointer(context, 'x'),
        xAxis: x,
        yAxis: axis(context, { name: `${state.of === 'fct' ? 'completion time' : 'slowdown'}: `
          + `${NAMES[pair[0]]} solid, ${NAMES[pair[1]]} dashed`,
          vertical: true, scale: 'log', unit: unit(state), values: ys,
          from: state.of === 'slowdown' && least > 0.99 ? 1 : undefined }),
        series: [...series, numbers(context, edges, counts)],
      });
    },
    tip(state, at) {
      const edge = edges.reduce((best, value) =>
        (Math.abs(Math.log(value / at)) < Math.abs(Math.log(best / at)) ? value : best), edges[0]);
      const [any] = runs.map((run) => atEdge(run, edge)).filter(Boolean);
      const pair = PAIRS[state.pair].at;
      return {
        head: format.sizes(any.from, any.to),
        rows: runs.flatMap((run, i) => {
          const range = atEdge(run, edge);
          if (!range)
            return [];
          return [{ line: i, name: `${run.label} (${format.grouped(range.delivered)} flows)`,
            value: pair.map((which) => `${NAMES[which]} ${rangeText(range, state, which)}`)
              .join(', ') }];
        }),
      };
    },
    stops(state) {
      const pair = PAIRS[state.pair].at;
      return edges.map((edge) => {
        const range = runs.map((run) => atEdge(run, edge)).find(Boolean);
        const y = [...pair].reverse().map((which) => percentileOf(range, state.of, which))
          .find((value) => value !== null);
        return { at: edge, x: edge, y: y ?? range[state.of][0] };
      });
    },
    table(state) {
      return {
        columns: ['flow size', 'run', 'delivered', ...NAMES],
        rows: edges.flatMap((edge) => runs.flatMap((run) => {
          const range = atEdge(run, edge);
          return range ? [[format.sizes(range.from, range.to), run.label,
            format.grouped(range.delivered),
            ...NAMES.map((_, which) => rangeText(range, state, which))]] : [];
        })),
      };
    },
  };
}

// The number of flows of each size, in a row above the chart. If numbers would overlap, the later
// ones are left out.
function numbers(context, edges, counts) {
  let free = -Infinity;
  return {
    type: 'custom', name: 'n', silent: true, z: 1, tooltip: { show: false },
    data: edges.map((edge, i) => [edge, i]), encode: { x: 0 },
    renderItem({ coordSys, dataIndex }, api) {
      const [x] = api.coord([api.value(0), 1]), text = counts(edges[dataIndex]);
      const named = `${dataIndex === 0 ? 'n = ' : ''}${text}`, half = textWidth(named, 10.5) / 2;
      const at = Math.max(x, half);
      if (dataIndex === 0)
        free = -Infinity;
      if (x < coordSys.x - 1 || x > coordSys.x + coordSys.width + 1 || at - half < free)
        return null;
      free = at + half + 4;
      return { type: 'text', style: { text: named, x: at, y: coordSys.y - 6, align: 'center',
        verticalAlign: 'bottom', fill: context.theme.muted, fontSize: 10.5, fontFamily: FONT } };
    },
  };
}
