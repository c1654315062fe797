/* SPDX-License-Identifier: Apache-2.0 */
/* Axes as typed, numbers of points, overrides, and everything that is rejected before a run. */
#include "lab/sweep/grid.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

#define SCENARIO "tests/scenarios/pairs.yaml"

static struct oche_error error;

static void add(struct oche_grid *grid, const char *argument)
{
    if (!oche_grid_add_axis(grid, argument, &error))
        fail_msg("%s", error.text);
}

static void add_set(struct oche_grid *grid, const char *set)
{
    grid->sets = realloc(grid->sets, (grid->set_count + 1) * sizeof(*grid->sets));
    grid->sets[grid->set_count++] = strdup(set);
}

static void test_values_are_split_at_commas_that_are_not_inside_something(void **state)
{
    struct oche_grid grid = {.repeats = 1};

    (void)state;
    add(&grid, "a.b[0].c=none,{name: dcqcn, g: 1/16},\"x,y\",[1, 2]");
    assert_string_equal(grid.axes[0].key, "a.b[0].c");
    assert_int_equal(grid.axes[0].count, 4);
    assert_string_equal(grid.axes[0].values[0], "none");
    assert_string_equal(grid.axes[0].values[1], "{name: dcqcn, g: 1/16}");
    assert_string_equal(grid.axes[0].values[2], "\"x,y\"");
    assert_string_equal(grid.axes[0].values[3], "[1, 2]");
    add(&grid, "one=value");
    assert_int_equal(oche_grid_points(&grid), 4);
    oche_grid_free(&grid);
}

static void test_what_is_no_axis_is_refused(void **state)
{
    static const struct {
        const char *argument, *error;
    } rows[] = {
        {"loss", "--vary loss: has no key or no values; "},
        {"=1,2", "--vary =1,2: has no key or no values; "},
        {"loss.probability=", "--vary loss.probability=: has an empty value; "},
        {"loss.probability=1,,2", "--vary loss.probability=1,,2: has an empty value; "},
        {"loss.probability=1,2,1", "--vary loss.probability=1,2,1: has the same value twice; "},
        {"loss.probability=1,1", "--vary loss.probability=1,1: has the same value twice; "},
        {"seed=1,2", "--vary seed=1,2: seeds are what --repeat is for; "},
        {"known=3", "--vary known=3: varied twice; "},
        {"fixed=3,4", "--vary fixed=3,4: both set and varied; "},
    };
    struct oche_grid grid = {.repeats = 1};

    (void)state;
    add_set(&grid, "fixed=1");
    add_set(&grid, "fixed.more=1");
    add(&grid, "known=1,2");
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        assert_false(oche_grid_add_axis(&grid, rows[i].argument, &error));
        if (strncmp(error.text, rows[i].error, strlen(rows[i].error)) != 0)
            fail_msg("%s", error.text);
        assert_int_equal(grid.axis_count, 1);
    }
    for (unsigned i = 1; i < OCHE_GRID_MAX_AXES; i++) {
        char argument[32];

        snprintf(argument, sizeof(argument), "key%u=1,2", i);
        add(&grid, argument);
    }
    assert_false(oche_grid_add_axis(&grid, "more=1", &error));
    assert_string_equal(error.text, "--vary more=1: one too many; at most 16");
    oche_grid_free(&grid);
}

/* Axes in step have one number. A value may be repeated, which is otherwise rejected. */
static void test_zipped(void **state)
{
    struct oche_grid grid = {.repeats = 2, .zipped = true};

    (void)state;
    add(&grid, "a=1,2,2");
    assert_false(oche_grid_check_zip(&grid, &error));
    assert_string_equal(error.text, "--zip: takes the values of several axes together; give at "
                                    "least two --vary");
    add(&grid, "b=x,y,z");
    assert_true(oche_grid_check_zip(&grid, &error));
    assert_int_equal(oche_grid_points(&grid), 6);
    for (size_t point = 0; point < 6; point++) {
        struct oche_grid_place place = oche_grid_place(&grid, point);

        assert_int_equal(place.value[0], point / 2);
        assert_int_equal(place.value[1], point / 2);
        assert_int_equal(place.repeat, point % 2);
        assert_int_equal(oche_grid_number(&grid, &place), point);
    }
    add(&grid, "c=1,2");
    assert_false(oche_grid_check_zip(&grid, &error));
    assert_string_equal(error.text, "--zip: a has 3 values and c 2; give as many of each");
    oche_grid_free(&grid);
}

/* Points are numbered with the repeat fastest, then the last axis; in both directions. */
static void test_numbers(void **state)
{
    struct oche_grid grid = {.repeats = 5};

    (void)state;
    assert_int_equal(oche_grid_points(&grid), 5);
    add(&grid, "a=1,2");
    add(&grid, "b=x");
    add(&grid, "c=p,q,r");
    assert_int_equal(oche_grid_combinations(&grid), 6);
    assert_int_equal(oche_grid_points(&grid), 30);
    size_t number = 0;

    for (size_t a = 0; a < 2; a++)
        for (size_t c = 0; c < 3; c++)
            for (uint32_t repeat = 0; repeat < 5; repeat++, number++) {
                struct oche_grid_place place = oche_grid_place(&grid, number);

                assert_int_equal(place.value[0], a);
                assert_int_equal(place.value[1], 0);
                assert_int_equal(place.value[2], c);
                assert_int_equal(place.repeat, repeat);
                assert_int_equal(oche_grid_number(&grid, &place), number);
            }
    oche_grid_free(&grid);
}

