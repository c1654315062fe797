// SPDX-License-Identifier: Apache-2.0
// The origin of a document: scenario, parameters, version, command. The same for every kind.
import * as format from '../format.js';
import { h, scroller, table } from './dom.js';
import { parameterRows } from './parameters.js';

export function section(id, title, ...content) {
  return h('section', { id, 'aria-labelledby': `${id}-title` },
    h('h2', { id: `${id}-title` }, title), ...content);
}

// Name and value, one below the other.
export function facts(pairs) {
  return h('dl', { class: 'facts' }, pairs.filter(([, value]) => value !== undefined
    && value !== null && value !== '').map(([name, value]) =>
    h('div', {}, h('dt', {}, name), h('dd', {}, value))));
}

export function fold(title, content, open = false) {
  return h('details', { class: 'fold paper', open }, h('summary', {}, title), content);
}

function parameterTable(sources) {
  const body = h('div', {});
  const fill = (all) => {
    const rows = parameterRows(sources, all).map(({ key, values, from }) => {
      const same = values.every((value) => value === values[0]);
      return [h('code', {}, key), ...(same && values.length > 1
        ? [values[0], ...values.slice(1).map(() => h('span', { class: 'same' }, 'same'))]
        : values), from];
    });
    body.replaceChildren(scroller('Parameters', table({ className: 'words', rows,
      columns: [{ name: 'parameter', left: true },
        ...sources.map(({ label }) => ({ name: label ?? 'value', left: true })),
        { name: 'from', left: true }] })));
  };
  fill(false);
  return h('div', {},
    h('fieldset', { class: 'choice' }, h('legend', { class: 'visually-hidden' }, 'Parameters'),
      [[false, 'Given'], [true, 'All']].map(([all, label]) => h('label', {},
        h('input', { type: 'radio', name: `parameters-${section.count}`, checked: !all,
          onchange: () => fill(all) }), h('span', {}, label)))), body);
}
section.count = 0;

// sources: [{label, info, parameters, axes}], the last of a sweep.
export function origin(id, sources) {
  const [{ info }] = sources;
  section.count++;
  const commands = [...new Set(sources.map((source) => source.info.command).filter(Boolean))];
  const hashes = sources.filter((source) => source.info.trace_hash).map((source) =>
    (sources.length > 1 ? `${source.label} ${source.info.trace_hash}` : source.info.trace_hash));
  return section(`${id}-origin`, 'What made this',
    facts([
      ['Version', info.program],
      ['Command', commands.length > 0 && commands.map((command) => h('code', {}, command))],
      ['Scenario', info.scenario_file ?? info.scenario],
      ['Seed', info.seed],
      ['Repeats', info.repeats],
      ['Tolerances fixed by', info.tolerances_commit && h('code', {}, info.tolerances_commit)],
      ['Began', info.began], ['Ended', info.ended],
      ['Trace hash', hashes.join(', ')],
      ['Wall time', sources.every((source) => source.info.wall_s)
        && sources.map((source) => format.time(Number(source.info.wall_s))).join(', ')],
    ].filter(([, value]) => value)),
    info.scenario_text && fold('Scenario', scroller('Scenario',
      h('pre', {}, h('code', {}, info.scenario_text)))),
    sources.some(({ parameters }) => parameters?.length > 0)
      && fold('Effective parameters', parameterTable(sources)));
}
