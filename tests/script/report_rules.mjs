// SPDX-License-Identifier: Apache-2.0
/*
 * Rules of the report's page that can be computed without a browser: which values an axis names and
 * how they are written, how much room a label has. What a reader sees is report_page.mjs.
 *
 * Environment: SOURCE.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';

const at = (path) => import(join(process.env.SOURCE, 'report/page/src', path));
const { axis, scaleOf } = await at('charts/axis.js');
const { distribution } = await at('charts/distribution.js');
const { nameRuns, runsTitle } = await at('charts/run-names.js');
const { runsCongestion, sweepCongestion } = await at('charts/congestion.js');
const { bars: heatBars } = await at('charts/heat.js');
const { pauseFrames, throughput } = await at('charts/series.js');
const { rangesOf } = await at('charts/flow-sizes.js');
const { grouped, matches } = await at('charts/metric-groups.js');
const { sweepTitles } = await at('page/titles.js');
const { linesOf, textWidth } = await at('charts/text-width.js');
const { estimate, sweepChart, sweepLines } = await at('charts/sweep.js');
const { parameterRows } = await at('page/parameters.js');
const { progress, sameRuns } = await at('page/progress.js');
const { steady } = await at('page/steady.js');
const { tipPlace } = await at('page/tip-place.js');
const { moved, scaled, select } = await at('page/zoom.js');
const { story } = await at('story/story.js');
const { LIGHT } = await at('theme.js');

const WIDE = { theme: LIGHT, width: 1100 };
const texts = (one) => one.axisLabel.customValues.map(one.axisLabel.formatter);
const plainText = (list) => list.map((text) => text.replaceAll('\u202f', ' '));

/* ---- axes ---- */

// Where on the axis a value stands, from 0 to 1.
function place({ type, min, max }, value) {
  const of = type === 'log' ? Math.log : (x) => x;
  return (of(value) - of(min)) / (of(max) - of(min));
}

// At least three values are named, not too many, and the outermost are near the ends; wherever the
// data stand, and on a phone.
function namesEnoughValues() {
  for (const width of [340, 1100]) {
    for (const scale of ['log', 'linear']) {
      for (let exponent = -9; exponent < 9; exponent += 0.37) {
        for (const times of [1.0001, 1.02, 1.3, 1.9, 2.5, 4, 7, 9, 12, 30, 85, 400, 3e3, 1e9]) {
          const low = 10 ** exponent, high = low * times;
          const one = axis({ theme: LIGHT, width }, { values: [low, high], scale, unit: 's' });
          const named = one.axisLabel.customValues, what = `${width} ${scale} ${low} ${high}`;
          assert.ok(one.min <= low && one.max >= high * (1 - 1e-9), `${what}: data outside`);
          assert.ok(named.length >= 3 && named.length <= 10, `${what}: ${named}`);
          assert.ok(place(one, named[0]) <= 0.34 && place(one, named.at(-1)) >= 0.66,
            `${what}: ${named} of ${one.min} to ${one.max}`);
          assert.ok(named.every((value) => one.axisTick.customValues.includes(value)), what);
          assert.equal(new Set(texts(one)).size, named.length, `${what}: ${texts(one)}`);
        }
      }
    }
  }
}

// At the places of a few data there is no tick between them.
function namesPlaces() {
  const { named, all } = scaleOf(WIDE, { values: [1, 31], scale: 'log', ticks: [1, 2, 4, 8, 31] });
  assert.deepEqual([named, all], [[1, 2, 4, 8, 31], [1, 2, 4, 8, 31]]);
}

// Also where the ends are given: the time from 1 ms to 5.1 ms on a phone.
function namesBetweenGivenEnds() {
  for (let to = 1.3; to < 40; to *= 1.13) {
    const { named } = scaleOf({ theme: LIGHT, width: 340 }, { values: [], from: 1, to });
    assert.ok(named.length >= 3 && named.length <= 7, `1 to ${to}: ${named}`);
  }
}

// The slowdowns of an incast were 16.0 to 17.1, completion times 29 ms to 37 ms: one name or none.
function namesNarrowRanges() {
  const curve = [29.7, 33, 34.7, 36, 37].map((ms) => ms / 1000);
  const run = { label: 'a', flows: { ranges: [{ from: 0, to: null, delivered: 5,
    fct_curve: curve, slowdown_curve: curve.map((s) => s / 0.00216) }] } };
  const x = (quantity) => distribution([run], [0, 25, 50, 75, 100], quantity, '')
    .option(WIDE, { size: '0-null', shape: 'cdf' }).xAxis;
  assert.deepEqual(plainText(texts(x('fct'))), ['28 ms', '30 ms', '32 ms', '34 ms', '36 ms',
    '38 ms']);
  assert.deepEqual(texts(x('slowdown')), ['13', '14', '15', '16', '17', '18']);
}

