/* SPDX-License-Identifier: Apache-2.0 */
/* Values with units: exact, readable again as printed, and rejected with the right form. */
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

#include "core/random.h"
#include "params/number.h"
#include "params/units.h"

static const char *const thresholds[] = {"dynamic", "static", NULL};

#define WHOLE(unit_, low, high)                                                                    \
    {                                                                                              \
        .name = "k", .unit = unit_, .minimum.u = low, .maximum.u = high, .help = "h"               \
    }

static const struct oche_param count_param = WHOLE(OCHE_UNIT_COUNT, 1, 1024);
static const struct oche_param any_count = WHOLE(OCHE_UNIT_COUNT, 0, UINT64_MAX);
static const struct oche_param bytes_param = WHOLE(OCHE_UNIT_BYTES, 0, UINT64_MAX);
static const struct oche_param rate_param = WHOLE(OCHE_UNIT_BPS, OCHE_MBPS, UINT64_MAX);
static const struct oche_param time_param = WHOLE(OCHE_UNIT_TIME, 0, UINT64_MAX);
static const struct oche_param short_time = WHOLE(OCHE_UNIT_TIME, OCHE_US, OCHE_SEC);
static const struct oche_param real_param = {.name = "k", OCHE_IS_REAL(0, 0, 1)};
static const struct oche_param large_real = {.name = "k", OCHE_IS_REAL(0, 0, 16)};
static const struct oche_param auto_real = {
    .name = "k", OCHE_IS_REAL(8, 1, 16), .zero_is_auto = true};
static const struct oche_param bool_param = {.name = "k", OCHE_IS_BOOL(false)};
static const struct oche_param choice_param = {.name = "k", OCHE_IS_CHOICE(0, thresholds)};
static const struct oche_param text_param = {.name = "k", OCHE_IS_TEXT};
static const struct oche_param auto_bytes = {
    .name = "k", OCHE_IS_BYTES(0, 0, UINT64_MAX), .help = "reserved; auto: from each link"};

static const struct oche_param zero_auto = {.name = "k",
                                            OCHE_IS_TIME(OCHE_MS, OCHE_US, OCHE_NEVER),
                                            .zero_is_auto = true,
                                            .help = "auto: from the network; never: wait for ever"};

static void check_shown(const struct oche_param *param, uint64_t value, const char *expected)
{
    union oche_value read;
    struct oche_error error;
    char text[OCHE_VALUE_BYTES];

    oche_value_show(param, (union oche_value){.u = value}, text, sizeof(text));
    assert_string_equal(text, expected);
    assert_true(oche_value_parse(param, text, &read, &error));
    assert_int_equal(read.u, value);
}

static void test_values_for_people(void **state)
{
    (void)state;
    check_shown(&time_param, 187500 * OCHE_NS, "187.5us");
    check_shown(&time_param, 18750 * OCHE_NS, "18.75us");
    check_shown(&time_param, 75 * OCHE_US, "75us");
    check_shown(&time_param, 80018 * OCHE_US, "80018us"); /* 80.018ms is longer */
    check_shown(&time_param, 1, "1ps");
    check_shown(&time_param, 0, "0");
    check_shown(&time_param, UINT64_MAX, "never");
    check_shown(&rate_param, 1600 * OCHE_GBPS, "1.6Tbps");
    check_shown(&rate_param, 12500 * OCHE_KBPS, "12.5Mbps");
    check_shown(&bytes_param, 1600000, "1.6MB");
    check_shown(&bytes_param, 4096, "4KiB");
    check_shown(&bytes_param, 2147483647, "2147483647B");
    check_shown(&any_count, 4096, "4096");
    check_shown(&zero_auto, 0, "auto");
}

static void test_zero_may_be_auto(void **state)
{
    union oche_value value = {.u = 1};
    struct oche_error error;
    char text[OCHE_VALUE_BYTES];

    (void)state;
    assert_true(oche_value_parse(&zero_auto, "auto", &value, &error));
    assert_int_equal(value.u, 0);
    oche_value_format(&zero_auto, value, text, sizeof(text));
    assert_string_equal(text, "auto");
    assert_true(oche_value_parse(&zero_auto, "never", &value, &error));
    assert_true(value.u == OCHE_NEVER);
    assert_false(oche_value_parse(&zero_auto, "5ns", &value, &error));
    assert_true(oche_value_parse(&auto_real, "auto", &value, &error));
    assert_true(value.real == 0);
    oche_value_format(&auto_real, value, text, sizeof(text));
    assert_string_equal(text, "auto");
    assert_false(oche_value_parse(&auto_real, "0", &value, &error));
    assert_false(oche_value_parse(&real_param, "auto", &value, &error));
    assert_false(oche_value_parse(&time_param, "auto", &value, &error));
}

