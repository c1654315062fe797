/* SPDX-License-Identifier: Apache-2.0 */
/* Charts of characters: the position of a sample, and the axis labels. */
#include "tests/support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fluid/text_chart.h"
#include "core/base.h"

#define AXIS 11 /* columns before the first of the chart */

static void label(char *text, size_t bytes, double value)
{
    snprintf(text, bytes, "%g", value);
}

/*
 * Returns the chart as lines, which the caller frees; lines[0] is the title, the next the uppermost
 * row.
 */
static char *print(const struct oche_text_chart *chart, const char *marks, double most,
                   char *lines[OCHE_CHART_ROWS + 3])
{
    char *text = NULL, *rest;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    assert_non_null(out);
    oche_text_chart_print(chart, "title", marks, most, label, label, out);
    fclose(out);
    rest = text;
    for (unsigned i = 0; i < OCHE_CHART_ROWS + 3; i++) {
        lines[i] = strsep(&rest, "\n");
        assert_non_null(lines[i]);
    }
    assert_string_equal(rest, "");
    return text;
}

static void test_samples(void **state)
{
    struct oche_text_chart chart;
    char *lines[OCHE_CHART_ROWS + 3];

    (void)state;
    oche_text_chart_init(&chart, 2, OCHE_CHART_COLUMNS); /* a column is a unit of time */
    oche_text_chart_add(&chart, 0, 0, 0);
    oche_text_chart_add(&chart, 0, 0.5, 5.5); /* the same column: from bottom to the sixth row */
    oche_text_chart_add(&chart, 0, 2.1, 12);  /* the top */
    oche_text_chart_add(&chart, 1, 3, 6.5);
    oche_text_chart_add(&chart, 0, OCHE_CHART_COLUMNS, 1.5); /* the end: the last column */
    oche_text_chart_add(&chart, 0, -1, 1);
    oche_text_chart_add(&chart, 0, OCHE_CHART_COLUMNS + 1, 1);
    oche_text_chart_add(&chart, 2, 1, 1); /* no such series */
    char *text = print(&chart, "ab", 12, lines);

    assert_string_equal(lines[0], "title");
    assert_string_equal(lines[1], "       12 +  a"); /* upper edge of the uppermost row: 12 */
    assert_string_equal(lines[5], "          |");
    assert_string_equal(lines[6], "          |   b");
    for (unsigned row = 7; row <= 12; row++)
        assert_int_equal(lines[row][AXIS], 'a');
    assert_string_equal(lines[7], "        6 +a");
    assert_int_equal(strlen(lines[11]), AXIS + OCHE_CHART_COLUMNS);
    assert_int_equal(lines[11][AXIS + OCHE_CHART_COLUMNS - 1], 'a');
    assert_string_equal(lines[12], "          |a");
    assert_int_equal(strlen(lines[13]), AXIS + OCHE_CHART_COLUMNS);
    assert_non_null(strstr(lines[14], "33"));
    assert_string_equal(lines[14] + strlen(lines[14]) - 2, "66");
    free(text);
    oche_text_chart_free(&chart);
}

/* The axis ends at a round number that no sample exceeds. All-zero samples work, too. */
static void test_axis(void **state)
{
    const struct {
        double value;
        const char *top;
    } cases[] = {{0, "1"},   {1, "1"},      {1.01, "1.5"},      {3.2e9, "4e+09"},
                 {41, "50"}, {99.9, "100"}, {0.0021, "0.0025"}, {600, "600"}};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        struct oche_text_chart chart;
        char *lines[OCHE_CHART_ROWS + 3], want[32];

        oche_text_chart_init(&chart, 1, 1);
        if (cases[i].value > 0)
            oche_text_chart_add(&chart, 0, 0.5, cases[i].value);
        char *text = print(&chart, "*", 0, lines);

        snprintf(want, sizeof(want), "%9s +", cases[i].top);
        assert_memory_equal(lines[1], want, strlen(want));
        free(text);
        oche_text_chart_free(&chart);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_samples), cmocka_unit_test(test_axis)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
