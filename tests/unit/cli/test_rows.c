/* SPDX-License-Identifier: Apache-2.0 */
/* Each row in the tables of `oche run` is an existing metric. */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "cli/run/columns.h"
#include "cli/run/rows.h"
#include "lab/measures/metrics.h"
#include "params/table.h"

static void test_every_row_names_metrics(void **state)
{
    unsigned metrics = 0;

    (void)state;
    for (size_t r = 0; r < oche_row_count; r++) {
        const struct oche_row *row = &oche_rows[r];

        for (unsigned i = 0; i < OCHE_ROW_METRICS && row->metrics[i] != NULL; i++, metrics++)
            if (!oche_metric_is_known(row->metrics[i]))
                fail_msg("%s: %s is no metric", row->label, row->metrics[i]);
        if (row->where != NULL && !oche_metric_is_known(row->where))
            fail_msg("%s: %s is no metric", row->label, row->where);
        if ((row->metrics[0] != NULL) + (row->text != NULL) + (row->draw != NULL) != 1)
            fail_msg("row %zu has not exactly one of metrics, a text and rows of its own", r);
        if (row->draw == NULL && row->label == NULL)
            fail_msg("row %zu has no label", r);
    }
    assert_true(metrics > 60);
}

static void test_every_group_has_rows(void **state)
{
    bool seen[OCHE_METRIC_GROUPS] = {false};

    (void)state;
    for (size_t r = 0; r < oche_row_count; r++) {
        assert_in_range(oche_rows[r].group, 0, OCHE_METRIC_GROUPS - 1);
        seen[oche_rows[r].group] = true;
    }
    for (unsigned group = 0; group < OCHE_METRIC_GROUPS; group++)
        assert_true(seen[group]);
}

static void test_every_column_names_a_metric(void **state)
{
    const struct oche_columns *const tables[] = {&oche_size_columns, &oche_place_columns,
                                                 &oche_load_columns, &oche_waiting_columns,
                                                 &oche_pause_columns};

    (void)state;
    for (size_t t = 0; t < OCHE_COUNT_OF(tables); t++) {
        if (tables[t]->has != NULL && !oche_metric_is_known(tables[t]->has))
            fail_msg("%s is no metric", tables[t]->has);
        assert_true(tables[t]->count > 0);
        for (size_t i = 0; i < tables[t]->count; i++) {
            const struct oche_column *column = &tables[t]->columns[i];

            assert_true((column->metric == NULL) != (column->text == NULL));
            if (column->metric != NULL && !oche_metric_is_known(column->metric))
                fail_msg("%s: %s is no metric", column->head, column->metric);
        }
    }
}

static void test_what_is_no_metric_is_told(void **state)
{
    (void)state;
    assert_false(oche_metric_is_known("fct.SIZE.p98"));
    assert_false(oche_metric_is_known("gootput"));
    assert_true(oche_metric_is_known("fct.SIZE.p99"));
    assert_true(oche_metric_is_known("iofd.deflections"));
}

/* Hosts send PAUSE, too, but are not counted as switches. */
static void test_hosts_are_no_switches(void **state)
{
    struct oche_outcome *outcome = calloc(1, sizeof(*outcome));
    struct oche_table *table = oche_table_create(2);
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    struct oche_rows_shown shown = {.all = false};

    (void)state;
    assert_non_null(outcome);
    assert_non_null(out);
    outcome->pauses[OCHE_NODE_HOST].sent = 3;
    outcome->pauses[OCHE_NODE_TOR].sent = 4;
    oche_metric_rows(table, OCHE_METRICS_PAUSES, outcome, 1, &shown);
    oche_table_print(table, out);
    fclose(out);
    assert_non_null(strstr(text, "  by hosts "));
    assert_non_null(strstr(text, "  by ToR switches "));
    assert_null(strstr(text, "host switches"));
    free(text);
    oche_table_free(table);
    free(outcome);
}

/* Returns the table of a group (malloc'd). Sets `hidden` to the rows left out. */
static char *draw(enum oche_metric_group group, const struct oche_outcome *outcomes, size_t count,
                  bool all, unsigned *hidden)
{
    struct oche_table *table = oche_table_create(1 + count);
    struct oche_rows_shown shown = {.all = all};
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    assert_non_null(out);
    oche_metric_rows(table, group, outcomes, count, &shown);
    oche_table_print(table, out);
    oche_rows_hidden_print(&shown, count, out);
    fclose(out);
    oche_table_free(table);
    *hidden = shown.hidden;
    return text;
}

static void test_rows_of_zeros(void **state)
{
    struct oche_outcome *runs = calloc(2, sizeof(*runs));
    unsigned hidden;

    (void)state;
    assert_non_null(runs);
    runs[0].flows = runs[1].flows = 9;
    runs[1].failed = 2;
    char *text = draw(OCHE_METRICS_FLOWS, runs, 2, false, &hidden);

    assert_int_equal(hidden, 3);
    assert_non_null(strstr(text, "flows started"));
    assert_non_null(strstr(text, "  failed")); /* in one of them */
    assert_null(strstr(text, "unfinished"));
    assert_non_null(strstr(text, "3 rows are hidden that are 0 in all runs; --all shows them.\n"));
    free(text);
    text = draw(OCHE_METRICS_FLOWS, runs, 2, true, &hidden);
    assert_int_equal(hidden, 0);
    assert_non_null(strstr(text, "unfinished"));
    assert_null(strstr(text, "--all"));
    free(text);
    free(runs);
}

