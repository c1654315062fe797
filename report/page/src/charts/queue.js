// SPDX-License-Identifier: Apache-2.0
// The depth of watched queues over the share of time, from exact histograms.
import * as format from '../format.js';
import { axis } from './axis.js';
import { base, legend, line, pointer } from './base.js';
import { axisControl, floorOf } from './shared-scale.js';

export function queueDepth(runs, grid) {
  const ports = [...new Set(runs.flatMap((run) => run.queues.filter(({ curve }) => curve)
    .map(({ entity }) => entity)))];
  if (ports.length === 0)
    return null;
  const shown = (state) => runs.map((run, i) => ({ run, i,
    queue: run.queues.find(({ entity, curve }) => curve && entity === state.port) }))
    .filter(({ queue }) => queue);

  return {
    id: 'queue-depth', along: 'y', zooms: true, zoomUnit: () => 'bytes',
    title: ports.length > 1 ? 'Queue depth' : `Queue depth: ${ports[0]}`,
    caption: 'The share of the measured time in which no more than so many bytes waited.',
    controls: [
      { key: 'port', label: 'Port', options: ports.map((port) => [port, port]), value: ports[0] },
      { key: 'shape', label: 'Show', value: 'cdf',
        options: [['cdf', 'share of time'], ['tail', 'the tail']] },
      axisControl(shown({ port: ports[0] }).map(({ queue: { summary } }) => summary.at(-1))),
    ],
    height: (width) => (width < 520 ? 240 : 280),
    legend: (state) => runs.length > 1
      && shown(state).map(({ run, i }) => ({ name: run.label, line: i })),
    option(context, state) {
      const lines = shown(state), tail = state.shape === 'tail';
      const values = lines.flatMap(({ queue }) => queue.curve);
      const floor = state.axis === 'log' ? floorOf(values) : 0;
      const y = tail
        ? axis(context, { name: 'share of time above', vertical: true, scale: 'log',
          values: [1e-5, 1], to: 1, format: (value) => format.percent(value) })
        : axis(context, { name: 'share of time at or below', vertical: true, from: 0, to: 100,
          values: [0, 100], format: (value) => `${value}\u202f%` });
      return base(context, {
        legend: legend(context, this.legend(state) || []),
        tooltip: pointer(context, 'y'),
        xAxis: axis(context, { name: 'bytes in the queue', unit: 'bytes', ...(floor > 0
          ? { scale: 'log', values: values.filter((value) => value >= floor) }
          : { from: 0, values }) }),
        yAxis: y,
        series: lines.map(({ run, i, queue }) => line(context, run.label, i, queue.curve
          .map((value, k) => [Math.max(floor, value), tail ? 1 - grid[k] / 100 : grid[k]])
          .filter(([, share]) => !tail || share > 0), { symbol: 'none', showSymbol: false })),
      });
    },
    tip(state, at) {
      const p = state.shape === 'tail' ? 100 * (1 - at) : at;
      const number = grid.reduce((best, value, i) =>
        (Math.abs(value - p) < Math.abs(grid[best] - p) ? i : best), 0);
      return {
        head: `${format.percentile(grid[number])} of the time`,
        rows: shown(state).map(({ run, i, queue }) => ({ line: i, name: run.label,
          value: format.bytes(queue.curve[number]) })),
      };
    },
    stops(state) {
      const [first] = shown(state);
      const wanted = [0, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 100];
      return grid.map((p, i) => ({ p, i })).filter(({ p }) => wanted.includes(p))
        .map(({ p, i }) => {
          const at = state.shape === 'tail' ? Math.max(1e-5, 1 - p / 100) : p;
          const x = first.queue.curve[i];
          return { at, x: state.axis === 'log' ? Math.max(floorOf(shown(state)
            .flatMap(({ queue }) => queue.curve)), x) : x, y: at };
        });
    },
    table(state) {
      return {
        columns: ['run', 'p50', 'p90', 'p99', 'p99.9', 'largest', 'mean'],
        rows: shown(state).map(({ run, queue }) => {
          const [p50, p90, p99, p999, most, mean] = queue.summary;
          return [run.label, ...[p50, p90, p99, p999, queue.most ?? most, mean]
            .map((value) => format.value(value, 'bytes'))];
        }),
      };
    },
  };
}
