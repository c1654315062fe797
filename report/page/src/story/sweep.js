// SPDX-License-Identifier: Apache-2.0
/*
 * The winner of a sweep, its lead, and if the seeds are enough to decide: a sentence for each task,
 * such as a load. Two means differ if their 95 % intervals do not overlap.
 */
import * as format from '../format.js';
import { estimate, t95, zippedName } from '../charts/sweep.js';
import { combinationName, isTask, shortKeys } from '../charts/sweep-names.js';
import { tickText } from '../charts/tick-text.js';
import { listed } from './words.js';

const MOST = 6; // sentences
const FEW = 3; // seeds: their intervals are wide

const QUANTITIES = { slowdown: 'slowdown', fct: 'flow completion time' };
const HIGHER = /goodput|throughput|jain|utilisation|delivered|carried|reached/;

// "p99 slowdown"; a less usual metric has its own name.
export function metricWords(name) {
  const found = /^(slowdown|fct)\.(\w+)\.(p[\d.]+|mean|max)$/.exec(name);
  if (!found)
    return name;
  const [, quantity, sizes, which] = found;
  return `${which === 'max' ? 'largest' : which} ${QUANTITIES[quantity]}${sizes === 'all' ? ''
    : ` of flows of ${sizes.replaceAll('_', ' ')}`}`;
}

// "4.1 ± 0.3 ms", with one prefix; without a spread only the mean.
export function withSpread({ mean, half }, unit) {
  if (!(half > 0) || half === Infinity)
    return format.value(mean, unit);
  const three = Number(mean.toPrecision(3)), two = Number(half.toPrecision(2));
  const write = tickText([three], unit);
  return `${write(three).replace(/\u202f.*$/, '')} ± ${write(two)}`;
}

const overlap = (a, b) => Math.abs(a.mean - b.mean) <= a.half + b.half;

function seedsText(list) {
  const counts = list.map(({ count }) => count);
  const [least, most] = [Math.min(...counts), Math.max(...counts)];
  return least === most ? `${most} seeds` : `${least} to ${most} seeds`;
}

// True if one seed is enough: the fluid model has no randomness.
const isExact = ({ parameters = [], axes }) => !axes.some(({ key }) => key === 'model')
  && parameters.some(([key, value]) => key === 'model' && value === 'fluid');

/*
 * The axes on which all of `tied` have one value, if all with these values are among them: {same,
 * free}, or null.
 */
function common(sweep, choices, tied, all) {
  const at = (i, { k }) => sweep.combinations[i][k];
  const same = choices.filter((i) => tied.every((one) => at(i, one) === at(i, tied[0])));
  const alike = all.filter((one) => same.every((i) => at(i, one) === at(i, tied[0])));
  return same.length > 0 && alike.length === tied.length
    ? { same, free: choices.filter((i) => !same.includes(i)) } : null;
}

// The sentence on the combinations `all` of one task, the best first. `seeds`: true if they can
// decide.
function sentence(sweep, metric, { all, choices, at, name }, seeds) {
  const what = metricWords(metric.name), [best] = all;
  const word = HIGHER.test(metric.name) ? 'highest' : 'lowest';
  const text = (one) => withSpread(one, metric.unit), after = seeds ? `, ${seedsText(all)}` : '';
  const tied = all.filter((one) => overlap(best, one)), worst = tied[tied.length - 1];
  const next = all.find((one) => !overlap(best, one));
  const range = () => `${text(best)} (${name(best)}) to ${text(worst)} (${name(worst)})`;
  if (best.mean === all[all.length - 1].mean)
    return `All have the same ${what}${at}: ${text(best)}`;
  if (!next && seeds && all.some(({ count }) => count <= FEW))
    return `${seedsText(all)} cannot tell which has the ${word} ${what}${at}: ${range()}`;
  if (!next)
    return `Which has the ${word} ${what}${at} is open, as 95\u202f% intervals overlap: ${
      range()}${after}`;
  const against = `against ${text(next)} for the next (${name(next)})${after}`;
  if (tied.length === 1)
    return `${name(best)} has the ${word} ${what}${at}: ${text(best)} ${against}`;
  const shared = sweep.zipped ? null : common(sweep, choices, tied, all);
  if (!shared && seeds) { // some that overlap the best may be worse than some that do not
    const others = tied.length === 2 ? 'one more has an interval that overlaps it'
      : `${tied.length - 1} more have intervals that overlap it`;
    return `${name(best)} has the ${word} ${what}${at}: ${text(best)}; ${others}, so it is open${
      after}`;
  }
  if (!shared)
    return `${tied.length} combinations have the ${word} ${what}${at}: ${range()}, ${against}`;
  const values = text(best) === text(worst) ? text(best) : `${text(best)} to ${text(worst)}`;
  return `${combinationName(sweep, best.k, shared.same)} has the ${word} ${what}${at}, whatever ${
    listed(shared.free.map((i) => shortKeys(sweep.axes)[i]))}: ${values} ${against}`;
}

// The tasks of a sweep, in order: [{at, all, choices, name}].
function tasks(sweep, metric, seeds) {
  const varied = sweep.axes.map((_, i) => i).filter((i) => sweep.axes[i].values.length > 1);
  const chosen = varied.filter((i) => !isTask(sweep.axes[i]));
  const choices = sweep.zipped || chosen.length === 0 ? varied : chosen;
  const given = varied.filter((i) => !choices.includes(i));
  const sign = HIGHER.test(metric.name) ? -1 : 1;
  const groups = new Map();
  sweep.done.forEach((_, k) => {
    const known = estimate(sweep, metric, k, 'interval');
    if (!known)
      return;
    const at = given.length > 0 ? ` at ${combinationName(sweep, k, given)}` : '';
    // Beside others with a spread, a single value does not count.
    const half = known.count > 1 || !seeds ? known.high - known.mean : Infinity;
    groups.set(at, [...(groups.get(at) ?? []), { ...known, k, half }]);
  });
  const name = ({ k }) => (sweep.zipped ? zippedName(sweep, sweep.combinations[0][k])
    : combinationName(sweep, k, choices));
  return [...groups].map(([at, all]) => ({ at, choices, name,
    all: all.sort((a, b) => sign * (a.mean - b.mean) || a.k - b.k) }))
    .filter(({ all }) => all.length > 1);
}

// Sentences on the metric of this number; none if there is nothing to compare.
export function sweepStory(sweep, number) {
  const metric = sweep.metrics[number];
  if (!metric)
    return [];
  // True if a combination has several seeds, which show randomness. The fluid model has none.
  const seeds = !isExact(sweep) && sweep.done.some((_, k) =>
    estimate(sweep, metric, k, 'none')?.count > 1);
  const found = tasks(sweep, metric, seeds), all = found.flatMap((task) => task.all);
  if (all.length === 0)
    return [];
  const list = found.slice(0, MOST).map((task) => `${sentence(sweep, metric, task, seeds)}.`);
  if (found.length > MOST)
    list.push(`And so on for ${found.length - MOST} more; the table has all.`);
  const few = Math.min(...all.map(({ count }) => count).filter((count) => count > 1));
  if (!seeds && !isExact(sweep))
    list.unshift('One seed cannot tell what is chance; --repeat 5 can.');
  else if (all.some(({ half }) => half > 0 && half < Infinity))
    list.push(`± is the 95 % interval of the mean${few <= FEW ? `: with ${few} seeds ${
      format.digits(t95(few - 1) / Math.sqrt(few), 2)} standard deviations, with 5 only 1.2 `
      + '(--repeat 5)' : ''}.`);
  return list;
}
