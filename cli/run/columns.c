/* SPDX-License-Identifier: Apache-2.0 */
/* The tables with columns: the metrics in each column, and how they are printed. */
#include "cli/run/columns.h"

#include <math.h>
#include <string.h>

#include "lab/measures/metrics.h"
#include "params/table.h"

static const char *busiest(const struct oche_outcome *o, unsigned which)
{
    return o->busiest[which];
}

static const char *worst(const struct oche_outcome *o, unsigned which)
{
    return o->worst[which];
}

static const struct oche_column size_columns[] = {
    {"started", "flows.SIZE.started"}, {"delivered", "flows.SIZE.delivered"},
    {"failed", "flows.SIZE.failed"},   {"slowdown p50", "slowdown.SIZE.p50"},
    {"p90", "slowdown.SIZE.p90"},      {"p99", "slowdown.SIZE.p99"},
    {"p99.9", "slowdown.SIZE.p99.9"},  {"most", "slowdown.SIZE.max"},
    {"FCT p50", "fct.SIZE.p50"},       {"p90", "fct.SIZE.p90"},
    {"p99", "fct.SIZE.p99"},           {"p99.9", "fct.SIZE.p99.9"},
    {"most", "fct.SIZE.max"},
};
const struct oche_columns oche_size_columns = {"flow size", OCHE_EACH_SIZE, "flows.SIZE.started",
                                               size_columns, OCHE_COUNT_OF(size_columns)};

/* Helpers shared by the tables with a row per place. */
#define OF_PLACES                                                                                  \
    {"where", .text = busiest}, {"packets out", "packets.PLACE"}, {"marked CE", "marks.PLACE"},    \
        {"dropped", "drops.PLACE"}, {"lost on link", "lost.PLACE"},

static const struct oche_column place_columns[] = {{"ports", "ports.PLACE"},
                                                   {"use, mean", "utilisation.PLACE.mean"},
                                                   {"most", "utilisation.PLACE.max"},
                                                   OF_PLACES};
const struct oche_columns oche_place_columns = {"links from", OCHE_EACH_PLACE,
                                                "utilisation.PLACE.mean", place_columns,
                                                OCHE_COUNT_OF(place_columns)};

static const struct oche_column load_columns[] = {
    {"ports", "ports.PLACE"},
    {"use until arrivals stop, mean", "load.utilisation.PLACE.mean"},
    {"most", "load.utilisation.PLACE.max"},
    OF_PLACES};
const struct oche_columns oche_load_columns = {"links from", OCHE_EACH_PLACE,
                                               "load.utilisation.PLACE.mean", load_columns,
                                               OCHE_COUNT_OF(load_columns)};

static const struct oche_column waiting_columns[] = {
    {"on a way, mean", "congestion.WHERE.queueing"},
    {"of all", "congestion.WHERE.queueing_share"},
    {"a packet, mean", "congestion.WHERE.queueing_mean"},
    {"worst port", "congestion.WHERE.queueing_worst"},
    {"where", .text = worst},
    {"longest queue", "congestion.WHERE.queue_max"},
};
const struct oche_columns oche_waiting_columns = {"packets waited at", OCHE_EACH_LINK,
                                                  "congestion.WHERE.queueing_mean", waiting_columns,
                                                  OCHE_COUNT_OF(waiting_columns)};

static const struct oche_column pause_columns[] = {
    {"sent", "pauses.TIER"},
    {"upstream held, sum", "held_upstream.TIER"},
    {"received", "pauses_received.TIER"},
    {"own ports held, sum", "pause_time.TIER"},
    {"one port, most", "pause_time.TIER.max"},
};
const struct oche_columns oche_pause_columns = {"PAUSE at", OCHE_EACH_TIER, NULL, pause_columns,
                                                OCHE_COUNT_OF(pause_columns)};

/* ---- printing ---- */

static bool has_line(const struct oche_columns *columns, const struct oche_outcome *outcome,
                     unsigned which)
{
    if (columns->has != NULL)
        return !isnan(oche_metric_value(outcome, columns->has, which));
    for (size_t i = 0; i < columns->count; i++)
        if (oche_metric_value(outcome, columns->columns[i].metric, which) > 0)
            return true;
    return false;
}

