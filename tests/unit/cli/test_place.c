/* SPDX-License-Identifier: Apache-2.0 */
/* The folders that overrides name. */
#include "cli/run/place.h"

#include <stdlib.h>
#include <string.h>

#include "core/base.h"
#include "tests/support/test.h"

static void test_plain_overrides_are_their_names(void **state)
{
    static const char *const sets[] = {"switch.kmin=10KB", "workload[0].load=70%", "seed=7"};
    char *name = oche_overrides_name(sets, 3);
    char *folder = oche_overrides_folder("out/x", sets, 1);
    char *base = oche_overrides_folder("out/x", NULL, 0);

    (void)state;
    assert_string_equal(name, "switch.kmin=10KB,workload.0.load=70%,seed=7");
    assert_string_equal(folder, "out/x/switch.kmin=10KB");
    assert_string_equal(base, "out/x");
    free(name);
    free(folder);
    free(base);
}

/* Names that only the digest makes different. */
static void test_no_two_have_one_name(void **state)
{
    static const char *const rows[][2] = {
        {"a={b: c}", NULL}, {"a=[b, c]", NULL}, {"a=b,c=d", NULL},
        {"a=b", "c=d"},     {"a=_b_c_", NULL},  {"a=../../b", NULL},
    };
    char *names[OCHE_COUNT_OF(rows)];

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        names[i] = oche_overrides_name(rows[i], rows[i][1] != NULL ? 2 : 1);
        assert_null(strpbrk(names[i], "/ {}[]'"));
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(names[i], names[k]);
    }
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++)
        free(names[i]);
}

static void test_long_ones_are_cut(void **state)
{
    char sets[2][500];
    const char *one = sets[0], *other = sets[1];

    (void)state;
    memset(sets, 'x', sizeof(sets));
    for (int i = 0; i < 2; i++) {
        memcpy(sets[i], "key=", 4);
        sets[i][499] = '\0';
    }
    sets[1][498] = 'y';
    char *a = oche_overrides_name(&one, 1), *b = oche_overrides_name(&other, 1);

    assert_int_equal(strlen(a), 109);
    assert_string_not_equal(a, b);
    assert_memory_equal(a, b, 101);
    free(a);
    free(b);
}

static void test_a_repeat_is_beside_what_it_repeats(void **state)
{
    char *inside = oche_repeat_folder("out/x/run.sqlite"), *here = oche_repeat_folder("run.sqlite");

    (void)state;
    assert_string_equal(inside, "out/x/repeat");
    assert_string_equal(here, "repeat");
    free(inside);
    free(here);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_overrides_are_their_names),
        cmocka_unit_test(test_no_two_have_one_name),
        cmocka_unit_test(test_long_ones_are_cut),
        cmocka_unit_test(test_a_repeat_is_beside_what_it_repeats),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
