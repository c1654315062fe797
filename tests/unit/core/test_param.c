/* SPDX-License-Identifier: Apache-2.0 */
/* A parameter table reads and writes fields of every unit, and knows its defaults and ranges. */
#include "tests/support/test.h"

#include <string.h>

#include "core/param.h"

struct made_up {
    uint64_t count, bytes, bps;
    oche_time time;
    double real;
    bool flag;
    uint32_t choice;
    const char *text;
};

static const char *const colours[] = {"red", "green", NULL};

static const struct oche_param params[] = {
    {OCHE_PARAM(struct made_up, count), OCHE_IS_COUNT(3, 1, 9)},
    {OCHE_PARAM(struct made_up, bytes), OCHE_IS_BYTES(1000, 0, 2000)},
    {OCHE_PARAM(struct made_up, bps), OCHE_IS_BPS(5, 1, UINT64_MAX)},
    {OCHE_PARAM(struct made_up, time), OCHE_IS_TIME(OCHE_NEVER, 0, OCHE_NEVER)},
    {OCHE_PARAM(struct made_up, real), OCHE_IS_REAL(0.25, 0.0, 1.0)},
    {OCHE_PARAM(struct made_up, flag), OCHE_IS_BOOL(true)},
    {OCHE_PARAM(struct made_up, choice), OCHE_IS_CHOICE(1, colours)},
    {OCHE_PARAM(struct made_up, text), OCHE_IS_TEXT, .preset.text = "hello"},
};
static const struct oche_param_table table = OCHE_PARAM_TABLE(params, struct made_up);

static void test_defaults(void **state)
{
    struct made_up values;

    (void)state;
    memset(&values, 0xff, sizeof(values));
    oche_param_defaults(&table, &values);
    assert_int_equal(values.count, 3);
    assert_int_equal(values.bytes, 1000);
    assert_int_equal(values.bps, 5);
    assert_int_equal(values.time, OCHE_NEVER);
    assert_true(values.real == 0.25);
    assert_true(values.flag);
    assert_int_equal(values.choice, 1);
    assert_string_equal(values.text, "hello");
}

static void test_get_returns_what_set_wrote(void **state)
{
    struct made_up values;

    (void)state;
    oche_param_defaults(&table, &values);
    for (size_t i = 0; i < table.count; i++) {
        const struct oche_param *param = &params[i];
        union oche_value value = {.u = 0};

        if (param->unit == OCHE_UNIT_REAL)
            value.real = 0.5;
        else if (param->unit == OCHE_UNIT_TEXT)
            value.text = "other";
        oche_param_set(param, &values, value);
        assert_memory_equal(&value, &(union oche_value){oche_param_get(param, &values).u},
                            sizeof(value));
    }
}

static void test_find(void **state)
{
    (void)state;
    assert_ptr_equal(oche_param_find(&table, "real"), &params[4]);
    assert_null(oche_param_find(&table, "rea"));
}

static void test_range_is_inclusive(void **state)
{
    (void)state;
    assert_true(oche_param_in_range(&params[0], (union oche_value){.u = 1}));
    assert_true(oche_param_in_range(&params[0], (union oche_value){.u = 9}));
    assert_false(oche_param_in_range(&params[0], (union oche_value){.u = 0}));
    assert_false(oche_param_in_range(&params[0], (union oche_value){.u = 10}));
    assert_true(oche_param_in_range(&params[4], (union oche_value){.real = 1.0}));
    assert_false(oche_param_in_range(&params[4], (union oche_value){.real = 1.0001}));
    assert_true(oche_param_in_range(&params[5], (union oche_value){.u = 1}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_get_returns_what_set_wrote),
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_range_is_inclusive),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
