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

static void add_cell(struct oche_table *table, const struct oche_counter *counter,
                     const struct oche_outcome *o, unsigned which)
{
    static const char count[] = "SCHEME.COUNTER", of_packets[] = "SCHEME.COUNTER.packets_share",
                      of_bytes[] = "SCHEME.COUNTER.bytes_share";
    const double value = value_of(counter, o, which);
    const struct oche_figure figure = oche_metric_figure(count, value);

    if (isnan(value) || counter->opcode == 0 || value == 0)
        oche_table_cell(table, "%s", figure.text);
    else
        oche_table_cell(
            table, "%s %7s %7s", figure.text,
            oche_metric_figure(of_packets, oche_metric_value(o, of_packets, which)).text,
            oche_metric_figure(of_bytes, oche_metric_value(o, of_bytes, which)).text);
}

void oche_scheme_rows(struct oche_table *table, const struct oche_outcome *outcomes, size_t count,
                      struct oche_rows_shown *shown)
{
    for (unsigned which = 0; which < oche_scheme_counter_most(); which++) {
        const struct oche_counters *of;
        const struct oche_counter *counter = oche_scheme_counter(which, &of);
        char name[NAME_BYTES];
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
        oche_table_cell(table, "%s",
                        counter->label != NULL
                            ? counter->label
                            : oche_scheme_counter_name(which, name, sizeof(name)));
        for (size_t i = 0; i < count; i++)
            add_cell(table, counter, &outcomes[i], which);
    }
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
