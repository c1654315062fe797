// SPDX-License-Identifier: Apache-2.0
// Runs that are the same, packet for packet: they have the same trace hash.
import { h } from './dom.js';

const NONE = /^0*$/;

// Groups of labels, each of two or more runs with one hash.
export function sameRuns(runs) {
  const groups = new Map();
  for (const { label, info } of runs) {
    const hash = info?.trace_hash ?? '';
    if (!NONE.test(hash))
      groups.set(hash, [...(groups.get(hash) ?? []), label]);
  }
  return [...groups.values()].filter((labels) => labels.length > 1);
}

export const sameText = (labels) => `${labels.slice(0, -1).join(', ')} and ${labels.at(-1)} gave `
  + 'the same run, packet for packet.';

export const sameNote = (runs) => sameRuns(runs).map((labels) =>
  h('p', { class: 'about same-runs' }, sameText(labels)));
