// SPDX-License-Identifier: Apache-2.0
/*
 * Rules by which the report's charts of several runs can be compared: shared scales, the drain, log
 * axes, percentiles of too few flows, ratios to the base, columns that say nothing, and the places
 * of names in the network. What a reader sees is report_page.mjs.
 *
 * Environment: SOURCE.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';

const at = (path) => import(join(process.env.SOURCE, 'report/page/src', path));
const { runsCongestion } = await at('charts/congestion.js');
const { firstState } = await at('charts/index.js');
const { pauseTimeline } = await at('charts/pauses.js');
const { isEnough, percentileOf } = await at('charts/percentiles.js');
const { goodput, queueOverTime, throughput } = await at('charts/series.js');
const { drainText, floorOf, sharedScale, spansDecades } = await at('charts/shared-scale.js');
const { sizes } = await at('charts/sizes.js');
const { nodesIn, topology } = await at('charts/topology.js');
const { digits } = await at('format.js');
const { ratioToBase } = await at('page/numbers.js');
const { sameRuns, sameText } = await at('page/same-runs.js');
const { telling } = await at('page/telling.js');
const { LIGHT } = await at('theme.js');

const WIDE = { theme: LIGHT, width: 1100 };
const plainText = (text) => text.replaceAll('\u202f', ' ').replaceAll('\u2009', ' ');

// A run of `length` ms that gets `rate` Gbps; its last flow starts at `last` ms.
function runOf(label, { length, rate, last, hosts = 2 }) {
  const mean = Array(length).fill(rate * 1e9);
  const of = (name, entity, unit, values) => ({ name, entity, unit, first_s: 1e-3, step_s: 1e-3,
    width: 1, samples: length, mean: values });
  return { label, flows: { last_start_s: last === undefined ? null : last / 1000 }, metrics: {},
    series: [of('goodput', 'all', 'bps', mean),
      ...Array.from({ length: hosts }, (_, i) => of('goodput', `host${i}`, 'bps',
        mean.map((value) => value / (i + 1)))),
      of('queue', 'tor0:host0', 'bytes', mean.map((value) => value / 1e6))] };
}

const near = (found, wanted) => {
  assert.equal(found.length, wanted.length);
  found.forEach((value, i) => assert.ok(Math.abs(value - wanted[i]) < 1e-9, `${found}, ${wanted}`));
};
const ends = ({ min, max }) => [min, max];

/* ---- scales ---- */

// Runs side by side have one time axis and one range of values, unless each has its own.
function sharesScales() {
  const runs = [runOf('a', { length: 40, rate: 10 }), runOf('b', { length: 20, rate: 40 })];
  const shared = sharedScale(runs);
  const parts = runs.map((run, i) => throughput(run, i, true, shared));
  const drawn = (state) => parts.map((chart) => chart.option(WIDE, { part: 'host', ...state }));
  const [a, b] = drawn({});
  near(ends(a.xAxis), [0, 0.04]);
  assert.deepEqual(ends(a.xAxis), ends(b.xAxis));
  assert.deepEqual(ends(a.yAxis), ends(b.yAxis));
  const [own, other] = drawn({ own: true });
  near(ends(other.xAxis), [0, 0.02]);
  assert.ok(own.yAxis.max <= 12e9 && other.yAxis.max >= 40e9 && b.yAxis.max >= 40e9);

  // The same colours, and the same rows: of a host that got nothing, too.
  const crowd = [runOf('a', { length: 9, rate: 1, hosts: 12 }),
    runOf('b', { length: 9, rate: 8, hosts: 12 })];
  crowd[0].series.find(({ entity }) => entity === 'host5').mean.fill(0);
  const scale = sharedScale(crowd), state = { part: 'host', as: 'heat' };
  const heats = crowd.map((run, i) => throughput(run, i, true, scale));
  const high = (more) => heats.map((chart) => plainText(chart.ramp({ ...state, ...more }).high));
  assert.deepEqual(high({}), ['8.00 Gbps', '8.00 Gbps']);
  assert.deepEqual(high({ own: true }), ['1.00 Gbps', '8.00 Gbps']);
  const [rows, same] = heats.map((chart) => chart.option(WIDE, state).yAxis.data);
  assert.deepEqual(rows, same);
  assert.equal(rows.length, 12);

  // The timeline of held ports has the time of all runs, also where it ends earlier.
  const held = { timeline: { start_s: 0, step_s: 1e-3, end_s: 0.02, more_ports: 0, ports: [
    { port: 'host1', kind: 'host', held_s: 1e-3, at: [3], share: [1] }] } };
  const line = pauseTimeline({ ...runs[1], held }, 1, true, shared);
  near(ends(line.option(WIDE, {}).xAxis), [0, 0.04]);
  near(ends(line.option(WIDE, { own: true }).xAxis), [0, 0.02]);
}

