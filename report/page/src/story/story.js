// SPDX-License-Identifier: Apache-2.0
// The result in three sentences: which flows waited, where, and why. All of it follows from the
// results alone.
import { where } from './where.js';
import { who } from './who.js';
import { why } from './why.js';

const MOST_RUNS = 4; // more are not listed one by one

// [[question, [[label, sentence], …]], …] for one run, or for several of one scenario. The label is
// empty for a sentence about all of them.
export function story(runs) {
  const told = runs.slice(0, MOST_RUNS);
  const rest = runs.length > told.length
    ? [['', `These are the first ${told.length} of ${runs.length} runs.`]] : [];
  return [['Who waited', who(runs)], ['Where', [...where(told), ...rest]], ['Why', why(told)]];
}
