// SPDX-License-Identifier: Apache-2.0
// The ports that had the longest queues, over time. Nobody has to name them: the run finds them.
import * as format from '../format.js';
import { overTime } from './series.js';

const NAME = 'longest_queue';
const most = ({ mean }) => mean.reduce((best, value) => Math.max(best, value ?? 0), 0);

// A run's series of them, the longest first.
const ofRun = (run) => run.series.filter(({ name, mean }) => name === NAME && mean.length > 0)
  .sort((a, b) => most(b) - most(a));

const ofOne = (run) => `run ${run}`; // no port has such a name

// `options`: what else overTime takes.
export function longestQueues(runs, options = {}) {
  const all = runs.map(ofRun), several = runs.length > 1;
  const ports = [...new Set(all.flat().sort((a, b) => most(b) - most(a))
    .map(({ entity }) => entity))];
  if (ports.length === 0)
    return null;
  const step = Math.max(...all.flat().map(({ step_s, width }) => step_s * width));
  // A port of every run that has it, or all ports of one run, or the longest of each.
  const lines = ({ port }) => {
    const one = several ? runs.findIndex((_, i) => port === ofOne(i)) : 0;
    if (one >= 0 && (several || port === 'longest'))
      return all[one].map((series, i) => ({ name: series.entity, i, series }));
    if (port !== 'longest')
      return runs.map((run, i) => ({ name: run.label, i,
        series: all[i].find(({ entity }) => entity === port) })).filter(({ series }) => series);
    return runs.flatMap((run, i) => all[i].slice(0, 1).map((series) =>
      ({ name: `${run.label}: ${series.entity}`, i, series })));
  };
  return overTime({
    ...options, id: 'longest-queues', lines, several,
    title: ports.length > 1 ? 'Longest queues over time' : `Longest queue over time: ${ports[0]}`,
    caption: 'The most bytes that waited at an egress port within each span of '
      + `${format.time(step)}. ${several ? 'Each run has the three ports'
        : 'These are the ports'} whose queues were longest, without those of measure.queues.`,
    controls: [{ key: 'port', label: 'Port', value: 'longest',
      options: [['longest', several ? 'longest of each run' : 'all'],
        ...(several ? runs.map((run, i) => [ofOne(i), `all of ${run.label}`])
          .filter((_, i) => all[i].length > 0) : []),
        ...(ports.length > 1 ? ports.map((port) => [port, port]) : [])] }],
    yName: () => 'longest queue',
  });
}
