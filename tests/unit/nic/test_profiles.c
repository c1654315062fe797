/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of adapters: each is whole, and what is written is what is read. */
#include "tests/support/test.h"

#include <string.h>

#include "params/nic.h"
#include "params/units.h"

static void test_each(void **state)
{
    (void)state;
    for (size_t i = 0; i < oche_nic_profile_count; i++) {
        const struct oche_nic_profile *profile = oche_nic_profiles[i];
        struct oche_nic_habits habits, again;
        char text[OCHE_NIC_TEXT_BYTES];
        struct oche_error error;

        assert_ptr_equal(oche_nic_profile_find(profile->name), profile);
        for (size_t c = 0; c < profile->count; c++) {
            const struct oche_nic_cell *cell = &profile->cells[c];
            const struct oche_param *param = oche_param_find(&oche_nic_habits_table, cell->key);

            assert_non_null(param);
            assert_true(oche_param_in_range(param, cell->value));
            assert_true(cell->evidence < OCHE_EVIDENCES && strlen(cell->source) > 5);
            assert_ptr_equal(oche_nic_profile_cell(profile, cell->key), cell); /* once */
        }
        assert_true(oche_nic_parse(&habits, profile->name, &error));
        assert_null(oche_nic_habits_check(&habits));
        assert_true(oche_nic_write(&habits, text, sizeof(text)));
        assert_true(oche_nic_parse(&again, text, &error));
        for (size_t r = 0; r < oche_nic_habits_table.count; r++) {
            const struct oche_param *param = &oche_nic_habits_table.params[r];

            assert_int_equal(oche_param_get(param, &habits).u, oche_param_get(param, &again).u);
        }
    }
}

/* Values of one's own, one after the other; the longest text fits. */
static void test_own(void **state)
{
    struct oche_nic_habits habits;
    struct oche_error error;
    char text[OCHE_NIC_TEXT_BYTES];

    (void)state;
    assert_true(
        oche_nic_parse(&habits, "connectx-6, limiter_lag=40KB,timer_restart=packet", &error));
    assert_int_equal(habits.timeouts.kind, OCHE_TIMEOUTS_CONNECTX6);
    assert_int_equal(habits.limiter_lag_bytes, 40000);
    assert_int_equal(habits.timer_restart, OCHE_TIMER_RESTARTS_AT_PACKETS);
    assert_true(oche_nic_parse(&habits, "limiter_lag=1KB", &error));
    assert_int_equal(habits.timeouts.kind, OCHE_TIMEOUTS_AS_ASKED);
    for (size_t i = 0; i < oche_nic_habits_table.count; i++) {
        const struct oche_param *param = &oche_nic_habits_table.params[i];
        union oche_value most = param->maximum;

        if (param->unit == OCHE_UNIT_BOOL)
            most.u = !oche_param_get(param, &habits).u;
        if (param->unit == OCHE_UNIT_CHOICE)
            for (most.u = 0; param->choices[most.u + 1] != NULL;)
                most.u++;
        oche_param_set(param, &habits, most);
    }
    assert_true(oche_nic_write(&habits, text, sizeof(text)));
}

static void test_wrong(void **state)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"conectx-6", "\"conectx-6\" is no adapter; did you mean \"connectx-6\"?"},
        {"connectx-6,limiter_lag", "\"limiter_lag\" is no KEY=VALUE; write a habit as key=value"},
        {"connectx-6,limiter_lags=1KB",
         "limiter_lags: adapters have no such habit; did you mean limiter_lag?"},
        {"connectx-6,", "\"\" is no KEY=VALUE; write a habit as key=value"},
        {"ideal,time_base=1h", "time_base: "},
        {"timeouts=adaptive,range_num=2,range_low_bound_1=12", "range_num: ranges overlap"},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        struct oche_nic_habits habits;
        struct oche_error error = {.text = ""};

        assert_false(oche_nic_parse(&habits, rows[i].text, &error));
        if (strncmp(error.text, rows[i].error, strlen(rows[i].error)) != 0)
            fail_msg("%s: %s", rows[i].text, error.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each),
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_wrong),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
