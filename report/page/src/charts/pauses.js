// SPDX-License-Identifier: Apache-2.0
// The times at which PAUSE held each port: a row for each port, coloured by the share of time.
import { ramp } from '../theme.js';
import * as format from '../format.js';
import { axis, isNarrow } from './axis.js';
import { base } from './base.js';
import { drainSeries, sharedScale } from './shared-scale.js';
import { textWidth } from './text-width.js';

const KINDS = ['core', 'aggregation', 'tor', 'host'];
const KIND_NAMES = { core: 'core', aggregation: 'aggregation', tor: 'ToR', host: 'host' };
const LEVELS = 8; // number of shades; neighbours of one shade are drawn as one bar

// A port's bars: [first span, span after the last, share].
function bars(port) {
  const list = [];
  port.at.forEach((span, i) => {
    const level = Math.max(1, Math.ceil(port.share[i] * LEVELS));
    const last = list[list.length - 1];
    if (last && last.to === span && last.level === level) {
      last.to = span + 1;
      last.sum += port.share[i];
    } else {
      list.push({ from: span, to: span + 1, level, sum: port.share[i] });
    }
  });
  return list.map(({ from, to, sum }) => ({ from, to, share: sum / (to - from) }));
}

export function pauseTimeline(run, number, several, shared = sharedScale([run])) {
  const line = run.held.timeline;
  if (!line || line.ports.length === 0)
    return null;
  const ports = [...line.ports].sort((a, b) =>
    KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind)
    || a.port.localeCompare(b.port, 'en', { numeric: true }));
  const items = ports.flatMap((port, row) => bars(port).map((bar) => ({ ...bar, row })));
  const when = (span) => line.start_s + span * line.step_s;
  const length = line.end_s - line.start_s;
  const rest = line.more_ports > 0
    ? ` The ${ports.length} that were held longest; ${format.grouped(line.more_ports)} more were `
      + `held for ${format.time(line.more_s)} in all.` : '';

  return {
    id: `pauses-${number}`, along: 'item', zooms: 'time', zoomUnit: () => 's',
    title: several ? `Ports held by PAUSE: ${run.label}` : 'Ports held by PAUSE',
    caption: 'A row a port, from the core down; the stronger the colour, the larger the part of '
      + `that moment in which it could not send.${rest}`,
    ramp: { low: 'free', high: 'held throughout' },
    height: () => 78 + ports.length * 15,
    option(context, state) {
      const { theme } = context;
      const room = isNarrow(context) ? 86 : 150;
      const [from, to] = shared.time(state, [line.start_s, line.end_s]);
      return base(context, {
        ramp: this.ramp,
        grid: { left: 14 + Math.min(room, Math.max(...ports.map(({ port }) =>
          textWidth(port, 10.5)))), top: 26, outerBoundsMode: 'none' },
        tooltip: { trigger: 'item' },
        xAxis: axis(context, { name: 'time', unit: 's', values: [], from, to }),
        yAxis: {
          type: 'category', inverse: true, data: ports.map(({ port }) => port),
          axisLine: { show: false }, axisTick: { show: false },
          axisLabel: { color: theme.muted, fontSize: 10.5, interval: 0,
            width: room, overflow: 'truncate' },
          splitLine: { show: true, interval: 0, lineStyle: { color: theme.faint } },
        },
        series: [{
          type: 'custom', clip: true, encode: { x: [0, 1], y: 2 },
          data: items.map((item) => [when(item.from), when(item.to), item.row, item.share]),
          renderItem(params, api) {
            const [x, y] = api.coord([api.value(0), api.value(2)]);
            const [to] = api.coord([api.value(1), api.value(2)]);
            return {
              type: 'rect',
              shape: { x, y: y - 5, width: Math.max(to - x, 1), height: 10 },
              style: { fill: ramp(theme, 0.2 + 0.8 * api.value(3)) },
            };
          },
        }, ...drainSeries(context, shared.drain(state), true)],
      });
    },
    tip(state, at) {
      const port = ports[at[2]];
      return {
        head: port.port,
        rows: [
          { name: `${format.time(at[0])} to ${format.time(at[1])}`,
            value: `held for ${format.percent(at[3])}` },
          { name: 'in all', value: `${format.time(port.held_s)}, `
            + `${format.percent(port.held_s / length)} of the time` },
        ],
      };
    },
    stops: () => items.map((item, index) => ({ series: 0, index, row: item.row,
      at: [when(item.from), when(item.to), item.row, item.share] })),
    table: () => ({
      columns: ['port', 'of', 'held', 'share of the time', 'first', 'last'],
      rows: ports.map((port) => [port.port, KIND_NAMES[port.kind] ?? '',
        format.time(port.held_s), format.percent(port.held_s / length),
        format.time(when(port.at[0])), format.time(when(port.at[port.at.length - 1] + 1))]),
    }),
  };
}
