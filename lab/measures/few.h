/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Detects percentiles of too few samples. The 99th percentile of 50 flows is the slowest flow, and
 * differs from seed to seed. Results files have all percentiles. Tables and sentences show only
 * those with enough samples.
 */
#ifndef OCHE_LAB_MEASURES_FEW_H
#define OCHE_LAB_MEASURES_FEW_H

#include "lab/measures/outcome.h"

/*
 * True if the metric is a percentile over flows, or pairs of hosts, and the run has fewer than it
 * needs. `metric` and `which` are as for oche_metric_value.
 */
bool oche_few(const struct oche_outcome *outcome, const char *metric, unsigned which);

#endif