static void test_whole_numbers_are_read(void **state)
{
    static const struct {
        const struct oche_param *param;
        const char *text;
        uint64_t value;
    } rows[] = {
        {&count_param, "1", 1},
        {&count_param, "1024", 1024},
        {&any_count, "18446744073709551614", UINT64_MAX - 1},
        {&any_count, "0", 0},
        {&bytes_param, "0", 0},
        {&bytes_param, "225KB", 225000},
        {&bytes_param, "225kB", 225000},
        {&bytes_param, "225 KB", 225000},
        {&bytes_param, "1.5MB", 1500000},
        {&bytes_param, "4KiB", 4096},
        {&bytes_param, "1.5KiB", 1536},
        {&bytes_param, "12MiB", 12 << 20},
        {&bytes_param, "1500B", 1500},
        {&rate_param, "10Gbps", 10 * OCHE_GBPS},
        {&rate_param, "2.5Gbps", 2500 * OCHE_MBPS},
        {&rate_param, "0.4Tbps", 400 * OCHE_GBPS},
        {&rate_param, "1000000bps", OCHE_MBPS},
        {&time_param, "5us", 5 * OCHE_US},
        {&time_param, "1.5us", 1500 * OCHE_NS},
        {&time_param, "0.0001us", 100},
        {&time_param, "50ms", 50 * OCHE_MS},
        {&time_param, "1s", OCHE_SEC},
        {&time_param, "20ps", 20},
        {&time_param, "never", OCHE_NEVER},
        {&auto_bytes, "auto", UINT64_MAX},
        {&auto_bytes, "never", UINT64_MAX},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        union oche_value value;
        struct oche_error error = {""};

        if (!oche_value_parse(rows[i].param, rows[i].text, &value, &error))
            fail_msg("%s: %s", rows[i].text, error.text);
        if (value.u != rows[i].value)
            fail_msg("%s: %llu", rows[i].text, (unsigned long long)value.u);
    }
}

static void test_other_values_are_read(void **state)
{
    static const struct {
        const char *text;
        double value;
    } reals[] = {
        {"0", 0},     {"1", 1},    {"0.00390625", 1.0 / 256}, {"1/256", 1.0 / 256},
        {"1%", 0.01}, {"100%", 1}, {"1e-3", 0.001},           {".5", -1},
        {"0.5", 0.5},
    };
    union oche_value value;
    struct oche_error error;

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(reals); i++) {
        bool ok = oche_value_parse(&real_param, reals[i].text, &value, &error);

        assert_int_equal(ok, reals[i].value >= 0);
        if (ok)
            assert_true(value.real == reals[i].value);
    }
    static const char *const truths[] = {"true", "yes", "on", "True", "Yes", "ON"};
    static const char *const lies[] = {"false", "no", "off", "FALSE", "No", "Off"};

    for (size_t i = 0; i < OCHE_COUNT_OF(truths); i++) {
        assert_true(oche_value_parse(&bool_param, truths[i], &value, &error));
        assert_int_equal(value.u, 1);
        assert_true(oche_value_parse(&bool_param, lies[i], &value, &error));
        assert_int_equal(value.u, 0);
    }
    assert_true(oche_value_parse(&choice_param, "static", &value, &error));
    assert_int_equal(value.u, 1);
    assert_true(oche_value_parse(&text_param, "", &value, &error));
    assert_string_equal(value.text, "");
}

struct refused {
    const struct oche_param *param;
    const char *text, *error;
};

static void check_refused(const struct refused *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        union oche_value value;
        struct oche_error error = {"accepted"};

        assert_false(oche_value_parse(rows[i].param, rows[i].text, &value, &error));
        assert_string_equal(error.text, rows[i].error);
    }
}