// What comes after the last start is named and shaded, and shown for half of the time before it.
function cutsTheDrain() {
  const runs = [runOf('a', { length: 30, rate: 1, last: 20 }),
    runOf('b', { length: 400, rate: 1, last: 20 })];
  const long = sharedScale(runs), short = sharedScale(runs.slice(0, 1));
  near(long.time({}, [0, 0.4]), [0, 0.03]);
  near(long.time({ whole: true }, [0, 0.4]), [0, 0.4]);
  assert.ok(long.isCut && !short.isCut, 'a short drain is all there');
  assert.deepEqual(long.drain({}), { from: 0.02, until: 0.4, cut: true });
  assert.equal(plainText(drainText(long.drain({}))), 'last start 20.0 ms; ends 400 ms');
  assert.equal(plainText(drainText(long.drain({ whole: true }))), 'last start 20.0 ms');
  const named = (runs_) => goodput(runs_).option(WIDE, {}).series.map(({ name }) => name);
  assert.deepEqual(named(runs), ['drain', 'a', 'b']);

  // Flows that all start at once leave nothing to drain; nor does a run that ends with the last.
  for (const last of [undefined, 0, 5, 400])
    assert.equal(sharedScale([runOf('a', { length: 400, rate: 1, last })]).drain({}), null, last);
  assert.deepEqual(sharedScale([]).time({}, [1, 2]), [1, 2]);
  assert.deepEqual(sharedScale([]).time({}, null), [0, 1]);
}

// 3.85 us was nothing beside 729 us.
function drawsDecades() {
  assert.ok(spansDecades([1, 20]) && !spansDecades([1, 19, 0]) && !spansDecades([0]));
  assert.equal(floorOf([0, 3, 1000]), 3);
  assert.equal(floorOf([1e-9, 1]), 1e-4);
  const waits = (label, us) => ({ label, congestion: [['host_nic', us / 4], ['tor_to_host', us]]
    .map(([place, queueing]) => ({ place, queueing: queueing * 1e-6, marks: 0 })) });
  const chart = (...runs) => runsCongestion(runs)[0];
  const far = chart(waits('dcqcn', 3), waits('PFC alone', 600));
  const drawn = far.option(WIDE, firstState(far));
  assert.equal(firstState(far).as, 'log');
  assert.equal(drawn.xAxis.type, 'log');
  assert.ok(drawn.series.every(({ type }) => type !== 'bar'), 'a bar on a log axis has no length');
  assert.deepEqual(drawn.series[0].data.map(([, row]) => row), [0, 1]);
  assert.ok(drawn.xAxis.min <= 0.75e-6 && drawn.xAxis.max >= 750e-6);
  const close = chart(waits('a', 3), waits('b', 6));
  assert.equal(firstState(close).as, 'amount');
  assert.equal(close.option(WIDE, firstState(close)).xAxis.min, 0);
  assert.equal(far.option(WIDE, { as: 'share' }).xAxis.max, 1);

  const queue = (rate) => runOf(String(rate), { length: 9, rate });
  const axisOf = (...runs) => {
    const one = queueOverTime(runs);
    return one.option(WIDE, firstState(one)).yAxis;
  };
  assert.equal(axisOf(queue(1), queue(2)).type, 'value');
  assert.equal(axisOf(queue(1), queue(100)).type, 'log');
}

/* ---- percentiles ---- */

