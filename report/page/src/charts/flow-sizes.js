// SPDX-License-Identifier: Apache-2.0
// Ranges of flow sizes that are worth separating. If all flows are in one range, that range is all
// flows.

export const isAll = ({ from, to }) => from === 0 && to === null;

// The ranges of a run, and all sizes together if there are several.
export const rangesOf = (run) => {
  const { ranges } = run.flows, single = ranges.filter((range) => !isAll(range));
  return single.length === 1 ? single : ranges;
};

// True if the flows of all runs are in one range.
export function isOneSize(runs) {
  const keys = runs.flatMap(({ flows }) => flows.ranges.filter((range) => !isAll(range))
    .map(({ from, to }) => `${from}-${to}`));
  return new Set(keys).size < 2;
}
