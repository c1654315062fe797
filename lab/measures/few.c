/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/measures/few.h"

#include <string.h>

/* Samples that the percentile at the end of a metric's name needs (".p99": 100); 0: it has none. */
static uint64_t samples_needed(const char *metric)
{
    static const struct {
        const char *end;
        uint64_t samples;
    } rows[] = {{".p10", 10}, {".p90", 10}, {".p99", 100}, {".p99.9", 1000}};
    const size_t length = strlen(metric);

    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        const size_t end = strlen(rows[i].end);

        if (length > end && strcmp(metric + length - end, rows[i].end) == 0)
            return rows[i].samples;
    }
    return 0;
}

static bool begins(const char *metric, const char *with)
{
    return strncmp(metric, with, strlen(with)) == 0;
}

/* Returns how many samples the metric has; UINT64_MAX: it is not of flows or pairs. */
static uint64_t samples_of(const struct oche_outcome *outcome, const char *metric, unsigned which)
{
    const bool is_workload = begins(metric, "workload.N.") && which < outcome->by_workload.count;

    if (begins(metric, "fct.SIZE.") || begins(metric, "slowdown.SIZE."))
        return which < OCHE_OUTCOME_ROWS ? outcome->sizes[which].delivered : 0;
    if (begins(metric, "failures.others."))
        return outcome->failures.others.times.delivered;
    if (begins(metric, "failures."))
        return outcome->failures.hit.times.delivered;
    if (is_workload && begins(metric, "workload.N.flow_goodput."))
        return outcome->by_workload.workloads[which].flow_goodput.count;
    if (is_workload && begins(metric, "workload.N.pair_goodput."))
        return outcome->by_workload.workloads[which].pair_goodput.count;
    return UINT64_MAX;
}

bool oche_few(const struct oche_outcome *outcome, const char *metric, unsigned which)
{
    return samples_of(outcome, metric, which) < samples_needed(metric);
}
