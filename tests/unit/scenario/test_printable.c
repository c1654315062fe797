/* SPDX-License-Identifier: Apache-2.0 */
/* What does not print is escaped; what fits is whole characters. */
#include "sim/scenario/printable.h"

#include "core/base.h"
#include "tests/support/test.h"

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
         "fdp.exe"}, /* right to left */
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
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_what_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
