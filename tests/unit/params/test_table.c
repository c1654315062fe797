/* SPDX-License-Identifier: Apache-2.0 */
/* Columns are aligned for any content. */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

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

/* A title longer than the first column does not widen it. */
static void test_titles_are_longer(void **state)
{
    struct oche_table *table = oche_table_create(2);

    (void)state;
    oche_table_cell(table, "run");
    oche_table_cell(table, "1");
    oche_table_rule(table);
    oche_table_title(table, "a longer title");
    oche_table_cell(table, "a");
    oche_table_cell(table, "2");

    char *text = printed(table);

    assert_string_equal(text, "run  1\n"
                              "------\n"
                              "a longer title\n"
                              "a    2\n");
    assert_int_equal(oche_table_width(table), 14);
    free(text);
    oche_table_free(table);
}

/* Columns that do not fit follow below, in the fewest tables, as evenly as possible. */
static void test_tables_within_a_width(void **state)
{
    struct oche_table *table = oche_table_create(6);
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    (void)state;
    assert_non_null(out);
    oche_table_cell(table, "run");
    for (int i = 1; i <= 5; i++)
        oche_table_cell(table, "%d", i);
    oche_table_rule(table);
    oche_table_cell(table, "a");
    for (int i = 1; i <= 5; i++)
        oche_table_cell(table, "%d%d", i, i);
    assert_int_equal(oche_table_width(table), 3 + 5 * 4);
    oche_table_print_within(table, 3 + 4 * 4, out);
    fflush(out);
    assert_string_equal(text, "run   1   2   3\n"
                              "---------------\n"
                              "a    11  22  33\n"
                              "\n"
                              "run   4   5\n"
                              "-----------\n"
                              "a    44  55\n");
    rewind(out);
    oche_table_print_within(table, 3 + 5 * 4, out);
    fputc('\0', out);
    fflush(out);
    assert_string_equal(text, "run   1   2   3   4   5\n"
                              "-----------------------\n"
                              "a    11  22  33  44  55\n");
    rewind(out);
    oche_table_print_within(table, 1, out); /* at least one column */
    fputc('\0', out);
    fflush(out);
    assert_string_equal(strrchr(text, 'r'), "run   5\n"
                                            "-------\n"
                                            "a    55\n");
    fclose(out);
    free(text);
    oche_table_free(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_columns_line_up),
        cmocka_unit_test(test_a_short_row_ends_early),
        cmocka_unit_test(test_titles_are_longer),
        cmocka_unit_test(test_tables_within_a_width),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
