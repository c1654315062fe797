// SPDX-License-Identifier: Apache-2.0
// A sweep: any metric over any axis, a line for each value of another, with the spread of repeats.
import * as format from '../format.js';
import { axis, category, extent, isNarrow } from './axis.js';
import { band, base, legend, line, pointer } from './base.js';
import { grouped } from './metric-groups.js';
import { logTicks } from './ticks.js';

// Two-sided 95 % of Student's t, by degrees of freedom.
const T95 = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179,
  2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
  2.052, 2.048, 2.045, 2.042];
export function t95(degrees) {
  if (degrees <= 30)
    return T95[degrees - 1];
  return 1.95996 + 2.3722 / degrees + 2.8224 / degrees ** 2; // within 0.001 from there on
}

// True if a metric has only non-negative values, as most have. Then its mean is non-negative, too.
const isNeverNegative = (metric) => (metric.least ?? metric.mean).every((value) =>
  value === null || value >= 0);

// Mean and interval of a metric in one combination, or null. Missing lists have a default: every
// done point has the number, and there is no spread.
export function estimate(sweep, metric, combination, spread) {
  const mean = metric.mean[combination];
  if (mean === null || mean === undefined)
    return null;
  const [count, least, most] = [(metric.count ?? sweep.done)[combination],
    (metric.least ?? metric.mean)[combination], (metric.most ?? metric.mean)[combination]];
  let low = mean, high = mean;
  if (spread === 'range') {
    [low, high] = [least, most];
  } else if (spread === 'interval' && count > 1 && metric.deviation) {
    const half = t95(count - 1) * metric.deviation[combination] / Math.sqrt(count);
    [low, high] = [mean - half, mean + half];
    if (low < 0 && isNeverNegative(metric))
      low = 0;
  }
  return { mean, low, high, count, least, most };
}

// An axis' values as numbers if all of them are, with their unit.
export function numbers(values) {
  const parsed = values.map(format.parse);
  const unit = parsed[0]?.unit;
  if (parsed.length < 2 || parsed.some((value) => !value || (value.number !== 0
    && value.unit !== unit)))
    return null;
  const list = parsed.map(({ number }) => number);
  return new Set(list).size === list.length ? { list, unit } : null;
}

/*
 * The places of an axis' values: numbers in their unit, or their place among the names. On a log
 * axis 0 is left of the smallest value, with a tick "0".
 */
export function places(values, scale) {
  const known = numbers(values);
  if (!known)
    return { at: values.map((_, i) => i), named: true };
  const positive = known.list.filter((value) => value > 0);
  if (scale !== 'log' || positive.length < 2 || known.list.some((value) => value < 0))
    return { at: known.list, unit: known.unit || 'ratio', scale: 'linear' };
  const [least, most] = extent(positive);
  const zero = known.list.includes(0)
    ? least / 10 ** Math.max(0.3, Math.log10(most / least) / (positive.length - 1)) : null;
  return { at: known.list.map((value) => (value === 0 ? zero : value)), zero, least, most,
    unit: known.unit || 'ratio', scale: 'log' };
}

const PREFERRED = ['slowdown.all.p99', 'goodput', 'throughput', 'fct.all.p99'];

// The initial metrics, the best one first: the one that --metric of the sweep named.
const preferred = ({ info }) => [...(info?.metric ? [info.metric] : []), ...PREFERRED];

// Metrics by subject, with their meaning.
export function metricOptions(sweep) {
  const numberOf = new Map(sweep.metrics.map(({ name }, i) => [name, i]));
  return grouped([...numberOf.keys()]).flatMap(([group, names]) => names.map((name) => {
    const i = numberOf.get(name);
    return [String(i), name, { group, words: sweep.metrics[i].help }];
  }));
}

// The scales that suit the shown values.
function scales({ axes, metrics }, { x, metric }) {
  const log = (values) => {
    const range = extent(values);
    return range && range[0] > 0 && range[1] / range[0] > 30 ? 'log' : 'linear';
  };
  return {
    xScale: log((numbers(axes[x]?.values ?? [])?.list ?? []).filter((value) => value !== 0)),
    yScale: log(metrics[metric]?.mean ?? []),
  };
}

// The initial state of a sweep.
export function initial(sweep) {
  const { axes, metrics } = sweep;
  const byLength = axes.map((_, i) => i).sort((a, b) =>
    Number(numbers(axes[b].values) !== null) - Number(numbers(axes[a].values) !== null)
    || axes[b].values.length - axes[a].values.length);
  const x = byLength[0] ?? -1;
  const lines = axes.map((_, i) => i).filter((i) => i !== x)
    .sort((a, b) => axes[b].values.length - axes[a].values.length)[0] ?? -1;
  const wanted = preferred(sweep).map((name) => metrics.findIndex((metric) => metric.name === name))
    .find((i) => i >= 0) ?? 0;
  return {
    metric: String(Math.max(0, wanted)), x: String(x), lines: sweep.zipped ? '-1' : String(lines),
    spread: 'interval',
    ...scales(sweep, { x, metric: wanted }),
    ...Object.fromEntries(axes.map((_, i) => [`at${i}`, '0'])),
  };
}

