/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/scheme_rows.h"

#include "core/wire/opcode.h"
#include "lab/measures/scheme_counters.h"
#include "params/figures.h"

#define NAME_BYTES 64

static void add_cell(struct oche_table *table, const struct oche_counter *counter,
                     const struct oche_outcome *o, unsigned which)
{
    if (!oche_scheme_counted(o, which)) {
        oche_table_cell(table, "–");
        return;
    }
    uint64_t value = o->totals.counted[which % OCHE_MOST_COUNTERS];

    if (counter->with_drops)
        value += o->totals.drops[OCHE_DROP_MECHANISM];
    if (counter->opcode == 0 || value == 0)
        oche_table_cell(table, "%s", oche_figure_count(value).text);
    else
        oche_table_cell(table, "%s %7s %7s", oche_figure_count(value).text,
                        oche_figure_share(oche_scheme_packets_share(o, which)).text,
                        oche_figure_share(oche_scheme_bytes_share(o, which)).text);
}

void oche_scheme_rows(struct oche_table *table, const struct oche_outcome *outcomes, size_t count)
{
    for (unsigned which = 0; which < oche_scheme_counter_most(); which++) {
        const struct oche_counters *of;
        const struct oche_counter *counter = oche_scheme_counter(which, &of);
        char name[NAME_BYTES];
        bool any = false;

        for (size_t i = 0; i < count; i++)
            any |= oche_scheme_counted(&outcomes[i], which);
        if (!any)
            continue;
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
