/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The certainty of a sample's percentile: its confidence interval by order statistics. It assumes
 * independent samples and nothing about their distribution.
 */
#ifndef OCHE_REPORT_INTERVAL_H
#define OCHE_REPORT_INTERVAL_H

#include "report/sample.h"

/*
 * Finds the ranks, from 1, of the two values of a sorted sample of `count` values that enclose
 * percentile p (in 100,000ths) with at least 95 %. The number B of values below the percentile has
 * a binomial distribution: *low is the largest rank with P(B < low) <= 2.5 %, *high the smallest
 * one with P(B >= high) <= 2.5 %. *low is 0, or *high is count + 1, if the sample is too small for
 * that end.
 */
void oche_interval_ranks(size_t count, uint32_t p, size_t *low, size_t *high);

/* Returns [low, high] of percentile p of a sorted sample; null for an end that is not known. */
struct json_object *oche_interval_json(const struct oche_sample *sample, uint32_t p);

#endif