const axisOptions = (sweep) => sweep.axes.map(({ key }, i) => [String(i), key]);

// Also controls with one option, which the page does not show: the state has no other source.
function controls(sweep, state) {
  const list = [
    { key: 'metric', label: 'Metric', options: metricOptions(sweep), value: state.metric,
      search: true },
  ];
  list.push({ key: 'x', label: 'Along x', options: axisOptions(sweep), value: state.x });
  list.push({ key: 'lines', label: 'A line for each', value: state.lines,
    options: (now) => [['-1', 'none'],
      ...axisOptions(sweep).filter(([i]) => !sweep.zipped && i !== now.x)] });
  sweep.axes.forEach(({ key, values }, i) => {
    list.push({ key: `at${i}`, label: key, value: state[`at${i}`],
      options: values.map((value, k) => [String(k), value]),
      visible: (now) => !sweep.zipped && String(i) !== now.x && String(i) !== now.lines });
  });
  const both = [['linear', 'linear'], ['log', 'log']];
  list.push({ key: 'xScale', label: 'x scale', options: both, value: state.xScale,
    visible: (now) => numbers(sweep.axes[Number(now.x)]?.values ?? []) !== null });
  list.push({ key: 'yScale', label: 'y scale', options: both, value: state.yScale });
  if (sweep.done.some((n) => n > 1))
    list.push({ key: 'spread', label: 'Spread', value: state.spread,
      options: [['interval', '95 % interval'], ['range', 'least to largest'],
        ['none', 'none']] });
  return list;
}

// The lines of a state: [{name, i, points: [{value, number, combination, …estimate}]}].
export function sweepLines(sweep, state) {
  const metric = sweep.metrics[Number(state.metric)];
  const x = Number(state.x), lines = Number(state.lines);
  if (!metric)
    return [];
  const numbersAt = sweep.done.map((_, combination) =>
    sweep.axes.map((_axis, i) => sweep.combinations[i][combination]));
  const groups = lines < 0 ? [{ name: metric.name, value: null }]
    : sweep.axes[lines].values.map((name, value) => ({ name, value }));
  return groups.map(({ name, value }, i) => ({
    name, i,
    points: numbersAt.flatMap((at, combination) => {
      const here = sweep.zipped || at.every((number, one) => one === x
        || (one === lines ? number === value : number === Number(state[`at${one}`])));
      const known = here ? estimate(sweep, metric, combination, state.spread) : null;
      return known ? [{ ...known, combination, number: x < 0 ? 0 : at[x] }] : [];
    }).sort((a, b) => a.number - b.number),
  })).filter(({ points }) => points.length > 0);
}

// The number of the value for a pointer at `at`, which may be a name.
function nearestPlace({ at: list, named, scale }, values, at) {
  if (named && typeof at === 'string')
    return Math.max(0, values.indexOf(at));
  const distance = (value) =>
    (scale === 'log' ? Math.abs(Math.log(value / at)) : Math.abs(value - at));
  return list.reduce((best, value, i) => (distance(value) < distance(list[best]) ? i : best), 0);
}

// A few values have a tick each, if their names have room between them.
export function ownTicks(values, scale, context) {
  const sorted = [...values].sort((a, b) => a - b);
  const line = scale === 'log' ? sorted.map(Math.log) : sorted;
  const least = isNarrow(context) ? 0.12 : 0.045;
  const whole = line[line.length - 1] - line[0];
  return sorted.length > 1 && line.slice(1).every((x, i) => x - line[i] >= least * whole)
    ? sorted : undefined;
}

// "kmin = 5KB, kmax = 20KB": axes in step have the same number.
export const zippedName = (sweep, number) => sweep.axes.map(({ key, values }) =>
  `${key} = ${values[number]}`).join(', ');

