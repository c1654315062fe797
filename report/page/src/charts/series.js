// SPDX-License-Identifier: Apache-2.0
// Values over time: goodput in total, of single flows or hosts, queues, PAUSE frames.
import * as format from '../format.js';
import { axis } from './axis.js';
import { band, base, legend, line, nearest, pointer } from './base.js';
import { busiest, envelope, MOST_LINES } from './crowd.js';
import { either } from './either.js';
import { heat } from './heat.js';
import { axisControl, drainSeries, floorOf, sharedScale } from './shared-scale.js';
import { bounds, times } from './time.js';

const ofName = (run, name, entity) =>
  run.series.find((series) => series.name === name && series.entity === entity);

const meanOf = (series) => (series?.mean ?? []).reduce((sum, value) => sum + (value ?? 0), 0)
  / Math.max(1, series?.mean.length ?? 0);

const DOTS = [2, 2.5];

// The marks on a line: [[time, value], …] of the spans of `line.events` that have events.
const marksOf = ({ series, events }) => times(series).map((x, k) => [x, series.mean[k]])
  .filter(([x], k) => eventsAt(events, x) > 0 && Number.isFinite(series.mean[k]));

// The number of events in the span of `events` nearest to a time.
function eventsAt(events, x) {
  if (!events)
    return 0;
  const at = times(events), k = nearest(at, x);
  const half = events.step_s * events.width / 2;
  const samples = Math.min(events.width, events.samples - k * events.width);
  return Math.abs(at[k] - x) > half * 1.001 ? 0 : Math.round(events.mean[k] * samples);
}

// A line with its marks, or with the band from its smallest to its largest samples. Values below
// `floor`, the start of a log axis, are not drawn.
function drawn(context, one, floor = -Infinity) {
  const { name, series, i, dotted } = one;
  const at = times(series), seen = (value) => (Number.isFinite(value) ? Math.max(floor, value)
    : value);
  const data = series.mean.map((value, k) => [at[k], seen(value)]);
  const curve = line(context, name, i, data, { symbol: 'none', showSymbol: false,
    lineStyle: { type: dotted ? DOTS : 'solid' } });
  const marks = marksOf(one);
  if (marks.length > 0)
    return [curve, { of: name, type: 'scatter', data: marks, symbol: 'triangle',
      symbolSize: 9, silent: true, z: 3, tooltip: { show: false },
      itemStyle: { color: curve.itemStyle.color } }];
  return series.least
    ? [band(context, name, i, at.map((x, k) =>
      [x, seen(series.least[k]), seen(series.most[k])])),
      curve]
    : [curve];
}

/*
 * A chart of lines over time. `lines(state)`: [{name, series, i, dotted, events}]; `events`: a
 * series of counts; spans above zero are marked on the line and named by `eventName`. `shared`: the
 * scales of the document; `peers(state)`: the series whose values share a scale. A control `axis`
 * chooses a log or linear vertical axis.
 */
