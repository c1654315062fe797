// SPDX-License-Identifier: Apache-2.0
// Which flows waited: how many arrived, their slowdown, and the sizes that were slowed most.
import * as format from '../format.js';
import { against, byRun, metric, ofAll, some } from './words.js';

const [P50, P99] = [0, 2]; // of a range's list of percentiles
const ENOUGH = 5; // flows of a size for a meaningful value
const TAIL = 100; // flows for a 99th percentile
const ALIKE = 0.01; // share of the flows: accepted difference of missing flows

const whole = (run) => run.flows.ranges.find(({ from, to }) => from === 0 && to === null);

// Completion times replace slowdowns if the time alone is not known.
export function quantityOf(runs) {
  const known = (name) => runs.every((run) => Number.isFinite(whole(run)?.[name]?.[P99]));
  return known('slowdown') ? 'slowdown' : known('fct') ? 'fct' : null;
}

const times = (value, quantity) => (quantity === 'slowdown' ? `${format.digits(value)} times`
  : format.time(value));
const text = (value, quantity) => times(value, quantity)
  + (quantity === 'slowdown' ? ' as long as alone' : '');

// The size of flows that was slowed most, if flows have several.
function worstSize(run, quantity) {
  const sizes = run.flows.ranges.filter((range) => range !== whole(run)
    && range.delivered >= ENOUGH && Number.isFinite(range[quantity][P99]));
  if (sizes.length < 2 || quantity !== 'slowdown')
    return null;
  return sizes.reduce((worst, range) => (range.slowdown[P99] > worst.slowdown[P99] ? range
    : worst));
}

function arrived(run) {
  const range = whole(run), late = metric(run, 'flows.unfinished'), failed = range?.failed ?? 0;
  const left = [late > 0 && `${format.grouped(late)} had not arrived at the end`,
    failed > 0 && `${format.grouped(failed)} failed`].filter(Boolean).join(', ');
  if (!range || range.started === 0)
    return 'no flow began within the measured time';
  if (range.delivered === 0)
    return `none of ${some(range.started, 'flow')} arrived`;
  if (range.started === 1)
    return 'the only flow arrived';
  return left === '' ? `all ${some(range.started, 'flow')} arrived`
    : `${format.grouped(range.delivered)} of ${some(range.started, 'flow')} arrived (${left})`;
}

// Bytes also arrived of flows that did not arrive completely, or have no end.
function without(run) {
  const rate = metric(run, 'goodput');
  return arrived(run) + (rate > 0 ? `; all hosts together received ${format.rate(rate)}` : '');
}

function spread(range, quantity) {
  const [middle, tail] = [range[quantity][P50], range[quantity][P99]];
  if (range.delivered === 1)
    return `it took ${text(middle, quantity)}`;
  // The others may still take any time.
  const [each, typical] = range.delivered < range.started
    ? ['each of these', 'the typical one of these'] : ['each', 'the typical one'];
  return tail / middle < 1.05 ? `${each} took about ${text(middle, quantity)}`
    : `${typical} took ${text(middle, quantity)}, the slowest ${range.delivered < TAIL ? ''
      : 'in a hundred '}${times(tail, quantity)}`;
}

function one(run) {
  const quantity = quantityOf([run]);
  if (!quantity)
    return without(run);
  const size = worstSize(run, quantity);
  const named = size && format.sizes(size.from, size.to).replace(/^below/, 'less than')
    .replace(/ and more$/, ' or more');
  return `${arrived(run)}: ${spread(whole(run), quantity)}${size
    ? `; those of ${named} were slowed most (${size.delivered < TAIL ? 'the slowest' : 'p99'} ${
      format.digits(size.slowdown[P99])})` : ''}`;
}

// The part of a run's flows that did not arrive.
function missing(run) {
  const { started, delivered } = whole(run);
  return started > 0 ? 1 - delivered / started : 0;
}

// The basis of a comparison of tails.
function oneSeed(runs) {
  const seeds = new Set(runs.map((run) => run.info?.seed));
  return seeds.size === 1 && !seeds.has(undefined) ? ' (of one seed)' : '';
}

// Where a clock starts all flows: the delivered part of the load while flows arrived. A rate over
// the whole run would depend on the last flow to end.
function load(run) {
  const share = metric(run, 'load.delivered_share'), drain = metric(run, 'load.drain');
  return `until arrivals stopped, ${format.percent(share)} of the offered ${
    format.rate(metric(run, 'load.offered'))} was delivered${
    drain > 0 ? `; the last flow ended ${format.time(drain)} later` : ''}`;
}

const loads = (runs) => (runs.every((run) => metric(run, 'load.alone') === 1)
  ? byRun(runs, load) : []);

// Times are of flows that arrived. Missing flows are reported first. If one run misses more than
// another, the times are of different flows and are not compared.
function several(runs) {
  const quantity = quantityOf(runs);
  if (!quantity)
    return byRun(runs, without);
  const parts = runs.map(missing), most = Math.max(...parts);
  if (most - Math.min(...parts) > ALIKE)
    return [...byRun(runs, arrived), ...ofAll('The runs\u2019 times are not compared: they are of '
      + 'different flows')];
  const ofThese = most > ALIKE ? 'Of the flows that arrived, the slow ones' : 'The slow flows';
  const tail = (run) => whole(run)[quantity][P99];
  const sorted = [...runs].sort((a, b) => tail(a) - tail(b));
  const [best, worst] = [sorted[0], sorted[sorted.length - 1]];
  const value = (run) => format.value(tail(run), quantity === 'slowdown' ? 'ratio' : 's');
  const ratio = against(tail(worst), tail(best));
  const isTail = runs.every((run) => whole(run).delivered >= TAIL);
  const name = `the ${isTail ? '99th percentile of the' : 'largest'} ${quantity === 'slowdown'
    ? 'slowdown' : 'completion time'}`;
  const found = ratio === 'about the same'
    ? `${ofThese} waited alike: ${name} is ${value(best)} with ${best.label}, ${
      value(worst)} with ${worst.label}` : `${ofThese} waited least with ${best.label} and `
      + `longest with ${worst.label}: ${name} is ${value(best)} against ${value(worst)}, ${ratio}${
        oneSeed(runs)}`;
  const isAlike = runs.every((run) => arrived(run) === arrived(runs[0]));
  const came = isAlike && most <= ALIKE ? [] : byRun(runs, arrived);
  return most > ALIKE ? [...came, ...ofAll(found)] : [...ofAll(found), ...came];
}

export const who = (runs) => [...(runs.length === 1 ? ofAll(one(runs[0])) : several(runs)),
  ...loads(runs)];
