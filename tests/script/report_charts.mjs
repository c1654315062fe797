// SPDX-License-Identifier: Apache-2.0
/*
 * What charts draw, from their options, without a browser: curves within their axes, room for
 * names, steps of few flows, connections. What a reader sees is report_page.mjs.
 *
 * Environment: SOURCE.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';

const at = (path) => import(join(process.env.SOURCE, 'report/page/src', path));
const { runsCongestion } = await at('charts/congestion.js');
const { distribution } = await at('charts/distribution.js');
const { figureCharts } = await at('charts/figure.js');
const { ranks } = await at('charts/ranks.js');
const { connections } = await at('charts/series.js');
const { LIGHT } = await at('theme.js');

// Three flows: the largest value is that of every percentile above two thirds.
function drawsSteps() {
  const grid = Array.from({ length: 201 }, (_, i) => i / 2);
  const curve = grid.map((p) => [1, 1, 2, 8][Math.ceil(p * 3 / 100)]);
  const runs = [{ label: 'a', flows: { ranges: [{ from: 0, to: null, delivered: 3,
    fct_curve: curve }] } }];
  const chart = distribution(runs, grid, 'fct', '');
  const points = (shape) => chart.option({ theme: LIGHT, width: 700 }, { size: '0-null', shape })
    .series[0].data;
  assert.deepEqual(points('cdf').slice(-3), [[2, 66.5], [8, 67], [8, 100]]);
  assert.ok(points('tail').every(([, share]) => share > 0));
  assert.equal(chart.option({ theme: LIGHT, width: 700 }, { size: '0-null', shape: 'cdf' })
    .series[0].step, 'end', 'a few flows are steps, not slopes');
}

// Axes hold curves and published points, and intervals as far as these leave the curves room.
function drawsWithinAxes() {
  const curve = (kind, points) => ({ label: 'a', kind, x_unit: 's', y_unit: 'bps', points });
  const chartOf = (scale, measured, published) => figureCharts({ info: { title: 'T' }, plots: [{
    title: '', x_name: 'x', x_scale: 'linear', y_name: 'y', y_scale: scale,
    curves: [curve('measured', measured), curve('published', published)] }] }, 'f')[0];
  const axis = (...plot) => {
    const { min, max } = chartOf(...plot).option({ theme: LIGHT, width: 700 }, {}).yAxis;
    return [min, max];
  };
  assert.deepEqual(axis('linear', [[0, 1, 0.5, 1.8], [1, 2, 1, 3]], []), [0, 3]);
  assert.deepEqual(axis('linear', [[0, 1, null, null], [1, 2, null, null]], [[0, 9, null, null]]),
    [0, 10]);
  assert.deepEqual(axis('linear', [[0, 1, -50, 70], [1, 2, -90, 80]], []), [0, 4]);
  const [below, above] = axis('linear', [[0, -4, -6, -3], [1, 2, 1, 3]], []);
  assert.ok(below <= -6 && above >= 3);
  const [low, high] = axis('log', [[0, 10, -1, 1e9], [1, 100, 50, 200]], [[0, 5, null, null]]);
  assert.ok(low < 0.5 && low > 0.4 && high >= 1000 && high < 1100, `${low} to ${high}`);

  // Bars too: an interval below zero of what is not is cut there, not drawn over the names.
  const bars = (y, from) => figureCharts({ info: {}, plots: [{ title: '', curves: ['a', 'b']
    .map((label) => ({ label, kind: 'measured', x_unit: '', y_unit: 'bps',
      points: [[0, y, from, 5]] })) }] }, 'f')[0].option({ theme: LIGHT, width: 700 }, {});
  assert.equal(bars(1, -2).xAxis.min, 0);
  assert.deepEqual(bars(1, -2).series[1].data[0], [0, 0, 5]);
  assert.ok(bars(-1, -2).xAxis.min <= -2);
  assert.deepEqual(bars(-1, -2).series[1].data[0], [-2, 0, 5]);
}

// A name that is broken into three lines does not reach the names above and below it.
function leavesRoomForNames() {
  const names = ['short', 'x'.repeat(10).concat(' ').repeat(6)];
  const place = { queueing: 1, marks: 0, pause_time: 0 };
  const charts = [figureCharts({ info: {}, plots: [{ title: '', curves: names.map((label) => ({
    label, kind: 'measured', x_unit: '', y_unit: 'bps', points: [[0, 1, null, null]] })) }] },
  'f')[0], runsCongestion(names.map((label) => ({ label,
    congestion: [{ place: 'host_nic', ...place }] })))[0]];
  for (const chart of charts) {
    const height = chart.height(400, {});
    assert.ok(height >= 60 + 2 * (4 + 3 * 12),
      `${height} pixels for two names of up to three lines`);
    assert.ok(chart.height(2000, {}) < height);
  }
}

// Windows, round trips with their base, limits; a triangle where a shadow took over, and its words.
function drawsConnections() {
  const series = (name, mean, unit, width = 1, samples = mean.length) =>
    ({ name, entity: 'connection 3', unit, first_s: 1, step_s: 1, width, samples, mean });
  const run = { label: 'a', series: [series('window', [10, 20, 5], 'bytes'),
    series('rtt', [4e-6, 9e-6, 7e-6], 's'), series('base_rtt', [4e-6, 4e-6, 4e-6], 's'),
    series('limit', [1e9, 2e9, 3e9], 'bps'), series('switches', [0, 0, 2], 'count')] };
  const chart = connections(run, 0, false);
  assert.deepEqual(chart.controls[0].options.map(([key]) => key), ['window', 'rtt', 'limit']);
  const drawn = (gauge) => chart.option({ theme: LIGHT, width: 700 }, { gauge }).series;
  assert.deepEqual(drawn('window')[0].data, [[0.5, 10], [1.5, 20], [2.5, 5]]);
  assert.deepEqual(drawn('window')[1].data, [[2.5, 5]]);
  assert.equal(drawn('window')[1].type, 'scatter');
  assert.deepEqual(drawn('rtt').map(({ name }) => name),
    ['connection 3', undefined, 'connection 3, base']);
  assert.deepEqual(drawn('rtt')[2].data.map(([, y]) => y), [4e-6, 4e-6, 4e-6]);
  assert.deepEqual(drawn('limit')[0].data.map(([, y]) => y), [1e9, 2e9, 3e9]);
  assert.match(chart.tip({ gauge: 'rtt' }, 2.4).rows[0].value, /^7\.00\s?.s, 2 shadow switches$/u);
  assert.match(chart.table({ gauge: 'window' }).rows[2][1], /^5\.00\s?B, 2 shadow switches$/u);

  // Spans of several samples; the last one has fewer.
  run.series = [series('window', [10, 20], 'bytes', 3, 4),
    series('switches', [1 / 3, 1], 'count', 3, 4)];
  const wide = connections(run, 0, false);
  assert.match(wide.tip({ gauge: 'window' }, 1).rows[0].value, /shadow took over$/);
  assert.match(wide.tip({ gauge: 'window' }, 5).rows[0].value, /shadow took over$/);
  assert.equal(connections({ series: [] }, 0, false), null);
}

// What two ranks did: rectangles in an SVG file; tips, stops and a table in words.
function drawsRanks() {
  const row = (rank, end, cells, sums) => ({ rank, host: `host${rank}`, end_s: end, cells, sums });
  const job = { job: 0, title: 'all_reduce (ring)', ranks: 1000, last_rank: 999, timeline: {
    start_s: 0, step_s: 1e-3, columns: 10, rows: [
      row(0, 8e-3, [0, 4, 100, 0, 0, 0, 4, 8, 0, 25, 25, 50], [4e-3, 1e-3, 1e-3, 2e-3]),
      row(999, 10e-3, [0, 10, 0, 100, 0, 0], [0, 10e-3, 0, 0])] } };
  const chart = ranks({ label: 'a', flows: {} }, 0, job, false);
  const state = { order: 'rank' }, height = chart.height(700, state) - 72;
  const at = { coordSys: { x: 100, y: 20, width: 500, height } };
  const drawn = chart.option({ theme: LIGHT, width: 700, print: true }, state).series.slice(0, 4);
  const shapesOf = (series) => [...series.renderItem(at).shape.pathData
    .matchAll(/M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z/g)]
    .map(([, x, y, width, high]) => ({ x: +x, y: +y, width: +width, height: +high }));
  const shapes = drawn.map(shapesOf);
  assert.deepEqual(drawn.map(({ name }) => name), ['calculates', 'sends', 'receives', 'waits']);
  assert.deepEqual(shapes.map((list) => list.length), [1, 2, 1, 1]);
  const [calculates, [sends, all], [receives], [waits]] = [shapes[0][0], shapes[1], shapes[2],
    shapes[3]];
  assert.deepEqual([calculates.x, calculates.y, calculates.width], [100, 20, 200]);
  assert.deepEqual([sends.x, sends.width, all.x, all.width], [300, 200, 100, 500]);
  assert.equal(waits.y, 20, 'the last part is at the top');
  assert.ok(Math.abs(waits.height - 2 * receives.height) < 0.2 && receives.y < sends.y);
  assert.ok(Math.abs(waits.height + receives.height + sends.height - calculates.height) < 0.2);

  // A part of the time: cells are cut at its ends.
  const zoomed = chart.option({ theme: LIGHT, width: 700, print: true, zoom: [2e-3, 6e-3] }, state)
    .series.map(shapesOf);
  assert.equal(zoomed[0][0].width, 250);

  const stops = chart.stops(state);
  const first = stops.find(({ row: number }) => number === 0);
  assert.match(chart.tip(state, first.at).head, /^rank 0, on host0: /);
  assert.deepEqual(chart.tip(state, first.at).rows[0].name, 'calculates');
  const share = (list, k) => list.reduce((sum, { at: [from, to, , ...shares] }) =>
    sum + (to - from) * shares[k], 0);
  const own = stops.filter(({ row: number }) => number === 0);
  for (const [k, sum] of job.timeline.rows[0].sums.entries())
    assert.ok(Math.abs(share(own, k) - sum) < 1e-9, `${share(own, k)} is not ${sum}`);
  assert.deepEqual(chart.table({ order: 'end' }).rows.map(([name]) => name),
    ['rank 999, last', 'rank 0']);
  assert.match(chart.caption, /2 of 1,000 ranks/);
  assert.equal(ranks({}, 0, { ...job, timeline: null }, false), null);
}

drawsWithinAxes();
drawsRanks();
leavesRoomForNames();
drawsConnections();
drawsSteps();
