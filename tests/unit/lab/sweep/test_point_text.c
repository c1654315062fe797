/* SPDX-License-Identifier: Apache-2.0 */
/* A point's result as text: it is read back bit for bit, or rejected. */
#include "lab/sweep/point.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measures/metrics.h"
#include "tests/support/test.h"

static char *text_of(const struct oche_point_result *result, size_t *bytes)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, bytes);

    assert_non_null(out);
    assert_true(oche_point_write(result, out));
    fclose(out);
    return text;
}

static bool read_text(const char *text, size_t bytes, struct oche_point_result *result)
{
    FILE *in = bytes > 0 ? fmemopen((void *)(uintptr_t)text, bytes, "r") : fopen("/dev/null", "r");

    assert_non_null(in);
    bool ok = oche_point_read(result, in);

    fclose(in);
    return ok;
}

static const double values[] = {0.0,         -0.0,    1.0 / 3,  1e300,
                                DBL_MIN / 8, DBL_MAX, INFINITY, DBL_MIN,
                                1e-12,       -17,     40e9,     0x1.fffffffffffffp-1};
#define VALUES OCHE_COUNT_OF(values)

static struct oche_point_result sample(void)
{
    struct oche_point_result result = {.status = OCHE_POINT_DONE,
                                       .seed = UINT64_MAX,
                                       .hash = 0x0123456789abcdef,
                                       .wall_s = 1.0 / 7};

    result.metrics = calloc(VALUES, sizeof(*result.metrics));
    for (size_t i = 0; i < VALUES; i++) {
        result.metrics[i].unit = oche_metric_unit_named(i % 2 == 0 ? "bps" : "ratio");
        result.metrics[i].value = values[i];
        assert_true(asprintf(&result.metrics[i].name, "queue.a name:%zu.p99", i) > 0);
    }
    result.metric_count = VALUES;
    result.distributions = calloc(2, sizeof(*result.distributions));
    result.distribution_count = 2;
    for (size_t i = 0; i < 2; i++) {
        struct oche_distribution *distribution = &result.distributions[i];

        distribution->name = strdup(i == 0 ? "fct" : "slowdown");
        distribution->unit = oche_metric_unit_named("s");
        distribution->count = UINT64_MAX - i;
        for (size_t step = 0; step < OCHE_DISTRIBUTION_STEPS; step++)
            distribution->value[step] = 1e-6 / (1.0 + (double)step + (double)i);
    }
    return result;
}

static void test_what_is_written_is_read(void **state)
{
    struct oche_point_result result = sample(), read;
    size_t bytes;
    char *text = text_of(&result, &bytes);

    (void)state;
    assert_true(read_text(text, bytes, &read));
    assert_int_equal(read.status, OCHE_POINT_DONE);
    assert_null(read.error);
    assert_true(read.seed == result.seed && read.hash == result.hash);
    assert_memory_equal(&read.wall_s, &result.wall_s, sizeof(double));
    assert_int_equal(read.metric_count, result.metric_count);
    for (size_t i = 0; i < read.metric_count; i++) {
        assert_string_equal(read.metrics[i].name, result.metrics[i].name);
        assert_ptr_equal(read.metrics[i].unit, result.metrics[i].unit);
        assert_memory_equal(&read.metrics[i].value, &result.metrics[i].value, sizeof(double));
    }
    assert_int_equal(read.distribution_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(read.distributions[i].name, result.distributions[i].name);
        assert_true(read.distributions[i].count == result.distributions[i].count);
        assert_memory_equal(read.distributions[i].value, result.distributions[i].value,
                            sizeof(read.distributions[i].value));
    }
    assert_true(isnan(oche_point_metric(&read, "goodput")));
    assert_true(oche_point_metric(&read, "queue.a name:4.p99") == values[4]);
    oche_point_free(&read);
    oche_point_free(&result);
    free(text);
}

static void test_a_failure_keeps_its_words_on_one_line(void **state)
{
    struct oche_point_result result = {.status = OCHE_POINT_FAILED, .error = strdup("a: b\nc  d")};
    struct oche_point_result read;
    size_t bytes;
    char *text = text_of(&result, &bytes);

    (void)state;
    assert_true(read_text(text, bytes, &read));
    assert_int_equal(read.status, OCHE_POINT_FAILED);
    assert_string_equal(read.error, "a: b c  d");
    oche_point_free(&read);
    oche_point_free(&result);
    free(text);
}

/* If the writer died at any place, its partial text is not accepted as a result. */
static void test_every_beginning_of_it_is_refused(void **state)
{
    struct oche_point_result result = sample(), read;
    size_t bytes;
    char *text = text_of(&result, &bytes);

    (void)state;
    for (size_t length = 0; length < bytes; length++)
        if (read_text(text, length, &read))
            fail_msg("%zu of %zu bytes are taken for the whole", length, bytes);
    oche_point_free(&result);
    free(text);
}

static void test_what_is_no_result_is_refused(void **state)
{
    static const char *const texts[] = {
        "",
        "end\n",
        "oche point 2\nend\n",
        "oche point 1\nend\nend\n",
        "oche point 1\nend\nseed 1\n",
        "oche point 1\nstatus fine\nend\n",
        "oche point 1\nstatus failed\nend\n",
        "oche point 1\nerror x\nend\n",
        "oche point 1\nseed -1\nend\n",
        "oche point 1\nseed 1x\nend\n",
        "oche point 1\nseed 18446744073709551616\nend\n",
        "oche point 1\nhash 0g\nend\n",
        "oche point 1\nwall \nend\n",
        "oche point 1\nmetric furlongs 1 goodput\nend\n",
        "oche point 1\nmetric bps goodput\nend\n",
        "oche point 1\nmetric bps 1\nend\n",
        "oche point 1\nmetric bps 1x goodput\nend\n",
        "oche point 1\ndistribution s 3 1 2 3 fct\nend\n",
        "oche point 1\nsurprise\nend\n",
    };
    struct oche_point_result read;

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(texts); i++)
        if (read_text(texts[i], strlen(texts[i]), &read))
            fail_msg("taken: %s", texts[i]);
    assert_false(read_text("oche point 1\0\nend\n", 18, &read));
    assert_true(read_text("oche point 1\nend\n", 17, &read));
    oche_point_free(&read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_written_is_read),
        cmocka_unit_test(test_a_failure_keeps_its_words_on_one_line),
        cmocka_unit_test(test_every_beginning_of_it_is_refused),
        cmocka_unit_test(test_what_is_no_result_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
