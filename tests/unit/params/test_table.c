/* SPDX-License-Identifier: Apache-2.0 */
/* Columns line up, whatever they contain. */
#include "tests/support/test.h"

#include <stdlib.h>

#include "params/table.h"

static char *printed(const struct oche_table *table)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    oche_table_print(table, out);
    fclose(out);
    return text;
}

static void test_columns_line_up(void **state)
{
    struct oche_table *table = oche_table_create(3);

    (void)state;
    oche_table_cell(table, "scheme");
    oche_table_cell(table, "p99");
    oche_table_cell(table, "pauses");
    oche_table_rule(table);
    oche_table_cell(table, "%s", "dcqcn");
    oche_table_cell(table, "%.1f µs", 12.5);
    oche_table_cell(table, "%d", 3);
    oche_table_cell(table, "none");
    oche_table_cell(table, "–");
    oche_table_cell(table, "12345678");

    char *text = printed(table);

    assert_string_equal(text, "scheme      p99    pauses\n"
                              "-------------------------\n"
                              "dcqcn   12.5 µs         3\n"
                              "none          –  12345678\n");
    free(text);
    oche_table_free(table);
}

static void test_a_short_row_ends_early(void **state)
{
    struct oche_table *table = oche_table_create(2);

    (void)state;
    oche_table_cell(table, "a");
    oche_table_cell(table, "b");
    oche_table_cell(table, "a longer one");

    char *text = printed(table);

    assert_string_equal(text, "a             b\n"
                              "a longer one\n");
    free(text);
    oche_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_line_up),
        cmocka_unit_test(test_a_short_row_ends_early),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