static void test_overrides_come_in_order_the_seed_last(void **state)
{
    struct oche_grid grid = {.repeats = 3, .seed_base = 40};
    size_t count;

    (void)state;
    add_set(&grid, "duration=1ms");
    add(&grid, "a=1,2");
    add(&grid, "b=x,{y: z}");
    char **sets = oche_grid_sets(&grid, 3 * 3 + 2, &count);

    assert_int_equal(count, 4);
    assert_string_equal(sets[0], "duration=1ms");
    assert_string_equal(sets[1], "a=2");
    assert_string_equal(sets[2], "b={y: z}");
    assert_string_equal(sets[3], "seed=42");
    oche_grid_sets_free(sets, count);
    oche_grid_free(&grid);
}

static void test_mistakes_are_found_before_anything_runs(void **state)
{
    static const struct {
        const char *axis, *error;
    } rows[] = {
        {"loss.probability=0,2", "--vary loss.probability=2: loss.probability: "},
        {"los.probability=0", "--vary los.probability=0: los: "},
        /* Found only when the world is made: */
        {"measure.queues=tor0:host9", "--vary measure.queues=tor0:host9: measure.queues: "},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        struct oche_grid grid = {.scenario = strdup(SCENARIO), .repeats = 1};

        add(&grid, rows[i].axis);
        assert_false(oche_grid_check(&grid, &error));
        if (strncmp(error.text, rows[i].error, strlen(rows[i].error)) != 0)
            fail_msg("%s", error.text);
        assert_null(strchr(error.text, '\n'));
        oche_grid_free(&grid);
    }
}

static void test_seeds_begin_where_the_scenario_says(void **state)
{
    struct oche_grid grid = {.scenario = strdup(SCENARIO), .repeats = 2};

    (void)state;
    add_set(&grid, "seed=18446744073709551613");
    assert_true(oche_grid_check(&grid, &error));
    assert_true(oche_grid_seed(&grid, 1) == UINT64_MAX - 1);
    grid.repeats = 3;
    assert_false(oche_grid_check(&grid, &error));
    assert_non_null(strstr(error.text, "leaves no room for 3 repeats"));
    grid.repeats = OCHE_GRID_MAX_POINTS;
    add(&grid, "loss.probability=0,1%");
    assert_false(oche_grid_check(&grid, &error));
    assert_non_null(strstr(error.text, "more than 1000000 points"));
    oche_grid_free(&grid);
}

/* Two spellings of one value, and values that a later override replaces. */
static void test_combinations_that_are_the_same_run_are_refused(void **state)
{
    static const struct {
        const char *axes[2], *told; /* told NULL: all are different */
    } rows[] = {
        {{"loss.probability=0.01,0,1%"}, "--vary loss.probability=0.01,1%: both come to the same"},
        {{"loss.probability=1/100,0.02,1e-2"}, "--vary loss.probability=1/100,1e-2: both come"},
        {{"duration=1ms,2ms", "topology.bottleneck_rate=40Gbps,40000Mbps"},
         "--vary topology.bottleneck_rate=40Gbps,40000Mbps: both come to the same run"},
        {{"switch.kmin=10KB,10000B,10KiB"}, "--vary switch.kmin=10KB,10000B: both come to the "},
        {{"congestion_control=none,{name: none}"},
         "--vary congestion_control=none,{name: none}: both come to the same run"},
        {{"congestion_control=none,{name: dcqcn, g: 1/16},{name: dcqcn, g: 1/256}"}, NULL},
        {{"switch.kmax=20KB,30KB", "duration=1ms,2ms,1000us"},
         "--vary duration=1ms,1000us: both come to the same run"},
        {{"workload[0].pairs=1,2", "workload={type: incast, degree: 2},{type: incast, degree: 3}"},
         "--vary workload[0].pairs=1,2: both come to the same run; leave one out, or what "
         "overrides them"},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        struct oche_grid grid = {.scenario = strdup(SCENARIO), .repeats = 3};

        for (size_t a = 0; a < 2 && rows[i].axes[a] != NULL; a++)
            add(&grid, rows[i].axes[a]);
        bool ok = oche_grid_check(&grid, &error);

        if (ok != (rows[i].told == NULL) ||
            (!ok && strncmp(error.text, rows[i].told, strlen(rows[i].told)) != 0))
            fail_msg("%s: %s", rows[i].axes[0], ok ? "taken" : error.text);
        oche_grid_free(&grid);
    }
}

/* Sixteen axes of so many values that their product does not fit into 64 bits. */
static void test_grids_without_end_are_refused(void **state)
{
    struct oche_grid grid = {.scenario = strdup(SCENARIO), .repeats = 1};
    char *argument = NULL;
    size_t bytes;

    (void)state;
    for (unsigned axis = 0; axis < OCHE_GRID_MAX_AXES; axis++) {
        FILE *out = open_memstream(&argument, &bytes);

        fprintf(out, "key%u=0", axis);
        for (unsigned i = 1; i < 64; i++)
            fprintf(out, ",%u", i);
        fclose(out);
        add(&grid, argument);
        free(argument);
    }
    assert_true(oche_grid_points(&grid) == SIZE_MAX);
    assert_false(oche_grid_check(&grid, &error));
    assert_non_null(strstr(error.text, "more than 1000000 points"));
    oche_grid_free(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_are_split_at_commas_that_are_not_inside_something),
        cmocka_unit_test(test_what_is_no_axis_is_refused),
        cmocka_unit_test(test_zipped),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_overrides_come_in_order_the_seed_last),
        cmocka_unit_test(test_mistakes_are_found_before_anything_runs),
        cmocka_unit_test(test_seeds_begin_where_the_scenario_says),
        cmocka_unit_test(test_combinations_that_are_the_same_run_are_refused),
        cmocka_unit_test(test_grids_without_end_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
