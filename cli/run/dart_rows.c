/* SPDX-License-Identifier: Apache-2.0 */
/* Dart's shares and look-ahead as text. */
#include "cli/run/dart_rows.h"

#include <math.h>

#include "lab/measures/dart_metrics.h"
#include "params/figures.h"

typedef double measure(const struct oche_outcome *o, unsigned which);

static const struct {
    const char *name;
    measure *count, *of_packets, *of_bytes; /* the last two together, or NULL */
} rows[] = {
    {"updates of dart; of all packets, bytes", oche_dart_updates, oche_dart_updates_of_packets,
     oche_dart_updates_of_bytes},
    {"ACKs with a share; of all packets, bytes", oche_dart_acks, oche_dart_acks_of_packets,
     oche_dart_acks_of_bytes},
    {"look-ahead: groups announced", oche_dart_groups, NULL, NULL},
    {"  senders that did not come in time", oche_dart_not_come, NULL, NULL},
    {"  lists that were void", oche_dart_void_groups, NULL, NULL},
};

static void add_cell(struct oche_table *table, size_t row, const struct oche_outcome *o)
{
    const double value = rows[row].count(o, 0);

    if (isnan(value))
        oche_table_cell(table, "–");
    else if (rows[row].of_packets == NULL || value == 0)
        oche_table_cell(table, "%s", oche_figure_count((uint64_t)value).text);
    else
        oche_table_cell(table, "%s %7s %7s", oche_figure_count((uint64_t)value).text,
                        oche_figure_share(rows[row].of_packets(o, 0)).text,
                        oche_figure_share(rows[row].of_bytes(o, 0)).text);
}

void oche_dart_rows(struct oche_table *table, const struct oche_outcome *outcomes, size_t count)
{
    bool any = false;

    for (size_t i = 0; i < count; i++)
        any |= outcomes[i].totals.scheme_counts;
    for (size_t row = 0; any && row < sizeof(rows) / sizeof(rows[0]); row++) {
        oche_table_cell(table, "%s", rows[row].name);
        for (size_t i = 0; i < count; i++)
            add_cell(table, row, &outcomes[i]);
    }
}
