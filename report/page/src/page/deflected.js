// SPDX-License-Identifier: Apache-2.0
// The flows that were deflected most often, as a table.
import * as format from '../format.js';
import { h, scroller, table } from './dom.js';

export function deflectedFlows(run, several) {
  const { listed, flows, deflections } = run.deflected ?? { listed: [] };
  if (listed.length === 0)
    return null;
  const title = `Deflected flows${several ? `: ${run.label}` : ''}`;
  const rows = listed.map((flow) => [`${flow.flow}: ${flow.src} → ${flow.dst}`,
    format.bytes(flow.bytes), format.grouped(flow.deflections),
    format.grouped(flow.taken.length), format.grouped(flow.ordinary.length),
    format.value(flow.took_s, 's'), format.value(flow.slowdown, 'ratio')]);
  return h('div', { class: 'forest' }, h('h3', {}, title),
    h('p', { class: 'caption' }, `${format.grouped(flows)} flows were sent another way, ${
      format.grouped(deflections)} times in all.${flows > listed.length
      ? ` The ${format.grouped(listed.length)} that were most often; all are in the tables `
      + 'deflections and paths of the results file.' : ''}`),
    scroller(title, table({ columns: ['flow', 'size', 'deflections', 'links', 'else', 'took',
      'slowdown'], rows })));
}
