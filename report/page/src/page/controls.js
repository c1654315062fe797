// SPDX-License-Identifier: Apache-2.0
/*
 * The controls of a chart: few options are buttons, many are a list. A long list in groups can be
 * searched. `control`: {key, label, options: [[value, label, {group, words}], …]}.
 */
import { matches } from '../charts/metric-groups.js';
import { h } from './dom.js';

const MANY = 20; // a longer list can be searched

function buttons(name, { label, options }, now, set) {
  return h('fieldset', { class: 'choice' }, h('legend', {}, label),
    options.map(([value, text]) => h('label', {},
      h('input', { type: 'radio', name, value, checked: now === value,
        onchange: () => set(value) }), h('span', {}, text))));
}

function optionElements(options, now) {
  const element = ([value, text, about]) =>
    h('option', { value, selected: now === value, title: about?.words }, text);
  const groups = [...new Set(options.map(([, , about]) => about?.group))];
  return groups[0] === undefined ? options.map(element) : groups.map((group) =>
    h('optgroup', { label: group }, options.filter(([, , about]) => about?.group === group)
      .map(element)));
}

function list(name, { label, options }, now, set, search) {
  const select = h('select', { name, onchange: (event) => set(event.target.value) },
    optionElements(options, now));
  const whole = h('label', { class: 'select' }, h('span', {}, label), select);
  if (!search || options.length <= MANY)
    return whole;
  const count = h('span', { class: 'found', role: 'status' });
  const found = () => options.filter(([, text, about]) =>
    matches(search.text, text, about?.group ?? '', about?.words ?? ''));
  const filter = () => {
    const left = found();
    const shown = left.some(([value]) => value === now) ? [] // the chosen entry stays in the list
      : options.filter(([value]) => value === now).map(([value, text]) =>
        [value, text, { group: 'Shown now' }]);
    select.replaceChildren(...optionElements([...shown, ...left], now));
    count.textContent = search.text === '' ? `${options.length}`
      : `${left.length} of ${options.length}`;
  };
  const field = h('input', { type: 'search', name: `${name}-search`, value: search.text,
    placeholder: 'find', 'aria-label': `Find in ${label}`,
    oninput: () => {
      search.text = field.value;
      filter();
    },
    onkeydown: (event) => {
      if (event.key === 'Enter' && found().length > 0)
        set(found()[0][0]);
    } });
  filter();
  return h('div', { class: 'searched' }, field, whole, count);
}

// `searches`: the search text by the control's key. It is kept when controls are made again.
export function controlElement(name, control, now, set, searches) {
  return control.options.length <= 3 ? buttons(name, control, now, set)
    : list(name, control, now, set, control.search && (searches[control.key] ??= { text: '' }));
}