// One notation on an axis.
function writesTicksAlike() {
  const of = (unit, scale, values) => plainText(texts(axis(WIDE, { values, scale, unit })));
  assert.deepEqual(of('ratio', 'log', [1e-5, 1e-2]), ['1e−5', '1e−4', '1e−3', '1e−2']);
  assert.deepEqual(of('ratio', 'log', [0.01, 1]), ['0.01', '0.02', '0.05', '0.1', '0.2', '0.5',
    '1']);
  assert.deepEqual(of('bps', 'linear', [0, 1.1e9]), ['0', '0.2 Gbps', '0.4 Gbps', '0.6 Gbps',
    '0.8 Gbps', '1 Gbps', '1.2 Gbps']);
  assert.deepEqual(of('bytes', 'linear', [0, 1.4e6]), ['0 B', '0.5 MB', '1 MB', '1.5 MB']);
  assert.deepEqual(of('s', 'log', [1e-5, 1e-2]), ['10 µs', '100 µs', '1 ms', '10 ms']);
  assert.deepEqual(of('count', 'linear', [0, 39000]), ['0', '10,000', '20,000', '30,000',
    '40,000']);
  assert.deepEqual(of('ratio', 'linear', [0, 0.0006]), ['0', '1e−4', '2e−4', '3e−4', '4e−4',
    '5e−4', '6e−4']);
}

// The part that a reader has selected has ticks of its own, also where the data had places.
function zooms() {
  const zoomed = (more) => scaleOf({ ...WIDE, zoom: [0.0021, 0.0029] },
    { values: [0, 1], ...more });
  for (const one of [zoomed({}), zoomed({ scale: 'log', values: [1e-6, 1] }),
    zoomed({ ticks: [0.001, 0.0025, 0.004] })]) {
    assert.deepEqual([one.min, one.max], [0.0021, 0.0029]);
    assert.ok(one.named.length >= 3 && one.named.every((x) => x >= one.min && x <= one.max));
  }
  const vertical = scaleOf({ ...WIDE, zoom: [0.2, 0.3] }, { values: [0, 1], vertical: true });
  assert.deepEqual([vertical.min, vertical.max], [0, 1]);
}

// A range that is selected, halved, doubled, moved; all of it is no selection.
function selects() {
  const near = (part, wanted) => part.forEach((end, i) =>
    assert.ok(Math.abs(end / wanted[i] - 1) < 1e-9, `${part}, not ${wanted}`));
  assert.deepEqual(select([1, 9], [5, 3]), [3, 5]);
  assert.deepEqual(select([1, 9], [-2, 3]), [1, 3]);
  assert.equal(select([1, 9], [0, 10]), null);
  assert.equal(select([1, 9], [3, 3]), null);
  near(scaled([1, 9], null, 3, 0.5), [2, 6]);
  near(scaled([1, 9], [2, 6], 4, 0.5), [3, 5]);
  assert.equal(scaled([1, 9], [2, 6], 4, 2), null);
  near(scaled([1, 1e4], null, 100, 0.5, true), [10, 1000]);
  near(moved([1, 9], [2, 6], 0.25), [3, 7]);
  near(moved([1, 9], [4, 8], 0.5), [5, 9]);
  near(moved([1, 1e4], [10, 100], -0.5, true), [10 ** 0.5, 10 ** 1.5]);
  assert.equal(moved([1, 9], null, 0.5), null);
  let part = null;
  for (let i = 0; i < 100; i++)
    part = scaled([0, 1], part, 0.3, 0.5);
  assert.ok(part[1] - part[0] >= 1e-4 && part[1] - part[0] < 3e-4, 'there is an end to it');
}

// A tooltip is not on the curves: above them, or below, or at the side away from the pointer.
function placesTips() {
  const grid = { top: 40, bottom: 240 }, tip = [120, 60];
  const place = (x, seen, more) => tipPlace({ pointer: [x, 100], tip, width: 500, grid, seen,
    ...more });
  assert.deepEqual(place(250, { top: -100, bottom: 500 }), [190, -28]);
  assert.deepEqual(place(250, { top: 0, bottom: 500 }), [190, 248]);
  assert.deepEqual(place(100, { top: 0, bottom: 250 }), [380, 40]);
  assert.deepEqual(place(400, { top: 0, bottom: 250 }), [0, 40]);
  assert.deepEqual(place(5, { top: -100, bottom: 500 }), [0, -28]);
  assert.deepEqual(place(495, { top: -100, bottom: 500 }), [380, -28]);
  // Of a few rows it is at the nearer end; of many it is beside the row.
  const room = { top: -100, bottom: 900 };
  assert.deepEqual(place(100, room, { rows: true }), [40, -28]);
  assert.deepEqual(place(100, { top: 0, bottom: 900 }, { rows: true }), [40, 248]);
  assert.deepEqual(place(100, room, { rows: true, grid: { top: -200, bottom: 700 } }), [116, 118]);
}

/* ---- labels ---- */

// "kmm" was "mm": the letters of a name are not all of one width.
function measuresNames() {
  const dejavu = { kmm: 30.3, WWW: 35.6, illi: 13.4, congestion_control: 113.4, '16 to 1': 42.6 };
  for (const [text, pixels] of Object.entries(dejavu)) // as a browser measures them at 12 pixels
    assert.ok(textWidth(text, 12) >= pixels && textWidth(text, 12) < pixels * 1.1 + 4,
      `${text}: ${textWidth(text, 12)} of ${pixels}`);
  assert.equal(linesOf('a b', 12, 100), 1);
  assert.equal(linesOf('as measured, one byte', 12, 100), 2);
  assert.equal(linesOf('w'.repeat(40), 12, 100), 5);
  const charts = runsCongestion(['kmm', 'mmm'].map((label) => ({ label,
    congestion: [{ place: 'host_nic', queueing: 1, marks: 0 }] })));
  const { grid } = charts[0].option(WIDE, {});
  assert.ok(grid.right >= textWidth('1.00 s', 11) / 2 + 3, `${grid.right} for the last tick`);
  assert.ok(grid.left >= 10 + 35, `${grid.left} pixels for "mmm"`);
}

