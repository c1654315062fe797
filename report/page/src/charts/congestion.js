// SPDX-License-Identifier: Apache-2.0
/*
 * The places of congestion: a bar for each run or scheme, its parts the places on a packet's way.
 * Bars begin at zero. Where values span decades each place is a dot on a log axis instead.
 */
import { FONT, style } from '../theme.js';
import * as format from '../format.js';
import { axis } from './axis.js';
import { base, legend, nameLabels, rowHeight } from './base.js';
import { pfcOf, schemeName } from './run-names.js';
import { floorOf, spansDecades } from './shared-scale.js';
import { textWidth } from './text-width.js';
import { estimate } from './sweep.js';

// From the sender to the receiver, each with the number of its colour.
export const PLACES = [
  ['host_nic', 'host NIC', 0], ['tor_up', 'ToR up', 2], ['aggregation_up', 'aggregation up', 3],
  ['core_down', 'core down', 4], ['aggregation_down', 'aggregation down', 5],
  ['switch_to_switch', 'switch to switch', 6], ['tor_to_host', 'ToR to host', 1],
];

const KINDS = {
  queueing: { title: 'Where packets wait', unit: 's', axis: 'waiting on a packet\u2019s way',
    caption: 'Time that packets waited to leave, summed over all of them at each place, over the '
      + 'data packets that were sent: what the way of one loses there in the mean.' },
  marks: { title: 'Where marks are set', unit: 'count', axis: 'packets marked CE',
    caption: 'Packets marked CE, at the place that marked them first.' },
  pause_time: { title: 'Where ports are held', unit: 's', axis: 'time under PAUSE',
    caption: 'Time that ports were held by PAUSE, summed over ports and classes.' },
};

const roomOf = (width) => Math.min(220, width * 0.35);

// The text of each bar's sum, right of it; with `stroke` a stroke at the sum, too.
const sumLabels = (context, sums, stroke) => ({
  type: 'custom', name: 'sum', silent: true, z: 4, tooltip: { show: false },
  data: sums.map(({ at }, i) => [at, i]), encode: { x: 0, y: 1 },
  renderItem({ dataIndex }, api) {
    const [x, y] = api.coord([api.value(0), api.value(1)]), { text, isNone } = sums[dataIndex];
    const line = stroke && !isNone ? [{ type: 'line',
      shape: { x1: x, y1: y - 10, x2: x, y2: y + 10 },
      style: { stroke: context.theme.text, lineWidth: 2 } }] : [];
    return { type: 'group', children: [...line, { type: 'text', style: { text,
      x: x + (stroke ? 10 : 6), y, align: 'left', verticalAlign: 'middle',
      fill: context.theme.text, fontSize: 11, fontFamily: FONT } }] };
  },
});

// A thin line through each row, from its smallest dot to its sum.
const rowLines = (context, rows) => ({
  type: 'custom', name: 'rows', silent: true, z: 1, tooltip: { show: false },
  data: rows.map(({ low, sum }, i) => [low, i, sum]), encode: { x: [0, 2], y: 1 },
  renderItem(params, api) {
    const [x1, y] = api.coord([api.value(0), api.value(1)]);
    const [x2] = api.coord([api.value(2), api.value(1)]);
    return { type: 'line', shape: { x1, y1: y, x2, y2: y },
      style: { stroke: context.theme.axis, lineWidth: 1 } };
  },
});

/*
 * One chart: `barsOf(state)` gives [{name, of: {place: {queueing, marks, …}}}]; `control` and
 * `settle` choose the bars.
 */
