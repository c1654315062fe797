/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: the text, its cutting, and quoting. */
#include "params/error.h"

#include <string.h>

#include "tests/support/test.h"

static void test_writes_a_line_and_is_false(void **state)
{
    struct oche_error error;

    (void)state;
    assert_false(oche_fail(&error, "%s: %u; at least %u", "hosts", 1U, 2U));
    assert_string_equal(error.text, "hosts: 1; at least 2");
}

static void test_quotes_its_old_text(void **state)
{
    struct oche_error error = {"k: is odd"};

    (void)state;
    assert_false(oche_fail(&error, "topology.%s", error.text));
    assert_string_equal(error.text, "topology.k: is odd");
}

static void test_cuts_what_does_not_fit(void **state)
{
    char longest[OCHE_ERROR_BYTES + 1];
    struct oche_error error;

    (void)state;
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    assert_false(oche_fail(&error, "%s", longest));
    assert_int_equal(strlen(error.text), OCHE_ERROR_BYTES - 1);
    assert_memory_equal(error.text, longest, OCHE_ERROR_BYTES - 1);
}

static bool fail_at(struct oche_error *error, unsigned line, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    oche_fail_at(error, "net.txt", line, format, arguments);
    va_end(arguments);
    return false;
}

static void test_names_the_line_if_there_is_one(void **state)
{
    struct oche_error error;

    (void)state;
    assert_false(fail_at(&error, 3, "%d words", 5));
    assert_string_equal(error.text, "net.txt:3: 5 words");
    assert_false(fail_at(&error, 0, "empty"));
    assert_string_equal(error.text, "net.txt: empty");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writes_a_line_and_is_false),
        cmocka_unit_test(test_quotes_its_old_text),
        cmocka_unit_test(test_cuts_what_does_not_fit),
        cmocka_unit_test(test_names_the_line_if_there_is_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
