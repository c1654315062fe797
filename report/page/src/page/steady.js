// SPDX-License-Identifier: Apache-2.0
// The certainty of the metric of `oche run --until-stable`, in words; null: the run had none.
import * as format from '../format.js';

export function steady({ info, metrics }) {
  const name = info.until_stable;
  if (!name)
    return null;
  if (info.until_stable_reached !== 'yes')
    return info.until_stable_reached;
  const mean = Number(info.until_stable_mean), half = Number(info.until_stable_half_width);
  const length = format.time(Number(info.until_stable_batch_ps) / 1e12);
  return `${name} ${format.value(mean, metrics[name]?.[1] ?? 'ratio')} ± ${
    format.percent(half / Math.abs(mean))}, ${info.until_stable_batches} batches of ${length}`;
}
