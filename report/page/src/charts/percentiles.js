// SPDX-License-Identifier: Apache-2.0
/*
 * Which percentiles so many flows have: p99 of fewer than 100 is their largest value, which says
 * nothing about the slowest in a hundred. A range of flows has a list of percentiles, their largest
 * value and their mean.
 */
export const NAMES = ['p50', 'p90', 'p99', 'p99.9', 'largest', 'mean'];

const LEAST = [2, 10, 100, 1000, 1, 1]; // flows, for each of NAMES

// True if `count` flows are enough for percentile p of a hundred.
export const isEnough = (p, count) => p >= 100 || count * (1 - p / 100) >= 1 - 1e-9;

// Number `which` of a range's list of a quantity ('fct', 'slowdown'); null of too few flows.
export const percentileOf = (range, quantity, which) =>
  (range.delivered >= LEAST[which] ? range[quantity][which] : null);

// [low, high] of the same, an end that is not known null; null if there is none.
export const intervalOf = (range, quantity, which) =>
  (percentileOf(range, quantity, which) === null ? null
    : range[`${quantity}_interval`]?.[which] ?? null);
