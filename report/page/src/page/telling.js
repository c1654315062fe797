// SPDX-License-Identifier: Apache-2.0
// Tables without redundant columns, whose content becomes a sentence below.

const NOTHING = new Set(['', '–']);
const ROWS = 2; // a table of fewer says nothing twice

const nameOf = (column) => column.name ?? column;
const textOf = (cell) => (cell === null || cell === undefined ? '' : String(cell));
const isText = (cell) => typeof cell !== 'object' || cell === null; // or an element

/*
 * {columns, rows, note} of a table: leaves out columns, except the first, with the same text in all
 * of several rows. `keep`: names of columns that stay. The note has the text of those columns; ''
 * if there are none.
 */
export function telling({ columns, rows, ...rest }, keep = []) {
  const isSame = (i) => rows.every((row) => isText(row[i])
    && textOf(row[i]) === textOf(rows[0][i]));
  const isOne = columns.map((column, i) => i > 0 && rows.length >= ROWS
    && !keep.includes(nameOf(column)) && isSame(i));
  if (isOne.slice(1).every(Boolean) || !isOne.some(Boolean))
    return { columns, rows, ...rest, note: '' };
  const left = (_, i) => !isOne[i];
  const said = columns.map((column, i) => ({ name: nameOf(column), value: textOf(rows[0][i]) }))
    .filter((_, i) => isOne[i]);
  const without = said.filter(({ value }) => NOTHING.has(value)).map(({ name }) => name);
  const same = said.filter(({ value }) => !NOTHING.has(value))
    .map(({ name, value }) => `${name}: ${value}`);
  return { columns: columns.filter(left), rows: rows.map((row) => row.filter(left)), ...rest,
    note: [same.length > 0 && `The same in all rows: ${same.join(', ')}.`,
      without.length > 0 && `Without a value: ${without.join(', ')}.`].filter(Boolean).join(' ') };
}
