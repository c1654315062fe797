// SPDX-License-Identifier: Apache-2.0
// Building blocks of sentences about results.
import * as format from '../format.js';

// A metric of a run; 0 for one that the run does not have.
export const metric = (run, name) => (run.metrics[name] ?? [0])[0] ?? 0;

// "1 flow", "2,000 flows"
export const some = (count, one, many = `${one}s`) =>
  `${format.grouped(count)} ${count === 1 ? one : many}`;

// "a", "a and b", "a, b and c"
export const listed = (parts) => (parts.length < 2 ? parts.join('')
  : `${parts.slice(0, -1).join(', ')} and ${parts[parts.length - 1]}`);

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// "3.1 times", "12 % more": how much larger than `b` is `a`, both above 0.
export function against(a, b) {
  const times = a / b;
  if (times >= 1.995)
    return `${format.digits(times, times < 10 ? 2 : 3).replace(/\.0$/, '')} times as much`;
  return times < 1.02 ? 'about the same' : `${Math.round((times - 1) * 100)} % more`;
}

const sentence = (text) => `${capital(text)}.`;

// The sentences of several runs, [[label, sentence], …]. A sentence that all runs share comes once,
// without a label.
export function byRun(runs, say) {
  const texts = runs.map((run) => sentence(say(run)));
  return texts.every((text) => text === texts[0]) ? [['', texts[0]]]
    : runs.map(({ label }, i) => [label, texts[i]]);
}

// A sentence about all of them.
export const ofAll = (text) => [['', sentence(text)]];
