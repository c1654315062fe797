/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes: their order, and which of many are kept. */
#include "params/mistakes.h"

#include "tests/support/test.h"

static void add(struct oche_mistakes *mistakes, uint64_t place, unsigned number)
{
    struct oche_error error;

    oche_fail(&error, "%u", number);
    oche_mistakes_add(mistakes, place, &error);
}

static void assert_kept(const struct oche_mistakes *mistakes, const unsigned *numbers, size_t count)
{
    struct oche_error error;

    assert_int_equal(oche_mistakes_kept(mistakes), count);
    for (size_t i = 0; i < count; i++) {
        oche_fail(&error, "%u", numbers[i]);
        assert_string_equal(mistakes->kept[i].error.text, error.text);
    }
}

static void test_by_place(void **state)
{
    struct oche_mistakes mistakes = {.count = 0};

    (void)state;
    add(&mistakes, 7, 0);
    add(&mistakes, UINT64_MAX, 1);
    add(&mistakes, 3, 2);
    add(&mistakes, 7, 3);
    add(&mistakes, 0, 4);
    assert_int_equal(mistakes.count, 5);
    assert_kept(&mistakes, (const unsigned[]){4, 2, 0, 3, 1}, 5);
}

/* The first ones by place are kept, in any order of arrival. */
static void test_of_many(void **state)
{
    struct oche_mistakes mistakes = {.count = 0};

    (void)state;
    for (unsigned i = 0; i < OCHE_MISTAKES_KEPT; i++)
        add(&mistakes, 100 + i, i);
    add(&mistakes, 200, 20);
    add(&mistakes, 109, 21); /* behind the last one at the same place */
    add(&mistakes, 50, 22);
    add(&mistakes, 104, 23);
    assert_int_equal(mistakes.count, OCHE_MISTAKES_KEPT + 4);
    assert_kept(&mistakes, (const unsigned[]){22, 0, 1, 2, 3, 4, 23, 5, 6, 7}, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_place),
        cmocka_unit_test(test_of_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