export function sweepChart(sweep, id, title) {
  if (sweep.metrics.length === 0 || sweep.done.length === 0)
    return null;
  const first = initial(sweep);
  const repeated = sweep.done.some((runs) => runs > 1);
  const metricOf = (state) => sweep.metrics[Number(state.metric)];
  const valuesOf = (state) => sweep.axes[Number(state.x)]?.values ?? ['all'];
  const placesOf = (state) => places(valuesOf(state), state.xScale);
  const isCut = (state) => state.spread === 'interval' && sweep.done.some((_, k) =>
    estimate(sweep, metricOf(state), k, 'interval')?.low === 0
    && estimate(sweep, metricOf(state), k, 'interval').mean > 0);
  const isLog = (wanted, values) => wanted === 'log' && values.every((value) => value > 0);

  return {
    id, title, along: 'x', zooms: true, zoomUnit: (state) => placesOf(state).unit ?? 'ratio',
    caption: (state) => {
      const { help } = metricOf(state);
      return `${help ? `${help.charAt(0).toUpperCase()}${help.slice(1)}. ` : ''}${repeated
        ? 'The mean over the repeats of each combination; the band is the 95 % interval of that '
          + 'mean, or the range of the repeats.' : ''}${isCut(state)
        ? ' Intervals that would reach below zero, where no value is, are cut there.' : ''}`;
    },
    controls: controls(sweep, first),
    // Another axis along x: the lines are then those of the former axis.
    settle(state, key, before) {
      if (key === 'x' && state.lines === state.x)
        state.lines = before;
      if (key === 'x' || key === 'metric')
        Object.assign(state, scales(sweep, state));
    },
    height: (width) => (width < 520 ? 300 : 400),
    tableOpen: sweep.kind === 'sweep',
    legendTitle: (state) => sweep.axes[Number(state.lines)]?.key,
    legend(state) {
      const lines = sweepLines(sweep, state);
      return lines.length > 1 && lines.map(({ name, i }) => ({ name, line: i }));
    },
    option(context, state) {
      const lines = sweepLines(sweep, state), metric = metricOf(state);
      const { at, named, zero, least, unit, scale } = placesOf(state);
      const ys = lines.flatMap(({ points }) => points.map(({ mean }) => mean));
      const log = isLog(state.yScale, ys);
      const spreads = lines.flatMap(({ points }) => points.flatMap(({ low, high }) => [low, high]))
        .filter((value) => !log || value > 0);
      const xs = lines.flatMap(({ points }) => points.map(({ number }) => at[number]));
      const floor = log ? Math.min(...ys) / 10 : -Infinity; // lower end of a band
      const key = sweep.axes[Number(state.x)]?.key ?? '';
      const placed = (points) => [...points].map((point) => ({ ...point,
        x: at[point.number] })).sort((a, b) => a.x - b.x);
      return base(context, {
        legend: legend(context, this.legend(state) || []),
        tooltip: pointer(context, 'x'),
        xAxis: named ? category(context, { name: key, values: valuesOf(state) })
          : axis(context, { name: key, unit, values: xs, scale,
            ...(zero ? { ticks: [zero, ...logTicks(least, Math.max(...xs))],
              format: (value) => (value < least * 0.99 ? '0' : format.tick(value, unit)) }
              : { ticks: ownTicks([...new Set(xs)], scale, context) }) }),
        yAxis: axis(context, { name: metric.name, vertical: true, unit: metric.unit,
          values: [...ys, ...spreads], scale: log ? 'log' : 'linear' }),
        series: lines.flatMap(({ name, i, points }) => {
          const sorted = placed(points);
          return [
            band(context, name, i, state.spread === 'none' ? [] : sorted.map((point) =>
              [point.x, Math.max(point.low, floor), point.high])),
            line(context, name, i, sorted.map(({ x, mean }) => [x, mean]), { showSymbol: true }),
          ];
        }),
      });
    },
    tip(state, at) {
      const values = valuesOf(state), metric = metricOf(state);
      const number = nearestPlace(placesOf(state), values, at);
      const key = sweep.axes[Number(state.x)]?.key;
      return {
        head: sweep.zipped ? zippedName(sweep, number)
          : key ? `${key} = ${values[number]}` : metric.name,
        rows: sweepLines(sweep, state).flatMap(({ name, i, points }) => {
          const point = points.find((one) => one.number === number);
          if (!point)
            return [{ line: i, name, value: 'no data' }];
          const spread = state.spread !== 'none' && point.low !== point.high
            ? ` (${format.value(point.low, metric.unit)} to `
              + `${format.value(point.high, metric.unit)})` : '';
          return [{ line: i, name, value: format.value(point.mean, metric.unit) + spread
            + (point.count > 1 ? `, ${point.count} runs` : '') }];
        }),
      };
    },
    stops(state) {
      const [any] = sweepLines(sweep, state);
      const { at } = placesOf(state);
      return (any?.points ?? []).map(({ number, mean }) =>
        ({ at: at[number], x: at[number], y: mean })).sort((a, b) => a.x - b.x);
    },
    table(state) {
      const metric = metricOf(state);
      return {
        columns: [...sweep.axes.map(({ key }) => key), metric.name, '95 % interval', 'least',
          'largest', 'runs'],
        rows: sweep.done.map((done, k) => {
          const known = estimate(sweep, metric, k, 'interval');
          return [...sweep.axes.map(({ values }, i) => values[sweep.combinations[i][k]]),
            ...(known ? [format.value(known.mean, metric.unit),
              known.count > 1 ? `${format.value(known.low, metric.unit)} to `
                + format.value(known.high, metric.unit) : '–',
              format.value(known.least, metric.unit), format.value(known.most, metric.unit)]
              : ['–', '–', '–', '–']), format.grouped(known?.count ?? done)];
        }),
      };
    },
  };
}

