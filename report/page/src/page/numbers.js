// SPDX-License-Identifier: Apache-2.0
// All numbers of runs side by side. With several runs, each is beside its ratio to the first, the
// base.
import { isEnough } from '../charts/percentiles.js';
import { schemeOf } from '../charts/run-names.js';
import * as format from '../format.js';
import { h, scroller, table } from './dom.js';
import { steady } from './steady.js';

// A metric of a run as text.
export const metric = (name) => Object.assign((run) =>
  format.value(...(run.metrics[name] ?? [NaN, ''])), { of: name });
export const numberOf = (run, name) => (run.metrics[name] ?? [0])[0];
const cause = (name, text) => ['Loss and recovery', `timeouts: ${text}`,
  metric(`timeouts.${name}`), (run) => numberOf(run, `timeouts.${name}`) > 0];
const PERCENTILES = [50, 90, 99, 99.9];

// A percentile of all flows as text; null if there are too few.
export const percentile = (name, p) => Object.assign((run) =>
  (isEnough(p, numberOf(run, 'flows.delivered')) ? metric(`${name}.all.p${p}`)(run) : null),
{ of: `${name}.all.p${p}` });

const percentiles = (group, name) => [...PERCENTILES.map((p) =>
  [group, `p${p}`, percentile(name, p)]), [group, 'largest', metric(`${name}.all.max`)]];
// A clock starts all flows: the network's throughput is its load until arrivals stop. A rate over
// the whole run would depend on the last flow to end.
export const isLoad = (run) => numberOf(run, 'load.alone') === 1;
const hasLoad = (run) => run.metrics['load.offered'] !== undefined;
// The balance of a layer of switches over its uplinks.
const uplinks = (where, switches) => ['Congestion', `busiest uplink over the mean, of ${switches}`,
  metric(`imbalance.${where}`), (run) => `imbalance.${where}` in run.metrics];
// Rows of the table: [group, name, value of a run as text or null, true if some run has a value].
const ROWS = [
  ['Flows', 'started', metric('flows.started')],
  ['Flows', 'delivered', metric('flows.delivered')],
  ['Flows', 'unfinished at the end', metric('flows.unfinished')],
  ['Flows', 'failed', metric('flows.failed')],
  ['Flows', 'left out: began in warm-up', metric('flows.in_warmup')],
  ...percentiles('Slowdown', 'slowdown'),
  ...percentiles('Flow completion time', 'fct'),
  ['Load until arrivals stop', 'offered', metric('load.offered'), hasLoad],
  ['Load until arrivals stop', 'delivered', metric('load.delivered'), hasLoad],
  ['Load until arrivals stop', 'share', (run) => (hasLoad(run)
    ? format.percent(numberOf(run, 'load.delivered_share')) : '–'), hasLoad],
  ['Load until arrivals stop', 'all delivered, after that', metric('load.drain'), (run) =>
    run.metrics['load.drain'] !== undefined],
  ['Goodput', 'all hosts', metric('goodput'), (run) => !isLoad(run)],
  ['Goodput', 'Jain\u2019s index of flows', (run) => (run.info.flows_compete
    ? metric('jain')(run) : '–'), (run) => run.info.flows_compete === 'yes'],
  ['Loss and recovery', 'data packets sent again', metric('retransmitted_packets')],
  ['Loss and recovery', 'ACK timeouts', metric('timeouts')],
  cause('last_packet', 'the last packet was lost'),
  cause('last_ack', 'the last ACK was lost'),
  cause('nak_lost', 'the NAK was lost'),
  cause('lost_twice', 'the same packet was lost twice'),
  cause('nak_held', 'the NAK waited for its interval'),
  cause('other', 'the answer was on its way'),
  ['Loss and recovery', 'NAKs', metric('naks')],
  ['Loss and recovery', 'dropped by switches', metric('drops')],
  ['Loss and recovery', 'dropped by slow receivers', metric('receive_buffer.drops'), (run) =>
    numberOf(run, 'receive_buffer.drops') > 0],
  ['Loss and recovery', 'lost on links', metric('lost')],
  ['Congestion', 'packets marked CE', metric('marks')],
  ['Congestion', 'CNPs', metric('cnps')],
  uplinks('tor_up', 'ToRs'),
  uplinks('aggregation_up', 'aggregation switches'),
  ['PAUSE', 'frames sent', metric('pauses')],
  ['PAUSE', 'frames that hosts sent', metric('pauses.host'), (run) =>
    numberOf(run, 'pauses.host') > 0],
  ['PAUSE', 'ports held, sum', metric('pause_time')],
  ['PAUSE', 'host ports held, sum', metric('pause_time.host')],
  ['PAUSE', 'most that one port was held', metric('pause_time.max')],
  ['PAUSE', 'ports where PAUSEs began', metric('pause_roots')],
  ['PAUSE', 'victims of congestion elsewhere', metric('victims')],
  ['The run', 'congestion control', schemeOf],
  ['The run', 'recovery', (run) => run.info.recovery],
  ['The run', 'simulated time', metric('simulated_time')],
  ['The run', 'of which measured', metric('measured_time')],
  ['The run', 'until stable, 95 % interval', steady, (run) => steady(run) !== null],
  ['The run', 'packet-hops', metric('packet_hops')],
];

