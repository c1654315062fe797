// SPDX-License-Identifier: Apache-2.0
// The times of the spans of a series. A series has the mean of every `width` samples.
import { extent } from './axis.js';

// The time in the middle of each span, in seconds.
export function times(series) {
  const { first_s: first, step_s: step, width } = series;
  return series.mean.map((_, i) => first - step + step * width * (i + 0.5));
}

// Begin and end of the measured time, over all series.
export const bounds = (list) => extent(list.flatMap(({ first_s: first, step_s: step, width,
  mean }) => [first - step, first - step + step * width * mean.length]));