export function overTime({ id, title, caption, controls = [], lines: all, yName, several, peers,
  shared = sharedScale([]), eventName = (count) => `${count} events` }) {
  const most = 12; // lines of a tip
  const lines = (state) => busiest(all(state)).top;
  const rest = (state) => busiest(all(state)).rest;
  const restName = (state) => `the other ${new Set(rest(state).map(({ i }) => i)).size}`;
  const longest = (state) => lines(state)
    .reduce((best, { series }) => (series.mean.length > best.mean.length ? series : best),
      { mean: [] });
  return {
    id, title, caption, controls, along: 'x', zooms: 'time', zoomUnit: () => 's',
    height: (width) => (width < 520 ? 240 : 280),
    legend: (state) => (several || lines(state).length > 1)
      && [...lines(state).map(({ name, i, dotted }) =>
        ({ name, line: i, solid: !dotted, dash: dotted && DOTS })),
      ...(rest(state).length > 0 ? [{ name: restName(state), line: MOST_LINES - 1, wide: true }]
        : [])],
    option(context, state) {
      const shown = lines(state);
      const others = rest(state).length > 0 ? envelope(rest(state)) : [];
      const unit = shown[0]?.series.unit;
      const [from, to] = shared.time(state, bounds(shown.map(({ series }) => series)));
      const [first, last] = context.zoom ?? [from, to];
      const isSeen = ([x]) => x >= first && x <= last;
      const own = shown.map(({ series }) => series);
      const seen = shared.of(state, [...own, ...(peers?.(state) ?? [])], own)
        .flatMap((series) => times(series).map((x, k) => [x, series.mean[k], series.most?.[k]])
          .filter(isSeen).flatMap(([, ...values]) => values));
      const values = [...seen, ...others.filter(isSeen).map(([, , high]) => high)];
      const floor = state.axis === 'log' ? floorOf(values) : undefined;
      return base(context, {
        legend: legend(context, this.legend(state) || []),
        tooltip: pointer(context, 'x'),
        xAxis: axis(context, { name: 'time', unit: 's', values: [], from, to }),
        yAxis: axis(context, { name: yName(state), vertical: true, unit, ...(floor
          ? { scale: 'log', values: values.filter((value) => value >= floor) }
          : { from: 0, values }) }),
        series: [...drainSeries(context, shared.drain(state)),
        ...(others.length > 0
          ? [band(context, restName(state), MOST_LINES - 1, others, 0.3)] : []),
        ...shown.flatMap((one) => drawn(context, one, floor))],
      });
    },
    tip(state, at) {
      const shown = lines(state);
      const series = longest(state);
      const number = nearest(times(series), at);
      const half = series.step_s * series.width / 2;
      const middle = times(series)[number];
      const rows = shown.map(({ name, series: one, i, dotted, events }) => {
        const k = nearest(times(one), middle);
        const count = eventsAt(events, times(one)[k]);
        const value = format.value(one.mean[k], one.unit)
          + (count > 0 ? `, ${eventName(count)}` : '');
        return { line: i, name, sort: one.mean[k], solid: !dotted, dash: dotted && DOTS,
          value: one.least && one.least[k] !== one.most[k]
            ? `${value} (${format.value(one.least[k], one.unit)} to `
              + `${format.value(one.most[k], one.unit)})` : value };
      });
      const sorted = rows.length > most ? rows.sort((a, b) => b.sort - a.sort) : rows;
      const cut = sorted.slice(0, most);
      if (sorted.length > most)
        cut.push({ name: `and ${sorted.length - most} more`, value: '' });
      const others = rest(state).length > 0 ? envelope(rest(state)) : [];
      const [, low, high] = others[nearest(others.map(([x]) => x), middle)] ?? [];
      if (Number.isFinite(low))
        cut.push({ line: MOST_LINES - 1, wide: true, name: restName(state),
          value: `${format.value(low, series.unit)} to ${format.value(high, series.unit)}` });
      return { head: `${format.time(Math.max(0, middle - half))} to `
        + format.time(middle + half), rows: cut };
    },
    stops(state, zoom) {
      const series = longest(state);
      const floor = state.axis === 'log' ? floorOf(series.mean) : -Infinity;
      const all = times(series).map((x, i) => ({ at: x, x, y: Math.max(floor, series.mean[i]) }))
        .filter(({ x }) => !zoom || (x >= zoom[0] && x <= zoom[1]));
      const every = Math.max(1, Math.floor(all.length / 60));
      return all.filter((_, i) => i % every === 0);
    },
    table(state) {
      const shown = all(state);
      // Lines may begin at different times.
      const cell = ({ series: one, events }, x) => {
        const at = times(one), k = nearest(at, x);
        if (Math.abs(at[k] - x) > one.step_s * one.width)
          return format.value(null);
        const count = eventsAt(events, at[k]);
        return format.value(one.mean[k], one.unit) + (count > 0 ? `, ${eventName(count)}` : '');
      };
      const series = longest(state);
      const every = Math.max(1, Math.ceil(series.mean.length / 120));
      return {
        columns: ['time', ...shown.slice(0, 24).map(({ name }) => name)],
        rows: times(series).map((x, i) => [format.time(x), ...shown.slice(0, 24)
          .map((line) => cell(line, x))])
          .filter((_, i) => i % every === 0),
      };
    },
  };
}

export function goodput(runs, shared = sharedScale(runs)) {
  const lines = () => runs.map((run, i) => ({ name: run.label, i,
    series: ofName(run, 'goodput', 'all') })).filter(({ series }) => series?.mean.length > 0);
  if (lines().length === 0)
    return null;
  return overTime({
    id: 'goodput-all', title: 'Goodput of all hosts', lines, yName: () => 'goodput',
    several: runs.length > 1, shared,
    caption: 'Payload delivered in order, by time. The band shows the least and the largest '
      + 'sample where several are drawn as one.',
  });
}

const PARTS = {
  flow: ['goodput', /^flow /, 'by flow'],
  host: ['goodput', /^(?!all$|flow )/, 'by receiving host'],
  connection: ['rate', /./, 'pacing rate by connection'],
};

const GOT = {
  flow: 'What each flow\u2019s receiver got, by time.',
  host: 'What each host received, by time.',
  connection: 'The rate at which each connection was paced, by time.',
};