/* ---- many lines ---- */

const goodputs = (rows, step = 1) => ({ label: 'a', series: rows.map((mean, i) => ({
  name: 'goodput', entity: `host${i}`, unit: 'bps', first_s: step, step_s: step, width: 1,
  samples: mean.length, mean })) });

// 32 hosts were 32 lines without names: rows now, or seven lines and a band.
function tellsManyLinesApart() {
  const rows = Array.from({ length: 32 }, (_, i) => [i + 1, 2 * (i + 1), 0]);
  const chart = throughput(goodputs(rows), 0, false), part = { part: 'host' };
  const lines = { ...part, as: 'lines' }, heat = { ...part, as: 'heat' };
  assert.deepEqual([chart.along(heat), chart.along(lines)], ['item', 'x']);
  const drawn = chart.option(WIDE, heat);
  assert.equal(drawn.yAxis.data.length, 32);
  assert.deepEqual(drawn.series[0].data.filter(([, , row]) => row === 4)
    .map(([from, to, , value]) => [from, to, value]), [[0, 1, 5], [1, 2, 10], [2, 3, 0]]);
  assert.equal(plainText([chart.ramp(heat).high])[0], '64.0 bps');
  assert.deepEqual(chart.legend(lines).map(({ name }) => name), ['host25', 'host26', 'host27',
    'host28', 'host29', 'host30', 'host31', 'the other 25']);
  assert.equal(new Set(chart.legend(lines).map(({ line }) => line)).size, 8, 'a colour each');
  const tip = chart.tip(lines, 1.4).rows;
  assert.deepEqual([tip.length, plainText([tip.at(-1).value])[0]], [8, '2.00 bps to 50.0 bps']);
  assert.equal(chart.option(WIDE, lines).series.length, 8);
  assert.equal(chart.table(heat).rows.length, 32);
  // A part of the time in more detail; the keys lead through it.
  const zoom = chart.option({ ...WIDE, zoom: [0.5, 1.5] }, heat).series[0].data
    .filter(([, , row]) => row === 0);
  assert.deepEqual(zoom.map(([from, to]) => [from, to]), [[0.5, 1], [1, 1.5]]);
  assert.equal(new Set(chart.stops(heat, [0.5, 1.5]).map(({ row }) => row)).size, 32);

  // So many as there are colours are lines without a choice.
  const few = throughput(goodputs(rows.slice(0, 8)), 0, false);
  assert.equal(few.along(heat), 'x');
  assert.ok(!few.controls.find(({ key }) => key === 'as').visible(heat));
  assert.equal(few.legend(heat).length, 8);
}

// Spans that begin and end where columns do not, and a line that begins late.
function averagesColumns() {
  const mean = Array.from({ length: 480 }, (_, i) => i % 5);
  assert.deepEqual(heatBars({ first_s: 1, step_s: 1, width: 1, mean }, [0, 480], 4),
    [{ from: 0, to: 480, value: 2 }]);
  const late = heatBars({ first_s: 241, step_s: 1, width: 1, mean: [1, null, 1] }, [0, 480], 1);
  assert.deepEqual(late, [{ from: 240, to: 245, value: 1 }]);
}

/* ---- names, groups and choices ---- */

// Two sweeps of one scenario had one title.
function namesSweepsApart() {
  const sweep = (keys, file = 'a/sweep.sqlite', parameters = []) => ({ file, kind: 'sweep',
    info: { scenario: 'scenarios/incast.yaml' }, axes: keys.map((key) => ({ key, values: [] })),
    parameters: parameters.map(([key, value]) => [key, value, '', 1]) });
  const titles = (...sweeps) => [...sweepTitles(sweeps).values()];
  assert.deepEqual(titles(sweep(['workload.degree'])), ['incast']);
  assert.deepEqual(titles(sweep(['workload.degree', 'seed']), sweep(['host.mtu'])),
    ['incast: degree × seed', 'incast: mtu']);
  assert.deepEqual(titles(sweep(['seed'], 'a/x', [['duration', '1ms'], ['seed', '1']]),
    sweep(['seed'], 'b/x', [['duration', '2ms'], ['seed', '9']]), sweep(['host.mtu'])),
  ['incast: seed (duration=1ms)', 'incast: seed (duration=2ms)', 'incast: mtu']);
  assert.deepEqual(titles(sweep(['seed'], 'a/x.sqlite'), sweep(['seed'], 'b/x.sqlite')),
    ['incast: seed (a)', 'incast: seed (b)']);
  assert.deepEqual(titles(sweep(['seed']), sweep(['seed'])),
    ['incast: seed (a) 1', 'incast: seed (a) 2']);
  assert.deepEqual(titles(sweep(['a.k', 'b.k']), sweep(['seed']))[0], 'incast: a.k × b.k');
}

