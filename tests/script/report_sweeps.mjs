// SPDX-License-Identifier: Apache-2.0
/*
 * The page of a sweep, and the longest queues of runs, as far as they can be computed without a
 * browser: which metric is first, what the sentences say, where cells of a heat map are and what
 * colours mean. What a reader sees is report_page.mjs.
 *
 * Environment: SOURCE.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';

const at = (path) => import(join(process.env.SOURCE, 'report/page/src', path));
const { longestQueues, slowestFlows } = await at('charts/found.js');
const { initial } = await at('charts/sweep.js');
const { heatCells, heatLayout, heatScale, lettersOn, sweepHeat } =
  await at('charts/sweep-heat.js');
const { metricWords, sweepStory, withSpread } = await at('story/sweep.js');
const { DARK, LIGHT, ramp } = await at('theme.js');

const WIDE = { theme: LIGHT, width: 1100 };
const plain = (text) => text.replaceAll('\u202f', ' ').replaceAll('\u2019', '\'');

/*
 * A sweep of a grid: `value(numbers)` is [mean, deviation] of slowdown.all.p99 in a combination, or
 * null; `seeds` as many in each.
 */
function gridOf(axes, seeds, value, more = {}) {
  let places = [[]];
  for (const { values } of axes)
    places = places.flatMap((place) => values.map((_, k) => [...place, k]));
  const found = places.map(value);
  const metric = { name: 'slowdown.all.p99', unit: 'ratio', help: 'slowdown',
    mean: found.map((one) => one?.[0] ?? null), count: found.map((one) => (one ? seeds : 0)),
    ...(seeds > 1 ? { deviation: found.map((one) => one?.[1] ?? null),
      least: found.map((one) => one && one[0] - one[1]),
      most: found.map((one) => one && one[0] + one[1]) } : {}) };
  return { kind: 'sweep', zipped: false, axes, info: {}, parameters: [], distributions: [],
    combinations: axes.map((_, i) => places.map((place) => place[i])),
    done: places.map(() => seeds), metrics: [metric], ...more };
}

const LOAD = { key: 'workload.load', values: ['30%', '60%'] };
const KMIN = { key: 'switch.kmin', values: ['50KB', '100KB', '200KB'] };
const SCHEME = { key: 'congestion_control', values: ['dcqcn', '{name: dctcp, k: 5KB}'] };
const story = (sweep) => sweepStory(sweep, 0).map(plain);

/* ---- which metric is first ---- */

// What the sweep's --metric named, else the slowdown, else goodput, else what there is.
function choosesMetric() {
  const of = (names, info = {}) => names[Number(initial({ ...gridOf([LOAD], 1, () => [1]), info,
    metrics: names.map((name) => ({ name, unit: 'ratio', mean: [1, 2] })) }).metric)];
  assert.equal(of(['fct.all.p99', 'goodput', 'slowdown.all.p99']), 'slowdown.all.p99');
  assert.equal(of(['fct.all.p99', 'goodput']), 'goodput');
  assert.equal(of(['acks', 'cnps']), 'acks');
  assert.equal(of(['goodput', 'marks', 'slowdown.all.p99'], { metric: 'marks' }), 'marks');
  assert.equal(of(['goodput', 'slowdown.all.p99'], { metric: 'gone' }), 'slowdown.all.p99');
}

/* ---- sentences ---- */

function writesNumbers() {
  assert.equal(metricWords('slowdown.all.p99'), 'p99 slowdown');
  assert.equal(metricWords('fct.10KB_100KB.p99.9'), 'p99.9 flow completion time of flows of '
    + '10KB 100KB');
  assert.equal(metricWords('goodput'), 'goodput');
  const write = (mean, half, unit) => plain(withSpread({ mean, half }, unit));
  assert.equal(write(4.12, 0.301, 'ratio'), '4.12 ± 0.3');
  assert.equal(write(0.00738, 0.0004812, 's'), '7.38 ± 0.48 ms');
  assert.equal(write(1.61e11, 3e9, 'bps'), '161 ± 3 Gbps');
  assert.equal(write(2.5, 0, 'ratio'), '2.50');
  assert.equal(write(2.5, Infinity, 'ratio'), '2.50');
}

