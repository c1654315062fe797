// SPDX-License-Identifier: Apache-2.0
// Why: where flows met, and what stopped or slowed them there: a deadlock, PAUSEs, losses, marks.
import * as format from '../format.js';
import { LITTLE, places, total } from './where.js';
import { byRun, listed, metric, ofAll, some } from './words.js';

const MUCH = 0.4; // share of the waiting where flows meet in one way: above it, that is the reason

const MEETINGS = [
  [['host_nic'], 'flows of one sender shared its link'],
  [['tor_up', 'aggregation_up'], 'flows met on the same links upwards'],
  [['core_down', 'aggregation_down'], 'flows met on the same links downwards'],
  [['switch_to_switch'], 'flows met between switches'],
  [['tor_to_host'], 'several senders shared a receiver\u2019s link'],
];

// Where PAUSEs began, the longest held first.
const begun = (run) => (run.pauses?.tree ?? []).filter(({ parent, port }) =>
  parent === null && port).sort((a, b) => b.held_s - a.held_s);

// Where ports were held, packets wait far from the cause, so the cause is named.
function meeting(run) {
  if (total(run) < LITTLE || begun(run).length > 0)
    return null;
  const [first] = MEETINGS.map(([among, text]) => ({ text, share: places(run)
    .reduce((sum, { place, share }) => sum + (among.includes(place) ? share : 0), 0) }))
    .sort((a, b) => b.share - a.share);
  return first.share >= MUCH ? first.text : null;
}

function roots(run) {
  // A port may be the root of a tree for each of its classes, but counts as one port.
  const [first, ...others] = begun(run);
  const more = new Set(others.map(({ port }) => port).filter((port) => port !== first.port)).size;
  if (!first)
    return '';
  const senders = first.senders > 0 ? ` (${some(first.senders, 'sender')})` : '';
  return `, begun at ${first.port}${senders}${more > 0 ? ` and ${some(more, 'other port')}` : ''}`;
}

// Hosts that sent PAUSEs themselves: they are why other ports had to.
function byHosts(run) {
  const [first, ...others] = run.pauses?.hosts ?? [];
  if (!first)
    return null;
  const more = others.length > 0 ? `; ${some(others.length, 'other host')} sent PAUSEs too` : '';
  return `${first.slow ? 'the slow receiver' : 'in a storm,'} ${first.host} sent ${
    some(first.pauses, 'PAUSE frame')} and held ${first.port || 'its switch\u2019s port'} for ${
    format.time(first.held_s)}${more}`;
}

const SWITCHES = ['tor', 'aggregation', 'core'];

function paused(run) {
  const all = metric(run, 'pauses'), victims = run.pauses?.victims ?? 0, hosts = byHosts(run);
  if (all === 0 && !hosts)
    return null;
  const hurt = victims > 0
    ? `, and slowed ${some(victims, 'flow')} by congestion that is not on their way` : '';
  const frames = hosts ? all - metric(run, 'pauses.host') : all;
  if (frames === 0)
    return `no switch stopped a sender, but ${hosts}${hurt}`;
  const held = !hosts ? metric(run, 'pause_time')
    : SWITCHES.reduce((sum, tier) => sum + metric(run, `held_upstream.${tier}`), 0);
  const done = run.metrics['pause_time.host']?.[0] === 0 ? 'PFC held switches'
    : 'PFC stopped senders';
  return `${hosts ? `${hosts}; ` : ''}${done}: ${some(frames, 'PAUSE frame')}${
    hosts ? ' of switches' : ''} held ports for ${format.time(held)} in all${roots(run)}${hurt}`;
}

const REASONS = { buffer: 'no room in a buffer', ttl: 'too many hops', no_route: 'no route',
  link_down: 'a link that was down', mechanism: 'by the switch\u2019s mechanism' };

// Why switches dropped most packets, if that is known.
function reason(run) {
  const [first] = Object.keys(REASONS)
    .map((name) => ({ name, count: metric(run, `drops.${name}`) }))
    .sort((a, b) => b.count - a.count);
  return first.count > 0 ? ` (${first.count < metric(run, 'drops') ? 'mostly ' : ''}${
    REASONS[first.name]})` : '';
}

function lost(run) {
  const [dropped, onLinks] = [metric(run, 'drops'), metric(run, 'lost')];
  const byHosts = metric(run, 'receive_buffer.drops'), rejected = metric(run, 'rejected_packets');
  const parts = [dropped > 0 && `${some(dropped, 'packet')} dropped by switches${reason(run)}`,
    byHosts > 0 && `${some(byHosts, 'packet')} dropped by slow receivers`,
    onLinks > 0 && `${some(onLinks, 'packet')} lost on links`,
    rejected > 0 && `${some(rejected, 'packet')} rejected by NICs`].filter(Boolean);
  const again = metric(run, 'retransmitted_packets'), timeouts = metric(run, 'timeouts');
  if (parts.length === 0 && again === 0)
    return null;
  const repeated = `${format.grouped(again)} sent again${timeouts > 0
    ? `, with ${some(timeouts, 'timeout')}` : ''}`;
  return parts.length > 0 ? `${listed(parts)}, ${repeated}`
    : `${some(again, 'packet')} sent again though none was lost${timeouts > 0
      ? `, with ${some(timeouts, 'timeout')}` : ''}`;
}

function marked(run) {
  const marks = metric(run, 'marks'), sent = metric(run, 'data_packets');
  const cnps = metric(run, 'cnps');
  if (marks === 0)
    return null;
  const share = sent > 0 && marks <= sent ? ` (${format.percent(marks / sent)} of the data)` : '';
  return `switches marked ${some(marks, 'packet')}${share}${cnps > 0
    ? `, and ${some(cnps, 'CNP')} slowed senders down` : ''}`;
}

// Without `said`, the meeting that was named already.
function of(run, said) {
  const { deadlock = [] } = run.pauses ?? {};
  if (deadlock.length > 0)
    return `${deadlock.length} ports wait for each other for ever (${deadlock[0]} …): a deadlock`;
  const found = meeting(run), met = found === said ? null : found;
  const done = [paused(run), lost(run), marked(run)].filter(Boolean);
  if (done.length === 0 && !found)
    return 'nothing was marked, paused or lost: the network had room for all';
  if (done.length === 0)
    done.push('nothing was marked, paused or lost');
  return [met, ...done].filter(Boolean).join('; ');
}

// Runs side by side: common facts first.
export function why(runs) {
  const [met, ...others] = [...new Set(runs.map(meeting))];
  if (runs.length === 1 || others.length > 0 || !met)
    return byRun(runs, (run) => of(run));
  return [...ofAll(met), ...byRun(runs, (run) => of(run, met))];
}
