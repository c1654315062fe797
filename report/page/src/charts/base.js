// SPDX-License-Identifier: Apache-2.0
/*
 * What charts share. A chart is an object, the same for the page and for SVG files:
 *
 *   id, title, caption       caption: what to look at, in a sentence or two (or caption(state,
 *                            context))
 *   controls                 [{key, label, options: [[value, label], …], value}] of its state
 *   height(width, state)     in pixels
 *   legend(state)            [{name, line, dash}] or none: the series that can be switched off
 *   option(context, state)   ECharts' option; context: {theme, width, print, hidden, looked,
 *                            zoom};
 *                            hidden: a Set of names that are switched off, or none
 *   looks                    whether `looked`, the name that is pointed at, changes the picture
 *   rows                     true if rows of names make its height: it is not smaller in small
 *   zooms, zoomUnit(state)   true if a part of the horizontal axis can be selected; 'time': the
 *                            same part in all such charts of a document; the unit of its ends
 *   along                    'x' or 'y': where a tooltip reads; 'item': the thing pointed at; or
 *                            along(state)
 *   ramp                     {low, high}: what the ends of its colours mean; or ramp(state)
 *   tip(state, at)           the tooltip there: {head, rows: [{line, name, value}]}; `at` is a
 *                            value of that axis, or the data of the item
 *   stops(state, zoom)       where the arrow keys lead: values of that axis with a place to show,
 *                            [{at, x, y}], or of items [{at, series, index}]; with a row, up and
 *                            down lead to the next row
 *   table(state)             {columns, rows}: the same in words
 */
import { FONT, faded, ramp, style } from '../theme.js';
import { linesOf, textWidth } from './text-width.js';

const label = (context, text, more) => ({ type: 'text', silent: true,
  style: { text, fill: context.theme.muted, fontSize: 12, fontFamily: FONT, ...more.style },
  ...Object.fromEntries(Object.entries(more).filter(([key]) => key !== 'style')) });

// The meaning of a ramp's colours, at the top right of a picture. The page has it beside the
// legend.
function rampScale(context, { low, high }) {
  const stops = [0, 0.25, 0.5, 0.75, 1].map((offset) =>
    ({ offset, color: ramp(context.theme, offset) }));
  const left = context.width - 150 - textWidth(high, 12);
  return [
    label(context, low, { left: left - textWidth(low, 12) - 8, top: 4, style: {} }),
    { type: 'rect', left, top: 6, silent: true, shape: { width: 120, height: 8 },
      style: { fill: { type: 'linear', x: 0, y: 0, x2: 1, y2: 0, colorStops: stops } } },
    label(context, high, { left: left + 128, top: 4, style: {} }),
  ];
}

const LINE = 14; // pixels between lines of 12-pixel letters

// The axis of names: broken into lines of `room` pixels.
export const nameLabels = (context, room) => ({ color: context.theme.text, fontSize: 12,
  lineHeight: LINE, interval: 0, width: room, overflow: 'break' });

// The height of the rows of bars with names broken in this way.
export const rowHeight = (names, room) => Math.max(34, 10 + LINE
  * Math.max(0, ...names.map((name) => linesOf(name, 12, room))));

// Half of the name at the right end of an axis extends beyond it.
function roomAtRight({ type, max, min, axisLabel }) {
  const last = axisLabel?.customValues?.at(-1);
  if (last === undefined || last < (type === 'log' ? max * 0.98 : max - (max - min) * 0.02))
    return 0;
  return Math.ceil(textWidth(axisLabel.formatter?.(last) ?? last, axisLabel.fontSize) / 2) + 4;
}

// The rest of an option. The vertical axis' name stands above the chart, at its left edge.
export function base(context, { grid, yAxis, ramp: scale, ...extra }) {
  const { theme } = context;
  const inPicture = context.print && scale ? rampScale(context, scale) : [];
  const top = (extra.legend?.rows ?? 0) * 22 + (inPicture.length > 0 ? 22 : 0);
  if (yAxis.name)
    inPicture.push(label(context, yAxis.name, { left: 0, top: top + 4, style: {} }));
  return {
    animation: false,
    backgroundColor: context.print ? theme.paper : 'transparent',
    textStyle: { fontFamily: FONT, color: theme.text },
    graphic: inPicture,
    ...extra,
    grid: { left: 48, bottom: 46, ...grid, top: top + (grid?.top ?? 32),
      right: Math.max(grid?.right ?? 18, grid?.outerBoundsMode === 'none'
        ? roomAtRight(extra.xAxis) : 0) },
    yAxis: { ...yAxis, name: undefined },
  };
}

