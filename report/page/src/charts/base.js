// SPDX-License-Identifier: Apache-2.0
/*
 * What charts share. A chart is an object, the same for the page and for SVG files:
 *
 *   id, title, caption       caption: what to look at, in a sentence or two (or caption(state,
 *                            context))
 *   controls                 [{key, label, options: [[value, label], …], value}] of its state
 *   height(width, state)     in pixels
 *   legend(state)            [{name, line, dash}] or none: the series that can be switched off
 *   option(context, state)   ECharts' option; context: {theme, width, print, hidden, looked};
 *                            hidden: a Set of names that are switched off, or none
 *   looks                    whether `looked`, the name that is pointed at, changes the picture
 *   along                    'x' or 'y': where a tooltip reads; 'item': the thing pointed at
 *   tip(state, at)           the tooltip there: {head, rows: [{line, name, value}]}; `at` is a
 *                            value of that axis, or the data of the item
 *   stops(state)             where the arrow keys lead: values of that axis with a place to show,
 *                            [{at, x, y}], or of items [{at, series, index}]; with a row, up and
 *                            down lead to the next row
 *   table(state)             {columns, rows}: the same in words
 */
import { FONT, faded, ramp, style } from '../theme.js';
import * as format from '../format.js';

export const isNarrow = (context) => context.width < 520;

// The least and the largest finite value, or null.
export function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const value of values) {
    if (value === null || value === undefined || !Number.isFinite(value))
      continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : null;
}

// Powers of ten between low and high; 1, 2 and 5 times them where there are few.
export function logTicks(low, high, most = 7) {
  const from = Math.floor(Math.log10(low)), to = Math.ceil(Math.log10(high));
  const ticks = (factors, step) => {
    const list = [];
    for (let power = from; power <= to; power += step)
      for (const factor of factors)
        list.push(Number((factor * 10 ** power).toPrecision(6)));
    return list.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  };
  const decades = Math.log10(high / low);
  for (const [widest, factors] of [[0.8, [1, 2, 3, 4, 5, 6, 7, 8, 9]], [1.7, [1, 2, 5]],
    [2.6, [1, 3]], [most, [1]]]) {
    const list = ticks(factors, 1);
    if (decades <= widest && list.length <= most)
      return list;
  }
  return ticks([1], Math.max(1, Math.ceil((to - from) / most)));
}

// The round distance of at most about `most` ticks between low and high.
function linearStep(low, high, most) {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
}

// An axis over `values`: log or linear, ticks in the unit, its name where it can be read.
export function axis(context, { name, values, unit, scale = 'linear', vertical = false, from, to,
  format: written, ticks }) {
  const { theme } = context;
  const range = extent(values) ?? [0, 1];
  let [low, high] = [from ?? range[0], to ?? range[1]];
  const text = written ?? ((value) => format.tick(value, unit));
  const common = {
    name, // of a vertical axis: base() puts it above the chart
    nameLocation: 'middle',
    nameGap: 28,
    nameTextStyle: { color: theme.muted, fontSize: 12 },
    axisLine: { show: !vertical, lineStyle: { color: theme.axis } },
    axisTick: { show: !vertical, length: 4, lineStyle: { color: theme.axis } },
    axisLabel: { color: theme.muted, fontSize: 11, hideOverlap: true, formatter: text },
    splitLine: { show: vertical, lineStyle: { color: theme.faint } },
    axisPointer: { label: { show: false } },
  };
  if (scale === 'log' && low > 0) {
    if (low === high)
      [low, high] = [low / 2, high * 2];
    if (from === undefined)
      low /= 1.06;
    if (to === undefined)
      high *= 1.06;
    const at = ticks ?? logTicks(low, high, isNarrow(context) && !vertical ? 5 : 8);
    common.axisTick.customValues = at;
    common.axisLabel.customValues = at;
    return { ...common, type: 'log', min: low, max: high };
  }
  if (low === high)
    [low, high] = low === 0 ? [0, 1] : [Math.min(0, low), Math.max(0, high)];
  if (ticks) { // at places of their own: the axis goes a little beyond them
    const beyond = (high - low) * 0.03;
    common.axisTick.customValues = ticks;
    common.axisLabel.customValues = ticks;
    return { ...common, type: 'value', min: low - beyond, max: high + beyond };
  }
  const step = linearStep(low, high, isNarrow(context) && !vertical ? 4 : 6);
  const start = from ?? (low > 0 && low < high * 0.7 ? 0 : Math.floor(low / step + 1e-9) * step);
  const end = to ?? Number((Math.ceil(high / step - 1e-9) * step).toPrecision(12));
  const at = [];
  for (let i = Math.ceil(start / step - 1e-9); i * step <= end + step * 1e-9; i++)
    at.push(Number((i * step).toPrecision(12)));
  common.axisTick.customValues = at;
  common.axisLabel.customValues = at;
  return { ...common, type: 'value', min: start, max: end, interval: step };
}

export function category(context, { name, values, vertical = false }) {
  return {
    ...axis(context, { name, values: [], vertical }),
    type: 'category', data: values, min: undefined, max: undefined,
    axisLabel: { color: context.theme.muted, fontSize: 11, interval: 'auto' },
  };
}

const label = (context, text, more) => ({ type: 'text', silent: true,
  style: { text, fill: context.theme.muted, fontSize: 12, fontFamily: FONT, ...more.style },
  ...Object.fromEntries(Object.entries(more).filter(([key]) => key !== 'style')) });

// What a ramp's colours mean, at the top right of a picture; the page has it beside the legend.
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

// About how wide a text is: enough to leave room for it, with no canvas to measure on.
export const textWidth = (text, size) => String(text).length * size * 0.58;

// How high the rows of bars are whose names are broken into lines of `room` pixels.
export const rowHeight = (names, room) => Math.max(34, 10 + 12
  * Math.max(0, ...names.map((name) => Math.ceil(textWidth(name, 12) / room))));

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
    grid: { left: 48, right: 18, bottom: 46, ...grid, top: top + (grid?.top ?? 32) },
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

// The same as thin bars, a little apart where several curves have one: `number` of `of`.
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

// Where a horizontal axis of a few counts has its ticks: there, and not between them.
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

// Ratios of a whole are read as per cent, as papers write them.
export function shareUnit(curves) {
  const unit = curves[0].y_unit;
  return unit === 'ratio' && curves.every(({ points }) => points.every(([, y]) => y <= 1.5))
    ? 'share' : unit;
}