static void test_errors_say_what_would_be_right(void **state)
{
    static const struct refused rows[] = {
        {&count_param, "ten", "\"ten\" is not a whole number; write a whole number, such as 128"},
        {&count_param, "0", "0 is out of range; from 1 to 1024"},
        {&count_param, "1025", "1025 is out of range; from 1 to 1024"},
        {&count_param, "-3", "-3 is negative; write a whole number, such as 128"},
        {&count_param, "1.5", "1.5 is not a whole number; round it"},
        {&count_param, "8KB", "\"8KB\" is not a whole number; write a whole number, such as 128"},
        {&count_param, "", "has no value; write a whole number, such as 128"},
        {&count_param, "never", "\"never\" is not possible; at most 1024"},
        {&any_count, "18446744073709551615",
         "18446744073709551615 is too large; at most 18446744073709551614"},
        {&count_param, "18446744073709551615", "18446744073709551615 is too large; at most 1024"},
        {&any_count, "99999999999999999999",
         "99999999999999999999 has too many digits; at most 64 bits fit"},
        {&bytes_param, "225",
         "225 has no unit; add one of B, KiB, MiB, GiB, TiB, KB, MB, GB or TB"},
        {&bytes_param, "5us",
         "\"5us\": \"us\" is not a unit of size; use B, KiB, MiB, GiB, TiB, "
         "KB, MB, GB or TB"},
        {&bytes_param, "0.5B", "0.5B is not a whole number of B; round it"},
        {&bytes_param, "99999999TB", "99999999TB is too large; at most 18446744073709551614B"},
        {&bytes_param, "many",
         "\"many\" is not a size; write a size with its unit, such as 225KB "
         "or 4KiB"},
        {&bytes_param, "auto",
         "\"auto\" is not a size; write a size with its unit, such as 225KB "
         "or 4KiB"},
        {&rate_param, "10", "10 has no unit; add one of bps, Kbps, Mbps, Gbps or Tbps"},
        {&rate_param, "10GB",
         "\"10GB\": \"GB\" is not a unit of rate; use bps, Kbps, Mbps, Gbps or Tbps"},
        {&rate_param, "1Kbps", "1Kbps is too small; at least 1Mbps"},
        {&time_param, "5", "5 has no unit; add one of ps, ns, us, ms or s"},
        {&time_param, "5min", "\"5min\": \"min\" is not a unit of time; use ps, ns, us, ms or s"},
        {&time_param, "0.3ps", "0.3ps is not a whole number of ps; round it"},
        {&time_param, "5.",
         "\"5.\" is not a time; write a time with its unit, such as 55us or "
         "1.5ms"},
        {&short_time, "2s", "2s is out of range; from 1us to 1s"},
        {&short_time, "0", "0 is out of range; from 1us to 1s"},
        {&real_param, "101%", "101% is out of range; from 0 to 1"},
        {&real_param, "-1%", "-1% is out of range; from 0 to 1"},
        {&real_param, "1/0", "\"1/0\" is not a number; write a number such as 0.5, 1/256 or 1%"},
        {&real_param, "nan", "\"nan\" is not a number; write a number such as 0.5, 1/256 or 1%"},
        {&real_param, "inf", "\"inf\" is not a number; write a number such as 0.5, 1/256 or 1%"},
        {&real_param, "0x1p-8",
         "\"0x1p-8\" is not a number; write a number such as 0.5, 1/256 or 1%"},
        {&real_param, "1e999",
         "\"1e999\" is not a number; write a number such as 0.5, 1/256 or 1%"},
        {&choice_param, "statc",
         "\"statc\" is not known; did you mean \"static\"? (dynamic, static)"},
        {&choice_param, "fair", "\"fair\" is not known; write one of dynamic, static"},
        {&choice_param, "", "has no value; write one of its choices"},
    };

    (void)state;
    check_refused(rows, OCHE_COUNT_OF(rows));
}