// 309 metrics were one list from acks to workload.
function groupsMetrics() {
  const groups = grouped(['acks', 'fct.all.p99', 'fct.below_10KB.p50', 'fct.all.mean', 'goodput',
    'pair.10.goodput.max', 'pair.2.goodput.max', 'pause_time.host', 'unheard_of', 'drops.ttl',
    'receive_buffer.drops']);
  assert.deepEqual(groups, [['Asked for most', ['goodput', 'fct.all.p99']],
    ['Completion times', ['fct.all.mean', 'fct.below_10KB.p50']], ['PAUSE', ['pause_time.host']],
    ['Loss and recovery', ['drops.ttl', 'receive_buffer.drops']], ['Packets', ['acks']],
    ['By pair of hosts', ['pair.2.goodput.max', 'pair.10.goodput.max']],
    ['The run and others', ['unheard_of']]]);
  assert.ok(matches('TTL drop', 'drops.ttl', 'Loss and recovery', 'the packet was in a loop'));
  assert.ok(matches('loop', 'drops.ttl', '', 'the packet was in a loop') && matches('', 'x'));
  assert.ok(!matches('ttl marks', 'drops.ttl', 'Loss and recovery'));
}

// Flows of one size were shown twice, as "10 MB and more" and as all sizes.
function showsOneSizeOnce() {
  const run = (...edges) => ({ label: 'a', flows: { ranges: [...edges, [0, null]]
    .map(([from, to]) => ({ from, to, delivered: 3, fct_curve: [1, 2, 3] })) } });
  const sizes = (...runs) => distribution(runs, [0, 50, 100], 'fct', '').controls[0].options.length;
  assert.equal(sizes(run([1e7, null])), 1);
  assert.equal(sizes(run([1e7, null]), run([1e7, null])), 1);
  assert.equal(sizes(run([1e7, null]), run([0, 1e4])), 3);
  assert.deepEqual(rangesOf(run([1e7, null])).map(({ from }) => from), [1e7]);
  assert.equal(rangesOf(run([0, 1e4], [1e7, null])).length, 3);
}

/* ---- the story of a run ---- */

const range = (from, to, delivered, p50, p99, started = delivered) => ({ from, to, started,
  delivered, failed: 0, slowdown: [p50, p99, p99, p99, p99, p50], fct: Array(6).fill(null) });
const waiting = (place, us, more) => ({ place, queueing: us * 1e-6, ports: 16, ...more });
const told = (label, { sizes = [], all, where, metrics = {}, pauses }) => ({ label,
  flows: { ranges: [...sizes, all] }, congestion: where, topology: { links: [] },
  pauses: { tree: [], victims: 0, deadlock: [], ...pauses },
  metrics: Object.fromEntries(Object.entries(metrics).map(([key, value]) => [key, [value, '']])) });

const answers = (...runs) => story(runs).map(([, answer]) => plainText([answer
  .map(([label, text]) => (label ? `${label}: ${text}` : text)).join(' ')])[0]);

