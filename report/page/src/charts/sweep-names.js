// SPDX-License-Identifier: Apache-2.0
// The names of a sweep's axes, values and combinations in a sentence or a label.

// A scheme with parameters of its own, "{name: dctcp, k: 5KB}", is called by its name.
const scheme = (value) => /^\{name: ([^,}]+)/.exec(value)?.[1] ?? value;

const last = (key) => key.replace(/^.*\./, '');
const isUnique = (list) => new Set(list).size === list.length;

// The axes' keys, without the part before the last dot if they stay unique.
export function shortKeys(axes) {
  const short = axes.map(({ key }) => last(key));
  return axes.map(({ key }, i) => (short.indexOf(short[i]) === short.lastIndexOf(short[i])
    ? short[i] : key));
}

// The values of an axis; schemes by their names if these are unique.
export function shortValues({ values }) {
  const short = values.map(scheme);
  return isUnique(short) ? short : values;
}

// Values that are clear without their key: "dcqcn", but not "0.4" or "true".
const isWord = (value) => /^(?!true|false|auto|none$)[a-z_]/i.test(value);

// "kmin=100KB", or "dcqcn" alone; `is` stands between key and value.
export function valueName(sweep, i, number, is = '=') {
  const value = shortValues(sweep.axes[i])[number];
  return isWord(value) ? value : `${shortKeys(sweep.axes)[i]}${is}${value}`;
}

// "load=50%, dcqcn": the values of combination `k` on the axes `which`.
export const combinationName = (sweep, k, which) => which.map((i) =>
  valueName(sweep, i, sweep.combinations[i][k])).join(', ');

// Axes that make the task harder or easier. The others are choices of the reader.
const TASKS = ['workload', 'topology', 'loss', 'failures', 'slow_receivers', 'pause_storms',
  'duration', 'warmup', 'model'];
const TASK = new RegExp(`^(${TASKS.join('|')})\\b`);
export const isTask = ({ key }) => TASK.test(key);