/* Units and shares as other programs write them. */
static void test_errors_say_what_was_meant(void **state)
{
    static const struct refused rows[] = {
        {&real_param, "60", "60 is out of range; from 0 to 1; did you mean \"60%\"?"},
        {&real_param, "101", "101 is out of range; from 0 to 1"},
        {&real_param, "3/2", "3/2 is out of range; from 0 to 1"},
        {&large_real, "60", "60 is out of range; from 0 to 16"},
        {&bool_param, "1",
         "\"1\" is not true or false; write true or false; yes, no, on and off are possible, too"},
        {&bool_param, "yEs",
         "\"yEs\" is not true or false; write true or false; yes, no, on and off are possible, "
         "too"},
        {&bytes_param, "10M",
         "\"10M\": \"M\" is not a unit of size; did you mean \"10MB\"? (B, KiB, MiB, GiB, TiB, KB, "
         "MB, GB or TB)"},
        {&bytes_param, "1.5 gi",
         "\"1.5 gi\": \"gi\" is not a unit of size; did you mean \"1.5 GiB\"? (B, KiB, MiB, GiB, "
         "TiB, KB, MB, GB or TB)"},
        {&bytes_param, "64b",
         "\"64b\": \"b\" is not a unit of size; did you mean \"64B\"? (B, KiB, MiB, GiB, TiB, KB, "
         "MB, GB or TB)"},
        {&rate_param, "100G",
         "\"100G\": \"G\" is not a unit of rate; did you mean \"100Gbps\"? (bps, Kbps, Mbps, Gbps "
         "or Tbps)"},
        {&rate_param, "40gbit/s",
         "\"40gbit/s\": \"gbit/s\" is not a unit of rate; did you mean \"40Gbps\"? (bps, Kbps, "
         "Mbps, Gbps or Tbps)"},
        {&time_param, "5u",
         "\"5u\": \"u\" is not a unit of time; did you mean \"5us\"? (ps, ns, us, ms or s)"},
        {&time_param, "5\u00b5s",
         "\"5\u00b5s\": \"\u00b5s\" is not a unit of time; did you mean \"5us\"? (ps, ns, us, ms "
         "or "
         "s)"},
        {&time_param, "2 ", "2  has no unit; add one of ps, ns, us, ms or s"},
    };

    (void)state;
    check_refused(rows, OCHE_COUNT_OF(rows));
}

static void test_values_are_printed_short(void **state)
{
    static const struct {
        const struct oche_param *param;
        union oche_value value;
        const char *text;
    } rows[] = {
        {&count_param, {.u = 128}, "128"},
        {&bytes_param, {.u = 0}, "0"},
        {&bytes_param, {.u = 225000}, "225KB"},
        {&bytes_param, {.u = 1500}, "1500B"},
        {&bytes_param, {.u = 4096}, "4KiB"},
        {&bytes_param, {.u = 12 << 20}, "12MiB"},
        {&rate_param, {.u = 40 * OCHE_GBPS}, "40Gbps"},
        {&rate_param, {.u = 400 * OCHE_GBPS}, "400Gbps"},
        {&time_param, {.u = 1500 * OCHE_NS}, "1500ns"},
        {&time_param, {.u = OCHE_NEVER}, "never"},
        {&auto_bytes, {.u = UINT64_MAX}, "auto"},
        {&real_param, {.real = 1.0 / 256}, "1/256"},
        {&real_param, {.real = 0.01}, "0.01"},
        {&real_param, {.real = 0.5}, "0.5"},
        {&real_param, {.real = 1.0 / 3}, "1/3"},
        {&real_param, {.real = 100}, "100"},
        {&real_param, {.real = 250000}, "250000"},
        {&real_param, {.real = 0.00025}, "1/4000"},
        {&bool_param, {.u = 1}, "true"},
        {&choice_param, {.u = 1}, "static"},
        {&text_param, {.text = NULL}, ""},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        char text[OCHE_VALUE_BYTES];

        oche_value_format(rows[i].param, rows[i].value, text, sizeof(text));
        assert_string_equal(text, rows[i].text);
    }
}

/* Any value, printed, is read back unchanged. */
static void test_printing_and_reading_are_inverse(void **state)
{
    static const struct oche_param *const params[] = {&any_count, &bytes_param, &time_param};
    struct oche_random random = oche_random_stream(1, "units", 0);

    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        union oche_value value = {.u = oche_random_u64(&random) >> oche_random_below(&random, 64)};
        union oche_value back;
        char text[OCHE_VALUE_BYTES];
        struct oche_error error;
        const struct oche_param *param = params[i % 3];

        oche_value_format(param, value, text, sizeof(text));
        assert_true(oche_value_parse(param, text, &back, &error));
        assert_int_equal(back.u, value.u);

        value.real = oche_random_unit(&random);
        if (i % 2 == 0)
            value.real = 1 / (double)(1 + oche_random_below(&random, 100000));
        oche_value_format(&real_param, value, text, sizeof(text));
        assert_true(oche_value_parse(&real_param, text, &back, &error));
        assert_true(back.real == value.real);
    }
}

