/* SPDX-License-Identifier: Apache-2.0 */
/* Distributions of flow sizes: built-in ones, files, errors, sampling. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "sim/app/cdf.h"
#include "tests/unit/app/temporary.h"

static struct oche_error error;

static void read_builtin(struct oche_cdf *cdf, const char *name)
{
    size_t i = 0;

    while (oche_cdf_names[i] != NULL && strcmp(oche_cdf_names[i], name) != 0)
        i++;
    assert_non_null(oche_cdf_names[i]);
    if (!oche_cdf_read_builtin(cdf, i, &error))
        fail_msg("%s", error.text);
}

static void read_text(struct oche_cdf *cdf, const char *text)
{
    if (!oche_cdf_read_file(cdf, temporary_file(text), &error))
        fail_msg("%s", error.text);
}

/* The means of workloads.md#distributions, to the digits given there. */
static void builtin_means(void **state)
{
    static const struct {
        const char *name;
        double mean, half_digit;
        unsigned rows;
    } cases[] = {
        {"websearch", 1711250, 0.5, 12},     {"fbhdp", 120421, 0.5, 20},
        {"alistorage2019", 40870, 0.5, 9},   {"solar2022", 39424, 0.5, 8},
        {"vl2", 12.66e6, 5e3, 13},           {"mining", 7.49e6, 5e3, 7},
        {"cachefollower", 712574, 0.51, 23}, /* 712573.5 exactly, rounded up there */
        {"webserver", 66121, 0.5, 13},
    };
    unsigned builtins = 0;

    (void)state;
    while (oche_cdf_names[builtins] != NULL)
        builtins++;
    assert_int_equal(builtins, OCHE_COUNT_OF(cases));
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        struct oche_cdf cdf;

        read_builtin(&cdf, cases[i].name);
        assert_int_equal(cdf.count, cases[i].rows);
        assert_true(fabs(cdf.mean - cases[i].mean) < cases[i].half_digit);
        oche_cdf_free(&cdf);
    }
}

/* workloads.md#distributions: p50 and p99. */
static void builtin_percentiles(void **state)
{
    struct oche_cdf cdf;

    (void)state;
    read_builtin(&cdf, "websearch");
    assert_int_equal(oche_cdf_size(&cdf, 0.5), 73077);
    assert_int_equal(oche_cdf_size(&cdf, 0.99), 23333333);
    oche_cdf_free(&cdf);
    read_builtin(&cdf, "alistorage2019");
    assert_int_equal(oche_cdf_size(&cdf, 0.5), 6340);
    oche_cdf_free(&cdf);
}

static void interpolates(void **state)
{
    struct oche_cdf cdf;

    (void)state;
    /* 100 bytes: 20 %; none between 200 and 300 */
    read_text(&cdf, "# sizes\n\n 100 0 \n100\t20 # step\n200 60\n300 60\n400 100\n\n");
    assert_int_equal(cdf.count, 5);
    assert_true(fabs(cdf.mean - (0.2 * 100 + 0.4 * 150 + 0.4 * 350)) < 1e-9);
    assert_int_equal(oche_cdf_size(&cdf, 0.0), 100);
    assert_int_equal(oche_cdf_size(&cdf, 0.19), 100);
    assert_int_equal(oche_cdf_size(&cdf, 0.2), 100);
    assert_int_equal(oche_cdf_size(&cdf, 0.4), 150);
    assert_int_equal(oche_cdf_size(&cdf, 0.599), 200);
    assert_int_equal(oche_cdf_size(&cdf, 0.6), 300);
    assert_int_equal(oche_cdf_size(&cdf, 0.8), 350);
    assert_int_equal(oche_cdf_size(&cdf, 1.0), 400);
    oche_cdf_free(&cdf);
}

static void a_fraction_scale_is_the_same(void **state)
{
    struct oche_cdf percent, fraction;

    (void)state;
    read_text(&percent, "0 0\n10 25\n20 100\n");
    read_text(&fraction, "0 0\n10 .25\n20 1.0\n");
    assert_true(percent.mean == fraction.mean);
    assert_true(percent.rows[1].at_most == 0.25 && fraction.rows[1].at_most == 0.25);
    assert_int_equal(oche_cdf_size(&percent, 0.0), 1); /* never an empty flow */
    oche_cdf_free(&percent);
    oche_cdf_free(&fraction);
}

