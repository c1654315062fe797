/* SPDX-License-Identifier: Apache-2.0 */
/* What failures of links did, as text. */
#include "cli/run/failure_rows.h"

#include "params/figures.h"

/* What became of a group of flows. */
static void print_failure_row(struct oche_table *table, const char *name,
                              const struct oche_failure_row *row)
{
    const struct oche_completion_row *times = &row->times;
    static const enum oche_percentile shown[] = {OCHE_P50, OCHE_P99};

    oche_table_cell(table, "%s", name);
    oche_table_cell(table, "%s", oche_figure_count(times->flows).text);
    oche_table_cell(table, "%s", oche_figure_count(times->delivered).text);
    oche_table_cell(table, "%s", oche_figure_count(times->failed).text);
    oche_table_cell(table, "%s", oche_figure_count(row->timeouts).text);
    oche_table_cell(table, "%s", oche_figure_count(row->retransmitted).text);
    for (unsigned i = 0; i < 2; i++)
        oche_table_cell(table, "%s",
                        times->delivered > 0 ? oche_figure_time(times->time[shown[i]]).text : "–");
    oche_table_cell(table, "%s",
                    times->delivered > 0 ? oche_figure_time(times->time_max).text : "–");
    for (unsigned i = 0; i < 2; i++)
        oche_table_cell(table, "%s",
                        times->delivered > 0 ? oche_figure_ratio(times->slowdown[shown[i]]).text
                                             : "–");
}

void oche_failures_print(const struct oche_failures_outcome *failures, FILE *out)
{
    static const char *const heads[] = {
        "flows",   "started", "delivered", "failed",       "timeouts", "packets sent again",
        "FCT p50", "p99",     "max",       "slowdown p50", "p99"};
    struct oche_table *table = oche_table_create(11);

    fputs(failures->text, out);
    fprintf(out, "%s packets were lost to failures.\n\n", oche_figure_count(failures->lost).text);
    for (size_t i = 0; i < 11; i++)
        oche_table_cell(table, "%s", heads[i]);
    oche_table_rule(table);
    print_failure_row(table, "that lost packets so", &failures->hit);
    print_failure_row(table, "others", &failures->others);
    oche_table_print(table, out);
    oche_table_free(table);
    fputc('\n', out);
}

static uint64_t count_of(const struct oche_outcome *outcome, unsigned row)
{
    switch (row) {
    case 0:
        return outcome->totals.drops[OCHE_DROP_LINK_DOWN];
    case 1:
        return outcome->totals.drops[OCHE_DROP_NO_ROUTE];
    case 2:
        return outcome->totals.cut_packets;
    default:
        return outcome->failures.hit.times.flows;
    }
}

void oche_failure_rows(struct oche_table *table, const struct oche_outcome *outcomes, size_t count)
{
    static const char *const names[] = {"lost to failures: at ports that were down",
                                        "  without a way left", "  on links that were or went down",
                                        "  flows that lost some of these"};
    bool any = false;

    for (size_t i = 0; i < count; i++)
        any |= outcomes[i].failures.count > 0;
    for (unsigned row = 0; any && row < OCHE_COUNT_OF(names); row++) {
        oche_table_cell(table, "%s", names[row]);
        for (size_t i = 0; i < count; i++)
            oche_table_cell(table, "%s", oche_figure_count(count_of(&outcomes[i], row)).text);
    }
}
