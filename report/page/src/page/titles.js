// SPDX-License-Identifier: Apache-2.0
// Unique titles of documents. Sweeps of one scenario are distinguished by their axes, else by the
// parameters that differ, else by their folder.

// The name that the scenario gives itself, else "lossy" of scenarios/lossy.yaml.
export const scenarioName = ({ info, parameters }) =>
  parameters.find(([key]) => key === 'name')?.[1]
    || (info.scenario ?? '').replace(/^.*\//, '').replace(/\.ya?ml$/, '') || 'Sweep';

const last = (key) => key.replace(/^.*\./, '');

// The axes' names, short if they stay unique.
function axisNames({ axes }) {
  const short = axes.map(({ key }) => last(key));
  return axes.map(({ key }, i) => (short.indexOf(short[i]) === short.lastIndexOf(short[i])
    ? short[i] : key)).join(' × ');
}

const folder = ({ file }) => (file.includes('/') ? file.replace(/\/[^/]*$/, '') : file);

// "duration=10ms" of the parameters that differ among `others`.
function differing(one, others) {
  const axes = new Set([one, ...others].flatMap((sweep) => sweep.axes.map(({ key }) => key)));
  const valueIn = (sweep, key) => sweep.parameters.find(([name]) => name === key)?.[1];
  return one.parameters.filter(([key, value,, given]) => given && !axes.has(key)
    && others.some((other) => valueIn(other, key) !== value))
    .slice(0, 2).map(([key, value]) => `${last(key)}=${value}`).join(', ');
}

const NAMES = [
  (one) => scenarioName(one),
  (one) => [scenarioName(one), axisNames(one)].filter(Boolean).join(': '),
  (one, alike) => {
    const text = differing(one, alike);
    return NAMES[1](one) + (text ? ` (${text})` : '');
  },
  (one) => `${NAMES[1](one)} (${folder(one)})`,
  (one, alike) => `${NAMES[3](one)} ${alike.indexOf(one) + 1}`,
];

// The titles of sweeps, each its own.
export function sweepTitles(sweeps) {
  const titles = new Map();
  const name = (list, level) => {
    const groups = new Map();
    for (const one of list) {
      const title = NAMES[level](one, list);
      groups.set(title, [...(groups.get(title) ?? []), one]);
    }
    for (const [title, alike] of groups)
      if (alike.length === 1 || level === NAMES.length - 1)
        alike.forEach((one) => titles.set(one, title));
      else
        name(alike, level + 1);
  };
  name(sweeps, 0);
  return titles;
}