// A winner for each load, with what the next has; of others only that they do not differ.
function tellsWhatWon() {
  const clear = gridOf([LOAD, KMIN], 5, ([load, kmin]) =>
    [load === 0 ? 2 : [6, 4.1, 6.02][kmin], load === 0 ? 0.1 * (kmin + 1) : 0.25]);
  // Half an interval is 2.776 / sqrt(5) of the deviation.
  clear.metrics[0].mean[1] = 2.05;
  assert.deepEqual(story(clear), [
    'Which has the lowest p99 slowdown at load=30% is open, as 95 % intervals overlap: 2 ± 0.12 '
      + '(kmin=50KB) to 2.05 ± 0.25 (kmin=100KB), 5 seeds.',
    'kmin=100KB has the lowest p99 slowdown at load=60%: 4.1 ± 0.31 against 6 ± 0.31 for the next '
      + '(kmin=50KB), 5 seeds.', '± is the 95 % interval of the mean.']);
}

// Those that do not differ from the best have one name if they are all with one value.
function tellsWhatIsShared() {
  const scheme = (means) => gridOf([KMIN, SCHEME], 5, ([kmin, cc]) => [means[cc][kmin], 0.1]);
  assert.equal(story(scheme([[3, 3.1, 3.05], [9, 8, 7]]))[0], 'dcqcn has the lowest p99 slowdown, '
    + 'whatever kmin: 3 ± 0.12 to 3.1 ± 0.12 against 7 ± 0.12 for the next (kmin=200KB, dctcp), '
    + '5 seeds.');
  assert.equal(story(scheme([[3, 5, 5], [3.05, 8, 7]]))[0], 'kmin=50KB has the lowest p99 '
    + 'slowdown, whatever congestion_control: 3 ± 0.12 to 3.05 ± 0.12 against 5 ± 0.12 for the '
    + 'next (kmin=100KB, dcqcn), 5 seeds.');
  assert.match(story(scheme([[3, 5, 5], [9, 3.05, 7]]))[0],
    / has the lowest p99 .*; one more has an interval that overlaps it, so it is open, 5 seeds/);
  assert.deepEqual(story(scheme([[3, 3, 3], [3, 3, 3]])), [
    'All have the same p99 slowdown: 3 ± 0.12.', '± is the 95 % interval of the mean.']);
}

// Of goodput more is better.
function knowsWhatIsBetter() {
  const sweep = gridOf([KMIN], 5, ([kmin]) => [1e9 * (kmin + 1), 1e7]);
  sweep.metrics[0].name = 'goodput';
  sweep.metrics[0].unit = 'bps';
  assert.match(story(sweep)[0],
    /^kmin=200KB has the highest goodput: 3 ± 0\.012 Gbps against 2 /);
}

// One seed, few seeds, and the fluid model, which needs none.
function tellsWhatSeedsCannot() {
  const means = ([kmin]) => [[4, 2, 2][kmin], 2];
  const once = story(gridOf([KMIN], 1, means));
  assert.deepEqual(once, ['One seed cannot tell what is chance; --repeat 5 can.',
    '2 combinations have the lowest p99 slowdown: 2.00 (kmin=100KB) to 2.00 (kmin=200KB), against '
      + '4.00 for the next (kmin=50KB).']);
  const twice = story(gridOf([KMIN], 2, means));
  assert.match(twice[0], /^2 seeds cannot tell which has the lowest p99 slowdown: 2 ± 18 /);
  assert.match(twice[1], /^± is .*: with 2 seeds 9\.0 standard deviations, with 5 only 1\.2/);
  const fluid = gridOf([KMIN], 1, ([kmin]) => [kmin + 1, 0],
    { parameters: [['model', 'fluid', '', 1]] });
  assert.deepEqual(story(fluid), ['kmin=50KB has the lowest p99 slowdown: 1.00 against 2.00 for '
    + 'the next (kmin=100KB).']);
  // A combination of which one seed alone is left is no winner.
  const left = gridOf([KMIN], 5, ([kmin]) => [kmin + 1, 0.01]);
  left.metrics[0].count[0] = 1;
  assert.match(story(left)[0], /cannot tell|is open/);
}