function chart(kind, barsOf, firstColumn, chosen = { controls: [] }) {
  const { unit, caption, title, axis: axisName } = KINDS[kind];
  const valueOf = (bar, place) => bar.of[place]?.[kind] ?? null;
  const sum = (bar) => PLACES.reduce((all, [place]) => all + (valueOf(bar, place) ?? 0), 0);
  const shown = (state) => PLACES.filter(([place]) =>
    barsOf(state).some((bar) => valueOf(bar, place) !== null));
  const shareOf = (bar, value) => (sum(bar) > 0 ? value / sum(bar) : 0);
  const sums = (state) => barsOf(state).map(sum).filter((value) => value > 0);
  const isLog = (state) => state.as === 'log' && sums(state).length > 0;
  const nameAt = (state, at) => barsOf(state).find(({ name }, i) => name === at || i === at);

  return {
    ...chosen,
    id: kind, title, along: 'y', rows: true,
    caption: (state) => caption + (isLog(state) ? ' A dot each place, on a log axis; the stroke '
      + 'with the number is their sum.' : '')
      + (sums(state).length > 0 ? '' : ' Here there is none.'),
    controls: [...chosen.controls, { key: 'as', label: 'Show',
      value: spansDecades(sums(firstOf(chosen))) ? 'log' : 'amount',
      options: [['amount', unit === 's' ? 'time' : 'number'], ['log', 'log scale'],
        ['share', 'share']] }],
    height(width, state) {
      const names = barsOf(state).map(({ name }) => name);
      return 64 + names.length * rowHeight(names, roomOf(width));
    },
    legend: (state) => shown(state).map(([, name, line]) => ({ name, line, solid: true })),
    option(context, state) {
      const { theme } = context, bars = barsOf(state);
      const share = state.as === 'share', log = isLog(state);
      const names = bars.map(({ name }) => name);
      const room = roomOf(context.width);
      const values = bars.flatMap((bar) => PLACES.map(([place]) => valueOf(bar, place)))
        .filter((value) => value > 0);
      const most = Math.max(0, ...bars.map(sum)), least = floorOf([...values, most]);
      const textOf = (bar) => (sum(bar) > 0 ? format.value(sum(bar), unit) : 'none');
      const x = log ? { scale: 'log', values: [least, ...bars.map(sum)
        .filter((value) => value > 0)] } : { values: share ? [0, 1] : [0, most] };
      const start = log ? least : 0;
      const parts = (place) => bars.map((bar, i) => {
        const value = valueOf(bar, place) ?? 0;
        return share ? shareOf(bar, value) : !log ? value
          : value > 0 ? [Math.max(least, value), i] : [null, i];
      });
      const places = shown(state).map(([place, name, line]) => ({ name, data: parts(place),
        itemStyle: { color: style(theme, line).color, borderColor: theme.paper, borderWidth: 1 },
        emphasis: { disabled: true },
        ...(log ? { type: 'scatter', symbol: 'circle', symbolSize: 12, z: 3 }
          : { type: 'bar', stack: 'way', barWidth: 18 }) }));
      return base(context, {
        grid: { left: 10 + Math.min(room, Math.max(20, ...names.map((name) =>
          textWidth(name, 12)))), right: 18 + Math.max(12, ...bars.map((bar) =>
          textWidth(textOf(bar), 11))), top: 8, outerBoundsMode: 'none' },
        legend: legend(context, this.legend(state)),
        tooltip: { trigger: 'axis', axisPointer: { axis: 'y', type: 'shadow' } },
        xAxis: { ...axis(context, { name: share ? 'share' : axisName,
          unit: share ? 'share' : unit, ...x }),
        splitLine: { show: !log, lineStyle: { color: theme.faint } } },
        yAxis: { type: 'category', inverse: true, data: names, axisTick: { show: false },
          axisLine: { lineStyle: { color: theme.axis } },
          axisLabel: nameLabels(context, room) },
        series: [...places,
          ...(log ? [rowLines(context, bars.map((bar) => ({ sum: Math.max(least, sum(bar)),
            low: Math.max(least, Math.min(sum(bar), ...PLACES.map(([place]) =>
              valueOf(bar, place)).filter((value) => value > 0))) })))] : []),
          sumLabels(context, bars.map((bar) => ({ text: textOf(bar), isNone: sum(bar) === 0,
            at: sum(bar) === 0 ? start : share ? 1 : Math.max(start, sum(bar)) })), log)],
      });
    },
    tip(state, at) {
      const bar = nameAt(state, at);
      return { head: `${bar.name}: ${format.value(sum(bar), unit)}`,
        rows: shown(state).flatMap(([place, name, line]) => {
          const value = valueOf(bar, place);
          return value === null ? [] : [{ line, name, solid: true,
            value: `${format.value(value, unit)}, ${format.percent(shareOf(bar, value))}` }];
        }) };
    },
    stops: (state) => barsOf(state).map((bar, i) => ({ at: bar.name, y: i,
      x: state.as === 'share' ? 1 : sum(bar) })),
    table(state) {
      const more = kind === 'queueing';
      return {
        columns: [firstColumn(state), { name: 'place', left: true }, axisName, 'share',
          ...(more ? ['mean of those that left', 'at the worst port', 'longest queue'] : [])],
        rows: barsOf(state).flatMap((bar) => PLACES.flatMap(([place, name]) => {
          const value = valueOf(bar, place), row = bar.of[place];
          if (value === null)
            return [];
          return [[bar.name, name, format.value(value, unit), format.percent(shareOf(bar, value)),
            ...(more ? [format.value(row.queueing_mean, 's'),
              format.value(row.queueing_worst, 's')
                + (row.worst_port ? ` (${row.worst_port})` : ''),
              format.value(row.queue_max, 'bytes')] : [])]];
        })),
      };
    },
  };
}

