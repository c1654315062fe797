/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and numbers as other programs write them. */
#include "params/text_input.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

static struct oche_error error;

/* Joins the lines that are read to "1=first|3=second|". */
static const char *read_lines(const char *text, size_t bytes)
{
    static char joined[4096];
    struct oche_text_input input;
    size_t used = 0;
    char *line;

    joined[0] = '\0';
    if (!oche_text_begin(&input, "f", text, bytes, &error))
        return error.text;
    while ((line = oche_text_next(&input)) != NULL)
        used += (size_t)snprintf(joined + used, sizeof(joined) - used, "%u=%s|", input.line, line);
    oche_text_rewind(&input);
    line = oche_text_next(&input);
    assert_true((line == NULL) == (used == 0));
    oche_text_end(&input);
    return joined;
}

static void test_lines(void **state)
{
    static const struct {
        const char *text, *lines;
    } cases[] = {
        {"", ""},
        {"\n\n", ""},
        {"a", "1=a|"},
        {"a\nb", "1=a|2=b|"},
        {"a\r\nb\r\n", "1=a|2=b|"},
        {"a\rb\r", "1=a|2=b|"},
        {"a\n\rb", "1=a|3=b|"},
        {"\xef\xbb\xbf"
         "0 0\n",
         "1=0 0|"},
        {"\xef\xbb\xbf", ""},
        {"\xef\xbb", "1=\xef\xbb|"},
        {"  a b \t \n", "1=a b|"},
        {"\ta\tb", "1=\ta\tb|"},
        {"a\xc2\xa0"
         "b\xe2\x80\xaf"
         "c\xe3\x80\x80"
         "d\xe2\x80\x89"
         "e",
         "1=a b c d e|"},
        {"\xc2\xa0\n", ""},
        {"a # b\n# c\n#\nd#e", "1=a|4=d|"},
        {"// a\n1 // b\n1,//c\nhttp://x", "2=1|3=1,|4=http://x|"},
        {"; a\n;a\n  ; b;c\n1;2", "4=1;2|"},
        {";src;dst\n", "1=;src;dst|"},
        {"% a\n  %b\n50%", "3=50%|"},
        {"\"a#b\" # c", "1=\"a#b\"|"},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++)
        assert_string_equal(read_lines(cases[i].text, strlen(cases[i].text)), cases[i].lines);
}

static void test_what_is_no_text(void **state)
{
#define TEXT(text) text, sizeof(text) - 1
    static const struct {
        const char *text;
        size_t bytes;
        const char *error;
    } cases[] = {
        {TEXT("\xff\xfe"
              "0\0"),
         "f:1: is UTF-16; save it as UTF-8 (Excel: CSV UTF-8)"},
        {TEXT("\xfe\xff\0"
              "0"),
         "f:1: is UTF-16; save it as UTF-8 (Excel: CSV UTF-8)"},
        {TEXT("\xff\xfe\0\0"), "f:1: is UTF-32; save it as UTF-8 (Excel: CSV UTF-8)"},
        {TEXT("\0\0\xfe\xff"), "f:1: is UTF-32; save it as UTF-8 (Excel: CSV UTF-8)"},
        {TEXT("a\nb\0c\n"), "f:2: has a NUL byte; text, as UTF-8"},
        {TEXT("\0"), "f:1: has a NUL byte; text, as UTF-8"},
    };
    char *line = malloc(OCHE_TEXT_LINE_BYTES + 3);

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++)
        assert_string_equal(read_lines(cases[i].text, cases[i].bytes), cases[i].error);
    memset(line, 'x', OCHE_TEXT_LINE_BYTES + 3);
    line[0] = '\n';
    assert_string_equal(read_lines(line, OCHE_TEXT_LINE_BYTES + 2),
                        "f:2: a line of more than 65536 bytes; shorter ones");
    line[1] = '#'; /* of a line that is not too long, only the comment is left out */
    assert_string_equal(read_lines(line, OCHE_TEXT_LINE_BYTES + 1), "");
    free(line);
}