// Nothing to compare, values that are not there, and more loads than there is patience for.
function tellsNoMore() {
  assert.deepEqual(story(gridOf([{ key: 'seed', values: ['1'] }], 5, () => [1, 1])), []);
  assert.deepEqual(story(gridOf([KMIN], 5, () => null)), []);
  assert.deepEqual(sweepStory(gridOf([KMIN], 5, () => [1, 1]), 7), []);
  const gap = story(gridOf([KMIN], 5, ([kmin]) => (kmin === 0 ? null : [kmin, 0.01])));
  assert.match(gap[0], /^kmin=100KB has .* for the next \(kmin=200KB\), 5 seeds\.$/);
  const loads = { key: 'workload.load', values: Array.from({ length: 9 }, (_, i) => `${i + 1}0%`) };
  const many = story(gridOf([loads, KMIN], 5, ([, kmin]) => [kmin + 1, 0.01]));
  assert.equal(many.length, 8);
  assert.equal(many[6], 'And so on for 3 more; the table has all.');
  // Axes of the task alone are what is compared; those that go together have one name.
  assert.match(story(gridOf([loads], 5, ([load]) => [load + 1, 0.01]))[0], /^load=10% has the /);
  const zipped = { ...gridOf([KMIN], 5, ([kmin]) => [kmin + 1, 0.01]), zipped: true };
  zipped.axes = [KMIN, { key: 'switch.kmax', values: ['60KB', '200KB', '400KB'] }];
  zipped.combinations = [[0, 1, 2], [0, 1, 2]];
  assert.match(story(zipped)[0], /^switch\.kmin = 50KB, switch\.kmax = 60KB has the lowest /);
}

/* ---- the heat map ---- */

const stateOf = (chart) => Object.fromEntries(chart.controls.map(({ key, value }) => [key, value]));

function coloursValues() {
  const linear = heatScale([2, 3, 6], 'auto');
  assert.deepEqual([linear.isLog, linear.share(2), linear.share(4), linear.share(6)],
    [false, 0, 0.5, 1]);
  const log = heatScale([1, 10, 100], 'auto');
  assert.equal(log.isLog, true);
  assert.ok(Math.abs(log.share(10) - 0.5) < 1e-9);
  assert.equal(heatScale([1, 10, 100], 'linear').isLog, false);
  assert.equal(heatScale([2, 3], 'log').isLog, true);
  // Without a logarithm, or without a range, colours are linear and in the middle.
  for (const values of [[0, 1e6], [-1, 5], [4, 4], []])
    assert.equal(heatScale(values, 'log').isLog, false, `${values}`);
  assert.equal(heatScale([4, 4], 'auto').share(4), 0.5);
}

