// SPDX-License-Identifier: Apache-2.0
// What is measured over time: goodput of all, of single flows or hosts, queues, PAUSE frames.
import * as format from '../format.js';
import { axis, band, base, extent, legend, line, nearest, pointer } from './base.js';

// Spans of a series: the time in the middle of each, in seconds.
export function times(series) {
  const { first_s: first, step_s: step, width } = series;
  return series.mean.map((_, i) => first - step + step * width * (i + 0.5));
}

// When the measured time begins and ends, over all lines.
const bounds = (shown) => extent(shown.flatMap(({ series: { first_s: first, step_s: step, width,
  mean } }) => [first - step, first - step + step * width * mean.length]));

const ofName = (run, name, entity) =>
  run.series.find((series) => series.name === name && series.entity === entity);

// A chart of lines over time. `lines(state)`: [{name, series, i, thin}].
function overTime({ id, title, caption, controls = [], lines, yName, several, most = 12 }) {
  const longest = (state) => lines(state)
    .reduce((best, { series }) => (series.mean.length > best.mean.length ? series : best),
      { mean: [] });
  return {
    id, title, caption, controls, along: 'x',
    height: (width) => (width < 520 ? 240 : 280),
    legend: (state) => (several || lines(state).length > 1) && lines(state).length <= most
      && lines(state).map(({ name, i }) => ({ name, line: i, solid: true })),
    option(context, state) {
      const shown = lines(state);
      const unit = shown[0]?.series.unit;
      const all = shown.flatMap(({ series }) => [...series.mean, ...(series.most ?? [])]);
      const many = shown.length > most;
      const [from, to] = bounds(shown) ?? [0, 1];
      return base(context, {
        legend: legend(context, this.legend(state) || []),
        tooltip: pointer(context, 'x'),
        xAxis: axis(context, { name: 'time', unit: 's', values: [], from, to }),
        yAxis: axis(context, { name: yName(state), vertical: true, unit, values: all, from: 0 }),
        series: shown.flatMap(({ name, series, i }) => {
          const at = times(series);
          const data = series.mean.map((value, k) => [at[k], value]);
          const drawn = line(context, name, i, data, { symbol: 'none', showSymbol: false,
            lineStyle: many ? { width: 1, type: 'solid', opacity: 0.7 } : { type: 'solid' } });
          return series.least
            ? [band(context, name, i, at.map((x, k) => [x, series.least[k], series.most[k]])),
              drawn]
            : [drawn];
        }),
      });
    },
    tip(state, at) {
      const shown = lines(state);
      const series = longest(state);
      const number = nearest(times(series), at);
      const half = series.step_s * series.width / 2;
      const middle = times(series)[number];
      const rows = shown.map(({ name, series: one, i }) => {
        const k = nearest(times(one), middle);
        const value = format.value(one.mean[k], one.unit);
        return { line: i, name, sort: one.mean[k],
          value: one.least && one.least[k] !== one.most[k]
            ? `${value} (${format.value(one.least[k], one.unit)} to `
              + `${format.value(one.most[k], one.unit)})` : value };
      });
      const sorted = rows.length > most ? rows.sort((a, b) => b.sort - a.sort) : rows;
      const cut = sorted.slice(0, most);
      if (sorted.length > most)
        cut.push({ name: `and ${sorted.length - most} more`, value: '' });
      return { head: `${format.time(Math.max(0, middle - half))} to `
        + format.time(middle + half), rows: cut };
    },
    stops(state) {
      const series = longest(state);
      const every = Math.max(1, Math.floor(series.mean.length / 60));
      return times(series).map((x, i) => ({ at: x, x, y: series.mean[i] }))
        .filter((_, i) => i % every === 0);
    },
    table(state) {
      const shown = lines(state);
      const series = longest(state);
      const every = Math.max(1, Math.ceil(series.mean.length / 120));
      return {
        columns: ['time', ...shown.slice(0, 24).map(({ name }) => name)],
        rows: times(series).map((x, i) => [format.time(x), ...shown.slice(0, 24)
          .map(({ series: one }) => format.value(one.mean[i], one.unit))])
          .filter((_, i) => i % every === 0),
      };
    },
  };
}

export function goodput(runs) {
  const lines = () => runs.map((run, i) => ({ name: run.label, i,
    series: ofName(run, 'goodput', 'all') })).filter(({ series }) => series?.mean.length > 0);
  if (lines().length === 0)
    return null;
  return overTime({
    id: 'goodput-all', title: 'Goodput of all hosts', lines, yName: () => 'goodput',
    several: runs.length > 1,
    caption: 'Payload delivered in order, by time. The band shows the least and the largest '
      + 'sample where several are drawn as one.',
  });
}

const PARTS = {
  flow: ['goodput', /^flow /, 'by flow'],
  host: ['goodput', /^(?!all$|flow )/, 'by receiving host'],
  connection: ['rate', /./, 'pacing rate by connection'],
};

// One run's goodput in parts: its flows, its receiving hosts, its connections' pacing rates.
export function throughput(run, number, several) {
  const of = (key) => run.series.filter((series) => series.name === PARTS[key][0]
    && PARTS[key][1].test(series.entity) && series.mean.some((value) => value > 0));
  const options = Object.keys(PARTS).filter((key) => of(key).length > 0)
    .map((key) => [key, PARTS[key][2]]);
  if (options.length === 0)
    return null;
  return overTime({
    id: `throughput-${number}`,
    title: several ? `Throughput: ${run.label}` : 'Throughput of flows',
    caption: options[0][0] === 'flow' ? 'What each flow\u2019s receiver got, by time.'
      : 'What each host received, by time.',
    controls: [{ key: 'part', label: 'Show', options, value: options[0][0] }],
    lines: (state) => of(state.part).map((series, i) => ({ i, series,
      name: series.about ? `${series.about} (${series.entity})` : series.entity })),
    yName: (state) => (state.part === 'connection' ? 'rate' : 'goodput'),
  });
}

export function queueOverTime(runs) {
  const ports = [...new Set(runs.flatMap((run) => run.series
    .filter(({ name, mean }) => name === 'queue' && mean.length > 0).map(({ entity }) => entity)))];
  if (ports.length === 0)
    return null;
  return overTime({
    id: 'queue-time',
    title: ports.length > 1 ? 'Queue depth over time' : `Queue depth over time: ${ports[0]}`,
    caption: 'Bytes waiting at an egress port, as sampled; the band shows the least and the '
      + 'largest sample where several are drawn as one.',
    controls: [{ key: 'port', label: 'Port', options: ports.map((port) => [port, port]),
      value: ports[0] }],
    lines: (state) => runs.map((run, i) => ({ name: run.label, i,
      series: ofName(run, 'queue', state.port) })).filter(({ series }) => series),
    yName: () => 'bytes in the queue', several: runs.length > 1,
  });
}

export function pauseFrames(runs) {
  const lines = () => runs.map((run, i) => ({ name: run.label, i,
    series: ofName(run, 'pauses', 'all') }))
    .filter(({ series }) => series?.mean.some((value) => value > 0));
  if (lines().length === 0)
    return null;
  return overTime({
    id: 'pause-frames', title: 'PAUSE frames sent', lines, several: runs.length > 1,
    yName: () => `frames in ${format.tick(lines()[0].series.step_s, 's')}`,
    caption: 'XOFF frames of all switches, refreshes not counted.',
  });
}