static void samples_have_the_mean_and_repeat(void **state)
{
    enum { DRAWS = 400000 };
    struct oche_random a = oche_random_stream(3, "sizes", 0), b = a;
    struct oche_cdf cdf;
    double sum = 0, squares = 0, deviation;

    (void)state;
    read_builtin(&cdf, "websearch");
    for (unsigned i = 0; i < DRAWS; i++) {
        uint64_t size = oche_cdf_sample(&cdf, &a);

        assert_true(size >= 1 && size <= 30000000);
        assert_true(size == oche_cdf_sample(&cdf, &b));
        sum += (double)size;
        squares += (double)size * (double)size;
    }
    deviation = sqrt(squares / DRAWS - (sum / DRAWS) * (sum / DRAWS));
    assert_true(fabs(sum / DRAWS - cdf.mean) < 5 * deviation / sqrt(DRAWS));
    oche_cdf_free(&cdf);
}

static void recorded_samples(void **state)
{
    const uint64_t expected[] = {44671, 217692, 978, 174732, 868, 718, 42338, 49734};
    struct oche_random random = oche_random_stream(3, "sizes", 9);
    struct oche_cdf cdf;

    (void)state;
    read_builtin(&cdf, "fbhdp");
    for (unsigned i = 0; i < OCHE_COUNT_OF(expected); i++)
        assert_int_equal(oche_cdf_sample(&cdf, &random), expected[i]);
    oche_cdf_free(&cdf);
}

/* As written by numpy, spreadsheets and other simulators. */
static void dialects(void **state)
{
    static const char *const texts[] = {
        "0 0\n100 50\n10000 100\n",
        "0 0\r\n100 50\r\n10000 100",
        "0 0\r100 50\r10000 100\r",
        "\xef\xbb\xbf"
        "0 0\n100 50\n10000 100\n",
        "0,0\n100,50\n10000,100\n",
        "0, 0,\n100 ,\t50,\n10000,100,,\n",
        "0;0\n100;50\n10000;100\n",
        "0\t0\n100\t\t50\n\t10000\t100\t\n",
        "0\xc2\xa0"
        "0\n100\xc2\xa0 50\n10000 100\n",
        "0.000e+00 0.000e+00\n1.000e+02 5.000e+01\n1.000e+04 1.000e+02\n",
        "+0 +0\n1e2 .5e2\n10_000 100.0\n",
        "0 0%\n100B 50%\n10KB 100%\n",
        "0 0\n100 0.5\n10000 1\n",
        "0 0\n100 0.5\n10000 0.9999999999\n",
        "size,cdf\n0,0\n100,50\n10000,100\n",
        "\"Number of bytes\";\"P\"\n\"0\";\"0\"\n\"100\";\"50\"\n10000;100\n",
        "% matlab\n; ini\n// c\n# sh\n0 0 // c\n100 50 # sh\n\n10000 100\n",
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(texts); i++) {
        struct oche_cdf cdf;

        read_text(&cdf, texts[i]);
        assert_int_equal(cdf.count, 3);
        assert_int_equal(cdf.rows[1].size, 100);
        assert_true(fabs(cdf.rows[1].at_most - 0.5) < 1e-9);
        assert_int_equal(cdf.rows[2].size, 10000);
        assert_true(cdf.rows[2].at_most == 1.0);
        oche_cdf_free(&cdf);
    }
}

