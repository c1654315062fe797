/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/endpoint/counters.h"

#include "core/cc/cc.h"
#include "sim/endpoint/registry.h"

/*
 * Finds the counters of congestion-control scheme `number`; numbers after the last scheme are
 * endpoints. Sets *counters to NULL if there are none. Returns false if `number` is too large.
 */
static bool counters_of(size_t number, const struct oche_counters **counters)
{
    if (number < oche_cc_scheme_count) {
        *counters = oche_cc_schemes[number]->counters;
        return true;
    }
    const struct oche_endpoint *endpoint = oche_endpoints[number - oche_cc_scheme_count];

    *counters = endpoint != NULL ? endpoint->counters : NULL;
    return endpoint != NULL;
}

static bool is_first(size_t number, const struct oche_counters *counters)
{
    const struct oche_counters *before;

    for (size_t i = 0; i < number; i++)
        if (counters_of(i, &before) && before == counters)
            return false;
    return true;
}

const struct oche_counters *oche_counters_at(unsigned number)
{
    const struct oche_counters *counters;

    for (size_t i = 0; counters_of(i, &counters); i++)
        if (counters != NULL && is_first(i, counters) && number-- == 0)
            return counters;
    return NULL;
}
