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
const { runsCongestion } = await at('charts/congestion.js');
const { linesOf, textWidth } = await at('charts/text-width.js');
const { tipPlace } = await at('page/tip-place.js');
const { moved, scaled, select } = await at('page/zoom.js');
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
  assert.deepEqual(place(250, { top: -100, bottom: 500 }), [190, -26]);
  assert.deepEqual(place(250, { top: 0, bottom: 500 }), [190, 246]);
  assert.deepEqual(place(100, { top: 0, bottom: 250 }), [380, 40]);
  assert.deepEqual(place(400, { top: 0, bottom: 250 }), [0, 40]);
  assert.deepEqual(place(5, { top: -100, bottom: 500 }), [0, -26]);
  assert.deepEqual(place(495, { top: -100, bottom: 500 }), [380, -26]);
  assert.deepEqual(place(100, { top: 0, bottom: 500 }, { rows: true }), [116, 118]);
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
  assert.ok(grid.left >= 10 + 35, `${grid.left} pixels for "mmm"`);
}

namesEnoughValues();
namesNarrowRanges();
writesTicksAlike();
zooms();
selects();
placesTips();
measuresNames();
