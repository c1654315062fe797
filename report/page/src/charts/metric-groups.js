// SPDX-License-Identifier: Apache-2.0
// Hundreds of metrics in a useful order: the usual ones first, then by subject, with numbers in
// names sorted as numbers. Also a search by words of a name, its subject or its meaning.

const FIRST = ['goodput', 'fct.all.p50', 'fct.all.p99', 'slowdown.all.p50', 'slowdown.all.p99',
  'jain', 'pauses', 'pause_time', 'marks', 'drops', 'retransmitted_packets', 'timeouts'];

const names = (...list) => new RegExp(`^(${list.join('|')})`);

const SUBJECTS = [
  ['Completion times', /^fct\./],
  ['Slowdowns', /^slowdown\./],
  ['Flows delivered', /^flows\./],
  ['Throughput and fairness', names('goodput', 'throughput', 'flow_goodput', 'host_goodput',
    'interval_goodput', 'jain', 'rate_gap', 'utilisation', 'delivered')],
  ['Convergence', /^convergence\./],
  ['Where congestion sits', /^(congestion|imbalance)\./],
  ['Queues', /^(queue|queued_bytes|data_packets\.queueing_time)/],
  ['Marks and CNPs', /^(marks|cnps|cc_packets|data_packets\.received\.marked)/],
  ['PAUSE', /^(pause|victims|held_upstream|deadlock)/],
  ['Loss and recovery', names('drops', 'lost', 'retransmitted', 'timeouts', 'naks', 'rnr_naks',
    'duplicate', 'out_of_order', 'corrupt', 'rejected', 'late_', 'receive_buffer')],
  ['Packets', /^(acks|data_|packets|ports)/],
  ['By workload', /^workload\./],
  ['By pair of hosts', /^pair\./],
  ['By flow', /^flow\./],
  ['Thresholds', /^thresholds\./],
];
const OTHERS = 'The run and others';

const byName = (a, b) => a.localeCompare(b, 'en', { numeric: true });

// [[subject, [name, …]], …] without empty ones; each name once.
export function grouped(list) {
  const first = FIRST.filter((name) => list.includes(name));
  const rest = list.filter((name) => !first.includes(name));
  const subjectOf = (name) => SUBJECTS.find(([, pattern]) => pattern.test(name))?.[0] ?? OTHERS;
  return [['Asked for most', first], ...[...SUBJECTS.map(([title]) => title), OTHERS]
    .map((title) => [title, rest.filter((name) => subjectOf(name) === title).sort(byName)])]
    .filter(([, found]) => found.length > 0);
}

// True if each word of `wanted` occurs in at least one of the texts.
export function matches(wanted, ...texts) {
  const all = texts.join(' ').toLowerCase();
  return wanted.toLowerCase().split(/\s+/).every((word) => all.includes(word));
}
