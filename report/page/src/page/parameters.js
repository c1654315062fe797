// SPDX-License-Identifier: Apache-2.0
// The effective parameters of runs or of a sweep, and their source: the scenario, the sweep's axes
// or the default.

// "workload[0].degree" is "workload.degree", and "recovery.name" is "recovery".
const plain = (key) => key.replace(/\[0\]/g, '').replace(/\.name$/, '');

// The axis that varies this parameter, or a part of the scenario that has it.
const axisOf = (axes, key) => axes.find((axis) => plain(axis.key) === plain(key)
  || plain(key).startsWith(`${plain(axis.key)}.`));

// Rows {key, values, from}: a value of each source, which are {parameters, axes}; those that a
// scenario sets, or all. A sweep's parameters are those of its first combination, so a varied value
// appears as if the scenario had given it.
export function parameterRows(sources, all) {
  const rows = new Map();
  sources.forEach(({ parameters, axes = [] }, i) => {
    for (const [key, value, , isGiven] of parameters) {
      const axis = axisOf(axes, key);
      if (!rows.has(key))
        rows.set(key, { key, values: sources.map(() => ''), from: 'default' });
      const row = rows.get(key), isAxis = axis && plain(axis.key) === plain(key);
      row.values[i] = isAxis ? axis.values.join(', ') : value;
      if (isGiven || isAxis)
        row.from = axis ? 'swept' : 'given';
    }
  });
  return [...rows.values()].filter(({ from }) => all || from === 'given');
}
