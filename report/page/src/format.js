// SPDX-License-Identifier: Apache-2.0
// Numbers for people: three digits, with the unit's prefix. Decimal, as everywhere in oche.

const THIN = '\u202f'; // a narrow space that does not break

// 1234567 → "1,234,567"
export function grouped(value) {
  const text = String(Math.round(Math.abs(value))).replace(/\B(?=(\d{3})+$)/g, ',');
  return (value < 0 ? '−' : '') + text;
}

// Three significant digits, without an exponent, for the usual range of tables.
export function digits(value, count = 3) {
  if (value === 0)
    return '0';
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-3) {
    const [mantissa, exponent] = value.toExponential(count - 1).split('e');
    return `${Number(mantissa)}e${Number(exponent)}`.replace('-', '−');
  }
  // Rounded first: 99.96 becomes "100", not "100.0".
  const rounded = Number(size.toPrecision(count));
  const decimals = Math.max(0, count - 1 - Math.floor(Math.log10(rounded)));
  const text = value.toFixed(Math.min(decimals, 20));
  return (size >= 10000 ? grouped(Number(text)) : text).replace('-', '−');
}

function prefixed(value, steps, unit) {
  const size = Math.abs(value);
  let [factor, prefix] = steps[0];
  for (const step of steps)
    if (size >= step[0] * 0.9995)
      [factor, prefix] = step;
  return digits(value / factor) + THIN + prefix + unit;
}

const TIMES = [[1e-12, 'p'], [1e-9, 'n'], [1e-6, 'µ'], [1e-3, 'm'], [1, '']];
const SIZES = [[1, ''], [1e3, 'K'], [1e6, 'M'], [1e9, 'G'], [1e12, 'T']];

export const time = (s) => (s === 0 ? '0' + THIN + 's' : prefixed(s, TIMES, 's'));
export const bytes = (value) =>
  Math.abs(value) < 1000 ? digits(value) + THIN + 'B' : prefixed(value, SIZES, 'B');
export const rate = (bps) => (bps === 0 ? '0' : prefixed(bps, SIZES, 'bps'));
export const count = (value) =>
  Number.isInteger(value) || Math.abs(value) >= 1000 ? grouped(value) : digits(value);
export const ratio = (value) => digits(value);
export const percent = (share) => digits(share * 100) + THIN + '%';

const BY_UNIT = { s: time, bytes, bps: rate, count, ratio, share: percent };

// A value in the unit of a metric; "–" if there is none.
export function value(number, unit) {
  if (number === null || number === undefined || !Number.isFinite(number))
    return '–';
  return (BY_UNIT[unit] ?? ratio)(number);
}

// For ticks: only the digits of the number, "10 µs" and not "10.0 µs".
export function tick(number, unit) {
  return value(number, unit).replace(/^(−?[\d,]*\.\d*?)0+(?=\D|$)/, '$1').replace(/\.(?=\D|$)/, '');
}

export function percentile(p) {
  return p >= 100 ? 'largest' : p <= 0 ? 'smallest' : `p${Number(p.toFixed(3))}`;
}

// "below 10 KB", "10 KB to 100 KB", "10 MB and more", "all sizes"
export function sizes(from, to) {
  if (to === null)
    return from === 0 ? 'all sizes' : `${tick(from, 'bytes')} and more`;
  return from === 0 ? `below ${tick(to, 'bytes')}`
    : `${tick(from, 'bytes')} to ${tick(to, 'bytes')}`;
}

const FACTORS = {
  '': 1, '%': 0.01, B: 1, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KiB: 2 ** 10, MiB: 2 ** 20,
  GiB: 2 ** 30, ps: 1e-12, ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, bps: 1, Kbps: 1e3, Mbps: 1e6,
  Gbps: 1e9, Tbps: 1e12,
};
const UNITS = {
  '': '', '%': '', B: 'bytes', KB: 'bytes', MB: 'bytes', GB: 'bytes', TB: 'bytes', KiB: 'bytes',
  MiB: 'bytes', GiB: 'bytes', ps: 's', ns: 's', us: 's', ms: 's', s: 's', bps: 'bps',
  Kbps: 'bps', Mbps: 'bps', Gbps: 'bps', Tbps: 'bps',
};

// A scenario's value as a number with its unit ("10KB", "1/256", "1%", "1e-5"), or null.
export function parse(text) {
  const found = /^\s*([-+]?[\d.]+(?:e[-+]?\d+)?)(?:\/([\d.]+))?\s*([A-Za-z%]*)\s*$/i.exec(text);
  if (!found || !(found[3] in FACTORS))
    return null;
  const number = Number(found[1]) / (found[2] ? Number(found[2]) : 1) * FACTORS[found[3]];
  return Number.isFinite(number) ? { number, unit: UNITS[found[3]] } : null;
}
