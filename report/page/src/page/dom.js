// SPDX-License-Identifier: Apache-2.0
// Elements from code. Text is always text: no text of a file is read as HTML.

export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false)
      continue;
    if (key.startsWith('on'))
      element.addEventListener(key.slice(2), value);
    else if (key === 'style')
      Object.assign(element.style, value);
    else
      element.setAttribute(key, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false)
      element.append(child);
  return element;
}

const SVG = 'http://www.w3.org/2000/svg';

export function svg(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes))
    element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// A table; the first column names the row. `columns`: names, or {name, left} for text.
export function table({ columns, rows, caption, className }) {
  const head = columns.map((column) => (column.name === undefined ? { name: column } : column));
  return h('table', { class: className },
    caption && h('caption', {}, caption),
    h('thead', {}, h('tr', {}, head.map(({ name, left }) =>
      h('th', { scope: 'col', class: left ? 'left' : null }, name)))),
    h('tbody', {}, rows.map((row) => h('tr', {}, row.map((cell, i) =>
      h(i === 0 ? 'th' : 'td', { scope: i === 0 ? 'row' : null,
        class: head[i]?.left ? 'left' : null }, cell ?? ''))))));
}

// A wide element with its own scrolling, also by keyboard.
export function scroller(label, ...children) {
  return h('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label },
    ...children);
}

// A long table shows its first rows, and the rest on demand.
export function longTable({ rows, ...rest }, most = 200) {
  const shown = table({ ...rest, rows: rows.slice(0, most) });
  if (rows.length <= most)
    return shown;
  const more = h('button', { type: 'button', class: 'quiet', onclick: () => {
    const all = table({ ...rest, rows });
    shown.replaceWith(all);
    more.remove();
  } }, `Show all ${rows.length} rows`);
  return h('div', {}, shown, more);
}