const rangeOf = (from, to, delivered, p50, p99) => ({ from, to, started: delivered, delivered,
  fct: [p50, p50, p99, p99, p99, p50], slowdown: [p50, p50, p99, p99, p99, p50],
  fct_interval: Array(4).fill([p50, null]),
  slowdown_interval: [[p50 * 0.9, p50 * 1.1], [null, null], [p99 * 0.8, null], [null, null]] });

// p99 of fewer than 100 flows is their largest value.
function leavesOutTails() {
  assert.deepEqual([[99, 99], [99, 100], [99.9, 999], [99.9, 1000], [90, 10], [100, 1]]
    .map(([p, count]) => isEnough(p, count)), [false, true, false, true, true, true]);
  const [few, many] = [rangeOf(0, 1000, 99, 1, 9), rangeOf(1000, 1e4, 1000, 2, 8)];
  assert.deepEqual([0, 1, 2, 3, 4].map((which) => percentileOf(few, 'fct', which)),
    [1, 1, null, null, 9]);
  assert.equal(percentileOf(many, 'fct', 3), 8);

  const chart = sizes([{ label: 'a', flows: { fine: [few, many] } }]);
  const state = firstState(chart), drawn = chart.option(WIDE, state).series;
  assert.equal(state.pair, 'tail');
  assert.deepEqual(drawn[0].data.map(([, y]) => y), [1, 2]);
  assert.deepEqual(drawn[1].data.map(([, y]) => y), [8], 'no p99 of 99 flows');
  // Intervals: [size, low, high, whether the upper end is not known].
  assert.deepEqual(drawn[2].data.map(([, ...rest]) => rest), [[0.9, 1.1, false],
    [1.8, 2.2, false]]);
  assert.deepEqual(drawn[3].data.map(([, ...rest]) => rest), [[6.4, 8, true]]);
  assert.match(chart.tip(state, 200).rows[0].value, /^p50 1\.00 \(0\.900 to 1\.10\), p99 –$/);
  assert.match(chart.tip(state, 4000).rows[0].value, /p99 8\.00 \(above 6\.40\)$/);
  const small = sizes([{ label: 'a', flows: { fine: [few, rangeOf(1000, 1e4, 20, 1, 2)] } }]);
  assert.deepEqual(small.controls[1].options.map(([key]) => key), ['near', 'mean']);
  assert.equal(firstState(small).pair, 'near');
}

/* ---- tables ---- */

function leavesOutColumns() {
  const table = { columns: ['flow', 'size', { name: 'at' }, 'victim', 'p99'],
    rows: [['a', '1', 'x', 'yes', '–'], ['b', '2', 'x', 'yes', '–']] };
  const shown = telling(table);
  assert.deepEqual(shown.columns, ['flow', 'size']);
  assert.deepEqual(shown.rows, [['a', '1'], ['b', '2']]);
  assert.equal(shown.note, 'The same in all rows: at: x, victim: yes. Without a value: p99.');
  assert.deepEqual(telling(table, ['at', 'victim', 'p99']).columns, table.columns);
  const single = { columns: ['a', 'b'], rows: [['1', '–']] };
  assert.deepEqual(telling(single), { ...single, note: '' });
  const alike = { columns: ['a', 'b'], rows: [['1', '2'], ['1', '2']] };
  assert.deepEqual(telling(alike).columns, ['a', 'b'], 'nothing would be left');
  const elements = { columns: ['a', 'b', 'c'], rows: [['1', {}, 'x'], ['2', {}, 'y']] };
  assert.deepEqual(telling(elements).columns, ['a', 'b', 'c'], 'not texts');
}

function relatesToTheBase() {
  const run = (value) => ({ metrics: { m: [value, ''] } });
  const base = run(6.47);
  const ratio = (one) => ratioToBase(one, base, 'm');
  assert.deepEqual([ratio(run(265)), ratio(run(3)), ratio(run(6.5)), ratio(base), ratio(run(0))],
    ['×41.0', '×0.46', '', '', '']);
  assert.equal(ratioToBase(run(1), run(0), 'm'), '');
  assert.equal(ratioToBase({ metrics: {} }, base, 'm'), '');
}

