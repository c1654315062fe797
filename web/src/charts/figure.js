// SPDX-License-Identifier: Apache-2.0
// A paper's figure: what was measured, with its interval, beside what was published.
import { style } from '../theme.js';
import * as format from '../format.js';
import { barChart, isBars } from './bars.js';
import { axis, band, base, legend, line, pointer, shareUnit } from './base.js';
import { readingsOf } from './readings.js';

const isPublished = (curve) => curve.kind === 'published';

export function figureChart(figure, id) {
  const curves = figure.curves.filter(({ points }) => points.length > 0);
  if (curves.length === 0)
    return null;
  if (isBars(curves))
    return barChart(figure, id, curves);
  // A label has one colour, whether measured or published, in any reading.
  const { of: readingOf, bases: labels, controls } = readingsOf(curves);
  const shown = (state) => curves.filter((curve) => isPublished(curve) || state.reading === 'all'
    || readingOf(curve).reading === (state.reading ?? ''));
  const lineOf = (curve) => labels.indexOf(readingOf(curve).base);
  const { info } = figure;
  const unitX = curves[0].x_unit, unitY = shareUnit(curves);
  const xs = curves.flatMap(({ points }) => points.map(([x]) => x));
  const ys = curves.flatMap(({ points }) => points.map(([, y]) => y));
  const logX = info.x_scale === 'log' && xs.every((x) => x > 0);
  const logY = info.y_scale === 'log' && ys.every((y) => y > 0);
  const places = [...new Set(xs)].sort((a, b) => a - b);
  const pointAt = (curve, x) => curve.points.find((point) => point[0] === x);
  const xText = (x) => format.tick(x, unitX);
  // Of all readings side by side, those that are not judged are dashed.
  const isOther = (state, curve) => state.reading === 'all' && readingOf(curve).reading !== '';
  const nameOf = (curve) => (isPublished(curve) ? `${curve.label}, published` : curve.label);

  return {
    id, title: info.title ?? id, along: 'x',
    caption: 'Lines and filled markers: measured, with the 95 % interval of the mean over repeats. '
      + 'Large open markers: published.',
    controls: controls([['all', 'all']]),
    height: (width) => (width < 520 ? 300 : 420),
    legend: (state) => shown(state).map((curve) => ({ name: nameOf(curve), line: lineOf(curve),
      open: isPublished(curve), solid: !isOther(state, curve) })),
    option(context, state) {
      const { theme } = context;
      const series = shown(state).flatMap((curve) => {
        const i = lineOf(curve);
        const look = style(theme, i);
        const points = [...curve.points].sort((a, b) => a[0] - b[0]);
        const data = points.map(([x, y]) => [x, y]);
        if (isPublished(curve)) {
          return [{
            name: nameOf(curve), type: 'line', data, symbol: look.symbol, symbolSize: 12, z: 4,
            showSymbol: true, emphasis: { disabled: true },
            lineStyle: { color: look.color, width: 1, type: [2, 4], opacity: 0.55 },
            itemStyle: { color: theme.paper, borderColor: look.color, borderWidth: 2 },
          }];
        }
        const spread = points.filter((point) => point[2] !== null && point[3] !== null)
          .map(([x, , low, high]) => [x, logY ? Math.max(low, Math.min(...ys) / 10) : low, high]);
        return [
          band(context, nameOf(curve), i, spread),
          line(context, nameOf(curve), i, data, { showSymbol: true, z: 3,
            lineStyle: { type: isOther(state, curve) ? [6, 4] : 'solid' } }),
        ];
      });
      return base(context, {
        legend: legend(context, this.legend(state)),
        tooltip: pointer(context, 'x'),
        xAxis: axis(context, { name: info.x_name ?? curves[0].x_name, values: xs, unit: unitX,
          scale: logX ? 'log' : 'linear' }),
        yAxis: axis(context, { name: info.y_name ?? curves[0].y_name, values: ys, unit: unitY,
          vertical: true, scale: logY ? 'log' : 'linear', from: logY ? undefined : 0 }),
        series,
      });
    },
    tip(state, at) {
      const distance = (x) => (logX ? Math.abs(Math.log(x / at)) : Math.abs(x - at));
      const x = places.reduce((best, one) => (distance(one) < distance(best) ? one : best));
      const name = info.x_name ?? curves[0].x_name;
      return {
        head: `${name ? `${name}: ` : ''}${xText(x)}`,
        rows: shown(state).flatMap((curve) => {
          const point = pointAt(curve, x);
          if (!point)
            return [];
          const spread = point[2] !== null && point[3] !== null && point[2] !== point[3]
            ? ` (${format.value(point[2], unitY)} to ${format.value(point[3], unitY)})` : '';
          return [{ line: lineOf(curve), name: nameOf(curve),
            open: isPublished(curve), solid: !isOther(state, curve),
            value: format.value(point[1], unitY) + spread }];
        }),
      };
    },
    stops: (state) => places.flatMap((x) => {
      const curve = shown(state).find((one) => pointAt(one, x));
      return curve ? [{ at: x, x, y: pointAt(curve, x)[1] }] : [];
    }),
    table: () => ({
      columns: [info.x_name ?? 'x', ...curves.map((curve) => (isPublished(curve)
        ? nameOf(curve) : `${curve.label}, measured`))],
      rows: places.map((x) => [xText(x), ...curves.map((curve) => {
        const point = pointAt(curve, x);
        if (!point)
          return '';
        const spread = point[2] !== null && point[3] !== null && point[2] !== point[3]
          ? ` (${format.value(point[2], unitY)} to ${format.value(point[3], unitY)})` : '';
        return format.value(point[1], unitY) + spread;
      })]),
    }),
  };
}
