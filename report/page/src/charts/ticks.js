// SPDX-License-Identifier: Apache-2.0
// The values that an axis names. A reader can read the data if at least three values are named, and
// if the outermost of them are near the axis' ends.

const LEAST = 3;
const FAR = 0.34;// share of the axis: the maximum without a name at either end

const clean = (value) => Number(value.toPrecision(10));

// The round distance that gives about `most` ticks between low and high.
export function linearStep(low, high, most) {
  const rough = (high - low) / most;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
}

// Multiples of `step` from low to high.
export function multiples(low, high, step) {
  const list = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i++)
    list.push(clean(i * step));
  return list;
}

// Multiples of `step`, or of the next smaller round one if these are too few.
export function linearTicks(low, high, step) {
  const list = multiples(low, high, step);
  return list.length >= LEAST ? list : multiples(low, high, linearStep(0, step * 0.4, 1));
}

// `factors` times powers of ten, every `every`-th power, from low to high.
function decadeTicks(low, high, factors, every = 1) {
  const list = [];
  const from = Math.floor(Math.log10(low)), to = Math.ceil(Math.log10(high));
  for (let power = Math.floor(from / every) * every; power <= to; power += every)
    for (const factor of factors)
      list.push(clean(factor * 10 ** power));
  return list.filter((tick) => tick >= low * 0.9999 && tick <= high * 1.0001);
}

// The larger of the parts of a log axis before its first and after its last tick.
function farthest(list, low, high) {
  const whole = Math.log(high / low);
  return Math.max(Math.log(list[0] / low), Math.log(high / list[list.length - 1])) / whole;
}

/*
 * The named values of a log axis: powers of ten if these are enough; otherwise with 3, with 2 and
 * 5, or with more between them. For less than about a decade, round steps.
 */
export function logTicks(low, high, most = 7) {
  const decades = Math.log10(high / low);
  const candidates = [];
  for (let every = 1; decades / every >= 1; every++)
    candidates.push(decadeTicks(low, high, [1], every));
  candidates.reverse(); // fewest names first: the last one that fits has the most
  if (decades < 4)
    candidates.push(...[[1, 3], [1, 2, 5], [1, 2, 3, 5], [1, 2, 3, 5, 7]].map((factors) =>
      decadeTicks(low, high, factors)));
  for (const factor of decades < 1.2 ? [1, 2, 2.5, 5] : []) {
    for (let power = Math.floor(Math.log10((high - low) / 20)); power <= Math.log10(high); power++)
      candidates.push(multiples(low, high, factor * 10 ** power));
  }
  const fitting = candidates.filter((list) => list.length > 0 && list.length <= most);
  const good = fitting.filter((list) => list.length >= LEAST && farthest(list, low, high) <= FAR);
  if (good.length > 0)
    return preferred(good);
  return fitting.sort((a, b) => b.length - a.length)[0] ?? [clean(low), clean(high)];
}

const isPower = (value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;

// Only powers of ten are best if there are several. Otherwise, the set with the most names.
function preferred(lists) {
  const byLength = [...lists].sort((a, b) => b.length - a.length);
  return byLength.find((list) => list.length > LEAST && list.every(isPower)) ?? byLength[0];
}

// The unnamed ticks that identify a log axis: 2, 3, … 9 of each decade, unless these are too close
// to each other.
export function minorTicks(low, high, named) {
  const all = Math.log10(high / low) > 6 ? decadeTicks(low, high, [1])
    : decadeTicks(low, high, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
  return [...new Set([...all, ...named])].sort((a, b) => a - b);
}

// The ends of a log axis that are less than 3 times apart: round values just outside of the data.
export function roundEnds(low, high, most) {
  const step = linearStep(low, high, most);
  const from = clean(Math.floor(low / step + 1e-9) * step);
  return [from > 0 ? from : low, clean(Math.ceil(high / step - 1e-9) * step)];
}