/* The 99th percentile of 50 flows would be the slowest one, so it is not shown. */
static void test_few_flows_have_no_tail(void **state)
{
    struct oche_outcome *runs = calloc(2, sizeof(*runs));
    unsigned hidden;

    (void)state;
    assert_non_null(runs);
    for (unsigned i = 0; i < 2; i++) {
        runs[i].sizes[0] = (struct oche_completion_row){.to_bytes = 10000,
                                                        .flows = 150,
                                                        .delivered = i == 0 ? 99 : 150,
                                                        .slowdown = {1, 2, 777, 888}};
        runs[i].sizes[1].flows = 1; /* another size: rows by size are shown */
    }
    char *text = draw(OCHE_METRICS_SLOWDOWNS, runs, 2, false, &hidden);

    assert_non_null(strstr(text, "slowdown p99 by flow size\n"
                                 "  below 10KB (n 99 to 150)     –   777\n"));
    assert_null(strstr(text, "p90 by flow size")); /* without --by-size */
    assert_null(strstr(text, "888"));
    free(text);
    free(runs);
}

/* Several runs: a row for each value. One run has these values side by side. */
static void test_parts_have_rows(void **state)
{
    struct oche_outcome *runs = calloc(2, sizeof(*runs));
    unsigned hidden;

    (void)state;
    assert_non_null(runs);
    for (unsigned i = 0; i < 2; i++) {
        runs[i].queue_count = 1;
        runs[i].queues = calloc(1, sizeof(*runs[i].queues));
        assert_non_null(runs[i].queues);
        snprintf(runs[i].queues[0].name, sizeof(runs[i].queues[0].name), "tor0:host0");
        runs[i].queues[0].occupancy.max_bytes = 9000 + i;
        runs[i].queues[0].occupancy.percentile[0] = 50;
    }
    char *text = draw(OCHE_METRICS_QUEUES, runs, 1, false, &hidden);

    assert_non_null(strstr(text, "queue, measured time: p50, p90, p99, p99.9, most\n"
                                 "  tor0:host0     50B      0      0      0    9KB\n"));
    free(text);
    text = draw(OCHE_METRICS_QUEUES, runs, 2, false, &hidden);
    assert_non_null(strstr(text, "queue, measured time: tor0:host0\n"
                                 "  p50    50B     50B\n"));
    assert_non_null(strstr(text, "  most   9KB  9.00KB\n"));
    free(text);
    for (unsigned i = 0; i < 2; i++)
        free(runs[i].queues);
    free(runs);
}

/* For flows that a clock starts, the table shows the load and no rate over the whole run. */
static void test_load_in_place_of_goodput(void **state)
{
    struct oche_outcome *runs = calloc(1, sizeof(*runs));
    unsigned hidden;

    (void)state;
    assert_non_null(runs);
    runs->totals.measured = OCHE_SEC;
    runs->totals.nic.delivered_bytes = 1000000;
    runs->jain = 0.5;
    runs->load = (struct oche_load){.known = true,
                                    .alone = true,
                                    .offered_bps = 3e9,
                                    .delivered_bps = 2e9,
                                    .share = 0.667,
                                    .drain_s = 0.25};
    char *text = draw(OCHE_METRICS_LOAD, runs, 1, false, &hidden);

    assert_null(strstr(text, "goodput"));
    assert_null(strstr(text, "Jain"));
    assert_non_null(strstr(text, "3Gbps"));
    assert_non_null(strstr(text, "  delivered by then "));
    assert_non_null(strstr(text, "2Gbps\n"));
    assert_non_null(strstr(text, "66.7 %\n"));
    assert_non_null(strstr(text, "250ms"));
    free(text);
    runs->load.alone = false;
    runs->compete = true;
    text = draw(OCHE_METRICS_LOAD, runs, 1, false, &hidden);
    assert_non_null(strstr(text, "goodput, all hosts"));
    assert_non_null(strstr(text, "Jain's index of flow goodputs"));
    assert_non_null(strstr(text, "load offered"));
    free(text);
    free(runs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_names_metrics),
        cmocka_unit_test(test_every_group_has_rows),
        cmocka_unit_test(test_every_column_names_a_metric),
        cmocka_unit_test(test_what_is_no_metric_is_told),
        cmocka_unit_test(test_hosts_are_no_switches),
        cmocka_unit_test(test_rows_of_zeros),
        cmocka_unit_test(test_few_flows_have_no_tail),
        cmocka_unit_test(test_parts_have_rows),
        cmocka_unit_test(test_load_in_place_of_goodput),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
