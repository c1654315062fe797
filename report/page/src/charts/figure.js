// SPDX-License-Identifier: Apache-2.0
// A paper's plots: the measured values, with their interval, beside the published ones.
import { style } from '../theme.js';
import * as format from '../format.js';
import { barChart, isBars } from './bars.js';
import { axis } from './axis.js';
import { band, base, bars, legend, line, placeTicks, pointer, shareUnit } from './base.js';
import { readingsOf } from './readings.js';

const MOST_BANDS = 4; // more of them are mud

const isPublished = (curve) => curve.kind === 'published';
const hasSpread = ([, , low, high]) => low !== null && high !== null;

// All plots of a figure. With several, their ids have numbers.
export function figureCharts(figure, id) {
  const plots = figure.plots.map((plot) => ({ ...plot, title: plot.title || figure.info.title,
    curves: plot.curves.filter(({ points }) => points.length > 0) }))
    .filter(({ curves }) => curves.length > 0);
  return plots.map((plot, i) => {
    const own = plots.length > 1 ? `${id}-plot-${i + 1}` : id;
    return isBars(plot.curves) ? barChart(plot, own) : plotChart(plot, own);
  });
}

// The end of the vertical axis. It contains all curves and points. It contains their intervals if
// the curves keep enough room: half of the height, or a decade.
function heights(curves, log) {
  const ys = curves.flatMap(({ points }) => points.map(([, y]) => y));
  const ends = curves.flatMap(({ points }) => points.filter(hasSpread).flatMap(([, , low, high]) =>
    [low, high]));
  const [low, high] = [Math.min(...ys), Math.max(...ys)];
  if (log)
    return [...ys, ...ends.map((y) => Math.min(high * 10, Math.max(low / 10, y)))];
  const room = Math.max(high, 0) - Math.min(low, 0);
  const least = low < 0 ? low - room : 0; // a non-negative value has a non-negative interval
  return [0, ...ys, ...ends.map((y) => Math.min(high + room, Math.max(least, y)))];
}