function tellsOneRun() {
  const marked = told('a', { all: range(0, null, 600, 1.28, 5.21),
    sizes: [range(0, 10000, 200, 1, 3), range(10000, 100000, 380, 1.3, 7.54),
      range(100000, 1e6, 2, 9, 99)],
    where: [waiting('tor_up', 1.2), waiting('tor_to_host', 2.1, { worst_port: 'tor6:host106',
      queueing_worst: 4.3e-6, queue_max: 263000 })],
    metrics: { marks: 7830, data_packets: 626400, cnps: 1 } });
  assert.deepEqual(answers(marked), [
    'All 600 flows arrived: the typical one took 1.28 times as long as alone, the slowest in a '
      + 'hundred 5.21 times; those of 10 KB to 100 KB were slowed most (p99 7.54).',
    'A packet waited 3.30 µs on its way, 64 % of it on the last link to the receiver, where the '
      + 'longest queue held 263 KB; longest at tor6:host106, 4.30 µs in the mean.',
    'Several senders shared a receiver’s link; switches marked 7,830 packets (1.25 % of the data), '
      + 'and 1 CNP slowed senders down.']);

  // Of few flows no percentile is known: the 99th is the slowest one.
  assert.equal(answers(told('a', { all: range(0, null, 60, 1.28, 5.21), where: [],
    sizes: [range(0, 10000, 20, 1, 3), range(10000, 100000, 38, 1.3, 7.54)] }))[0],
  'All 60 flows arrived: the typical one took 1.28 times as long as alone, the slowest 5.21 times; '
    + 'those of 10 KB to 100 KB were slowed most (the slowest 7.54).');
  // What a clock offers is no rate over the whole run.
  assert.ok(answers(told('a', { all: range(0, null, 600, 1.28, 5.21), where: [], metrics: {
    goodput: 4e11, 'load.alone': 1, 'load.delivered_share': 0.882, 'load.offered': 8.1e11,
    'load.drain': 0.0246 } }))[0].endsWith(' Until arrivals stopped, 88.2 % of the offered '
    + '810 Gbps was delivered; the last flow ended 24.6 ms later.'));

  // Where ports are held, it is said where that began, and not where packets wait for it.
  const held = told('a', { all: range(0, null, 7, 16, 16.1, 9),
    where: [waiting('tor_up', 900), waiting('core_down', 700)],
    metrics: { 'flows.unfinished': 2, pauses: 107, pause_time: 0.000273 },
    pauses: { victims: 5, tree: [{ parent: null, port: 'tor4:host67', held_s: 1, senders: 6 },
      { parent: null, port: 'tor1:host2', held_s: 2, senders: 1 },
      { parent: 0, port: 'agg5:tor4', held_s: 3, senders: 0 }] } });
  assert.deepEqual(answers(held), [
    '7 of 9 flows arrived (2 had not arrived at the end): each of these took about 16.0 times '
      + 'as long as alone.',
    'A packet waited 1.60 ms on its way, 56 % of it on the uplinks of the ToRs, 44 % on the way '
      + 'down from the cores.',
    'PFC stopped senders: 107 PAUSE frames held ports for 273 µs in all, begun at tor1:host2 (1 '
      + 'sender) and 1 other port, and slowed 5 flows by congestion that is not on their way.']);

  // Hosts that pause come first, and a port that began two trees, one a class, is one port.
  const slow = { host: 'host4', port: 'leaf1:host4', pauses: 399, held_s: 0.0035, slow: true };
  const trees = [0, 1].map((id) => ({ id, class: id, parent: null, port: 'leaf1:host4',
    held_s: 1, senders: 1 }));
  const alone = told('a', { all: range(0, null, 7, 1, 1), where: [],
    metrics: { pauses: 399, 'pauses.host': 399, pause_time: 0.0035, 'pause_time.host': 0 },
    pauses: { tree: trees, hosts: [slow] } });
  assert.equal(answers(alone)[2], 'No switch stopped a sender, but the slow receiver host4 '
    + 'sent 399 PAUSE frames and held leaf1:host4 for 3.50 ms.');
  const storm = told('a', { all: range(0, null, 7, 1, 1), where: [],
    metrics: { pauses: 109, 'pauses.host': 2, pause_time: 0.09, 'pause_time.host': 0.01,
      'held_upstream.host': 0.004, 'held_upstream.tor': 0.03, 'held_upstream.core': 0.001 },
    pauses: { victims: 1, tree: [...trees, { ...trees[0], id: 2, port: 'agg1:tor0', held_s: 2 }],
      hosts: [{ ...slow, slow: false, pauses: 2 }, slow] } });
  assert.equal(answers(storm)[2], 'In a storm, host4 sent 2 PAUSE frames and held leaf1:host4 '
    + 'for 3.50 ms; 1 other host sent PAUSEs too; PFC stopped senders: 107 PAUSE frames of '
    + 'switches held ports for 31.0 ms in all, begun at agg1:tor0 (1 sender) and 1 other port, and '
    + 'slowed 1 flow by congestion that is not on their way.');

  const dropped = told('a', { all: range(0, null, 0, null, null, 4),
    where: [waiting('tor_up', 0.2)],
    metrics: { goodput: 9.26e8, drops: 330, 'drops.ttl': 320, lost: 1, timeouts: 2,
      retransmitted_packets: 226 } });
  assert.deepEqual(answers(dropped), [
    'None of 4 flows arrived; all hosts together received 926 Mbps.',
    'Nowhere for long: 200 ns on a packet’s whole way.',
    '330 packets dropped by switches (mostly too many hops) and 1 packet lost on links, 226 sent '
      + 'again, with 2 timeouts.']);
  // What a receiver drops is lost too.
  const full = told('a', { all: range(0, null, 1, 2, 2), where: [], metrics: {
    'receive_buffer.drops': 17807, retransmitted_packets: 19546 } });
  assert.equal(answers(full)[2],
    '17,807 packets dropped by slow receivers, 19,546 sent again.');
  assert.deepEqual(answers(told('a', { all: range(0, null, 1, 1, 1), where: [] })).slice(1), [
    'The results do not say where packets waited.',
    'Nothing was marked, paused or lost: the network had room for all.']);
  assert.match(answers(told('a', { all: range(0, null, 1, 1, 1), where: [], pauses: {
    deadlock: ['leaf0:spine1', 'spine1:leaf1'] } }))[2],
  /^2 ports wait .*leaf0:spine1.*deadlock\.$/);
}

