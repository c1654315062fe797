/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/measures/scheme_counters.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/wire/opcode.h"
#include "sim/endpoint/counters.h"

unsigned oche_scheme_counter_most(void)
{
    unsigned tables = 0;

    while (oche_counters_at(tables) != NULL)
        tables++;
    return tables * OCHE_MOST_COUNTERS;
}

const struct oche_counter *oche_scheme_counter(unsigned which, const struct oche_counters **table)
{
    unsigned row = which % OCHE_MOST_COUNTERS;

    *table = oche_counters_at(which / OCHE_MOST_COUNTERS);
    return *table != NULL && row < (*table)->count ? &(*table)->rows[row] : NULL;
}

const char *oche_scheme_counter_name(unsigned which, char *text, size_t text_bytes)
{
    const struct oche_counters *table;
    const struct oche_counter *counter = oche_scheme_counter(which, &table);

    if (counter == NULL)
        return "";
    snprintf(text, text_bytes, "%s.%s", table->prefix, counter->name);
    return text;
}

const struct oche_counter *oche_scheme_counter_named(const char *name)
{
    const struct oche_counters *table;
    char text[64];

    for (unsigned which = 0; which < oche_scheme_counter_most(); which++)
        if (strcmp(oche_scheme_counter_name(which, text, sizeof(text)), name) == 0)
            return oche_scheme_counter(which, &table);
    return NULL;
}

bool oche_scheme_counted(const struct oche_outcome *o, unsigned which)
{
    const struct oche_counters *table;

    return oche_scheme_counter(which, &table) != NULL && o->totals.counters == table;
}

double oche_scheme_count(const struct oche_outcome *o, unsigned which)
{
    if (!oche_scheme_counted(o, which))
        return NAN;
    return (double)o->totals.counted[which % OCHE_MOST_COUNTERS];
}

double oche_scheme_packets_share(const struct oche_outcome *o, unsigned which)
{
    const uint64_t all = o->marks[OCHE_PLACE_HOST_NIC].packets;

    return all == 0 ? NAN : oche_scheme_count(o, which) / (double)all;
}

double oche_scheme_bytes_share(const struct oche_outcome *o, unsigned which)
{
    const struct oche_counters *table;
    const struct oche_counter *counter = oche_scheme_counter(which, &table);

    if (o->host_line_bytes == 0 || counter == NULL)
        return NAN;
    const uint64_t each = oche_frame_bytes(counter->opcode, 0, o->ipv6) + OCHE_GAP_BYTES;
    const double share = oche_scheme_count(o, which) * (double)each / (double)o->host_line_bytes;

    /* Packets that are being sent are counted, but only a part of their bytes has left. */
    return share > 1 ? 1 : share;
}
