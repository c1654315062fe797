/* SPDX-License-Identifier: Apache-2.0 */
/* Percentiles, spans, and JSON that is safe inside a page, against numbers worked out by hand. */
#include "tests/support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/interval.h"
#include "report/json.h"
#include "report/sample.h"

static struct oche_sample sample_of(const double *values, size_t count)
{
    struct oche_sample sample = {0};

    for (size_t i = 0; i < count; i++)
        oche_sample_add(&sample, values[i]);
    oche_sample_sort(&sample);
    return sample;
}

static void test_percentiles(void **state)
{
    const double values[] = {40, 10, 30, 20};
    struct oche_sample sample = sample_of(values, 4), none = {0};

    (void)state;
    assert_true(oche_sample_percentile(&sample, 0) == 10);
    assert_true(oche_sample_percentile(&sample, 25000) == 10);
    assert_true(oche_sample_percentile(&sample, 25001) == 20);
    assert_true(oche_sample_percentile(&sample, 50000) == 20);
    assert_true(oche_sample_percentile(&sample, 75000) == 30);
    assert_true(oche_sample_percentile(&sample, 99999) == 40);
    assert_true(oche_sample_percentile(&sample, 100000) == 40);
    assert_true(oche_sample_mean(&sample) == 25);
    assert_true(isnan(oche_sample_percentile(&none, 50000)));
    assert_true(isnan(oche_sample_mean(&none)));
    oche_sample_sort(&none);
    oche_sample_free(&sample);
}

/* With 100,000 values, each percentile of the grid is the value of its number. */
static void test_percentiles_of_many(void **state)
{
    struct oche_sample sample = {0};

    (void)state;
    for (uint32_t i = 0; i < 100000; i++)
        oche_sample_add(&sample, (double)((i * 7919 + 3) % 100000));
    oche_sample_sort(&sample);
    for (uint32_t i = 0; i < OCHE_SAMPLE_GRID; i++) {
        uint32_t p = oche_sample_grid(i);

        assert_true(oche_sample_percentile(&sample, p) == (p == 0 ? 0 : p - 1));
    }
    oche_sample_free(&sample);
}

static void test_intervals(void **state)
{
    static const struct {
        size_t count;
        uint32_t p;
        size_t low, high;
    } wanted[] = {{0, 50000, 0, 1},         {1, 50000, 0, 2},
                  {5, 50000, 0, 6},         {6, 50000, 1, 6},
                  {100, 50000, 40, 61},     {100, 99000, 97, 101},
                  {400, 99000, 392, 400},   {1000, 90000, 881, 919},
                  {1000, 99900, 997, 1001}, {1000000, 50000, 499020, 500981}};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(wanted); i++) {
        size_t low, high;

        oche_interval_ranks(wanted[i].count, wanted[i].p, &low, &high);
        assert_int_equal(low, wanted[i].low);
        assert_int_equal(high, wanted[i].high);
    }
}

/* The interval contains the true percentile of the distribution in 95 % of samples. */
static void test_intervals_enclose(void **state)
{
    enum { TRIALS = 2000, VALUES = 500 };
    const uint32_t percentiles[] = {50000, 90000, 99000};
    unsigned short seed[3] = {1, 2, 3};
    size_t inside[3] = {0};

    (void)state;
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        struct oche_sample sample = {0};

        for (unsigned i = 0; i < VALUES; i++)
            oche_sample_add(&sample, erand48(seed));
        oche_sample_sort(&sample);
        for (size_t k = 0; k < OCHE_COUNT_OF(percentiles); k++) {
            const double truth = percentiles[k] / 100000.0;
            size_t low, high;

            oche_interval_ranks(VALUES, percentiles[k], &low, &high);
            assert_in_range(low, 1, VALUES);
            assert_in_range(high, low + 1, VALUES);
            inside[k] += sample.values[low - 1] <= truth && truth < sample.values[high - 1];
        }
        oche_sample_free(&sample);
    }
    for (size_t k = 0; k < OCHE_COUNT_OF(percentiles); k++)
        assert_in_range(inside[k], TRIALS * 94 / 100, TRIALS * 99 / 100);
}

static void test_grid(void **state)
{
    const uint32_t wanted[] = {0,     500,   50000, 99000, 99100, 99900,
                               99910, 99990, 99991, 99999, 100000};
    size_t found = 0;

    (void)state;
    for (uint32_t i = 0; i < OCHE_SAMPLE_GRID; i++) {
        if (i > 0)
            assert_true(oche_sample_grid(i) > oche_sample_grid(i - 1));
        for (size_t k = 0; k < OCHE_COUNT_OF(wanted); k++)
            found += oche_sample_grid(i) == wanted[k];
    }
    assert_int_equal(found, OCHE_COUNT_OF(wanted));
}

static void test_spans(void **state)
{
    const double values[] = {1, 5, 3, -2, NAN, 8, NAN, NAN, 4};
    struct oche_span spans[10];

    (void)state;
    assert_int_equal(oche_span_width(0, 100), 1);
    assert_int_equal(oche_span_width(100, 100), 1);
    assert_int_equal(oche_span_width(101, 100), 2);
    assert_int_equal(oche_span_width(1000000, 480), 2084);
    assert_int_equal(oche_spans(values, 9, 2, spans), 5);
    assert_true(spans[0].mean == 3 && spans[0].least == 1 && spans[0].most == 5);
    assert_true(spans[1].mean == 0.5 && spans[1].least == -2 && spans[1].most == 3);
    assert_true(spans[2].mean == 8 && spans[2].least == 8 && spans[2].most == 8);
    assert_true(isnan(spans[3].mean) && isnan(spans[3].least) && isnan(spans[3].most));
    assert_true(spans[4].mean == 4); /* the last is shorter */
    assert_int_equal(oche_spans(values, 0, 2, spans), 0);
    assert_int_equal(oche_spans(values, 4, 1, spans), 4);
    assert_true(spans[3].mean == -2);
}

static const char *text_of(struct json_object *json, char *room, size_t bytes)
{
    size_t length;
    char *text = oche_json_for_html(json, &length);

    assert_int_equal(length, strlen(text));
    assert_true(length < bytes);
    memcpy(room, text, length + 1);
    free(text);
    json_object_put(json);
    return room;
}

static void test_json(void **state)
{
    struct json_object *json = json_object_new_object(), *list = json_object_new_array();
    char text[512];

    (void)state;
    oche_json_add_text(json, "a", "</script><!-- \"quoted\" \\ \x01\n <b>");
    oche_json_add_text(json, "b", NULL);
    oche_json_add_real(json, "c", 123456.789);
    oche_json_add(json, "d", oche_json_exact(123456.789));
    oche_json_add_real(json, "e", NAN);
    oche_json_add_real(json, "f", INFINITY);
    oche_json_add_int(json, "g", UINT64_MAX);
    oche_json_push_real(list, 0.000125);
    oche_json_push_real(list, 0);
    oche_json_add(json, "h", list);
    assert_string_equal(text_of(json, text, sizeof(text)),
                        "{\"a\":\"\\u003c\\/script>\\u003c!-- \\\"quoted\\\" \\\\ \\\\x01\\n "
                        "\\u003cb>\",\"b\":null,\"c\":1.2346e+05,\"d\":123456.789,\"e\":null,"
                        "\"f\":null,\"g\":9223372036854775807,\"h\":[0.000125,0]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_percentiles), cmocka_unit_test(test_percentiles_of_many),
        cmocka_unit_test(test_intervals),   cmocka_unit_test(test_intervals_enclose),
        cmocka_unit_test(test_grid),        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