// "100.0 ms" stood beside "100 ms".
function writesThreeDigits() {
  assert.deepEqual([99.96, 9.996, 99.94, 0.9996, 100, 1234].map((value) => digits(value)),
    ['100', '10.0', '99.9', '1.00', '100', '1234']);
}

/* ---- the network ---- */

// Pods of two ToRs and two aggregation switches; the first ToR's uplink was held.
function networkOf(pods, hosts) {
  const groups = [], links = [], link = (a, b, held) => links.push({ a, b, links: 1, rate_bps: 1e9,
    ab: held ? [0.5, 0.5, 'a', held, 'a'] : [0.5, 0.5, 'a'], ba: [0.1, 0.1, 'b'] });
  const add = (group) => groups.push({ nodes: 1, ...group }) - 1;
  const cores = [0, 1].map((i) => add({ kind: 'core', name: `core${i}` }));
  for (let pod = 0; pod < pods; pod++) {
    const above = [0, 1].map((i) => add({ kind: 'aggregation', name: `agg${2 * pod + i}`, pod }));
    above.forEach((one, i) => link(one, cores[i]));
    for (let i = 0; i < 2; i++) {
      const tor = add({ kind: 'tor', name: `tor${2 * pod + i}`, pod });
      above.forEach((one) => link(tor, one, pod === 0 && i === 0 ? 0.2 : 0));
      for (let k = 0; k < hosts; k++)
        link(add({ kind: 'host', name: `host${groups.length}`, pod, tor }), tor);
    }
  }
  return { groups, links };
}

// Names are in their nodes and do not touch each other; a layer without room has none.
function placesNames() {
  for (const width of [320, 520, 1100]) {
    for (const [pods, hosts] of [[1, 1], [2, 2], [4, 4], [8, 1]]) {
      const network = networkOf(pods, hosts), nodes = nodesIn(network, width);
      for (const kind of ['core', 'aggregation', 'tor', 'host']) {
        const layer = nodes.filter((node) => node.kind === kind).sort((a, b) => a.x - b.x);
        assert.equal(new Set(layer.map(({ text }) => text !== '')).size, 1, 'all names or none');
        layer.slice(1).forEach((node, i) => assert.ok(node.text === ''
          || (node.x - layer[i].x) * (width - 68) >= (node.wide + layer[i].wide) / 2 - 1e-6,
        `${width} ${pods}: ${node.text}`));
      }
    }
  }
  assert.ok(nodesIn(networkOf(2, 2), 1100).every(({ text }) => text !== ''));
  const run = { label: 'a', topology: networkOf(2, 2), info: {} };
  const chart = topology(run, 0, true);
  assert.deepEqual(chart.legend({}).map(({ name }) => name), ['held by PAUSE']);
  assert.equal(chart.option(WIDE, {}).series[2].data.length, 2);
  const held = run.topology.links.findIndex(({ ab }) => ab[3] > 0);
  assert.match(plainText(chart.tip({}, [0, 0, held], 0).rows[0].value),
    /^50\.0 %; held by PAUSE 20\.0 %$/);
  const free = networkOf(1, 1);
  free.links.forEach(({ ab }) => ab.splice(3));
  assert.deepEqual(topology({ ...run, topology: free }, 0, true).legend({}), []);
}

// Runs with one trace hash are named; a run without a hash equals none.
function namesSameRuns() {
  const run = (label, hash) => ({ label, info: { trace_hash: hash } });
  const runs = [run('a', '12ab'), run('b', '99'), run('c', '12ab'), run('d', '99'),
    run('e', '12ab'), run('f', '7'), run('g', '0000'), run('h', '0000'), { label: 'i', info: {} },
    { label: 'j', info: {} }];
  assert.deepEqual(sameRuns(runs), [['a', 'c', 'e'], ['b', 'd']]);
  assert.equal(sameText(['a', 'c', 'e']), 'a, c and e gave the same run, packet for packet.');
  assert.deepEqual(sameRuns([run('a', '1'), run('b', '2')]), []);
}

sharesScales();
cutsTheDrain();
drawsDecades();
leavesOutTails();
leavesOutColumns();
relatesToTheBase();
writesThreeDigits();
placesNames();
namesSameRuns();
