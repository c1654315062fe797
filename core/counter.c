/* SPDX-License-Identifier: Apache-2.0 */
#include "core/counter.h"

static uint64_t value_of(const struct oche_counter *counter, const void *state)
{
    if (counter->value != NULL)
        return counter->value(state);
    return *(const uint64_t *)(const void *)((const char *)state + counter->offset);
}

void oche_counters_add(const struct oche_counters *counters, const void *state, uint64_t *sums)
{
    OCHE_MUST(counters->count <= OCHE_MOST_COUNTERS);
    for (unsigned i = 0; i < counters->count; i++)
        sums[i] += value_of(&counters->rows[i], state);
}
