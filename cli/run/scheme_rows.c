/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/scheme_rows.h"

#include <math.h>

#include "core/wire/opcode.h"
#include "lab/measures/metrics.h"
#include "lab/measures/scheme_counters.h"

#define NAME_BYTES 64

static double value_of(const struct oche_counter *counter, const struct oche_outcome *o,
                       unsigned which)
{
    const double value = oche_metric_value(o, "SCHEME.COUNTER", which);

    return counter->with_drops ? value + oche_metric_value(o, "drops.mechanism", 0) : value;
}

/* Adds a row of a metric of the counter: a share, if the run counted some. */
static void add_shares(struct oche_table *table, const struct oche_counter *counter,
                       const char *label, const char *metric, unsigned which,
                       const struct oche_outcome *outcomes, size_t count)
{
    oche_table_cell(table, "%s", label);
    for (size_t i = 0; i < count; i++) {
        const bool any = value_of(counter, &outcomes[i], which) > 0;
        const double share = any ? oche_metric_value(&outcomes[i], metric, which) : NAN;

        oche_table_cell(table, "%s", oche_metric_figure(metric, share).text);
    }
}

static void add_rows(struct oche_table *table, const struct oche_counter *counter, unsigned which,
                     const struct oche_outcome *outcomes, size_t count)
{
    char name[NAME_BYTES];

    oche_table_cell(table, "%s",
                    counter->label != NULL ? counter->label
                                           : oche_scheme_counter_name(which, name, sizeof(name)));
    for (size_t i = 0; i < count; i++)
        oche_table_cell(
            table, "%s",
            oche_metric_figure("SCHEME.COUNTER", value_of(counter, &outcomes[i], which)).text);
    if (counter->opcode == 0)
        return;
    add_shares(table, counter, "  of all packets that hosts sent", "SCHEME.COUNTER.packets_share",
               which, outcomes, count);
    add_shares(table, counter, "  of all bytes that hosts sent", "SCHEME.COUNTER.bytes_share",
               which, outcomes, count);
}

bool oche_scheme_rows(struct oche_table *table, const struct oche_outcome *outcomes, size_t count,
                      struct oche_rows_shown *shown, bool begun)
{
    for (unsigned which = 0; which < oche_scheme_counter_most(); which++) {
        const struct oche_counters *of;
        const struct oche_counter *counter = oche_scheme_counter(which, &of);
        bool any = false, counted = false;

        for (size_t i = 0; i < count; i++)
            any |= oche_scheme_counted(&outcomes[i], which);
        if (!any)
            continue;
        for (size_t i = 0; i < count; i++)
            counted |= value_of(counter, &outcomes[i], which) > 0;
        if (!counted && !shown->all) {
            shown->hidden++;
            continue;
        }
        if (!begun)
            oche_table_rule(table);
        begun = true;
        add_rows(table, counter, which, outcomes, count);
    }
    return begun;
}

bool oche_scheme_tells_own_packets(const struct oche_outcome *outcome)
{
    const struct oche_counters *counters = outcome->totals.counters;

    for (unsigned i = 0; counters != NULL && i < counters->count; i++)
        if (counters->rows[i].opcode != 0 &&
            oche_opcode(counters->rows[i].opcode)->service == OCHE_SERVICE_SCHEME)
            return true;
    return false;
}