static void says_what_is_wrong(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", ": 0 rows; a distribution has at least two"},
        {"# nothing\n", ": 0 rows; a distribution has at least two"},
        {"5 0\n", ":1: 1 rows; a distribution has at least two"},
        {"5 1\n6 100\n",
         ":1: cdf: begins at 1; the first line's must be 0: add \"5 0\" if that part "
         "has just this size, \"0 0\" if sizes begin at 0"},
        {"5 0\n6 99\n# end\n", ":2: cdf: ends at 99; the last line's must be 100 (percent) or 1"},
        {"0 0\n0 100\n", ":2: size: no flow has a byte; the last line's must be above 0"},
        {"0 0\n0 100\n100 100\n", ":3: size: no flow has a byte; lines of sizes above 0"},
        {"5 0\n6 50\n7 40\n8 100\n", ":3: cdf: 40 after 50; it must not fall"},
        {"5 0\n4 100\n", ":2: size: 4 after 5; sizes must not fall"},
        {"5 0\n\n6 50\n6 50\n8 100\n", ":4: the line before says the same; remove one"},
        {"5 0\nx 100\n", ":2: size: \"x\" is no size; a whole number of bytes"},
        {"5 0\n-6 100\n", ":2: size: \"-6\" is no size; a whole number of bytes"},
        {"5.5 0\n", ":1: size: \"5.5\" is no size; a whole number of bytes"},
        {"5 0\n6 nan\n", ":2: cdf: \"nan\" is not finite; 0 to 100, or 0 to 1"},
        {"5 0\n0x6 100\n", ":2: size: \"0x6\" is hexadecimal; a whole number of bytes"},
        {"5,0\n1,000,100\n",
         ":2: more than two numbers; a line is \"size_bytes cdf\", as \"10000 15\""},
        {"5;0\n1,000;100\n",
         ":2: size: \"1,000\" has a comma, which may be a decimal point or may part thousands; a "
         "whole number of bytes"},
        {"\"5\";0\n\"1,000\";100\n", ":2: size: \"1,000\" has a comma, which may be a decimal "
                                     "point or may part thousands; a whole number of bytes"},
        {"5 0\n1'000 100\n", ":2: size: \"1'000\" has a mark between digits; a whole number of "
                             "bytes"},
        {"5 0%\n6 1%\n", ":2: cdf: ends at 1; the last line's must be 100 (percent) or 1"},
        {"5 0\n6 0.99999\n", ":2: cdf: ends at 0.99999000000000005; the last line's must be 100 "
                             "(percent) or 1"},
        {"a b\nc d\n5 0\n6 1\n", ":2: size: \"c\" is no size; a whole number of bytes"},
        {"size_kb cdf\n5 0\n6 1\n", ":1: sizes in \"size_kb\"; bytes, or a unit with each, as "
                                    "10KB"},
        {"cdf,size\n0,5\n1,6\n", ":1: \"cdf\" before \"size\"; the size is the first column, the "
                                 "part of flows the second"},
        {"0 0\n0.5 1000\n1 9000\n",
         ": the first column rises to all flows, as the second should; the size is the first "
         "column, the part of flows the second"},
        {"\xff\xfe"
         "5",
         ":1: is UTF-16; save it as UTF-8 (Excel: CSV UTF-8)"},
        {"5 0\n6 1.2.3\n", ":2: cdf: \"1.2.3\" is no part; 0 to 100, or 0 to 1"},
        {"5 0\n6 .\n", ":2: cdf: \".\" is no part; 0 to 100, or 0 to 1"},
        {"5 0\n6\n", ":2: one number; a line is \"size_bytes cdf\", as \"10000 15\""},
        {"5 0 0\n", ":1: more than two numbers; a line is \"size_bytes cdf\", as \"10000 15\""},
        {"5 0\n4000000000000 100\n",
         ":2: size: 4000000000000 bytes; at most 1099511627776 would be right"},
        {"5 0\n99999999999999999999 100\n",
         ":2: size: \"99999999999999999999\" is no size; a whole number of bytes"},
    };
    struct oche_cdf cdf;

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        assert_false(oche_cdf_read_file(&cdf, temporary_file(cases[i].text), &error));
        temporary_expect_error(error.text, cases[i].error);
        assert_null(cdf.rows);
    }
}

static void says_that_a_file_cannot_be_read(void **state)
{
    struct oche_cdf cdf;

    (void)state;
    assert_false(oche_cdf_read_file(&cdf, "/nowhere/x.txt", &error));
    assert_string_equal(error.text, "/nowhere/x.txt: No such file or directory; a readable file of "
                                    "lines \"size_bytes cdf\"");
    assert_false(oche_cdf_read_file(&cdf, "/tmp", &error));
    assert_string_equal(error.text,
                        "/tmp: Is a directory; a readable file of lines \"size_bytes cdf\"");
}

static int clean_up(void **state)
{
    (void)state;
    temporary_remove();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builtin_means),
        cmocka_unit_test(builtin_percentiles),
        cmocka_unit_test(interpolates),
        cmocka_unit_test(a_fraction_scale_is_the_same),
        cmocka_unit_test(samples_have_the_mean_and_repeat),
        cmocka_unit_test(recorded_samples),
        cmocka_unit_test(dialects),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(says_that_a_file_cannot_be_read),
    };
    return cmocka_run_group_tests(tests, NULL, clean_up);
}
