/* SPDX-License-Identifier: Apache-2.0 */
/* Unprintable bytes are escaped. A cut text ends with a whole character. */
#include "params/printable.h"

#include "core/base.h"
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

static void test_escapes(void **state)
{
    static const struct {
        const char *text, *shown;
    } rows[] = {
        {"", ""},
        {"plain ~ \\ text", "plain ~ \\ text"},
        {"a\nb\tc\rd", "a\\nb\\tc\\x0dd"},
        {"\x1b[31mred\x7f", "\\x1b[31mred\\x7f"},
        {"µs – 10 € 𝄞", "µs – 10 € 𝄞"},
        {"\xc2\x85 \xc2\xa0", "\\xc2\\x85 \xc2\xa0"},                   /* U+0085 is a control */
        {"\xc3", "\\xc3"},                                              /* ends too early */
        {"\xe2\x82", "\\xe2\\x82"},                                     /* … */
        {"\xe2\x28\xa1", "\\xe2(\\xa1"},                                /* no continuation */
        {"\xc0\xaf\xe0\x80\xaf", "\\xc0\\xaf\\xe0\\x80\\xaf"},          /* written too long */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},                            /* a surrogate */
        {"\xf4\x90\x80\x80\xff\x80", "\\xf4\\x90\\x80\\x80\\xff\\x80"}, /* beyond Unicode */
        {"\xe2\x80\xae"
         "fdp.exe",
         "\\xe2\\x80\\xae"
         "fdp.exe"},                                     /* right to left */
        {"\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c\xe2\x81\xa6", /* marks, an isolate */
         "\\xe2\\x80\\x8e\\xe2\\x80\\x8f\\xd8\\x9c\\xe2\\x81\\xa6"},
        {"\xe2\x80\x8d \xd8\x9b \xd7\x90",
         "\xe2\x80\x8d \xd8\x9b \xd7\x90"}, /* letters, a joiner */
    };
    char shown[256];

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        oche_printable(rows[i].text, shown, sizeof(shown));
        assert_string_equal(shown, rows[i].shown);
        oche_printable(shown, shown + 128, 128); /* once is enough */
        assert_string_equal(shown + 128, shown);
    }
}

static void test_lines(void **state)
{
    char *lines = oche_printable_lines("a:\n\tb\x1b\xe2\x80\xae\r\n");

    (void)state;
    assert_string_equal(lines, "a:\n\tb\\x1b\\xe2\\x80\\xae\\x0d\n");
    free(lines);
}

static void test_is_printable(void **state)
{
    (void)state;
    assert_true(oche_is_printable(""));
    assert_true(oche_is_printable("a \xc3\xa9\n\tb"));
    assert_false(oche_is_printable("a\x1b[31m"));
    assert_false(oche_is_printable("a\x7f"));
    assert_false(oche_is_printable("a\xe2\x80\xae"));
    assert_false(oche_is_printable("a\xc3"));
}

static void test_json(void **state)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    (void)state;
    oche_printable_json("{\"a\": \"\\u001b\xe2\x80\xae \xd8\x9c\xc2\x9b\x7f µ € 𝄞 \xc3\"}\n", out);
    fclose(out);
    assert_string_equal(text, "{\"a\": \"\\u001b\\u202e \\u061c\\u009b\\u007f µ € 𝄞 \xc3\"}\n");
    free(text);
}

static void test_what_fits(void **state)
{
    static const char *const text = "aµ\x1b"
                                    "b";
    static const char *const fits[] = {"", "a", "a", "aµ", "aµ", "aµ", "aµ", "aµ\\x1b"};
    char shown[16];

    (void)state;
    for (size_t bytes = 1; bytes <= OCHE_COUNT_OF(fits); bytes++) {
        memset(shown, 'x', sizeof(shown));
        oche_printable(text, shown, bytes);
        assert_string_equal(shown, fits[bytes - 1]);
        assert_int_equal(shown[bytes], 'x');
    }
    memset(shown, 'x', sizeof(shown));
    oche_printable(text, shown, 0);
    assert_int_equal(shown[0], 'x');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_escapes),      cmocka_unit_test(test_lines),
        cmocka_unit_test(test_is_printable), cmocka_unit_test(test_json),
        cmocka_unit_test(test_what_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
