/* SPDX-License-Identifier: Apache-2.0 */
/* A key made no difference only if all combinations that differ in it alone are the same. */
#include "lab/sweep/same_points.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

static struct oche_grid grid;

/* Makes a grid of two axes with two and three values. */
static void make(uint32_t repeats)
{
    struct oche_error error;

    grid = (struct oche_grid){.repeats = repeats};
    assert_true(oche_grid_add_axis(&grid, "x=1,2", &error));
    assert_true(oche_grid_add_axis(&grid, "y=a,b,c", &error));
}

static void check(const uint64_t *hashes, const char *expected)
{
    char *text = oche_same_points_text(&grid, hashes);

    assert_string_equal(text, expected);
    free(text);
    oche_grid_free(&grid);
}

#define NO(key)                                                                                    \
    key " made no difference here: with each of its values the runs are the same, packet for "     \
        "packet.\n"

static void test_nothing_to_say(void **state)
{
    (void)state;
    make(1);
    check((const uint64_t[]){1, 2, 3, 4, 5, 6}, "");
    make(1);
    check((const uint64_t[]){0, 0, 0, 0, 0, 0}, "");
}

static void test_keys(void **state)
{
    (void)state;
    make(1);
    check((const uint64_t[]){1, 2, 3, 1, 2, 3}, NO("x"));
    make(1);
    check((const uint64_t[]){1, 1, 1, 2, 2, 2}, NO("y"));
    make(1);
    check((const uint64_t[]){1, 1, 1, 1, 1, 1}, NO("x") NO("y"));
}

/* A point without a result might differ. */
static void test_missing_points(void **state)
{
    (void)state;
    make(1);
    check((const uint64_t[]){1, 2, 3, 1, 2, 0},
          "(x=1, y=a) and (x=2, y=a) gave the same run, packet for packet.\n"
          "(x=1, y=b) and (x=2, y=b) gave the same run, packet for packet.\n");
}

static void test_combinations(void **state)
{
    (void)state;
    make(1);
    check((const uint64_t[]){1, 2, 2, 3, 4, 5},
          "(x=1, y=b) and (x=1, y=c) gave the same run, packet for packet.\n");
    make(1);
    check(
        (const uint64_t[]){1, 1, 2, 1, 1, 1},
        "(x=1, y=a), (x=1, y=b), (x=2, y=a) and 2 others gave the same run, packet for packet.\n");
    /* x is named once, as a key; what is the same besides is named as combinations */
    make(1);
    check((const uint64_t[]){1, 1, 2, 1, 1, 2},
          NO("x") "(x=1, y=a) and (x=1, y=b) gave the same run, packet for packet.\n");
}

static void test_seeds(void **state)
{
    (void)state;
    make(2);
    check((const uint64_t[]){1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6}, NO("x"));
    make(2);
    check((const uint64_t[]){1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 7},
          "(x=1, y=a) and (x=2, y=a) gave the same run, packet for packet, with every seed.\n"
          "(x=1, y=b) and (x=2, y=b) gave the same run, packet for packet, with every seed.\n");
    make(2);
    check((const uint64_t[]){1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6},
          "The seed made no difference here: with each seed the runs are the same, packet for "
          "packet.\n");
}

static void test_many_groups(void **state)
{
    struct oche_error error;
    uint64_t hashes[12];

    (void)state;
    grid = (struct oche_grid){.repeats = 1};
    assert_true(oche_grid_add_axis(&grid, "x=1,2,3,4,5,6,7,8,9,10,11,12", &error));
    for (size_t i = 0; i < OCHE_COUNT_OF(hashes); i++)
        hashes[i] = 1 + i / 2;
    check(hashes, "x=1 and x=2 gave the same run, packet for packet.\n"
                  "x=3 and x=4 gave the same run, packet for packet.\n"
                  "x=5 and x=6 gave the same run, packet for packet.\n"
                  "3 more groups of combinations gave the same run.\n");
}

static void test_zipped_keys(void **state)
{
    struct oche_error error;

    (void)state;
    grid = (struct oche_grid){.repeats = 1, .zipped = true};
    assert_true(oche_grid_add_axis(&grid, "x=1,2", &error));
    assert_true(oche_grid_add_axis(&grid, "y=a,b", &error));
    check((const uint64_t[]){1, 1},
          "(x=1, y=a) and (x=2, y=b) gave the same run, packet for packet.\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_to_say), cmocka_unit_test(test_keys),
        cmocka_unit_test(test_missing_points), cmocka_unit_test(test_combinations),
        cmocka_unit_test(test_seeds),          cmocka_unit_test(test_many_groups),
        cmocka_unit_test(test_zipped_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
