// SPDX-License-Identifier: Apache-2.0
/*
 * The scales that the runs of a document share, so that their charts can be compared: one time
 * axis, one range of values, one meaning of a colour. A chart's state may differ: `own`, the scale
 * of the chart's own data; `whole`, the whole time. The drain is the time after the last flow has
 * started: the slowest flows end there, and the network is nearly empty. It is shaded, and shown
 * for half of the time in which flows started.
 */
import * as format from '../format.js';
import { FONT, faded } from '../theme.js';
import { extent } from './axis.js';
import { textWidth } from './text-width.js';
import { bounds } from './time.js';

const DRAIN = 0.5; // share of the time before the last start: length of the drain
const STEPS = 10; // samples: if flows start within fewer, there is no drain

// Returns begin and end of a run's series and its held ports, or null.
function spanOf({ series = [], held }) {
  const { timeline } = held ?? {};
  return extent([...(bounds(series.filter(({ mean }) => mean.length > 0)) ?? []),
    ...(timeline ? [timeline.start_s, timeline.end_s] : [])]);
}

const stepOf = ({ series = [] }) => Math.max(0, ...series.map(({ step_s: step }) => step ?? 0));

/*
 * Returns the start of the last flow of these runs if a drain follows; else null. `span`: the time
 * of the runs.
 */
export function lastStart(runs, span) {
  const [, last] = extent(runs.map(({ flows }) => flows?.last_start_s)) ?? [];
  const step = Math.max(...runs.map(stepOf));
  return span && last - span[0] >= STEPS * step && last < span[1] ? last : null;
}

/*
 * The shared scales of `runs`. `time(state, own)`: the ends of a time axis, of all of them or of
 * the chart's own time. `drain(state)`: {from, until, cut}, or null: its begin, the end of the
 * runs, and if a part is not shown. `of(state, peers, own)`: the series whose values set the scale.
 */
export function sharedScale(runs) {
  const span = extent(runs.flatMap((run) => spanOf(run) ?? []));
  const last = lastStart(runs, span);
  const cut = last !== null ? last + DRAIN * (last - span[0]) : Infinity;
  const isCut = span !== null && cut < span[1];
  const time = (state, own) => {
    const [from, to] = (state?.own ? own : span) ?? own ?? [0, 1];
    return [from, state?.whole || from >= cut ? to : Math.min(to, cut)];
  };
  return {
    runs, time, isCut, several: runs.length > 1,
    drain: (state) => (last === null ? null
      : { from: last, until: span[1], cut: isCut && !state?.whole }),
    of: (state, peers, own) => (state?.own ? own : peers),
  };
}

const APART = 20; // largest value over smallest; above it the smallest is invisible
const FLOOR = 1e-4; // share of the largest value: start of a log axis

// True if values are too far apart for a linear axis. A log axis has no place for 0.
export function spansDecades(values) {
  const [low, high] = extent(values.filter((value) => value > 0)) ?? [1, 1];
  return high >= APART * low;
}

// The start of a log axis of these values.
export function floorOf(values) {
  const [low, high] = extent(values.filter((value) => value > 0)) ?? [1, 1];
  return Math.max(low, high * FLOOR);
}

// The control of a chart that may have a log axis. Initially log if these values are far apart.
export const axisControl = (values) => ({ key: 'axis', label: 'Axis',
  value: spansDecades(values) ? 'log' : 'linear',
  options: [['linear', 'linear'], ['log', 'log']] });

// "last start 30.0 ms", and the end of the drain if that is not shown.
export const drainText = ({ from, until, cut }) => `last start ${format.time(from)}`
  + (cut ? `; ends ${format.time(until)}` : '');

// Draws the drain on a chart over time: a shade from the last start on, with its name above. The
// shade is behind lines, or `over` a picture.
export function drainSeries(context, drain, over = false) {
  if (!drain)
    return [];
  const { theme } = context, text = drainText(drain);
  return [{
    type: 'custom', name: 'drain', silent: true, z: over ? 4 : 0, tooltip: { show: false },
    data: [[drain.from, 1]], encode: { x: 0 },
    renderItem({ coordSys: { x, y: top, width, height } }, api) {
      const at = api.coord([drain.from, 1])[0], from = Math.max(x, at), end = x + width;
      if (from >= end)
        return null;
      const isLeft = end - from < textWidth(text, 11), isSeen = at >= x - 0.5;
      return { type: 'group', children: [
        { type: 'rect', shape: { x: from, y: top, width: end - from, height },
          style: { fill: over ? faded(theme.paper, 0.4) : faded(theme.axis, 0.16) } },
        ...(isSeen ? [{ type: 'line', shape: { x1: at, x2: at, y1: top - 6, y2: top + height },
          style: { stroke: theme.axis, lineWidth: 1, lineDash: [3, 3] } },
        { type: 'text', style: { text, x: isLeft ? end : from + 4, y: top - 4,
          align: isLeft ? 'right' : 'left', verticalAlign: 'bottom', fill: theme.muted,
          fontSize: 11, fontFamily: FONT } }] : []),
      ] };
    },
  }];
}