// The pointer of a tooltip: a line across the chart.
export function pointer(context, along) {
  return {
    trigger: 'axis',
    axisPointer: { axis: along, type: 'line', snap: false,
      lineStyle: { color: context.theme.axis, type: 'solid', width: 1 } },
  };
}

export function line(context, name, i, data, more = {}) {
  const look = style(context.theme, i);
  const few = data.length <= 40;
  return {
    name, data, type: 'line', symbol: few ? look.symbol : 'none', symbolSize: 6,
    showSymbol: few, emphasis: { disabled: true },
    lineStyle: { color: look.color, width: 1.8, type: look.dash, ...more.lineStyle },
    itemStyle: { color: look.color },
    ...Object.fromEntries(Object.entries(more).filter(([key]) => key !== 'lineStyle')),
  };
}

// A band between low and high, drawn behind the line that it is `of`: points [x, low, high].
export function band(context, name, i, points, opacity = 0.16) {
  const color = faded(style(context.theme, i).color, opacity);
  const known = points.filter((p) => p.every((value) => Number.isFinite(value)));
  return {
    of: name, type: 'custom', silent: true, clip: true, z: 1, tooltip: { show: false },
    data: known.length > 1 ? [[known[0][0], known[0][1]]] : [],
    encode: { x: 0, y: 1 },
    renderItem(params, api) {
      const upper = known.map((p) => api.coord([p[0], p[2]]));
      const lower = known.map((p) => api.coord([p[0], p[1]])).reverse();
      return { type: 'polygon', shape: { points: [...upper, ...lower] }, style: { fill: color } };
    },
  };
}

// The same as thin bars, slightly apart where several curves have one: `number` of `of`.
export function bars(context, name, i, points, { number, of }) {
  const { color } = style(context.theme, i);
  const aside = (number - (of - 1) / 2) * Math.min(3, 14 / of);
  const known = points.filter((p) => p.every((value) => Number.isFinite(value)));
  return {
    of: name, type: 'custom', silent: true, clip: true, z: 2, tooltip: { show: false },
    data: known, encode: { x: 0, y: [1, 2] },
    renderItem(params, api) {
      const [x, from] = api.coord([api.value(0), api.value(1)]);
      const [, to] = api.coord([api.value(0), api.value(2)]);
      const part = (x1, y1, x2, y2) => ({ type: 'line', shape: { x1: x1 + aside, y1,
        x2: x2 + aside, y2 }, style: { stroke: color, lineWidth: 1, opacity: 0.75 } });
      return { type: 'group', children: [part(x, from, x, to), part(x - 2, from, x + 2, from),
        part(x - 2, to, x + 2, to)] };
    },
  };
}

// The ticks of a horizontal axis of a few counts: at the counts, not between them.
export function placeTicks(places, unit) {
  const isCount = unit === 'count' || (unit === 'ratio' && Math.max(...places) > 1);
  return isCount && places.length > 1 && places.length <= 12
    && places.every((place) => Number.isInteger(place)) ? places : undefined;
}

// The legend inside a picture; the page has buttons instead.
export function legend(context, entries) {
  if (!context.print || !entries || entries.length < 2)
    return undefined;
  let rows = 1, used = 0;
  for (const { name } of entries) {
    const wide = 26 + 5 + 12 + textWidth(name, 12);
    if (used + wide > context.width - 40) {
      rows++;
      used = 0;
    }
    used += wide;
  }
  return {
    show: true, rows, top: 2, left: 0, right: 10, itemWidth: 26, itemHeight: 8, itemGap: 12,
    textStyle: { color: context.theme.text, fontSize: 12 },
    data: entries.map(({ name }) => ({ name })),
  };
}

// The index of the value nearest to `wanted` in an ascending list.
export function nearest(list, wanted) {
  let low = 0, high = list.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  if (low > 0 && wanted - list[low - 1] < list[low] - wanted)
    low--;
  return low;
}

// Fractions are shown in per cent, as in papers.
export function shareUnit(curves) {
  const unit = curves[0].y_unit;
  return unit === 'ratio' && curves.every(({ points }) => points.every(([, y]) => y <= 1.5))
    ? 'share' : unit;
}
