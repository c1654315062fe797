/* SPDX-License-Identifier: Apache-2.0 */
/* Every scheme can be found by its name, and describes itself completely and consistently. */
#include "tests/support/test.h"

#include <string.h>

#include "core/cc/cc_advice.h"
#include "tests/support/counted.h"
#include "tests/unit/cc/cc_bench.h"

static void finds_schemes_by_name(void **state)
{
    (void)state;
    assert_true(oche_cc_scheme_count >= 2);
    for (size_t i = 0; i < oche_cc_scheme_count; i++)
        assert_ptr_equal(oche_cc_find(oche_cc_schemes[i]->name), oche_cc_schemes[i]);
    assert_string_equal(oche_cc_find("dcqcn")->name, "dcqcn");
    assert_null(oche_cc_find("dcqc"));
    assert_null(oche_cc_find(""));
}

static void check_param(const struct oche_param_table *table, const struct oche_param *param,
                        const void *defaults)
{
    assert_true(param->offset < table->struct_bytes);
    assert_true(oche_param_in_range(param, oche_param_get(param, defaults)));
    assert_true(param->help != NULL && param->help[0] != '\0');
    assert_true(param->where != NULL && param->where[0] != '\0');
    assert_ptr_equal(oche_param_find(table, param->name), param);
    if (param->unit == OCHE_UNIT_CHOICE)
        assert_non_null(param->choices);
}

/* "auto" stands for another value of the same row. The scheme can name it. */
static void check_automatic(const struct oche_cc_scheme *scheme, const struct oche_param *param,
                            void *values)
{
    bool chosen = param->unit == OCHE_UNIT_CHOICE && strcmp(param->choices[0], "auto") == 0;
    union oche_value preset = oche_param_get(param, values);
    struct oche_derived derived;

    if (!param->automatic && !chosen)
        return;
    assert_true(scheme->advice != NULL && scheme->advice->derived != NULL);
    oche_param_set(param, values, (union oche_value){.u = chosen ? 0 : UINT64_MAX});
    if (!scheme->advice->derived(values, param, 100 * OCHE_GBPS, &derived))
        fail_msg("%s: %s", scheme->name, param->name);
    assert_true(oche_param_in_range(param, derived.value));
    assert_true(derived.value.u != (chosen ? 0 : UINT64_MAX));
    if (chosen)
        assert_non_null(oche_param_find(&scheme->table, derived.by));
    oche_param_set(param, values, derived.value);
    assert_false(scheme->advice->derived(values, param, 100 * OCHE_GBPS, &derived));
    oche_param_set(param, values, preset);
}

static void schemes_describe_themselves(void **state)
{
    uint64_t defaults[128];

    (void)state;
    for (size_t i = 0; i < oche_cc_scheme_count; i++) {
        const struct oche_cc_scheme *scheme = oche_cc_schemes[i];

        assert_non_null(scheme->start);
        assert_true(scheme->paper != NULL && scheme->paper[0] != '\0');
        assert_true(scheme->transports != 0);
        assert_true(scheme->table.struct_bytes <= sizeof(defaults));
        oche_param_defaults(&scheme->table, defaults);
        for (size_t j = 0; j < scheme->table.count; j++)
            check_param(&scheme->table, &scheme->table.params[j], defaults);
        for (size_t j = 0; j < scheme->table.count; j++)
            check_automatic(scheme, &scheme->table.params[j], defaults);
        if (scheme->counters != NULL)
            check_counters(scheme->counters, scheme->nic_state_bytes);
        if (scheme->check != NULL)
            assert_null(scheme->check(defaults));
    }
}

static void none_is_line_rate_without_window(void **state)
{
    static struct bench bench;

    (void)state;
    bench_init(&bench, "none", 100 * OCHE_GBPS);
    bench_start(&bench, true);
    bench_run(&bench, 10 * OCHE_US);
    assert_true(bench.flow.rate_bps == 100 * OCHE_GBPS);
    assert_true(bench.flow.window_bytes == UINT64_MAX);
    assert_int_equal(bench.timer_calls, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_schemes_by_name),
        cmocka_unit_test(schemes_describe_themselves),
        cmocka_unit_test(none_is_line_rate_without_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
