// SPDX-License-Identifier: Apache-2.0
// A figure of single numbers with names: a bar for the measured one, a mark for the published.
import { style } from '../theme.js';
import * as format from '../format.js';
import { axis } from './axis.js';
import { base, legend, nameLabels, rowHeight, shareUnit } from './base.js';
import { textWidth } from './text-width.js';
import { readingsOf } from './readings.js';

const roomOf = (width) => Math.min(240, width * 0.4);

// True if each curve of the figure is one point, all at the same place.
export function isBars(curves) {
  return curves.length > 1 && curves.every(({ points }) =>
    points.length === 1 && points[0][0] === curves[0].points[0][0]);
}

export function barChart(plot, id) {
  const { curves } = plot;
  const { of: readingOf, bases: names, controls } = readingsOf(curves);
  const unit = shareUnit(curves);
  const pointOf = (state, name, kind) => curves.find((curve) => curve.kind === kind
    && readingOf(curve).base === name
    && (kind === 'published' || readingOf(curve).reading === (state.reading ?? '')))?.points[0];
  // An interval of a non-negative value does not go below zero.
  const least = Math.min(0, ...curves.map(({ points: [[, y]] }) => y)) < 0 ? -Infinity : 0;
  const values = [0, ...curves.flatMap(({ points: [[, ...rest]] }) => rest)
    .filter((y) => y !== null).map((y) => Math.max(least, y))];
  const has = (kind) => curves.some((curve) => curve.kind === kind);
  const interval = ([, , low, high]) => (low !== null && high !== null && low !== high
    ? ` (${format.value(low, unit)} to ${format.value(high, unit)})` : '');
  const nameAt = (at) => (typeof at === 'string' ? at : names[at]);

  return {
    id, title: plot.title ?? id, along: 'y', rows: true,
    caption: `Bars: measured, with the 95 % interval.${has('published')
      ? ' Open markers: published.' : ''}`,
    controls: controls([]),
    height: (width) => 60 + names.length * rowHeight(names, roomOf(width)),
    legend: () => (has('published') ? [{ name: 'measured', line: 0, solid: true },
      { name: 'published', line: 1, open: true, marker: 'diamond' }] : []),
    option(context, state) {
      const { theme } = context;
      const measured = style(theme, 0).color, published = style(theme, 1).color;
      const room = roomOf(context.width);
      const y = (name) => pointOf(state, name, 'measured')?.[1] ?? null;
      return base(context, {
        grid: { left: 10 + Math.min(room, Math.max(...names.map((name) => textWidth(name, 12)))),
          right: 24, top: 8, outerBoundsMode: 'none' },
        legend: legend(context, this.legend()),
        tooltip: { trigger: 'axis', axisPointer: { axis: 'y', type: 'shadow' } },
        xAxis: { ...axis(context, { name: plot.y_name || curves[0].y_name, unit, values }),
          splitLine: { show: true, lineStyle: { color: theme.faint } } },
        yAxis: { type: 'category', inverse: true, data: names, axisTick: { show: false },
          axisLine: { lineStyle: { color: theme.axis } },
          axisLabel: nameLabels(context, room) },
        series: [
          { name: 'measured', type: 'bar', barWidth: 14, data: names.map(y),
            itemStyle: { color: measured }, emphasis: { disabled: true } },
          { of: 'measured', type: 'custom', silent: true, z: 3, tooltip: { show: false },
            data: names.flatMap((name, i) => {
              const point = pointOf(state, name, 'measured');
              return point && interval(point) ? [[Math.max(least, point[2]), i, point[3]]] : [];
            }),
            encode: { x: [0, 2], y: 1 },
            renderItem(params, api) {
              const [from, middle] = api.coord([api.value(0), api.value(1)]);
              const [to] = api.coord([api.value(2), api.value(1)]);
              const line = (x1, y1, x2, y2) => ({ type: 'line', shape: { x1, y1, x2, y2 },
                style: { stroke: theme.text, lineWidth: 1.4 } });
              return { type: 'group', children: [line(from, middle, to, middle),
                line(from, middle - 4, from, middle + 4), line(to, middle - 4, to, middle + 4)] };
            } },
          { name: 'published', type: 'scatter', symbol: 'diamond', symbolSize: 15, z: 4,
            data: names.flatMap((name, i) => (pointOf(state, name, 'published')
              ? [[pointOf(state, name, 'published')[1], i]] : [])),
            itemStyle: { color: theme.paper, borderColor: published, borderWidth: 2.2 },
            emphasis: { disabled: true } },
        ],
      });
    },
    tip(state, at) {
      const name = nameAt(at);
      return { head: name, rows: ['measured', 'published'].flatMap((kind, line) => {
        const point = pointOf(state, name, kind);
        return point ? [{ line, open: kind === 'published', marker: 'diamond', name: kind,
          value: format.value(point[1], unit) + interval(point) }] : [];
      }) };
    },
    stops: (state) => names.map((name, i) => ({ at: name, y: i,
      x: (pointOf(state, name, 'measured') ?? pointOf(state, name, 'published'))[1] })),
    table: (state) => ({
      columns: [plot.x_name || 'of', ...['measured', 'published'].filter(has)],
      rows: names.map((name) => [name, ...['measured', 'published'].filter(has).map((kind) => {
        const point = pointOf(state, name, kind);
        return point ? format.value(point[1], unit) + interval(point) : '';
      })]),
    }),
  };
}
