// SPDX-License-Identifier: Apache-2.0
/*
 * An axis over values: log or linear, with its ends, its ticks and their texts. A part of the
 * horizontal axis that a reader has selected is context.zoom, [from, to]: the axis is that part
 * then, with ticks of its own.
 */
import { tickText } from './tick-text.js';
import { linearStep, linearTicks, logTicks, minorTicks, roundEnds } from './ticks.js';

export const isNarrow = (context) => context.width < 520;

// Returns the minimum and maximum finite value, or null.
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

const NARROWEST = 1.1; // least factor between the ends of a log axis

// The end of an axis of several decades: the power of ten if that is near, else slightly beyond.
function beyond(value, rounded) {
  const power = 10 ** rounded(Math.log10(value) + (rounded === Math.floor ? 1e-9 : -1e-9));
  const away = Math.abs(Math.log(power / value));
  return away <= Math.log(1.35) ? power : value * (rounded === Math.floor ? 1 / 1.06 : 1.06);
}

function logEnds({ range, from, to, most }) {
  let [low, high] = [from ?? range[0], to ?? range[1]];
  if (high / low < NARROWEST && from === undefined && to === undefined)
    [low, high] = [low / NARROWEST, high * NARROWEST];
  if (from !== undefined && to !== undefined)
    return [low, high];
  if (high / low < 3 && from === undefined && to === undefined)
    return roundEnds(low, high, most - 2);
  return [from ?? beyond(low, Math.floor), to ?? beyond(high, Math.ceil)];
}

function linearEnds({ range, from, to, most }) {
  let [low, high] = [from ?? range[0], to ?? range[1]];
  if (low === high)
    [low, high] = low === 0 ? [0, 1] : [Math.min(0, low), Math.max(0, high)];
  if (from === undefined && low > 0 && low < high * 0.7)
    low = 0;
  const step = linearStep(low, high, most);
  return [from ?? Math.floor(low / step + 1e-9) * step,
    to ?? Number((Math.ceil(high / step - 1e-9) * step).toPrecision(12)), step];
}

// The requested ticks, if the axis shows at least two of them.
function given(ticks, [low, high]) {
  const seen = ticks?.filter((tick) => tick >= low && tick <= high) ?? [];
  return seen.length > 1 ? seen : null;
}

// {type, min, max, named, all}: the axis' kind, ends, and ticks with and without text.
export function scaleOf(context, { values, scale = 'linear', vertical = false, from, to, ticks }) {
  const zoom = vertical ? null : context.zoom;
  const range = extent(values) ?? [0, 1];
  const most = isNarrow(context) && !vertical ? (scale === 'log' ? 5 : 4)
    : (scale === 'log' ? 8 : 6);
  const wanted = { range, from: zoom?.[0] ?? from, to: zoom?.[1] ?? to, most };
  if (scale === 'log' && (wanted.from ?? range[0]) > 0) {
    const [min, max] = logEnds(wanted);
    const own = given(ticks, [min, max]), named = own ?? logTicks(min, max, most);
    return { type: 'log', min, max, named,
      all: own || vertical ? named : minorTicks(min, max, named) };
  }
  if (ticks && !zoom) { // ticks at given places: the axis extends slightly beyond them
    const [low, high] = [from ?? range[0], to ?? range[1]];
    const beyond = (high - low || Math.abs(low) || 1) * 0.03;
    return { type: 'value', min: low - beyond, max: high + beyond, named: ticks, all: ticks };
  }
  const [min, max, step] = linearEnds(wanted);
  const named = given(zoom && ticks, [min, max]) ?? linearTicks(min, max, step);
  return { type: 'value', min, max, named, all: named, interval: step };
}

// ECharts' axis. `name` is placed where it is readable; `format` writes a tick, or the unit does.
export function axis(context, { name, unit, format, ...rest }) {
  const { theme } = context, { vertical = false } = rest;
  const { named, all, ...ends } = scaleOf(context, rest);
  const text = format ?? tickText(named, unit, ends.type === 'log');
  return {
    ...ends,
    name, // of a vertical axis: base() puts it above the chart
    nameLocation: 'middle',
    nameGap: 28,
    nameTextStyle: { color: theme.muted, fontSize: 12 },
    axisLine: { show: !vertical, lineStyle: { color: theme.axis } },
    axisTick: { show: !vertical, length: 4, lineStyle: { color: theme.axis }, customValues: all },
    axisLabel: { color: theme.muted, fontSize: 11, hideOverlap: true, formatter: text,
      customValues: named },
    splitLine: { show: vertical, lineStyle: { color: theme.faint } },
    axisPointer: { label: { show: false } },
  };
}

export function category(context, { name, values, vertical = false }) {
  return {
    ...axis(context, { name, values: [], vertical }),
    type: 'category', data: values, min: undefined, max: undefined, interval: undefined,
    axisTick: { show: false },
    axisLabel: { color: context.theme.muted, fontSize: 11, interval: 'auto' },
  };
}
