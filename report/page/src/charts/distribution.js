// SPDX-License-Identifier: Apache-2.0
// Distributions of flows: completion times, slowdowns, goodputs, each with percentiles on hover.
import * as format from '../format.js';
import { axis } from './axis.js';
import { base, legend, line, pointer } from './base.js';
import { isOneSize } from './flow-sizes.js';
import { isEnough, NAMES, percentileOf } from './percentiles.js';

const QUANTITIES = {
  fct: { title: 'Flow completion time', unit: 's', name: 'completion time' },
  slowdown: { title: 'Slowdown', unit: 'ratio', name: 'slowdown' },
  goodput: { title: 'Goodput of flows', unit: 'bps', name: 'goodput' },
};

const FEW = 200; // flows: with so few, their shares are visible as steps

// The sizes that at least one run has: all of them first, then ascending.
function sizeOptions(runs) {
  if (isOneSize(runs))
    return [['0-null', 'all sizes']];
  const names = new Map();
  for (const run of runs)
    for (const range of run.flows.ranges)
      names.set(`${range.from}-${range.to}`, [range.from, format.sizes(range.from, range.to)]);
  const sorted = [...names].filter(([key]) => key !== '0-null')
    .sort((a, b) => a[1][0] - b[1][0]).map(([key, [, name]]) => [key, name]);
  return [['0-null', 'all sizes'], ...sorted];
}

export function distribution(runs, grid, quantity, caption) {
  const { title, unit, name } = QUANTITIES[quantity];
  const field = `${quantity}_curve`;
  const rangeOf = (run, state) =>
    run.flows.ranges.find((range) => `${range.from}-${range.to}` === state.size);
  // [[value, percent], …]. Of the steps that the number of flows cannot resolve, the first stays:
  // there the largest value begins. Without it the line would rise to that value at an angle.
  const curve = (run, state) => {
    const range = rangeOf(run, state);
    if (!range?.[field])
      return [];
    const most = 100 * (1 - 1 / range.delivered);
    const largest = grid.findIndex((p) => p > most);
    return range[field].map((value, i) => [value, grid[i]])
      .filter(([, p], i) => i <= largest || p === 100);
  };
  const shown = (state) => runs.map((run, i) => ({ run, i, points: curve(run, state) }))
    .filter(({ points }) => points.length > 0);
  const isTail = (state) => state.shape === 'tail';
  const least = (state) => Math.min(0.01,
    ...shown(state).map(({ run }) => 1 / rangeOf(run, state).delivered));

  return {
    id: quantity, title, along: 'y',
    caption: (state, { print }) => caption
      + (print || quantity !== 'fct' ? '' : ' Point at a height to read that percentile.'),
    zooms: true, zoomUnit: () => unit,
    controls: [
      { key: 'size', label: 'Flow size', options: sizeOptions(runs), value: '0-null' },
      { key: 'shape', label: 'Show', value: 'cdf',
        options: [['cdf', 'share of flows'], ['tail', 'the tail']] },
    ],
    height: (width) => (width < 520 ? 260 : 320),
    legend: (state) => runs.length > 1 && shown(state).map(({ run, i }) =>
      ({ name: run.label, line: i })),
    option(context, state) {
      const lines = shown(state);
      const tail = isTail(state);
      const y = tail
        ? axis(context, { name: 'share of flows above', vertical: true, scale: 'log',
          values: [least(state), 1], to: 1, format: (value) => format.percent(value) })
        : axis(context, { name: 'share of flows at or below', vertical: true, from: 0, to: 100,
          values: [0, 100], format: (value) => `${value}\u202f%` });
      return base(context, {
        legend: legend(context, this.legend(state) || []),
        tooltip: pointer(context, 'y'),
        xAxis: axis(context, { name, scale: 'log', unit,
          values: lines.flatMap(({ points }) => points.map(([value]) => value)) }),
        yAxis: y,
        series: lines.map(({ run, i, points }) => line(context, run.label, i,
          tail ? points.filter(([, p]) => p < 100).map(([value, p]) => [value, 1 - p / 100])
            : points, { symbol: 'none', showSymbol: false,
            step: rangeOf(run, state).delivered <= FEW && 'end' })),
      });
    },
    tip(state, at) {
      const p = isTail(state) ? 100 * (1 - at) : at;
      const number = grid.reduce((best, value, i) =>
        (Math.abs(value - p) < Math.abs(grid[best] - p) ? i : best), 0);
      return {
        head: format.percentile(grid[number]),
        rows: shown(state).map(({ run, i }) => {
          const range = rangeOf(run, state);
          return { line: i, name: run.label, value: isEnough(grid[number], range.delivered)
            ? format.value(range[field][number], unit)
            : `– (${format.grouped(range.delivered)} flows)` };
        }),
      };
    },
    stops(state) {
      const [first] = shown(state);
      if (!first)
        return [];
      const wanted = [0, 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.99, 99.999, 100];
      return first.points.filter(([, p]) => wanted.includes(p) && !(isTail(state) && p === 100))
        .map(([value, p]) => {
          const at = isTail(state) ? 1 - p / 100 : p;
          return { at, x: value, y: at };
        });
    },
    table(state) {
      const rows = [];
      for (const { run } of shown(state)) {
        const range = rangeOf(run, state);
        rows.push([run.label, format.grouped(range.delivered),
          ...NAMES.map((_, which) => format.value(percentileOf(range, quantity, which), unit))]);
      }
      return { columns: ['run', 'flows', ...NAMES], rows };
    },
  };
}