static void test_whole_numbers(void **state)
{
    static const struct {
        const char *text;
        uint64_t count, bytes; /* UINT64_MAX: refused */
    } cases[] = {
        {"0", 0, 0},
        {"1000", 1000, 1000},
        {"+5", 5, 5},
        {"1_000_000", 1000000, 1000000},
        {"3.0", 3, 3},
        {"1e6", 1000000, 1000000},
        {"1E+6", 1000000, 1000000},
        {"1.0e+02", 100, 100},
        {"1.000000000000000000e+02", 100, 100},
        {"2500e-2", 25, 25},
        {".5e1", 5, 5},
        {"5.", 5, 5},
        {"0e-60", UINT64_MAX, UINT64_MAX},
        {"18446744073709551614", UINT64_MAX - 1, UINT64_MAX - 1},
        {"18446744073709551615", UINT64_MAX, UINT64_MAX},
        {"10KB", UINT64_MAX, 10000},
        {"1.5 KiB", UINT64_MAX, 1536},
        {"1e3KB", UINT64_MAX, 1000000},
        {"+1_0kB", UINT64_MAX, 10000},
        {"0.5B", UINT64_MAX, UINT64_MAX},
        {"0.0001KB", UINT64_MAX, UINT64_MAX},
        {"10XB", UINT64_MAX, UINT64_MAX},
        {"1.5", UINT64_MAX, UINT64_MAX},
        {"-5", UINT64_MAX, UINT64_MAX},
        {"++5", UINT64_MAX, UINT64_MAX},
        {"+", UINT64_MAX, UINT64_MAX},
        {"_1", UINT64_MAX, UINT64_MAX},
        {"1_", UINT64_MAX, UINT64_MAX},
        {"1__0", UINT64_MAX, UINT64_MAX},
        {"1_.5", UINT64_MAX, UINT64_MAX},
        {"0x10", UINT64_MAX, UINT64_MAX},
        {"nan", UINT64_MAX, UINT64_MAX},
        {"inf", UINT64_MAX, UINT64_MAX},
        {"1,000", UINT64_MAX, UINT64_MAX},
        {"1 000", UINT64_MAX, UINT64_MAX},
        {"1e", UINT64_MAX, UINT64_MAX},
        {"1e+", UINT64_MAX, UINT64_MAX},
        {"1e9999", UINT64_MAX, UINT64_MAX},
        {"1e400", UINT64_MAX, UINT64_MAX},
        {"", UINT64_MAX, UINT64_MAX},
        {".", UINT64_MAX, UINT64_MAX},
        {"\xef\xbc\x91", UINT64_MAX, UINT64_MAX},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        uint64_t count = 77, bytes = 77;
        bool is_count = oche_text_count(cases[i].text, &count);
        bool is_bytes = oche_text_bytes(cases[i].text, &bytes);

        if (is_count != (cases[i].count != UINT64_MAX) || (is_count && count != cases[i].count) ||
            is_bytes != (cases[i].bytes != UINT64_MAX) || (is_bytes && bytes != cases[i].bytes))
            fail_msg("\"%s\": %d %llu, %d %llu", cases[i].text, is_count, (unsigned long long)count,
                     is_bytes, (unsigned long long)bytes);
    }
}

static void test_real_numbers(void **state)
{
    static const struct {
        const char *text;
        double value; /* NAN: refused */
    } cases[] = {
        {"0", 0},
        {"15", 15},
        {"0.15", 0.15},
        {"1.000e+02", 100},
        {"+.5", 0.5},
        {"5.", 5},
        {"1_0", 10},
        {"15%", 15},
        {"1e-300", 1e-300},
        {"1e999", NAN},
        {"-1", NAN},
        {"nan", NAN},
        {"inf", NAN},
        {"0x1p3", NAN},
        {"1.2.3", NAN},
        {"", NAN},
        {".", NAN},
        {"%", NAN},
        {"1%%", NAN},
        {"0,5", NAN},
        {"0."
         "1499999999999999944488848768742172978818416595458984375000000000000000000000000000000000"
         "00000000000000000000000000000000000000000000000000000000000000000000001",
         0.15},
        {"1000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
         "00000000000000000000000000000000000000000000000000000000000000000000000",
         NAN},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        double value = -1;
        bool is = oche_text_real(cases[i].text, &value);

        if (is == isnan(cases[i].value) || (is && value != cases[i].value))
            fail_msg("\"%s\": %d %.17g", cases[i].text, is, value);
    }
}

static void test_faults(void **state)
{
    static const struct {
        const char *text, *fault;
    } cases[] = {
        {"0x10", "is hexadecimal"},
        {"NaN", "is not finite"},
        {"-inf", "is not finite"},
        {"1,000", "has a comma, which may be a decimal point or may part thousands"},
        {"0,5", "has a comma, which may be a decimal point or may part thousands"},
        {"1 000", "has a blank between digits"},
        {"1'000", "has a mark between digits"},
        {"x", "is odd"},
        {"", "is odd"},
        {"1.2.3", "is odd"},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++)
        assert_string_equal(oche_text_fault(cases[i].text, "is odd"), cases[i].fault);
}

static void test_values(void **state)
{
    static const struct {
        const char *line, *values;
    } cases[] = {
        {"a b", "a|b|"},         {"a \t  b", "a|b|"},
        {"a,b", "a|b|"},         {"a , \tb", "a|b|"},
        {"a;b", "a|b|"},         {"a;b,c", "a|b,c|"},
        {"a,b,", "a|b|"},        {"a,b,,", "a|b|"},
        {"a,,b", "a||b|"},       {",a", "|a|"},
        {"\"a,b\";c", "a,b|c|"}, {"\"a\",\"b\"", "a|b|"},
        {"a b c d", "a|b|c|4"},  {",,", ""},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        char line[64], joined[64] = "", *values[3];
        size_t used = 0;

        strcpy(line, cases[i].line);
        unsigned count = oche_text_split(line, oche_text_separator(line), values, 3);

        for (unsigned v = 0; v < count && v < 3; v++)
            used += (size_t)snprintf(joined + used, sizeof(joined) - used, "%s|", values[v]);
        if (count > 3)
            snprintf(joined + used, sizeof(joined) - used, "%u", count);
        assert_string_equal(joined, cases[i].values);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),         cmocka_unit_test(test_what_is_no_text),
        cmocka_unit_test(test_whole_numbers), cmocka_unit_test(test_real_numbers),
        cmocka_unit_test(test_faults),        cmocka_unit_test(test_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