const ALIKE = 0.05; // a ratio so near 1 is not shown

// A run's metric relative to the base's, "×41"; '' if that has no meaning.
export function ratioToBase(run, base, name) {
  const [value, of] = [run, base].map((one) => one.metrics[name]?.[0]);
  const times = value / of;
  if (run === base || !(value > 0) || !(of > 0) || Math.abs(times - 1) < ALIKE)
    return '';
  return `×${format.digits(times, times < 10 ? 2 : 3)}`;
}

const isNothing = (text) => text === null || /^(0\D*|–)$/.test(text);

// A small table for each group of rows. Rows without a value in any run are named below it.
export function comparison(runs) {
  const groups = [...new Set(ROWS.map(([group]) => group))];
  const [base] = runs;
  const wide = runs.length > 3; // without ratios, for which there is no room
  const isKnown = (text) => text !== null && text !== '–';
  const withRatio = (value, run) => {
    const text = value(run), isOf = !wide && value.of && isKnown(text) && isKnown(value(base));
    const ratio = isOf && ratioToBase(run, base, value.of);
    return ratio ? [h('span', { class: 'ratio' }, ratio), text] : text ?? '–';
  };
  const cells = ([, name, value]) => [name, ...runs.map((run) => withRatio(value, run))];
  const isShown = ([, , , has]) => !has || runs.some(has);
  const columns = (group) => [group, ...runs.map(({ label }) => (runs.length < 2 ? ''
    : !wide && label === base.label ? `${label} (base)` : label))];
  const element = (group) => {
    const all = ROWS.filter((row) => row[0] === group && isShown(row));
    const empty = all.filter(([, , value]) => runs.every((run) => isNothing(value(run))));
    const rows = all.filter((row) => !empty.includes(row));
    const zero = empty.filter(([, , value]) => value(base) !== null && value(base) !== '–');
    const none = empty.filter((row) => !zero.includes(row));
    const names = (list) => list.map(([, name]) => name).join(', ');
    return h('div', {},
      rows.length > 0 ? scroller(group, table({ className: 'numbers', columns: columns(group),
        rows: rows.map(cells) })) : h('h3', {}, group),
      zero.length > 0 && h('p', { class: 'caption' }, `None: ${names(zero)}.`),
      none.length > 0 && h('p', { class: 'caption' }, `Without a value: ${names(none)}.`));
  };
  // A load has no goodput, and a goodput no load.
  const shown = groups.filter((group) => ROWS.some((row) => row[0] === group && isShown(row)));
  return h('div', {}, runs.length > 1 && !wide && h('p', { class: 'caption numbers-about' },
    `×: how many times the value of ${base.label}, the base.`),
  h('div', { class: `groups${wide ? ' wide-groups' : runs.length > 1 ? ' pairs' : ''}` },
    shown.map(element)));
}