function tellsSeveralRuns() {
  const one = (label, p99, us, metrics) => told(label, { all: range(0, null, 600, 1, p99), metrics,
    where: [waiting('tor_to_host', us, { worst_port: 'tor0:host1', queueing_worst: 1 })] });
  assert.deepEqual(answers(one('dcqcn', 5.21, 3.3, { marks: 10 }), one('none', 107, 674, {})), [
    'The slow flows waited least with dcqcn and longest with none: the 99th percentile of the '
      + 'slowdown is 5.21 against 107, 20.5 times as much.',
    'dcqcn: A packet waited 3.30 µs on its way, all of it on the last link to the receiver, at '
      + 'tor0:host1. none: A packet waited 674 µs on its way, all of it on the last link to the '
      + 'receiver, at tor0:host1.',
    'Several senders shared a receiver’s link. dcqcn: Switches marked 10 packets. none: Nothing '
      + 'was marked, paused or lost.']);
  assert.match(answers(one('a', 5, 3, {}), one('b', 5.05, 3, {}))[0],
    /^The slow flows waited alike/);
  const seeded = (run, seed) => ({ ...run, info: { seed } });
  assert.match(answers(seeded(one('a', 5, 3, {}), '1'), seeded(one('b', 9, 3, {}), '1'))[0],
    /80 % more \(of one seed\)\.$/);
  assert.match(answers(seeded(one('a', 5, 3, {}), '1'), seeded(one('b', 9, 3, {}), '2'))[0],
    /80 % more\.$/);
  const few = (label, p99) => told(label, { all: range(0, null, 60, 1, p99), where: [] });
  assert.match(answers(few('a', 5), few('b', 9))[0], /the largest slowdown is 5\.00 against 9\.00/);
  // Flows that never arrived make the others' times no better.
  const cut = (label, p99, delivered, failed, us, metrics) => ({ ...one(label, p99, us, metrics),
    flows: { ranges: [{ ...range(0, null, delivered, 1, p99, 16), failed }] } });
  assert.deepEqual(answers(cut('a', 2.64, 16, 0, 3.3, {}), cut('b', 2.07, 10, 6, 0.85, {
    data_packets: 1000, drops: 600, 'drops.no_route': 500, 'drops.link_down': 100, lost: 150,
    'lost.link_down': 150 })).slice(0, 2), [
    'a: All 16 flows arrived. b: 10 of 16 flows arrived (6 failed). The runs’ times are not '
      + 'compared: they are of different flows.',
    'a: A packet waited 3.30 µs on its way, all of it on the last link to the receiver, at '
      + 'tor0:host1. b: 75 % of the packets were lost to links that were down or for want of a '
      + 'way; with these, which hardly waited, a packet waited 850 ns in the mean, all of it on '
      + 'the last link to the receiver, at tor0:host1.']);
  assert.ok(answers(cut('a', 2.64, 10, 6, 3, {}), cut('b', 2, 10, 6, 3, {}))[0].startsWith(
    '10 of 16 flows arrived (6 failed). Of the flows that arrived, the slow ones waited least with '
      + 'b and '));
  const many = ['a', 'b', 'c', 'd', 'e', 'f'].map((label, i) => one(label, 2 + i, 3, {}));
  assert.match(answers(...many)[0],
    /least with a and longest with f: .* 2\.00 against 7\.00, 3\.5 times/);
  assert.match(answers(...many)[1], /These are the first 4 of 6 runs\.$/);
}

// All frames were said to be of switches.
function tellsWhoPauses() {
  const caption = (pauses, hosts) => pauseFrames([{ label: 'a', series: [{ name: 'pauses',
    entity: 'all', first_s: 0, step_s: 1, width: 1, mean: [1, 2], low: [1, 2], high: [1, 2] }],
  metrics: { pauses: [pauses, 'count'], 'pauses.host': [hosts, 'count'] } }]).caption;
  const rest = 'Refreshes are not counted.';
  assert.equal(caption(3, 0), `XOFF frames of all switches. ${rest}`);
  assert.equal(caption(3, 3), `XOFF frames of hosts; switches sent none. ${rest}`);
  assert.equal(caption(3, 1), `XOFF frames of all switches, and of hosts. ${rest}`);
}

