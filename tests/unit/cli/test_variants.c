/* SPDX-License-Identifier: Apache-2.0 */
/* The argument of --compare, and values as names of folders. */
#include "cli/variants.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base.h"
#include "tests/support/test.h"

static struct oche_error error;

static void test_values_are_split_at_commas_that_are_not_inside_something(void **state)
{
    struct oche_variants variants;

    (void)state;
    assert_true(oche_variants_read(&variants, "a.b[0].c=none,{name: dcqcn, g: 1/16},\"x,y\",[1, 2]",
                                   &error));
    assert_string_equal(variants.key, "a.b[0].c");
    assert_int_equal(variants.count, 4);
    assert_string_equal(variants.values[0], "none");
    assert_string_equal(variants.values[1], "{name: dcqcn, g: 1/16}");
    assert_string_equal(variants.values[2], "\"x,y\"");
    assert_string_equal(variants.values[3], "[1, 2]");
    oche_variants_free(&variants);
    assert_int_equal(variants.count, 0);
}

static void test_what_is_no_comparison_is_refused(void **state)
{
    static const struct {
        const char *argument, *error;
    } rows[] = {
        {"seed", "--compare seed: has no key or no values; "},
        {"=1,2", "--compare =1,2: has no key or no values; "},
        {"seed=1", "--compare seed=1: has only one value; "},
        {"seed={1,2}", "--compare seed={1,2}: has only one value; "},
        {"seed=1,1", "--compare seed=1,1: has the same value twice; "},
        {"seed=1,,2", "--compare seed=1,,2: has an empty value; "},
        {"seed=1,", "--compare seed=1,: has an empty value; "},
        {"seed=", "--compare seed=: has an empty value; "},
    };
    struct oche_variants variants;
    char wanted[512];

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        assert_false(oche_variants_read(&variants, rows[i].argument, &error));
        snprintf(wanted, sizeof(wanted), "%swrite it as congestion_control=dcqcn,none",
                 rows[i].error);
        assert_string_equal(error.text, wanted);
    }
}

static void test_names_of_folders(void **state)
{
    static const char *const rows[][2] = {
        {"dcqcn", "dcqcn"}, {"1/256", "1_256"}, {"..", "_."},
        {"-rf", "_rf"},     {"50%", "50_"},     {"{name: none}", "_name__none_"},
        {"", "_"},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        char *name = oche_file_name_of(rows[i][0]);

        assert_string_equal(name, rows[i][1]);
        free(name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_split_at_commas_that_are_not_inside_something),
        cmocka_unit_test(test_what_is_no_comparison_is_refused),
        cmocka_unit_test(test_names_of_folders),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
