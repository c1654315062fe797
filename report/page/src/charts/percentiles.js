// SPDX-License-Identifier: Apache-2.0
/*
 * Which percentiles a number of flows has. p99 of fewer than 100 flows is their largest value, so
 * it does not show the slowest in a hundred. A range of flows has a list of percentiles, their
 * largest value and their mean.
 */
export const NAMES = ['p50', 'p90', 'p99', 'p99.9', 'largest', 'mean'];

const LEAST = [2, 10, 100, 1000, 1, 1]; // flows, for each of NAMES

// True if `count` flows are enough for percentile p of a hundred.
export const isEnough = (p, count) => p >= 100 || count * (1 - p / 100) >= 1 - 1e-9;

// Number `which` of a range's list of a quantity ('fct', 'slowdown'); null if there are too few
// flows.
export const percentileOf = (range, quantity, which) =>
  (range.delivered >= LEAST[which] ? range[quantity][which] : null);

// [low, high] of the same; an unknown end is null. Null if there is no interval.
export const intervalOf = (range, quantity, which) =>
  (percentileOf(range, quantity, which) === null ? null
    : range[`${quantity}_interval`]?.[which] ?? null);