// The letters in a cell have a contrast of 4.5 on every colour of both ramps.
function writesReadably() {
  const light = (text) => {
    const [r, g, b] = (text.startsWith('#') ? [1, 3, 5].map((i) =>
      parseInt(text.slice(i, i + 2), 16)) : text.match(/\d+/g).map(Number)).map((part) =>
      (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  for (const theme of [LIGHT, DARK]) {
    for (let share = 0; share <= 1; share += 0.01) {
      const colour = ramp(theme, share);
      const [low, high] = [light(colour), light(lettersOn(colour))].sort((a, b) => a - b);
      assert.ok((high + 0.05) / (low + 0.05) >= 4.5, `${theme.name} ${share} ${colour}`);
    }
  }
}

// Every combination is in one cell; cells do not overlap, also on a phone and with many values.
function placesCells() {
  const many = { key: 'switch.kmin', values: Array.from({ length: 30 }, (_, i) => `${i + 1}KB`) };
  for (const axes of [[LOAD, KMIN], [LOAD, KMIN, SCHEME], [many, LOAD, SCHEME], [SCHEME, many]]) {
    const sweep = gridOf(axes, 2, (numbers) => [1 + numbers[0] * 10 + numbers[1], 1]);
    const chart = sweepHeat(sweep, 'heat'), state = stateOf(chart);
    const cells = heatCells(sweep, state);
    assert.deepEqual(cells.map(({ combination }) => combination).sort((a, b) => a - b),
      sweep.done.map((_, k) => k));
    for (const width of [340, 1100]) {
      const layout = heatLayout(sweep, state, { theme: LIGHT, width }, ['1.00', '100,000']);
      const { cellWidth, cellHeight } = layout;
      const boxes = cells.map(({ panel, row, column }) => ({
        x: layout.places[panel].x + column * cellWidth,
        y: layout.places[panel].y + row * cellHeight }));
      const what = `${axes.map(({ key }) => key)} at ${width}`;
      for (const [i, a] of boxes.entries()) {
        assert.ok(a.x >= 0 && a.x + cellWidth <= width, `${what}: ${a.x}`);
        assert.ok(a.y >= 0 && a.y + cellHeight <= layout.height, `${what}: ${a.y}`);
        for (const b of boxes.slice(0, i))
          assert.ok(Math.abs(a.x - b.x) >= cellWidth - 1e-6
            || Math.abs(a.y - b.y) >= cellHeight - 1e-6, `${what}: one cell on another`);
      }
      assert.ok(chart.option({ theme: LIGHT, width, print: true }, state).series.length > 0);
    }
  }
}

// Two panels beside each other have one scale: it is of all values that are shown.
function sharesScale() {
  const sweep = gridOf([LOAD, KMIN, SCHEME], 2, ([load, kmin, cc]) =>
    [(load + kmin + 1) * (cc === 0 ? 1 : 100), 1]);
  const chart = sweepHeat(sweep, 'heat'), state = stateOf(chart);
  assert.deepEqual([state.x, state.y, state.panels], ['1', '0', '2'], 'numbers along the axes');
  assert.deepEqual(chart.ramp(state), { low: '1.00', high: '400' });
  assert.match(chart.caption(state), /on a logarithmic scale/);
  const alone = { ...state, panels: '-1', at2: '0' };
  assert.deepEqual(chart.ramp(alone), { low: '1.00', high: '4.00' });
  assert.doesNotMatch(chart.caption(alone), /logarithmic/);
  const table = chart.table(state);
  assert.deepEqual(table.columns, ['congestion_control', 'workload.load', 'kmin = 50KB',
    'kmin = 100KB', 'kmin = 200KB']);
  assert.deepEqual(table.rows[3], ['{name: dctcp, k: 5KB}', '60%', '200', '300', '400']);
  // Arrow keys: a row's cells, and the same column of the next row.
  const stops = chart.stops(state);
  assert.equal(stops.length, 12);
  assert.deepEqual([stops[4].row, stops[4].column, stops[7].row, stops[7].column], [1, 1, 2, 1]);
  assert.equal(plain(chart.tip(state, stops[4].at).head),
    'load = 60%, kmin = 100KB, congestion_control = dcqcn');
}

// An axis that is chosen twice gives its old place to the other.
function settlesAxes() {
  const sweep = gridOf([LOAD, KMIN, SCHEME], 2, () => [1, 1]);
  const chart = sweepHeat(sweep, 'heat'), state = stateOf(chart); // 1, 0, 2
  const set = (key, value) => {
    const before = state[key];
    state[key] = value;
    chart.settle(state, key, before);
    return [state.x, state.y, state.panels];
  };
  assert.deepEqual(set('x', '2'), ['2', '0', '1'], 'a categorical axis along x');
  assert.deepEqual(set('x', '0'), ['0', '2', '1']);
  assert.deepEqual(set('panels', '-1'), ['0', '2', '-1']);
  assert.deepEqual(set('y', '1'), ['0', '1', '-1']);
  assert.deepEqual(set('panels', '2'), ['0', '1', '2']);
}

// One axis, axes that go together, or a figure of a paper: there is nothing to make a map of.
function needsTwoAxes() {
  const one = { key: 'seed', values: ['1'] }, value = () => [1, 1];
  assert.equal(sweepHeat(gridOf([KMIN], 2, value), 'heat'), null);
  assert.equal(sweepHeat(gridOf([KMIN, one], 2, value), 'heat'), null);
  assert.equal(sweepHeat(gridOf([KMIN, LOAD], 2, value, { zipped: true }), 'heat'), null);
  assert.equal(sweepHeat(gridOf([KMIN, LOAD], 2, value, { kind: 'figure' }), 'heat'), null);
  // A combination without a value has no cell.
  const gap = gridOf([KMIN, LOAD], 2, ([kmin, load]) => (kmin + load === 0 ? null : [1, 1]));
  const chart = sweepHeat(gap, 'heat'), state = stateOf(chart);
  assert.equal(heatCells(gap, state).length, 5);
  assert.deepEqual(chart.table(state).rows[0], ['30%', '–', '1.00', '1.00']);
}

/* ---- the longest queues ---- */

function findsLongestQueues() {
  const series = (entity, ...mean) => ({ name: 'longest_queue', entity, unit: 'bytes', first_s: 1,
    step_s: 1, width: 1, samples: mean.length, mean });
  const runs = [{ label: 'a', series: [series('tor0:host1', 5, 9), series('tor0:host2', 7, 8)] },
    { label: 'b', series: [series('tor0:host2', 1, 2)] }, { label: 'c', series: [] }];
  const lines = (chart, which) => chart.table({ which }).columns.slice(1);
  const one = longestQueues(runs.slice(0, 1)), all = longestQueues(runs);
  assert.deepEqual(lines(one, 'first'), ['tor0:host1', 'tor0:host2']);
  assert.deepEqual(lines(all, 'first'), ['a: tor0:host1', 'b: tor0:host2']);
  assert.deepEqual(all.controls[0].options.map(([, text]) => text), ['longest of each run',
    'all of a', 'all of b', 'tor0:host1', 'tor0:host2']);
  assert.deepEqual(lines(all, 'tor0:host2'), ['a', 'b']);
  assert.deepEqual(lines(all, all.controls[0].options[1][0]), ['tor0:host1', 'tor0:host2']);
  assert.equal(longestQueues(runs.slice(2)), null);
}

// The slowest flows say who, how much and how slow; one that is not over has no slowdown.
function findsSlowestFlows() {
  const series = (number, slowdown) => ({ name: 'slowest_goodput', entity: `flow ${number}`,
    about: 'host1 → host2', bytes: 2e6, ...(slowdown ? { slowdown } : {}), unit: 'bps', first_s: 1,
    step_s: 1, width: 1, samples: 2, mean: [1e9, 2e9] });
  const runs = [{ label: 'a', series: [series(7, 3.5), series(9)] },
    { label: 'b', series: [series(7, 2)] }];
  const lines = (chart, which) => chart.table({ which }).columns.slice(1).map(plain);
  assert.deepEqual(lines(slowestFlows(runs.slice(0, 1)), 'first'),
    ['host1 → host2, 2.00 MB, slowdown 3.50 (flow 7)',
      'host1 → host2, 2.00 MB, not over (flow 9)']);
  const all = slowestFlows(runs);
  assert.deepEqual(lines(all, 'first'), ['a: host1 → host2, 2.00 MB, slowdown 3.50 (flow 7)',
    'b: host1 → host2, 2.00 MB, slowdown 2.00 (flow 7)']);
  assert.deepEqual(all.controls[0].options.map(([, text]) => text),
    ['slowest of each run', 'all of a', 'all of b']);
  assert.equal(slowestFlows([{ label: 'c', series: [] }]), null);
}

choosesMetric();
writesNumbers();
tellsWhatWon();
tellsWhatIsShared();
knowsWhatIsBetter();
tellsWhatSeedsCannot();
tellsNoMore();
coloursValues();
writesReadably();
placesCells();
sharesScale();
settlesAxes();
needsTwoAxes();
findsLongestQueues();
findsSlowestFlows();
