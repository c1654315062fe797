// SPDX-License-Identifier: Apache-2.0
// The progress of a sweep, and the combinations that it cannot run.
import * as format from '../format.js';

// Combinations that cannot be run: ["switch.kmin=900KB", why].
export const leftOut = ({ info }) => (info.left_out ?? '').split('\n').filter(Boolean)
  .map((line) => line.split('\t'));

// Sentences about keys that made no difference, and combinations that are the same run.
export const sameRuns = ({ info }) => (info.same_runs ?? '').split('\n').filter(Boolean);

const repeatsOf = ({ info }) => Math.max(1, Number(info.repeats ?? 1));
const expected = (sweep) => ((sweep.zipped ? sweep.axes[0].values.length
  : sweep.axes.reduce((product, { values }) => product * values.length, 1))
  - leftOut(sweep).length) * repeatsOf(sweep);

// How far it came, in words.
export function progress(sweep) {
  const done = sweep.points - sweep.not_done;
  const parts = [`${format.grouped(done)} points done`];
  const by = (status) => sweep.listed.filter((point) => point.status === status).length;
  if (by('failed') > 0)
    parts.push(`${by('failed')} failed`);
  if (by('crashed') > 0)
    parts.push(`${by('crashed')} crashed`);
  if (sweep.kind === 'sweep' && expected(sweep) > sweep.points)
    parts.push(`${format.grouped(expected(sweep) - sweep.points)} not run yet`);
  if (leftOut(sweep).length > 0)
    parts.push(`${format.grouped(leftOut(sweep).length * repeatsOf(sweep))} left out: invalid`);
  return parts.join(', ');
}
