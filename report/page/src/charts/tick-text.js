// SPDX-License-Identifier: Apache-2.0
// The texts at the ticks of an axis, all in one notation. On a linear axis, and on a log axis of
// less than two decades, all have the prefix of the largest. Plain numbers all have an exponent, or
// none has.
import * as format from '../format.js';

const PREFIXES = {
  s: { steps: [[1e-12, 'p'], [1e-9, 'n'], [1e-6, 'µ'], [1e-3, 'm'], [1, '']], unit: 's' },
  bytes: { steps: [[1, ''], [1e3, 'K'], [1e6, 'M'], [1e9, 'G'], [1e12, 'T']], unit: 'B' },
  bps: { steps: [[1, ''], [1e3, 'K'], [1e6, 'M'], [1e9, 'G'], [1e12, 'T']], unit: 'bps' },
};

const THIN = '\u202f';

// All digits of the number, with a true minus and grouped thousands.
function plain(value) {
  const [whole, rest] = String(Number(value.toPrecision(9))).split('.');
  const grouped = Math.abs(value) >= 10000 ? whole.replace(/\B(?=(\d{3})+$)/g, ',') : whole;
  return (rest === undefined ? grouped : `${grouped}.${rest}`).replace('-', '−');
}

function exponent(value) {
  if (value === 0)
    return '0';
  const [mantissa, power] = value.toExponential(4).split('e');
  return `${Number(mantissa)}e${Number(power)}`.replaceAll('-', '−');
}

// Returns the function that writes the ticks `ticks` of one axis.
export function tickText(ticks, unit, isLog = false) {
  const sizes = ticks.map(Math.abs).filter((size) => size > 0);
  const most = Math.max(0, ...sizes), least = Math.min(most, ...sizes);
  const known = PREFIXES[unit];
  if (known && most > 0 && !(isLog && most / least >= 99)) {
    const [factor, prefix] = known.steps.filter(([step]) => most >= step * 0.9995).pop()
      ?? known.steps[0];
    return (value) => (value === 0 ? `0${unit === 'bps' ? '' : THIN + known.unit}`
      : `${plain(value / factor)}${THIN}${prefix}${known.unit}`);
  }
  if (known || unit === 'share')
    return (value) => format.tick(value, unit);
  return most >= 1e7 || least < (isLog ? 1e-3 : most / 1e3) || most < 1e-3 ? exponent : plain;
}