/* True if all figures of the line are 0, or a dash. */
static bool is_empty(const struct oche_columns *columns, const struct oche_outcome *outcome,
                     unsigned which)
{
    for (size_t i = 0; i < columns->count; i++) {
        const struct oche_column *column = &columns->columns[i];
        const double value = column->text != NULL || strncmp(column->metric, "ports.", 6) == 0
                                 ? NAN
                                 : oche_metric_value(outcome, column->metric, which);

        if (!isnan(value) && value != 0)
            return false;
    }
    return true;
}

static void add_figure(struct oche_table *table, const struct oche_outcome *outcome,
                       const char *metric, unsigned which)
{
    char cell[OCHE_CELL_BYTES];
    size_t length = 0;

    oche_metric_cell(cell, &length, outcome, metric, which, 0);
    oche_table_cell(table, "%s", cell);
}

void oche_columns_print(const struct oche_columns *columns, const struct oche_outcome *outcome,
                        struct oche_rows_shown *shown, FILE *out)
{
    struct oche_table *table = oche_table_create(columns->count + 1);
    struct oche_subject subject;

    oche_table_cell(table, "%s", columns->head);
    for (size_t i = 0; i < columns->count; i++)
        oche_table_cell(table, "%s", columns->columns[i].head);
    oche_table_rule(table);
    for (unsigned n = 0; n < oche_subject_count(columns->each, outcome, 1); n++) {
        if (!oche_subject_take(&subject, columns->each, n, outcome, 1) ||
            !has_line(columns, outcome, subject.which))
            continue;
        if (!shown->all && is_empty(columns, outcome, subject.which)) {
            shown->hidden++;
            continue;
        }
        if (columns->each == OCHE_EACH_SIZE && subject.which == OCHE_OUTCOME_SIZES)
            oche_table_rule(table); /* a rule above the line for all sizes */
        oche_table_cell(table, "%s", subject.name);
        for (size_t i = 0; i < columns->count; i++)
            if (columns->columns[i].text != NULL)
                oche_table_cell(table, "%s", columns->columns[i].text(outcome, subject.which));
            else
                add_figure(table, outcome, columns->columns[i].metric, subject.which);
    }
    oche_table_print(table, out);
    oche_table_free(table);
}

/* ---- failures ---- */

void oche_failures_print(const struct oche_outcome *outcome, FILE *out)
{
    static const struct {
        const char *head, *name;
    } columns[] = {
        {"started", "flows"},
        {"delivered", "flows.delivered"},
        {"failed", "flows.failed"},
        {"timeouts", "timeouts"},
        {"packets sent again", "retransmitted"},
        {"FCT p50", "fct.p50"},
        {"p99", "fct.p99"},
        {"max", "fct.max"},
        {"slowdown p50", "slowdown.p50"},
        {"p99", "slowdown.p99"},
    };
    static const struct {
        const char *head, *name;
    } lines[] = {{"that lost packets so", "failures"}, {"others", "failures.others"}};
    struct oche_table *table = oche_table_create(OCHE_COUNT_OF(columns) + 1);
    const double lost = oche_metric_value(outcome, "failures.lost", 0);
    char metric[OCHE_METRIC_NAME_BYTES];

    fputs(outcome->failures.text, out);
    fprintf(out, "%s packets were lost to failures.\n\n",
            oche_metric_figure("failures.lost", lost).text);
    oche_table_cell(table, "flows");
    for (size_t i = 0; i < OCHE_COUNT_OF(columns); i++)
        oche_table_cell(table, "%s", columns[i].head);
    oche_table_rule(table);
    for (size_t line = 0; line < OCHE_COUNT_OF(lines); line++) {
        oche_table_cell(table, "%s", lines[line].head);
        for (size_t i = 0; i < OCHE_COUNT_OF(columns); i++) {
            snprintf(metric, sizeof(metric), "%s.%s", lines[line].name, columns[i].name);
            add_figure(table, outcome, metric, 0);
        }
    }
    oche_table_print(table, out);
    oche_table_free(table);
    fputc('\n', out);
}
