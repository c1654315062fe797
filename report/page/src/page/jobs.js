// SPDX-License-Identifier: Apache-2.0
// The jobs of runs side by side: how long, how fast, who was last, and the times of phases.
import * as format from '../format.js';
import { h, scroller, table } from './dom.js';
import { ratioToBase } from './numbers.js';

const MOST_PHASES = 64;

// The numbers of all jobs of these runs.
const numbersOf = (runs) => [...new Set(runs.flatMap(({ jobs = [] }) =>
  jobs.map(({ job }) => job)))].sort((a, b) => a - b);

const jobOf = ({ jobs = [] }, number) => jobs.find(({ job }) => job === number);

// [name, metric of job N]
const METRICS = [
  ['time', 'time'], ['algorithm bandwidth', 'algorithm_bandwidth'],
  ['bus bandwidth', 'bus_bandwidth'], ['repetition, mean', 'repetition.mean'],
  ['repetition, longest', 'repetition.max'], ['last rank, after the median', 'straggler'],
  ['a rank waits, mean', 'exposed.mean'],
];

function metricRow(runs, number, [name, metric]) {
  const whole = `workload.${number}.${metric}`;
  if (!runs.some((run) => whole in run.metrics))
    return [];
  return [[name, ...runs.map((run) => {
    const ratio = runs.length < 4 ? ratioToBase(run, runs[0], whole) : '';
    const text = format.value(...(run.metrics[whole] ?? [NaN, '']));
    return ratio ? [h('span', { class: 'ratio' }, ratio), text] : text;
  })]];
}

// The names of all phases in the order of the first run that has them.
const phasesOf = (jobs) => [...new Set(jobs.flatMap((job) => (job?.phases ?? [])
  .map(({ name }) => name)))].slice(0, MOST_PHASES);

// The title of a job; with several runs, those that differ.
function titleOf(jobs, number) {
  const titles = [...new Set(jobs.filter(Boolean).map(({ title, ranks }) =>
    `${title}, ${format.grouped(ranks)} ranks`))];
  return `Job ${number}: ${titles.join('; ')}`;
}

function jobTable(runs, number) {
  const jobs = runs.map((run) => jobOf(run, number));
  const phase = (name) => [name, ...jobs.map((job) =>
    format.value(job?.phases.find((one) => one.name === name)?.mean_s, 's'))];
  const phases = phasesOf(jobs);
  const rows = [
    ...METRICS.flatMap((row) => metricRow(runs, number, row)),
    ['ranks that ended', ...jobs.map((job) => (job ? `${format.grouped(job.ended)} of ${
      format.grouped(job.ranks)}` : '–'))],
    ['rank that ended last', ...jobs.map((job) => (job?.last_rank ?? '–').toString())],
  ];
  const columns = (name) => [name, ...runs.map(({ label }) => (runs.length < 2 ? '' : label))];
  return h('div', {}, h('h3', {}, titleOf(jobs, number)),
    h('div', { class: `groups${runs.length > 1 ? ' wide-groups' : ''}` },
      scroller('Times', table({ className: 'numbers', columns: columns('Times'), rows })),
      phases.length > 0 && h('div', {},
        scroller('Phases', table({ className: 'numbers', columns: columns('Phase, mean'),
          rows: phases.map(phase) })),
        h('p', { class: 'caption' }, 'From the first message of a phase to its last one, over all '
          + 'ranks; phases overlap where some ranks are ahead.'))));
}

// Tables for each job; null if the runs have none.
export function jobTables(runs) {
  const numbers = numbersOf(runs);
  return numbers.length > 0 ? numbers.map((number) => jobTable(runs, number)) : null;
}
