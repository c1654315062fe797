/* SPDX-License-Identifier: Apache-2.0 */
/* The table of metrics is complete: every row can be named, found, shown and explained. */
#include "lab/measures/metric_table.h"

#include <stdio.h>
#include <string.h>

#include "lab/measures/metrics.h"
#include "tests/support/test.h"

static struct oche_error error;

static void test_every_unit_has_a_format(void **state)
{
    static const struct {
        enum unit unit;
        const char *name;
        double value;
        const char *text;
    } shown[] = {
        {SECONDS, "s", 1.25e-5, "12.5us"},  {BPS, "bps", 38.25e9, "38.2Gbps"},
        {BYTES, "bytes", 96, "96B"},        {COUNT, "count", 1234567, "1,234,567"},
        {COUNT, "count", 1.5, "1.50"},      {RATIO, "ratio", 1.0451, "1.05"},
        {SHARE, "ratio", 0.1234, "12.3 %"}, {INDEX, "ratio", 1, "1.000"},
    };
    bool seen[UNITS] = {false};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(shown); i++) {
        const struct unit_row *unit = &oche_metric_units[shown[i].unit];

        seen[shown[i].unit] = true;
        assert_string_equal(unit->name, shown[i].name);
        assert_string_equal(unit->figure(shown[i].value).text, shown[i].text);
    }
    for (unsigned unit = 0; unit < UNITS; unit++)
        if (!seen[unit])
            fail_msg("no text of unit %u is tested", unit);
}

static void test_every_row_is_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < oche_metric_count; i++) {
        const struct metric *metric = &oche_metric_table[i];
        const struct source *source = &metric->source;

        if (metric->unit >= UNITS || oche_metric_units[metric->unit].name == NULL ||
            oche_metric_units[metric->unit].figure == NULL)
            fail_msg("%s: its unit has no format", metric->name);
        if (oche_metric_units[metric->unit].figure(0.5).text[0] == '\0')
            fail_msg("%s: its unit shows nothing", metric->name);
        if (metric->help == NULL || metric->help[0] == '\0')
            fail_msg("%s: no help", metric->name);
        if (metric->of != OF_RUN && source->stride == 0 && source->kind != COMPUTED_EACH)
            fail_msg("%s: one value for all that it is of", metric->name);
        if ((source->kind == SUM || source->kind == LONGEST) &&
            (source->count == 0 || source->stride == 0))
            fail_msg("%s: of no array", metric->name);
        if ((source->kind == COMPUTED && source->compute == NULL) ||
            (source->kind == COMPUTED_EACH && source->compute_each == NULL))
            fail_msg("%s: no function", metric->name);
        if ((source->kind == RATIO_OF || source->kind == PICOSECONDS_EACH) && source->over == 0)
            fail_msg("%s: over nothing", metric->name);
        if (!oche_metric_is_known(metric->name))
            fail_msg("%s: is not found", metric->name);
    }
}

static void test_no_name_is_there_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < oche_metric_count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(oche_metric_table[i].name, oche_metric_table[k].name) == 0)
                fail_msg("%s is there twice", oche_metric_table[i].name);
}

/*
 * A row by size has the place of the size in its name, and is no name itself. A port's name may be
 * any text.
 */
static void test_patterns_are_not_names(void **state)
{
    (void)state;
    for (size_t i = 0; i < oche_metric_count; i++) {
        const struct metric *metric = &oche_metric_table[i];
        const bool named = oche_metric_check(metric->name, &error);

        if (metric->of == OF_PORT ? strstr(metric->name, "PORT") == NULL
                                  : (metric->of == OF_RUN) != named)
            fail_msg("%s: %s", metric->name, named ? "has no place for what it is of" : error.text);
    }
}

/* Seven units of names, of which results files know five. */
static void test_units_of_results_files(void **state)
{
    static const char *const names[] = {"s", "bps", "bytes", "count", "ratio"};
    unsigned known = 0;

    (void)state;
    for (unsigned unit = 0; unit < UNITS; unit++) {
        bool found = false;

        for (size_t i = 0; i < OCHE_COUNT_OF(names); i++)
            found |= strcmp(oche_metric_units[unit].name, names[i]) == 0;
        assert_true(found);
    }
    for (size_t i = 0; i < OCHE_COUNT_OF(names); i++)
        known += oche_metric_unit_named(names[i]) != NULL;
    assert_int_equal(known, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_unit_has_a_format),
        cmocka_unit_test(test_every_row_is_whole),
        cmocka_unit_test(test_no_name_is_there_twice),
        cmocka_unit_test(test_patterns_are_not_names),
        cmocka_unit_test(test_units_of_results_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
