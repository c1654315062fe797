// SPDX-License-Identifier: Apache-2.0
// Where the spans of a series are in time. A series has the mean of every `width` samples.
import { extent } from './axis.js';

// The time in the middle of each span, in seconds.
export function times(series) {
  const { first_s: first, step_s: step, width } = series;
  return series.mean.map((_, i) => first - step + step * width * (i + 0.5));
}

// When the measured time begins and ends, over all series.
export const bounds = (list) => extent(list.flatMap(({ first_s: first, step_s: step, width,
  mean }) => [first - step, first - step + step * width * mean.length]));
