// SPDX-License-Identifier: Apache-2.0
// The effects of PAUSEs: where they began and which ports they held, the victim flows, a deadlock.
import { schemeOf } from '../charts/run-names.js';
import * as format from '../format.js';
import { h, scroller, table } from './dom.js';
import { telling } from './telling.js';

const of = (run, several) => (several ? `: ${run.label}` : '');

// Nodes in reading order: those held longest first, each before its branches.
function inOrder(tree, parent = null) {
  return tree.filter((node) => node.parent === parent)
    .sort((a, b) => b.held_s - a.held_s || a.id - b.id)
    .flatMap((node) => [node, ...inOrder(tree, node.id)]);
}

function depths(tree) {
  const depth = new Map();
  for (const { id, parent } of tree) // parents come first
    depth.set(id, parent === null ? 0 : depth.get(parent) + 1);
  return depth;
}

function nameOf(node, shown) {
  const hidden = node.branches - shown;
  const about = [
    node.parent === null && node.senders > 0
      && `${format.grouped(node.senders)} sender${node.senders === 1 ? '' : 's'}`,
    node.class > 0 && `class ${node.class}`,
    node.returns && 'waits for itself',
    hidden > 0 && `${format.grouped(hidden)} more below it`,
  ].filter(Boolean);
  return [node.port ?? 'elsewhere', about.length > 0
    && h('span', { class: 'about' }, ` ${about.join(', ')}`)];
}

const moment = (node, key) => (node.held_s > 0 ? format.time(node[key]) : '–');

export function pauseForest(run, several) {
  const { tree, nodes } = run.pauses;
  if (tree.length === 0)
    return null;
  const depth = depths(tree);
  const rows = inOrder(tree).map((node) => [
    h('span', { class: node.parent === null ? 'root' : null,
      style: { paddingLeft: `${depth.get(node.id) * 1.2}em` } },
    nameOf(node, tree.filter(({ parent }) => parent === node.id).length)),
    format.grouped(node.pauses), format.time(node.held_s), moment(node, 'first_s'),
    moment(node, 'last_s')]);
  const title = `Where PAUSEs began${of(run, several)}`;
  return h('div', { class: 'forest' }, h('h3', {}, title),
    h('p', { class: 'caption' }, 'A queue that filled though nothing held its port; below it the '
      + 'ports that were held because of it, and below each of these those that were held because '
      + `of that.${nodes > tree.length ? ` The ${format.grouped(tree.length)} of `
      + `${format.grouped(nodes)} that were held longest.` : ''}`),
    scroller(title, table({ columns: [{ name: 'port', left: true }, 'PAUSEs', 'held, sum', 'from',
      'until'], rows })));
}

export function victims(run, several) {
  const { flows, victims: count } = run.pauses;
  if (run.pauses.tree.length === 0)
    return null;
  const title = `Flows hurt by congestion elsewhere${of(run, several)}`;
  if (flows.length === 0)
    return h('div', { class: 'forest' }, h('h3', {}, title), h('p', { class: 'without' },
      'None: whatever held a flow began on its own way.'));
  const rows = flows.map((flow) => [`${flow.src} → ${flow.dst}`, format.bytes(flow.bytes),
    format.time(flow.life_s), format.time(flow.held_s), format.time(flow.lost_s),
    format.percent(flow.lost_s / flow.life_s), flow.root, flow.victim ? 'yes' : 'no']);
  const { note, ...shown } = telling({ rows, columns: ['flow', 'size', 'took', 'held', 'lost',
    'share', { name: 'for congestion at', left: true }, 'victim'] });
  return h('div', { class: 'forest' }, h('h3', {}, title),
    h('p', { class: 'caption' }, 'Time that a flow lost because ports on its way were held for a '
      + `hot spot that is not. ${format.grouped(count)} ${count === 1 ? 'flow is a victim'
        : 'flows are victims'}, by measure.victim_share.${
        flows.length < count ? ` The ${flows.length} worst off.` : ''}`),
    scroller(title, table(shown)), note && h('p', { class: 'caption' }, note));
}

// A deadlock, flows that cannot arrive, and parameters that do not fit come first.
export function stop(run, several) {
  const { info } = run, { deadlock } = run.pauses;
  const label = several ? `${run.label}: ` : '';
  const when = (key) => format.time(Number(info[key]) / 1e12);
  return [
    deadlock.length > 0 && h('p', { class: 'stop' },
      h('b', {}, several ? `${run.label}: deadlock` : 'Deadlock'),
      ` since ${when('deadlock_since_ps')}. These ports wait for each other, for ever: `,
      h('code', {}, info.deadlock), `. The run ended at ${when('deadlock_noticed_ps')}.`),
    info.stalled && h('p', { class: 'stop' },
      h('b', {}, several ? `${run.label}: stalled` : 'Stalled'), `: ${info.stalled}.`),
    info.unfinished && h('p', { class: 'stop' },
      h('b', {}, several ? `${run.label}: not finished` : 'Not finished'), `: ${info.unfinished}.`),
    info.status === 'interrupted' && h('p', { class: 'stop mild' },
      `${label}interrupted: the numbers are of what was run until then.`),
    info.flows_without_a_way && h('p', { class: 'stop' }, `${label}${info.flows_without_a_way}.`),
    deadlock.length === 0 && info.cyclic_buffer_dependency && h('p', { class: 'stop mild' },
      `${label}the routes allow a cyclic buffer dependency: `,
      h('code', {}, info.cyclic_buffer_dependency), '.'),
    info.congestion_control_remark && h('p', { class: 'stop mild' },
      `${label}${schemeOf(run)}: ${info.congestion_control_remark}.`),
    info.headroom_remark && h('p', { class: 'stop mild' }, `${label}${info.headroom_remark}.`),
  ];
}
