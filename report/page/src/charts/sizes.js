// SPDX-License-Identifier: Apache-2.0
// Slowdown and completion time over the size of flows: the middle and the tail of each size.
import * as format from '../format.js';
import { axis, extent } from './axis.js';
import { base, legend, line, pointer } from './base.js';

const PAIRS = {
  tail: { label: 'p50 and p99', at: [0, 2] },
  far: { label: 'p90 and p99.9', at: [1, 3] },
  mean: { label: 'mean and largest', at: [5, 4] },
};
const NAMES = ['p50', 'p90', 'p99', 'p99.9', 'largest', 'mean'];

// Where a range of sizes stands: its middle on a log axis.
const middle = (range) => Math.sqrt(Math.max(range.from, 50) * (range.to ?? range.from * 2));

export function sizes(runs) {
  const unit = (state) => (state.of === 'fct' ? 's' : 'ratio');
  const ranges = (run) => run.flows.fine.filter((range) => range.delivered > 0);
  const edges = [...new Set(runs.flatMap((run) => ranges(run).map(middle)))].sort((a, b) => a - b);
  if (edges.length < 2)
    return null; /* flows of one size: the distributions say it all */
  const atEdge = (run, edge) => ranges(run).find((range) => middle(range) === edge);

  return {
    id: 'sizes', title: 'Slowdown by flow size', along: 'x', zooms: true,
    zoomUnit: () => 'bytes',
    caption: 'Completion time over that of the same flow alone in the network, for flows of each '
      + 'size. Solid: the typical flow; dashed: the slow ones. 1 is the best there is.',
    controls: [
      { key: 'of', label: 'Quantity', value: 'slowdown',
        options: [['slowdown', 'slowdown'], ['fct', 'completion time']] },
      { key: 'pair', label: 'Show', value: 'tail',
        options: Object.entries(PAIRS).map(([key, pair]) => [key, pair.label]) },
    ],
    height: (width) => (width < 520 ? 270 : 340),
    legend: () => runs.length > 1
      && runs.map((run, i) => ({ name: run.label, line: i, solid: true })),
    option(context, state) {
      const pair = PAIRS[state.pair].at;
      const points = (run, which) => ranges(run)
        .map((range) => [middle(range), range[state.of][which]]).filter(([, y]) => y !== null);
      const series = runs.flatMap((run, i) => [
        line(context, run.label, i, points(run, pair[0]), { lineStyle: { type: 'solid' } }),
        line(context, run.label, i, points(run, pair[1]), { lineStyle: { type: [6, 4] } }),
      ]);
      const ys = series.flatMap(({ data }) => data.map(([, y]) => y));
      const least = extent(ys)?.[0];
      return base(context, {
        legend: legend(context, this.legend(state) || []),
        tooltip: pointer(context, 'x'),
        xAxis: axis(context, { name: 'flow size', scale: 'log', unit: 'bytes', values: edges }),
        yAxis: axis(context, { name: `${state.of === 'fct' ? 'completion time' : 'slowdown'}: `
          + `${NAMES[pair[0]]} solid, ${NAMES[pair[1]]} dashed`,
          vertical: true, scale: 'log', unit: unit(state), values: ys,
          from: state.of === 'slowdown' && least > 0.99 ? 1 : undefined }),
        series,
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
            value: pair.map((which) => `${NAMES[which]} `
              + format.value(range[state.of][which], unit(state))).join(', ') }];
        }),
      };
    },
    stops(state) {
      const which = PAIRS[state.pair].at[1];
      return edges.map((edge) => {
        const range = runs.map((run) => atEdge(run, edge)).find(Boolean);
        return { at: edge, x: edge, y: range[state.of][which] };
      });
    },
    table(state) {
      return {
        columns: ['flow size', 'run', 'delivered', ...NAMES],
        rows: edges.flatMap((edge) => runs.flatMap((run) => {
          const range = atEdge(run, edge);
          return range ? [[format.sizes(range.from, range.to), run.label,
            format.grouped(range.delivered),
            ...range[state.of].map((value) => format.value(value, unit(state)))]] : [];
        })),
      };
    },
  };
}
