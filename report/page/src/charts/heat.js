// SPDX-License-Identifier: Apache-2.0
// Many lines over time as a picture: a row each, coloured by the value at that time.
import { ramp } from '../theme.js';
import * as format from '../format.js';
import { axis, isNarrow } from './axis.js';
import { base } from './base.js';
import { drainSeries } from './shared-scale.js';
import { textWidth } from './text-width.js';
import { bounds, times } from './time.js';

const COLUMNS = 96;
const LEVELS = 16; // number of shades; neighbours of one shade are drawn as one bar

const rowSize = (count) => Math.max(7, Math.min(16, Math.floor(620 / count)));

// Bars of one line: [{from, to, value}] in seconds, of at most COLUMNS columns from `from` to `to`.
export function bars(series, [from, to], most) {
  const step = (to - from) / COLUMNS, columns = [];
  const half = series.step_s * series.width / 2;
  times(series).forEach((x, k) => {
    const value = series.mean[k];
    if (x + half <= from || x - half >= to)
      return;
    const first = Math.max(0, Math.floor((x - half - from) / step + 1e-6));
    const last = Math.min(COLUMNS, Math.max(first + 1, Math.ceil((x + half - from) / step - 1e-6)));
    for (let i = first; Number.isFinite(value) && i < last; i++)
      (columns[i] ??= []).push(value);
  });
  const list = [];
  for (let i = 0; i < COLUMNS; i++) {
    if (!columns[i])
      continue;
    const value = columns[i].reduce((sum, one) => sum + one, 0) / columns[i].length;
    const level = Math.round(value / most * LEVELS), last = list[list.length - 1];
    if (last && last.end === i && last.level === level) {
      last.end = i + 1;
      last.sum += value;
    } else {
      list.push({ begin: i, end: i + 1, level, sum: value });
    }
  }
  return list.map(({ begin, end, sum }) => ({ from: from + begin * step, to: from + end * step,
    value: sum / (end - begin) }));
}

// The members of a chart for a heat map of `lines(state)`: [{name, series}]. `shared`: the scales
// of the document; `peers(state)`: the series that share the colours.
export function heat({ lines, noun, shared, peers }) {
  const most = (state) => shared.of(state, peers(state), lines(state).map(({ series }) => series))
    .flatMap(({ mean }) => mean).filter(Number.isFinite)
    .reduce((largest, value) => Math.max(largest, value), Number.MIN_VALUE);
  const time = (state) => shared.time(state, bounds(lines(state).map(({ series }) => series)));
  const items = (state, zoom) => {
    const shown = lines(state), part = zoom ?? time(state), all = most(state);
    return shown.flatMap(({ series }, row) => bars(series, part, all)
      .map((bar) => ({ ...bar, row })));
  };
  const value = (state, number) => format.value(number, lines(state)[0]?.series.unit);
  return {
    along: 'item',
    height: (width, state) => 84 + lines(state).length * rowSize(lines(state).length),
    ramp: (state) => ({ low: '0', high: value(state, most(state)) }),
    option(context, state) {
      const { theme } = context, shown = lines(state), size = rowSize(shown.length);
      const all = most(state);
      const room = isNarrow(context) ? 86 : 170;
      const [from, to] = time(state);
      return base(context, {
        ramp: this.ramp(state),
        grid: { left: 14 + Math.min(room, Math.max(...shown.map(({ name }) =>
          textWidth(name, 10.5)))), top: 26, outerBoundsMode: 'none' },
        tooltip: { trigger: 'item' },
        xAxis: axis(context, { name: 'time', unit: 's', values: [], from, to }),
        yAxis: { type: 'category', inverse: true, data: shown.map(({ name }) => name),
          axisLine: { show: false }, axisTick: { show: false },
          axisLabel: { color: theme.muted, fontSize: 10.5, interval: Math.ceil(13 / size) - 1,
            width: room, overflow: 'truncate' } },
        series: [{
          type: 'custom', clip: true, encode: { x: [0, 1], y: 2 },
          data: items(state, context.zoom).map((bar) => [bar.from, bar.to, bar.row, bar.value]),
          renderItem(params, api) {
            const [x, y] = api.coord([api.value(0), api.value(2)]);
            const [end] = api.coord([api.value(1), api.value(2)]);
            return { type: 'rect', shape: { x, y: y - size / 2, width: Math.max(end - x, 1) + 0.3,
              height: size - (size > 9 ? 1 : 0.5) },
            style: { fill: ramp(theme, api.value(3) / all) } };
          },
        }, ...drainSeries(context, shared.drain(state), true)],
      });
    },
    tip: (state, at) => ({ head: lines(state)[at[2]].name, rows: [
      { name: `${format.time(Math.max(0, at[0]))} to ${format.time(at[1])}`,
        value: value(state, at[3]) }] }),
    stops: (state, zoom) => items(state, zoom).map((bar, index) => ({ series: 0, index,
      row: bar.row, at: [bar.from, bar.to, bar.row, bar.value] })),
    table: (state) => ({
      columns: [noun(state), 'mean', 'least', 'largest'],
      rows: lines(state).map(({ name, series }) => {
        const known = series.mean.filter(Number.isFinite);
        return [name, ...[known.reduce((sum, one) => sum + one, 0) / known.length,
          Math.min(...known), Math.max(...known)].map((number) => value(state, number))];
      }),
    }),
  };
}