const QUANTITY = { fct: 'Flow completion time', slowdown: 'Slowdown', goodput: 'Goodput of flows' };

// The percentiles of flows in the combinations: a line for each value of one axis.
export function sweepDistribution(sweep, id) {
  const known = sweep.distributions.filter(({ curves }) => curves.some(Boolean));
  if (known.length === 0)
    return null;
  const first = initial(sweep);
  const lines = (state) => {
    const along = Number(state.lines);
    const { curves } = known[Number(state.of)];
    return sweep.done.map((_, k) => k).filter((k) => curves[k] && (sweep.zipped
      || sweep.axes.every((_axis, i) => i === along
        || sweep.combinations[i][k] === Number(state[`at${i}`]))))
      .map((k) => ({ i: along < 0 ? 0 : sweep.combinations[along][k], curve: curves[k],
        name: along < 0 ? 'all' : sweep.axes[along].values[sweep.combinations[along][k]] }));
  };
  return {
    id, title: 'Percentiles of flows', along: 'y', zooms: true,
    zoomUnit: (state) => known[Number(state.of)].unit,
    caption: 'The distribution over the flows of one combination; each percentile is the mean over '
      + 'the repeats.',
    controls: [
      { key: 'of', label: 'Quantity', value: String(Math.max(0, known.findIndex(({ name }) =>
        sweep.metrics[Number(first.metric)]?.name.startsWith(`${name}.`)))),
        options: known.map(({ name }, i) => [String(i), QUANTITY[name] ?? name]) },
      { key: 'lines', label: 'A line for each', value: first.lines === '-1' ? first.x : first.lines,
        options: axisOptions(sweep) },
      ...sweep.axes.map(({ key, values }, i) => ({ key: `at${i}`, label: key, value: '0',
        options: values.map((value, k) => [String(k), value]),
        visible: (now) => !sweep.zipped && String(i) !== now.lines && values.length > 1 })),
    ],
    height: (width) => (width < 520 ? 270 : 340),
    legendTitle: (state) => sweep.axes[Number(state.lines)]?.key,
    // A value without a line has no delivered flow. A single line then needs its name.
    legend: (state) => (sweep.axes[Number(state.lines)]?.values.length ?? 0) > 1
      && lines(state).map(({ name, i }) => ({ name, line: i })),
    option(context, state) {
      const shown = lines(state), { at, unit, name } = known[Number(state.of)];
      const xs = shown.flatMap(({ curve }) => curve);
      return base(context, {
        legend: legend(context, this.legend(state) || []),
        tooltip: pointer(context, 'y'),
        xAxis: axis(context, { name: QUANTITY[name]?.toLowerCase() ?? name, unit, values: xs,
          scale: xs.every((value) => value > 0) ? 'log' : 'linear' }),
        yAxis: axis(context, { name: 'share of flows at or below', vertical: true, from: 0,
          to: 100, values: [0, 100], format: (value) => `${value}\u202f%` }),
        series: shown.map(({ name: label, i, curve }) => line(context, label, i,
          curve.map((value, k) => [value, at[k]]), { symbol: 'none', showSymbol: false })),
      });
    },
    tip(state, value) {
      const { at, unit } = known[Number(state.of)];
      const number = at.reduce((best, p, i) =>
        (Math.abs(p - value) < Math.abs(at[best] - value) ? i : best), 0);
      return { head: format.percentile(at[number]), rows: lines(state).map(({ name, i, curve }) =>
        ({ line: i, name, value: format.value(curve[number], unit) })) };
    },
    stops(state) {
      const [any] = lines(state), { at } = known[Number(state.of)];
      return at.map((p, i) => ({ at: p, x: any?.curve[i], y: p }))
        .filter(({ at: p }) => [0, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 100].includes(p));
    },
    table(state) {
      const { at, unit } = known[Number(state.of)];
      const shown = [50, 90, 99, 100].map((p) => at.indexOf(p));
      return { columns: ['line', 'p50', 'p90', 'p99', 'largest'],
        rows: lines(state).map(({ name, curve }) =>
          [name, ...shown.map((i) => format.value(curve[i], unit))]) };
    },
  };
}
