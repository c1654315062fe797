/* SPDX-License-Identifier: Apache-2.0 */
/* What the tables of `oche run` show are metrics that there are. */
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
        if (!seen[oche_rows[r].group] && oche_rows[r].title == NULL)
            fail_msg("%s: a group begins without a line", oche_rows[r].label);
        seen[oche_rows[r].group] = true;
    }
    for (unsigned group = 0; group < OCHE_METRIC_GROUPS; group++)
        assert_true(seen[group]);
}

static void test_every_column_names_a_metric(void **state)
{
    const struct oche_columns *const tables[] = {&oche_size_columns, &oche_place_columns,
                                                 &oche_waiting_columns, &oche_pause_columns};

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

/* Hosts send PAUSE too, and are no switches. */
static void test_hosts_are_no_switches(void **state)
{
    struct oche_outcome *outcome = calloc(1, sizeof(*outcome));
    struct oche_table *table = oche_table_create(2);
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    (void)state;
    assert_non_null(outcome);
    assert_non_null(out);
    outcome->pauses[OCHE_NODE_HOST].sent = 3;
    outcome->pauses[OCHE_NODE_TOR].sent = 4;
    oche_metric_rows(table, OCHE_METRICS_PAUSES, outcome, 1);
    oche_table_print(table, out);
    fclose(out);
    assert_non_null(strstr(text, "  by hosts "));
    assert_non_null(strstr(text, "  by ToR switches "));
    assert_null(strstr(text, "host switches"));
    free(text);
    oche_table_free(table);
    free(outcome);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_row_names_metrics),
        cmocka_unit_test(test_every_group_has_rows),
        cmocka_unit_test(test_every_column_names_a_metric),
        cmocka_unit_test(test_what_is_no_metric_is_told),
        cmocka_unit_test(test_hosts_are_no_switches),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
