// SPDX-License-Identifier: Apache-2.0
// Where packets waited: total time, the links with the most, and the port with the longest.
import * as format from '../format.js';
import { byRun, metric } from './words.js';

const WORDS = {
  host_nic: 'in the senders\u2019 NICs',
  tor_up: 'on the uplinks of the ToRs',
  aggregation_up: 'on the way up to the cores',
  core_down: 'on the way down from the cores',
  aggregation_down: 'on the way down to the ToRs',
  switch_to_switch: 'between switches',
  tor_to_host: 'on the last link to the receiver',
};

const MOST = 0.6; // share of the waiting: above it one place is named alone
const MANY = 0.1; // share of the packets: if failures lose more, a mean over all is misleading
export const LITTLE = 1e-6; // s: a packet with a shorter time hardly waits

export const total = (run) => (run.congestion ?? [])
  .reduce((sum, { queueing }) => sum + (queueing ?? 0), 0);

// Places in descending order of waiting, each with its share.
export function places(run) {
  const all = total(run);
  return (run.congestion ?? []).filter(({ queueing, place }) => queueing > 0 && WORDS[place])
    .map((row) => ({ ...row, share: row.queueing / all })).sort((a, b) => b.share - a.share);
}

const percent = (share) => `${Math.round(share * 100)} %`;

function ofPlaces([first, second]) {
  const name = ({ place }) => WORDS[place];
  if (first.share > 0.995)
    return `all of it ${name(first)}`;
  return first.share >= MOST || !second ? `${percent(first.share)} of it ${name(first)}`
    : `${percent(first.share)} of it ${name(first)}, ${percent(second.share)} ${name(second)}`;
}

// The longest queue there, and the port at which packets waited longest.
function detail({ worst_port: name, queueing_worst: mean, queue_max: most, queueing, share }) {
  const deep = share >= MOST && most > 0
    ? `, where the longest queue held ${format.bytes(most)}` : '';
  if (!name || !(mean > 0))
    return deep;
  return mean > 0.98 * queueing && share > 0.995 ? `, at ${name}${deep}`
    : `${deep}; longest at ${name}, ${format.time(mean)} in the mean`;
}

// The share of sent packets that a failure took. They hardly waited, which lowers the mean over
// all.
function cut(run) {
  const gone = ['drops.link_down', 'drops.no_route', 'lost.link_down']
    .reduce((sum, name) => sum + metric(run, name), 0);
  return Math.min(1, gone / Math.max(1, metric(run, 'data_packets')));
}

function one(run) {
  const list = places(run), all = total(run), gone = cut(run);
  if (list.length === 0)
    return busiest(run);
  if (gone > MANY)
    return `${percent(gone)} of the packets were lost to links that were down or for want of a `
      + `way; with these, which hardly waited, a packet waited ${format.time(all)} in the mean, ${
        ofPlaces(list)}${detail(list[0])}`;
  if (all < LITTLE)
    return `nowhere for long: ${format.time(all)} on a packet\u2019s whole way`;
  return `a packet waited ${format.time(all)} on its way, ${ofPlaces(list)}${detail(list[0])}`;
}

// For files without waiting times: the most used link.
function busiest(run) {
  const ends = (run.topology?.links ?? []).flatMap(({ ab, ba }) => [ab, ba]);
  if (ends.length === 0)
    return 'the results do not say where packets waited';
  const [, most, name] = ends.reduce((best, end) => (end[1] > best[1] ? end : best));
  return `the busiest link is that of ${name}, used at ${format.percent(most)}`;
}

export const where = (runs) => byRun(runs, one);
