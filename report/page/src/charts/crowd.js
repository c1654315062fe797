// SPDX-License-Identifier: Apache-2.0
// Too many lines to distinguish: those with the highest values stay lines, the rest becomes a band.
import { nearest } from './base.js';
import { times } from './time.js';

export const MOST_LINES = 8; // as many as there are colours

const mean = ({ series }) => series.mean.reduce((sum, value) => sum + (value ?? 0), 0)
  / Math.max(1, series.mean.length);

// {top, rest} of lines [{i, series, …}]; lines of one `i` (a value and its base) stay together.
export function busiest(lines, most = MOST_LINES) {
  const numbers = [...new Set(lines.map(({ i }) => i))];
  if (numbers.length <= most)
    return { top: lines, rest: [] };
  const size = new Map(numbers.map((number) =>
    [number, Math.max(...lines.filter(({ i }) => i === number).map(mean))]));
  const chosen = [...numbers].sort((a, b) => size.get(b) - size.get(a)).slice(0, most - 1);
  return { // each with a colour of its own
    top: lines.filter(({ i }) => chosen.includes(i)).map((line) => ({ ...line,
      i: [...chosen].sort((a, b) => a - b).indexOf(line.i) })),
    rest: lines.filter(({ i }) => !chosen.includes(i)),
  };
}

// [[time, least, largest], …] of lines, at the times of the longest.
export function envelope(lines) {
  const { series } = lines.reduce((best, one) =>
    (one.series.mean.length > best.series.mean.length ? one : best));
  const all = lines.map((one) => ({ at: times(one.series), of: one.series }));
  return times(series).map((x) => {
    const values = all.map(({ at, of }) => {
      const k = nearest(at, x);
      return Math.abs(at[k] - x) <= of.step_s * of.width ? of.mean[k] : null;
    }).filter((value) => Number.isFinite(value));
    return values.length > 0 ? [x, Math.min(...values), Math.max(...values)] : [x, null, null];
  });
}