// The initial state of these controls.
const firstOf = ({ controls }) => Object.fromEntries(controls.map(({ key, value }) =>
  [key, value]));

const hasAny = (bars, kind) => bars.some((bar) => PLACES.some(([place]) =>
  (bar.of[place]?.[kind] ?? 0) > 0));

// Runs side by side. Null if there is none.
export function runsCongestion(runs) {
  const bars = runs.filter(({ congestion }) => congestion?.length > 0).map((run) => ({
    name: run.label, of: Object.fromEntries(run.congestion.map((row) => [row.place, row])) }));
  return ['queueing', 'marks'].map((kind) =>
    (hasAny(bars, kind) ? chart(kind, () => bars, () => 'run') : null));
}

const QUANTITIES = ['queueing', 'marks', 'pause_time', 'queueing_mean', 'queueing_worst',
  'queue_max'];

const MOST_BARS = 24; // of combinations

// "dctcp" of "{name: dctcp, k: 22.5KB}".
const short = (value) => /^\{name: ([^,}]+)/.exec(value)?.[1] ?? value;

// Values that are clear without their key: "iofd", but not "0.4" or "true".
const isWord = (value) => /^(?!true|false)[a-z_{]/i.test(value);

// Short if that is unique.
function shortened(names) {
  const list = names.map(short);
  return names.map((name, i) => (list.indexOf(list[i]) === list.lastIndexOf(list[i]) ? list[i]
    : name));
}

// "dcqcn", or "degree 4": the value of an axis, with the axis if the value alone is unclear.
const named = (sweep, { key }, value) => (!isWord(value) ? `${key.replace(/^.*\./, '')} ${value}`
  : /^congestion_control(\.name)?$/.test(key) ? schemeName(value, pfcOf(sweep)) : value);

/*
 * The names of combinations: by the values of the axes that differ, the main axis first. If schemes
 * of a figure differ in many values, the values that most of them have are left out.
 */
function combinationNames(sweep, main, combinations) {
  const valueAt = (i, k) => sweep.axes[i].values[sweep.combinations[i][k]];
  const usual = sweep.axes.map((_, i) => {
    const all = combinations.map((k) => valueAt(i, k));
    return all.reduce((best, value) => (all.filter((one) => one === value).length
      > all.filter((one) => one === best).length ? value : best), all[0]);
  });
  const isShown = (i, value) => (sweep.kind === 'sweep'
    ? combinations.some((k) => valueAt(i, k) !== value) : value !== usual[i]);
  const listed = (cut) => combinations.map((k) => sweep.axes.map((_, i) => ({ i,
    value: valueAt(i, k) })).filter(({ i, value }) => i === main || isShown(i, value))
    .sort((a, b) => Number(b.i === main) - Number(a.i === main))
    .map(({ i, value }) => named(sweep, sweep.axes[i],
      isWord(value) ? cut(value) : value))
    .join(', '));
  const list = listed(short);
  return new Set(list).size === list.length ? list : listed((value) => value);
}

// A sweep: a bar for each value of one axis, at one value of each other; or for each combination.
export function sweepCongestion(sweep) {
  const metrics = PLACES.flatMap(([place]) => QUANTITIES.map((quantity) => ({ place, quantity,
    metric: sweep.metrics.find(({ name }) => name === `congestion.${place}.${quantity}`) })))
    .filter(({ metric }) => metric);
  if (metrics.length === 0)
    return [];
  const known = new Map();
  const valuesOf = (combination) => {
    const of = {};
    for (const { place, quantity, metric } of metrics) {
      const found = estimate(sweep, metric, combination, 'none');
      if (found)
        (of[place] ??= {})[quantity] = found.mean;
    }
    return of;
  };
  const barAt = (name, combination) => {
    if (!known.has(combination))
      known.set(combination, valuesOf(combination));
    return { name, of: known.get(combination) };
  };
  const numberAt = (i, combination) => sweep.combinations[i][combination];
  const ran = sweep.done.map((_, k) => k).filter((k) => sweep.done[k] > 0);
  const barsOf = (state) => {
    if (state.x !== 'all')
      return barsAlong(state);
    const shown = inAll(state.only), names = combinationNames(sweep, along, shown);
    return shown.map((k, i) => barAt(names[i], k))
      .filter(({ of }) => Object.keys(of).length > 0);
  };
  const barsAlong = (state) => {
    const along = Number(state.x);
    const names = along < 0 ? ['all'] : shortened(sweep.axes[along].values).map((value) =>
      named(sweep, sweep.axes[along], value));
    return ran.filter((combination) => sweep.zipped || sweep.axes.every((_axis, i) =>
      i === along || numberAt(i, combination) === Number(state[`at${i}`])))
      .sort((a, b) => (along < 0 ? 0 : numberAt(along, a) - numberAt(along, b)))
      .map((combination) => barAt(along < 0 ? 'all' : names[numberAt(along, combination)],
        combination))
      .filter(({ of }) => Object.keys(of).length > 0);
  };
  // Schemes are names, and so are the bars at first. All else is as in the first combination.
  const first = Math.max(0, sweep.done.findIndex((done) => done > 0));
  const isNamed = (i) => sweep.axes[i].values.some((value) => !format.parse(value));
  const along = sweep.axes.map((_, i) => i).sort((a, b) => Number(isNamed(b)) - Number(isNamed(a))
    || Number(/congestion_control/.test(sweep.axes[b].key))
      - Number(/congestion_control/.test(sweep.axes[a].key))
    || sweep.axes[b].values.length - sweep.axes[a].values.length)[0] ?? -1;
  // If not all combinations exist, schemes differ in more than one of their values.
  const isGrid = ran.length === sweep.axes.reduce((all, { values }) => all * values.length, 1);
  // If there are too many: those with one value of the longest other axis.
  const other = sweep.axes.map((_, i) => i).filter((i) => i !== along)
    .sort((a, b) => sweep.axes[b].values.length - sweep.axes[a].values.length)[0];
  const inAll = (only) => (ran.length <= MOST_BARS ? ran
    : ran.filter((k) => numberAt(other, k) === Number(only)));
  const fits = sweep.axes.length > 1 && sweep.axes[other].values.every((_, value) =>
    inAll(value).length <= MOST_BARS);
  const chosen = {
    controls: [
      { key: 'x', label: 'A bar for each', value: fits && !isGrid ? 'all' : String(along),
        options: [...sweep.axes.map(({ key }, i) => [String(i), key]),
          ...(fits ? [['all', 'combination']] : [])] },
      ...(fits && ran.length > MOST_BARS ? [{ key: 'only', label: sweep.axes[other].key,
        value: String(numberAt(other, first)), visible: (now) => now.x === 'all',
        options: sweep.axes[other].values.map((value, k) => [String(k), value]) }] : []),
      ...sweep.axes.map(({ key, values }, i) => ({ key: `at${i}`, label: key,
        value: String(numberAt(i, first)), options: values.map((value, k) => [String(k), value]),
        visible: (now) => now.x !== 'all' && String(i) !== now.x && values.length > 1 })),
    ],
    // If not every combination exists: those of the first one that does.
    settle(state, key) {
      if (barsOf(state).length > 0)
        return;
      const at = sweep.done.findIndex((done, k) => done > 0
        && (key === 'x' || numberAt(Number(key.slice(2)), k) === Number(state[key])));
      sweep.axes.forEach((_, i) => {
        if (at >= 0)
          state[`at${i}`] = String(numberAt(i, at));
      });
    },
  };
  const all = sweep.done.map((_, combination) => barAt('', combination));
  return ['queueing', 'marks', 'pause_time'].map((kind) => (hasAny(all, kind)
    ? chart(kind, barsOf, (state) => sweep.axes[Number(state.x)]?.key ?? 'run', chosen) : null));
}

export const WHERE_TITLE = 'Where congestion sits';