// Runs of a scenario are told apart by what differs between them.
function namesRuns() {
  const run = (file, overrides, kmin, seed, info = {}) => ({ file, overrides,
    info: { scenario: 's', program: 'oche 1', ...info },
    parameters: [['name', file, '', false], ['seed', seed, '', overrides.length > 1],
      ['switch.kmin', kmin, '', overrides.length > 0], ['switch.kmax', kmin, '', false]] });
  const partName = (value) => /^\{name: (\w+)/.exec(value)?.[1] ?? value;
  const labels = (...runs) => {
    nameRuns(runs);
    return runs.map(({ label }) => label);
  };
  const plain = run('run.sqlite', [], 'auto', '1');
  const again = run('repeat/run.sqlite', [], 'auto', '1');
  const low = run('switch.kmin=5KB/run.sqlite', ['switch.kmin=5KB'], '5KB', '1');
  const both = run('switch.kmin=5KB,seed=7/run.sqlite', ['switch.kmin=5KB', 'seed=7'], '5KB', '7');
  assert.deepEqual(labels(both, low, plain),
    ['as it is', 'switch.kmin=5KB', 'seed=7, switch.kmin=5KB']);
  assert.deepEqual(labels(low, both), ['seed=1', 'seed=7']);
  assert.deepEqual(labels(again, plain, low),
    ['as it is', 'as it is (repeat)', 'switch.kmin=5KB']);
  const scheme = (label, more, pfc) => ({ file: `${label}/run.sqlite`, overrides: [],
    info: { scenario: 's', label, compared: 'congestion_control', congestion_control: label },
    parameters: [['switch.pfc', pfc, '', false]], ...more });
  assert.deepEqual(labels(scheme('dcqcn', {}, 'true'), scheme('none', {}, 'true')),
    ['dcqcn', 'PFC alone']);
  assert.deepEqual(labels(scheme('dcqcn', {}, 'false'), scheme('none', {}, 'false')),
    ['dcqcn', 'no congestion control']);
  assert.deepEqual(labels({ ...again, info: { ...again.info, program: 'oche 2' } }, plain),
    ['as it is', 'version=oche 2 (repeat)']);
  assert.deepEqual(labels({ ...plain, file: 'a/run.sqlite' }, { ...low, file: 'b/run.sqlite' },
    { ...low, file: 'c/run.sqlite' }), ['as it is', 'switch.kmin=5KB (b)', 'switch.kmin=5KB (c)']);
  const compared = (label, variant) => ({ ...run(label, ['a=b'], label, '1'),
    info: { label, variant, command: 'c' } });
  assert.deepEqual(labels(compared('b', '1'), compared('a', '0')), ['a', 'b']);
  const variants = (key, ...values) => labels(...values.map((value, i) => run(value, ['a=b'], value,
    '1', { label: value, compared: key, variant: String(i), command: 'c' })));
  assert.deepEqual(variants('switch.pfc', 'true', 'false'), ['switch.pfc=true',
    'switch.pfc=false']);
  assert.deepEqual(variants('host.recovery.name', 'irn', 'go_back_n'), ['host.recovery=irn',
    'host.recovery=go_back_n']);
  assert.deepEqual(variants('congestion_control', 'dcqcn', 'none'),
    ['dcqcn', 'no congestion control']);
  // Without congestion control there is PFC, if it is on; a label may be cut, an override is not.
  const schemes = (pfc, ...values) => labels(...values.map((value, i) => ({ file: `${i}/run.sqlite`,
    overrides: [`congestion_control=${value}`], parameters: [['switch.pfc', pfc, '', false]],
    info: { label: value.slice(0, 20), compared: 'congestion_control', variant: String(i),
      command: 'c', congestion_control: partName(value) } })));
  assert.deepEqual(schemes('true', 'none', 'dcqcn'), ['PFC alone', 'dcqcn']);
  assert.deepEqual(schemes('false', 'none', 'dcqcn'), ['no congestion control', 'dcqcn']);
  assert.deepEqual(schemes('true', '{name: dcqcn, g: 1/16, rai: 80Mbps}', 'none'),
    ['dcqcn', 'PFC alone']);
  assert.deepEqual(schemes('true', '{name: dcqcn, g: 1/16, rai: 80Mbps}', 'dcqcn'),
    ['dcqcn (g=1/16, rai=80Mbps)', 'dcqcn']);
  assert.equal(runsTitle({ scenario: 's', compared: 'x.name', overrides: 'seed=7' }),
    's: x (seed=7)');
  assert.equal(runsTitle({ scenario: 's', compared: '', overrides: '' }), 's');
}

// A sweep over a and b with two runs of each combination; of `mean`, one number a combination.
function sweepOf(axes, combinations, mean, more = {}) {
  const zeros = mean.map(() => 2);
  return { kind: 'sweep', info: { repeats: '2' }, not_done: 0, listed: [], distributions: [],
    points: 2 * mean.length, done: zeros, combinations, axes,
    metrics: [{ name: 'congestion.tor_to_host.queueing', unit: 's', help: '', mean,
      deviation: mean.map((value) => Math.abs(value)), least: mean.map((value) => value / 2),
      most: mean.map((value) => value * 2) }], ...more };
}

// What cannot be negative has no interval that is; what was negative once may have one.
function cutsIntervals() {
  const axes = [{ key: 'a', values: ['1', '2'] }];
  const positive = sweepOf(axes, [[0, 1]], [1, 2]), both = sweepOf(axes, [[0, 1]], [1, -2]);
  const [metric] = positive.metrics;
  assert.equal(estimate(positive, metric, 0, 'interval').low, 0);
  assert.ok(estimate(positive, metric, 0, 'interval').high > 9);
  assert.ok(estimate(both, both.metrics[0], 0, 'interval').low < -7);
  const state = { metric: '0', spread: 'interval', x: '0', lines: '-1' };
  assert.match(sweepChart(positive, 's', 't').caption(state), /cut there\.$/);
  assert.doesNotMatch(sweepChart(both, 's', 't').caption(state), /cut there/);
}

// What --vary alone gives was shown as given by the scenario, with the first value.
function tellsWhatIsSwept() {
  const axes = [{ key: 'switch.kmin', values: ['20KB', '50KB'] },
    { key: 'workload[0].degree', values: ['2', '4'] },
    { key: 'congestion_control', values: ['{name: dctcp, k: 5KB}', 'dcqcn'] }];
  const parameters = [['congestion_control.g', '1/16', '', 0],
    ['congestion_control.k', '5KB', '', 1], ['congestion_control.name', 'dctcp', '', 1],
    ['seed', '1', '', 1], ['switch.kmin', '20KB', '', 1], ['switch.pfc', 'true', '', 0],
    ['workload.bytes', '9', '', 1], ['workload.degree', '2', '', 1]];
  const rows = (sources, all) => parameterRows(sources, all).map(({ key, values, from }) =>
    `${key}=${values.join('|')} ${from}`);
  const one = { parameters, axes };
  assert.deepEqual(rows([one], false), ['seed=1 given', 'workload.bytes=9 given']);
  assert.deepEqual(rows([one], true), ['congestion_control.g=1/16 default',
    'congestion_control.k=5KB swept', 'congestion_control.name={name: dctcp, k: 5KB}, dcqcn swept',
    'seed=1 given', 'switch.kmin=20KB, 50KB swept', 'switch.pfc=true default',
    'workload.bytes=9 given', 'workload.degree=2, 4 swept']);
  assert.deepEqual(rows([{ parameters: [['a', '1', '', 0]] }, { parameters: [['a', '2', '', 1]] }],
    false), ['a=1|2 given']);
}

// Points that cannot be run are not waited for.
function countsPoints() {
  const axes = [{ key: 'a', values: ['1', '2', '3'] }, { key: 'b', values: ['x', 'y', 'z'] }];
  const info = { repeats: '2', left_out: 'a=3, b={name: x}\ttoo many\na=3, b=y\ttoo many\n' };
  const some = sweepOf(axes, [[0, 0], [0, 1]], [1, 2], { info });
  assert.equal(progress(some), '4 points done, 10 not run yet, 4 left out: invalid');
  assert.equal(progress({ ...some, points: 14 }), '14 points done, 4 left out: invalid');
  assert.equal(progress(sweepOf(axes, [[0, 1, 2], [0, 1, 2]], [1, 2, 3], { zipped: true })),
    '6 points done');
}

// Sentences about points that are the same run, of files that have them.
function namesSameRuns() {
  assert.deepEqual(sameRuns({ info: { same_runs: 'a made no difference here.\nb too.\n' } }),
    ['a made no difference here.', 'b too.']);
  assert.deepEqual(sameRuns({ info: {} }), []);
}

// Axes that go together are one line, whichever is along x, and no value of another is chosen.
function linesOfZipped() {
  const axes = [{ key: 's.a', values: ['1', '2', '4'] }, { key: 's.b', values: ['x', 'y', 'x'] }];
  const zipped = sweepOf(axes, [[0, 1, 2], [0, 1, 2]], [1, 2, 3], { zipped: true });
  const chart = sweepChart(zipped, 's', 't');
  const state = Object.fromEntries(chart.controls.map(({ key, value }) => [key, value]));
  assert.equal(state.lines, '-1');
  for (const x of ['0', '1'])
    assert.deepEqual(sweepLines(zipped, { ...state, x }).map(({ points }) =>
      points.map(({ mean }) => mean)), [[1, 2, 3]]);
  assert.equal(chart.tip(state, 4).head, 's.a = 4, s.b = x');
  assert.ok(chart.controls.filter(({ key }) => /^at/.test(key)).every(({ visible }) =>
    !visible(state)));
}

// A bar says which combination it is: a number with its axis, and each axis that differs.
function namesBars() {
  const axes = [{ key: 'workload.degree', values: ['2', '4'] },
    { key: 'switch.kmin', values: ['5KB', '10KB', '20KB'] }];
  const bars = (sweep) => {
    const [chart] = sweepCongestion(sweep).filter(Boolean);
    const state = Object.fromEntries(chart.controls.map(({ key, value }) => [key, value]));
    return chart.option(WIDE, state).yAxis.data;
  };
  assert.deepEqual(bars(sweepOf(axes, [[0, 0, 1], [0, 1, 1]], [1, 2, 3])), ['kmin 5KB, degree 2',
    'kmin 10KB, degree 2', 'kmin 10KB, degree 4']);
  assert.deepEqual(bars(sweepOf([axes[0]], [[0, 1]], [1, 2])), ['degree 2', 'degree 4']);
  const schemes = { key: 'congestion_control', values: ['dcqcn', '{name: dctcp, k: 5KB}'] };
  assert.deepEqual(bars(sweepOf([schemes], [[0, 1]], [1, 2])), ['dcqcn', 'dctcp']);
}

namesRuns();
cutsIntervals();
tellsWhatIsSwept();
/* ---- until stable ---- */

function tellsHowStable() {
  const info = { until_stable: 'fct.all.p99', until_stable_reached: 'yes',
    until_stable_mean: '0.00125', until_stable_half_width: '5e-05',
    until_stable_batches: '30', until_stable_batch_ps: '512000000' };
  const metrics = { 'fct.all.p99': [0.00124, 's'] };
  assert.equal(plainText([steady({ info, metrics })])[0],
    'fct.all.p99 1.25 ms ± 4.00 %, 30 batches of 512 µs');
  const why = 'fct.all.p99 is not stable at the end of the run: it is 0';
  assert.equal(steady({ info: { ...info, until_stable_reached: why }, metrics }), why);
  assert.equal(steady({ info: {}, metrics }), null);
}

countsPoints();
namesSameRuns();
tellsHowStable();
linesOfZipped();
namesBars();
namesEnoughValues();
namesPlaces();
namesBetweenGivenEnds();
namesNarrowRanges();
writesTicksAlike();
zooms();
selects();
placesTips();
measuresNames();
namesSweepsApart();
groupsMetrics();
showsOneSizeOnce();
tellsManyLinesApart();
averagesColumns();
tellsOneRun();
tellsSeveralRuns();
tellsWhoPauses();