static void test_ranges_are_told(void **state)
{
    char text[128];

    (void)state;
    oche_value_range(&count_param, text, sizeof(text));
    assert_string_equal(text, "1 to 1024");
    oche_value_range(&rate_param, text, sizeof(text));
    assert_string_equal(text, "at least 1Mbps");
    oche_value_range(&time_param, text, sizeof(text));
    assert_string_equal(text, "");
    oche_value_range(&choice_param, text, sizeof(text));
    assert_string_equal(text, "dynamic, static");
    oche_value_range(&real_param, text, sizeof(text));
    assert_string_equal(text, "0 to 1");
}

static void test_nearest_word(void **state)
{
    static const char *const words[] = {"buffer", "beta", "pfc", "headroom", "ecn"};

    (void)state;
    assert_string_equal(oche_nearest_word("bufer", words, 5), "buffer");
    assert_string_equal(oche_nearest_word("bfufer", words, 5), "buffer");
    assert_string_equal(oche_nearest_word("head_room", words, 5), "headroom");
    assert_string_equal(oche_nearest_word("pcf", words, 5), "pfc");
    assert_null(oche_nearest_word("queue", words, 5));
    assert_null(oche_nearest_word("a_very_long_word_that_is_longer_than_any", words, 5));
}

static void test_numbers_as_text(void **state)
{
    static const struct {
        double number;
        const char *text;
    } rows[] = {{0, "0"},
                {-0.5, "-0.5"},
                {1000, "1000"},
                {2.5e9, "2500000000"},
                {0.1, "0.1"},
                {1e-4, "0.0001"},
                {5e-6, "5e-06"},
                {1e15, "1e+15"},
                {1.0 / 3, "0.3333333333333333"}};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        char text[OCHE_NUMBER_BYTES];

        oche_number_format(rows[i].number, text);
        assert_string_equal(text, rows[i].text);
    }
}

static void test_numbers(void **state)
{
    static const struct {
        const char *text;
        double number; /* NAN: none */
    } rows[] = {
        {"0", 0},          {"42", 42},         {"-1.5", -1.5},   {"1e3", 1000},   {"1%", 0.01},
        {"1/4", 0.25},     {"10KB", 10000},    {"4KiB", 4096},   {"1 MB", 1e6},   {"5us", 5e-6},
        {"1.5ms", 0.0015}, {"2s", 2},          {"40Gbps", 4e10}, {"10kbps", 1e4}, {"never", NAN},
        {"dcqcn", NAN},    {"", NAN},          {"10XB", NAN},    {"KB", NAN},     {"1/0", NAN},
        {"5us,6us", NAN},  {"{name: x}", NAN},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        double number = 7;
        bool is = oche_number_parse(rows[i].text, &number);

        if (is != !isnan(rows[i].number) ||
            (is && fabs(number - rows[i].number) > 1e-9 * fabs(rows[i].number)))
            fail_msg("%s: %d, %g", rows[i].text, is, number);
        assert_true(is || isnan(number));
        if (is) {
            char text[OCHE_NUMBER_BYTES];
            double again;

            oche_number_format(number / 3, text);
            assert_true(oche_number_parse(text, &again));
            assert_true(again == number / 3);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_numbers_are_read),
        cmocka_unit_test(test_other_values_are_read),
        cmocka_unit_test(test_errors_say_what_would_be_right),
        cmocka_unit_test(test_errors_say_what_was_meant),
        cmocka_unit_test(test_values_are_printed_short),
        cmocka_unit_test(test_printing_and_reading_are_inverse),
        cmocka_unit_test(test_ranges_are_told),
        cmocka_unit_test(test_nearest_word),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_numbers_as_text),
        cmocka_unit_test(test_values_for_people),
        cmocka_unit_test(test_zero_may_be_auto),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
