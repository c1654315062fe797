// SPDX-License-Identifier: Apache-2.0
// Series that a run chooses by itself and keeps over time: the ports with the longest queues, and
// the flows that lost the most time.
import * as format from '../format.js';
import { overTime } from './series.js';

const most = ({ mean }) => mean.reduce((best, value) => Math.max(best, value ?? 0), 0);
const ofOne = (run) => `run ${run}`; // no port has such a name

/*
 * A chart of these series for each run, the first one first: all of one run, the first one of each
 * of several, or one entity of every run that has it. `of(run)`: its series; `nameOf(series)`;
 * `first`: the name of the choice of the first ones; `entities`: true if one entity can be chosen.
 * `more`: further members for overTime.
 */
function found(runs, { of, nameOf, first, entities, ...more }) {
  const all = runs.map(of), several = runs.length > 1;
  const names = entities ? [...new Set(all.flat().sort((a, b) => most(b) - most(a)).map(nameOf))]
    : [];
  const lines = ({ which }) => {
    const one = several ? runs.findIndex((_, i) => which === ofOne(i)) : 0;
    if (one >= 0 && (several || which === 'first'))
      return all[one].map((series, i) => ({ name: nameOf(series), i, series }));
    if (which !== 'first')
      return runs.map((run, i) => ({ name: run.label, i,
        series: all[i].find((series) => nameOf(series) === which) }))
        .filter(({ series }) => series);
    return runs.flatMap((run, i) => all[i].slice(0, 1).map((series) =>
      ({ name: `${run.label}: ${nameOf(series)}`, i, series })));
  };
  return overTime({ ...more, lines, several,
    controls: [{ key: 'which', label: 'Show', value: 'first',
      options: [['first', several ? `${first} of each run` : 'all'],
        ...(several ? runs.map((run, i) => [ofOne(i), `all of ${run.label}`])
          .filter((_, i) => all[i].length > 0) : []),
        ...(names.length > 1 ? names.map((name) => [name, name]) : [])] }] });
}

const stepOf = (list) => format.time(Math.max(...list.map(({ step_s: step, width }) =>
  step * width)));

const ofName = (wanted) => (run) => run.series.filter(({ name, mean }) => name === wanted
  && mean.length > 0);

export function longestQueues(runs, options = {}) {
  const queues = ofName('longest_queue');
  const of = (run) => queues(run).sort((a, b) => most(b) - most(a));
  const list = runs.flatMap(of);
  if (list.length === 0)
    return null;
  const ports = new Set(list.map(({ entity }) => entity));
  return found(runs, {
    ...options, of, nameOf: ({ entity }) => entity, first: 'longest', entities: true,
    id: 'longest-queues', yName: () => 'longest queue',
    title: ports.size > 1 ? 'Longest queues over time'
      : `Longest queue over time: ${list[0].entity}`,
    caption: 'The most bytes that waited at an egress port within each span of '
      + `${stepOf(list)}. ${runs.length > 1 ? 'Each run has the three ports'
        : 'These are the ports'} whose queues were longest, without those of measure.queues.`,
  });
}

// "host3 → host5, 27.7 MB, slowdown 3.51 (flow 495)"
const flowName = ({ about, entity, bytes, slowdown }) => [about ?? entity,
  ...(bytes ? [format.bytes(bytes)] : []),
  slowdown ? `slowdown ${format.ratio(slowdown)}` : 'not over'].join(', ')
  + (about ? ` (${entity})` : '');

export function slowestFlows(runs, options = {}) {
  const of = ofName('slowest_goodput'), list = runs.flatMap(of);
  if (list.length === 0)
    return null;
  return found(runs, {
    ...options, of, nameOf: flowName, first: 'slowest', entities: false,
    id: 'slowest-flows', title: 'Slowest flows over time', yName: () => 'goodput',
    caption: `What the receivers of the flows got that lost the most time, in spans of ${
      stepOf(list)}: those that took longest beyond what they take alone in the network.`,
  });
}
