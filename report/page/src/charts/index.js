// SPDX-License-Identifier: Apache-2.0
// All charts of a document, in the order in which they are shown.
import { runsCongestion, sweepCongestion } from './congestion.js';
import { distribution } from './distribution.js';
import { figureCharts } from './figure.js';
import { longestQueues, slowestFlows } from './found.js';
import { pauseTimeline } from './pauses.js';
import { queueDepth } from './queue.js';
import { ranks } from './ranks.js';
import { connections, goodput, pauseFrames, queueOverTime, throughput } from './series.js';
import { sharedScale } from './shared-scale.js';
import { sizes } from './sizes.js';
import { sweepChart, sweepDistribution } from './sweep.js';
import { sweepHeat } from './sweep-heat.js';
import { topology } from './topology.js';
import { deflectedWays } from './way.js';

// Charts that have data. Their ids begin with the document's.
const some = (id, list) => list.filter(Boolean).map((chart) =>
  ({ ...chart, id: chart.id === id ? id : `${id}-${chart.id}` }));

// Lists of charts.
export function runCharts(runs, grid, id) {
  const several = runs.length > 1, shared = sharedScale(runs);
  const delivered = runs.some((run) => run.flows.ranges.some((range) => range.delivered > 0));
  return {
    flows: delivered ? some(id, [
      distribution(runs, grid, 'fct', 'From a flow\u2019s start to the delivery of its last '
        + 'byte.'),
      distribution(runs, grid, 'slowdown', 'Completion time over that of the same flow alone in '
        + 'the network.'),
      sizes(runs),
    ]) : [],
    congestion: some(id, runsCongestion(runs)),
    all: some(id, [goodput(runs, shared), slowestFlows(runs, { shared })]),
    parts: some(id, runs.flatMap((run, i) => [throughput(run, i, several, shared),
      connections(run, i, several, shared)])),
    queues: some(id, [queueOverTime(runs, shared), queueDepth(runs, grid),
      longestQueues(runs, { shared })]),
    frames: some(id, [pauseFrames(runs, shared)]),
    held: some(id, runs.map((run, i) => pauseTimeline(run, i, several, shared))),
    ranks: some(id, runs.flatMap((run, i) => (run.jobs ?? []).map((job) =>
      ranks(run, i, job, several, shared)))),
    ways: some(id, runs.map((run, i) => deflectedWays(run, i, several))),
    links: some(id, runs.map((run, i) => topology(run, i, several))),
  };
}

export const congestionCharts = (sweep, id) => some(id, sweepCongestion(sweep));

export function sweepCharts(sweep, id) {
  return some(id, [sweepChart(sweep, 'metric', 'Metrics'), sweepHeat(sweep, 'heat'),
    sweepDistribution(sweep, 'distribution')]);
}

export function chartsOf(document, grid, id) {
  if (document.kind === 'runs')
    return Object.values(runCharts(document.runs, grid, id)).flat();
  if (document.kind === 'sweep')
    return [...sweepCharts(document, id), ...congestionCharts(document, id)];
  return [...figureCharts(document, id), ...sweepCharts(document, id),
    ...congestionCharts(document, id)];
}

// The name of a document in an address and in a file's name.
export function idOf(document) {
  const name = document.kind === 'runs' ? document.scenario
    : document.kind === 'figure' ? document.info.figure || document.file.replace(/^.*\//, '')
      : 'sweep';
  return String(name || document.kind).replace(/\.sqlite$/, '').toLowerCase()
    .replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '') || document.kind;
}

export function uniqueIds(documents) {
  const ids = [];
  for (const document of documents) {
    const wanted = idOf(document);
    let id = wanted;
    for (let n = 2; ids.includes(id); n++)
      id = `${wanted}-${n}`;
    ids.push(id);
  }
  return ids;
}

// The initial state of a chart.
export const firstState = (chart) =>
  Object.fromEntries((chart.controls ?? []).map(({ key, value }) => [key, value]));