// One run's goodput in parts: its flows, its receiving hosts, its connections' pacing rates.
export function throughput(run, number, several, shared = sharedScale([run])) {
  const partOf = ({ series: list }, key) => list.filter((series) => series.name === PARTS[key][0]
    && PARTS[key][1].test(series.entity) && series.mean.some((value) => value > 0));
  // Receivers of data in at least one run: all runs have the same rows.
  const busy = Object.fromEntries(Object.keys(PARTS).map((key) => [key,
    new Set(shared.runs.flatMap((one) => partOf(one, key)).map(({ entity }) => entity))]));
  const of = (key) => run.series.filter(({ name, entity }) => name === PARTS[key][0]
    && PARTS[key][1].test(entity) && busy[key].has(entity));
  const peers = (state) => shared.runs.flatMap((one) => partOf(one, state.part));
  const options = Object.keys(PARTS).filter((key) => of(key).length > 0)
    .map((key) => [key, PARTS[key][2]]);
  if (options.length === 0)
    return null;
  const lines = (state) => of(state.part).map((series, i) => ({ i, series,
    name: series.about ? `${series.about} (${series.entity})` : series.entity }));
  const isCrowd = (state) => of(state.part).length > MOST_LINES;
  const common = {
    id: `throughput-${number}`, zooms: 'time', zoomUnit: () => 's',
    title: several ? `Throughput: ${run.label}` : `Throughput of ${options[0][0]}s`,
    caption: (state) => `${GOT[state.part]}${isCrowd(state) ? state.as === 'heat'
      ? ' A row each; the stronger the colour, the more.'
      : ' Those with the most are lines, the rest a band from the least to the largest.' : ''}`,
    controls: [{ key: 'part', label: 'Show', options, value: options[0][0] },
      { key: 'as', label: 'As', value: 'heat', visible: isCrowd,
        options: [['heat', 'rows'], ['lines', 'lines']] }],
  };
  return either(common, {
    heat: heat({ lines, shared, peers, noun: (state) => state.part }),
    lines: overTime({ ...common, lines, several: false, shared, peers,
      yName: (state) => (state.part === 'connection' ? 'rate' : 'goodput') }),
  }, (state) => (isCrowd(state) && state.as === 'heat' ? 'heat' : 'lines'));
}

const GAUGES = {
  window: { option: 'window', yName: 'window', names: ['window'] },
  rtt: { option: 'round trip', yName: 'round trip', names: ['rtt', 'base_rtt'] },
  limit: { option: 'limiter\u2019s rate', yName: 'rate', names: ['limit'] },
};

// The state of one run's connections: windows, round trips and limits, with shadow switches as
// marks.
export function connections(run, number, several, shared = sharedScale([run])) {
  const gaugeOf = ({ series: list }, name) => list.filter((series) => series.name === name
    && series.entity.startsWith('connection ') && series.mean.length > 0);
  const of = (name) => gaugeOf(run, name);
  const options = Object.entries(GAUGES).filter(([, { names }]) => of(names[0]).length > 0)
    .map(([key, { option }]) => [key, option]);
  if (options.length === 0)
    return null;
  const entities = of(GAUGES[options[0][0]].names[0]).map(({ entity }) => entity);
  return overTime({
    id: `connections-${number}`,
    title: several ? `Windows and round trips: ${run.label}` : 'Windows and round trips',
    caption: 'What each connection\u2019s sender believes: its window, the last round trip with '
      + 'the base round trip dotted, the rate of its limiter. A triangle: a shadow queue pair '
      + 'took over.',
    controls: [{ key: 'gauge', label: 'Show', options, value: options[0][0] }],
    lines: (state) => GAUGES[state.gauge].names.flatMap((name, dotted) => of(name)
      .map((series) => ({ series, i: entities.indexOf(series.entity), dotted: dotted > 0,
        name: dotted > 0 ? `${series.entity}, base` : series.entity,
        events: dotted > 0 ? null : ofName(run, 'switches', series.entity) }))),
    shared, peers: (state) => shared.runs.flatMap((one) =>
      GAUGES[state.gauge].names.flatMap((name) => gaugeOf(one, name))),
    yName: (state) => GAUGES[state.gauge].yName,
    eventName: (count) => (count > 1 ? `${count} shadow switches` : 'shadow took over'),
  });
}

export function queueOverTime(runs, shared = sharedScale(runs)) {
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
      value: ports[0] }, axisControl(runs.map((run) => meanOf(ofName(run, 'queue', ports[0]))))],
    lines: (state) => runs.map((run, i) => ({ name: run.label, i,
      series: ofName(run, 'queue', state.port) })).filter(({ series }) => series),
    yName: () => 'bytes in the queue', several: runs.length > 1, shared,
  });
}

// The senders of the PAUSEs of all runs: switches, hosts (slow receivers and storms), or both.
function pausingNodes(runs) {
  const sum = (name) => runs.reduce((all, { metrics }) => all + (metrics?.[name]?.[0] ?? 0), 0);
  const all = sum('pauses'), hosts = sum('pauses.host');
  return hosts === 0 ? 'all switches' : hosts === all ? 'hosts; switches sent none'
    : 'all switches, and of hosts';
}

export function pauseFrames(runs, shared = sharedScale(runs)) {
  const lines = () => runs.map((run, i) => ({ name: run.label, i,
    series: ofName(run, 'pauses', 'all') }))
    .filter(({ series }) => series?.mean.some((value) => value > 0));
  if (lines().length === 0)
    return null;
  return overTime({
    id: 'pause-frames', title: 'PAUSE frames sent', lines, several: runs.length > 1, shared,
    yName: () => `frames in ${format.tick(lines()[0].series.step_s, 's')}`,
    caption: `XOFF frames of ${pausingNodes(runs)}. Refreshes are not counted.`,
  });
}
