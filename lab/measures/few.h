/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells percentiles that rest on too few samples. The 99th percentile of 50 flows is the slowest
 * flow, and differs from seed to seed. Results files have all percentiles; tables and sentences
 * show only those with enough samples.
 */
#ifndef OCHE_LAB_MEASURES_FEW_H
#define OCHE_LAB_MEASURES_FEW_H

#include "lab/measures/outcome.h"

/* Samples that the percentile at the end of a metric's name needs (".p99": 100); 0: it has none. */
uint64_t oche_few_needed(const char *metric);

/*
 * True if the metric is a percentile over flows, or pairs of hosts, and the run has fewer than it
 * needs. `metric` and `which` are as for oche_metric_value.
 */
bool oche_few(const struct oche_outcome *outcome, const char *metric, unsigned which);

#endif