function plotChart(plot, id) {
  // A label has one colour, measured or published, in any reading.
  const { curves } = plot;
  const { of: readingOf, bases: labels, controls } = readingsOf(curves);
  const shown = (state) => curves.filter((curve) => isPublished(curve) || state.reading === 'all'
    || readingOf(curve).reading === (state.reading ?? ''));
  const lineOf = (curve) => labels.indexOf(readingOf(curve).base);
  const nameX = plot.x_name || curves[0].x_name, nameY = plot.y_name || curves[0].y_name;
  const unitX = curves[0].x_unit, unitY = shareUnit(curves);
  const xs = curves.flatMap(({ points }) => points.map(([x]) => x));
  const logX = plot.x_scale === 'log' && xs.every((x) => x > 0);
  const logY = plot.y_scale === 'log'
    && curves.every(({ points }) => points.every(([, y]) => y > 0));
  const places = [...new Set(xs)].sort((a, b) => a - b);
  const pointAt = (curve, x) => curve.points.find((point) => point[0] === x);
  const xText = (x) => format.tick(x, unitX);
  const spreadText = (point) => (hasSpread(point) && point[2] !== point[3]
    ? ` (${format.value(point[2], unitY)} to ${format.value(point[3], unitY)})` : '');
  // With all readings side by side, those that are not judged are dashed.
  const isOther = (state, curve) => state.reading === 'all' && readingOf(curve).reading !== '';
  const nameOf = (curve) => (isPublished(curve) ? `${curve.label}, published` : curve.label);
  // Which curves have their interval as a band, and which as bars. The highlighted one has the
  // band.
  const measuredOf = (context, state) => shown(state).filter((curve) => !isPublished(curve)
    && !context.hidden?.has(nameOf(curve)));

  function seriesOf(context, state, curve) {
    const { theme } = context;
    const i = lineOf(curve), name = nameOf(curve), look = style(theme, i);
    const points = [...curve.points].sort((a, b) => a[0] - b[0]);
    const data = points.map(([x, y]) => [x, y]);
    const pale = context.looked && context.looked !== name ? { opacity: 0.25 } : {};
    if (isPublished(curve)) {
      return [{
        name, type: 'line', data, symbol: look.symbol, symbolSize: 12, z: 4,
        showSymbol: true, emphasis: { disabled: true },
        lineStyle: { color: look.color, width: 1, type: [2, 4], opacity: 0.55, ...pale },
        itemStyle: { color: theme.paper, borderColor: look.color, borderWidth: 2, ...pale },
      }];
    }
    const least = logY ? Math.min(...data.map(([, y]) => y)) / 100 : -Infinity;
    const spread = points.filter(hasSpread)
      .map(([x, , low, high]) => [x, Math.max(low, least), high]);
    const measured = measuredOf(context, state);
    const asBand = measured.length <= MOST_BANDS || context.looked === name;
    const asBars = !asBand && pale.opacity === undefined;
    return [
      ...(asBand && pale.opacity === undefined ? [band(context, name, i, spread)] : []),
      ...(asBars ? [bars(context, name, i, spread,
        { number: measured.indexOf(curve), of: measured.length })] : []),
      line(context, name, i, data, { showSymbol: true, z: 3, itemStyle: { color: look.color,
        ...pale }, lineStyle: { type: isOther(state, curve) ? [6, 4] : 'solid', ...pale } }),
    ];
  }

  return {
    id, title: plot.title ?? id, along: 'x', looks: true, zooms: true, zoomUnit: () => unitX,
    caption: (state, context) => 'Lines and filled markers: measured, with the 95 % interval of '
      + `the mean over repeats${!context.print && measuredOf(context, state).length > MOST_BANDS
        ? ' (point at a name below for its band)' : ''}.`
      + (curves.some(isPublished) ? ' Large open markers: published.' : ''),
    controls: controls([['all', 'all']]),
    height: (width) => (width < 520 ? 300 : 420),
    legend: (state) => shown(state).map((curve) => ({ name: nameOf(curve), line: lineOf(curve),
      open: isPublished(curve), solid: !isOther(state, curve) })),
    option(context, state) {
      return base(context, {
        legend: legend(context, this.legend(state)),
        tooltip: pointer(context, 'x'),
        xAxis: axis(context, { name: nameX, values: xs, unit: unitX,
          scale: logX ? 'log' : 'linear', ticks: placeTicks(places, unitX) }),
        yAxis: axis(context, { name: nameY, values: heights(shown(state), logY), unit: unitY,
          vertical: true, scale: logY ? 'log' : 'linear' }),
        series: shown(state).flatMap((curve) => seriesOf(context, state, curve)),
      });
    },
    tip(state, at) {
      const distance = (x) => (logX ? Math.abs(Math.log(x / at)) : Math.abs(x - at));
      const x = places.reduce((best, one) => (distance(one) < distance(best) ? one : best));
      return {
        head: `${nameX ? `${nameX}: ` : ''}${xText(x)}`,
        rows: shown(state).flatMap((curve) => {
          const point = pointAt(curve, x);
          return point ? [{ line: lineOf(curve), name: nameOf(curve), open: isPublished(curve),
            solid: !isOther(state, curve),
            value: format.value(point[1], unitY) + spreadText(point) }] : [];
        }),
      };
    },
    stops: (state) => places.flatMap((x) => {
      const curve = shown(state).find((one) => pointAt(one, x));
      return curve ? [{ at: x, x, y: pointAt(curve, x)[1] }] : [];
    }),
    table: () => ({
      columns: [nameX || 'x', ...curves.map((curve) => (isPublished(curve)
        ? nameOf(curve) : `${curve.label}, measured`))],
      rows: places.map((x) => [xText(x), ...curves.map((curve) => {
        const point = pointAt(curve, x);
        return point ? format.value(point[1], unitY) + spreadText(point) : '';
      })]),
    }),
  };
}
