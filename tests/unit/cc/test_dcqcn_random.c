/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DCQCN under random parameters (any that the table allows) and random events. The rate lies
 * between the floor and the line's, timers lie ahead, and CNPs keep their distance. An unlimited
 * queue pair has no timers. The same events give the same trace.
 */
#include "tests/support/test.h"

#include <string.h>

#include "tests/unit/cc/cc_bench.h"

#define LINE_BPS (100 * OCHE_GBPS)
#define SETS     400
#define EVENTS   400

static struct bench bench;

static uint64_t number(const char *name)
{
    return oche_param_get(oche_param_find(&bench.scheme->table, name), bench.params).u;
}

/* Small values and values over the whole range are equally likely. */
static union oche_value draw(const struct oche_param *param, struct oche_random *random)
{
    union oche_value value = {.u = 0};
    uint64_t low = param->minimum.u, width = param->maximum.u - low;

    switch (param->unit) {
    case OCHE_UNIT_CHOICE:
        while (param->choices[value.u] != NULL)
            value.u++;
        value.u = oche_random_below(random, value.u);
        break;
    case OCHE_UNIT_REAL:
        value.real = oche_random_unit(random);
        value.real = param->minimum.real + (param->maximum.real - param->minimum.real) * value.real;
        break;
    case OCHE_UNIT_TIME:
        value.u = oche_random_below(random, 4) == 0 ? width : 200 * OCHE_US;
        value.u = low + oche_random_below(random, (value.u < width ? value.u : width) + 1);
        value.u = value.u < OCHE_US / 2 ? param->minimum.u + OCHE_US / 2 : value.u;
        break;
    default:
        value.u = width >> oche_random_below(random, 40);
        value.u = low + oche_random_below(random, value.u + 1);
        break;
    }
    return value;
}

static void draw_params(struct oche_random *random)
{
    for (size_t i = 0; i < bench.scheme->table.count; i++) {
        const struct oche_param *param = &bench.scheme->table.params[i];
        union oche_value value = draw(param, random);

        if (oche_random_below(random, 2) == 0)
            continue;
        assert_true(oche_param_in_range(param, value));
        oche_param_set(param, bench.params, value);
    }
}

static void check_flow(oche_time now)
{
    bool unlimited = bench.flow.timer[0] == OCHE_NEVER && bench.flow.timer[1] == OCHE_NEVER;

    assert_true(bench.flow.rate_bps >= 1 && bench.flow.rate_bps <= LINE_BPS);
    assert_true(bench.flow.window_bytes == UINT64_MAX);
    for (unsigned i = 0; i < OCHE_CC_TIMERS; i++)
        assert_true(bench.flow.timer[i] >= now);
    if (unlimited && number("increase_on") != 3 /* bytes: no timer is needed */)
        assert_true(bench.flow.rate_bps == LINE_BPS);
    for (unsigned i = 1; i < bench.cnp_count && number("mode") == 0 && number("np") != 2; i++)
        assert_true(bench.cnps[i] - bench.cnps[i - 1] >= number("cnp_interval"));
}

static void one_event(struct oche_random *random)
{
    static const oche_time steps[] = {OCHE_NS, OCHE_US, 30 * OCHE_US, 300 * OCHE_US};
    oche_time at = bench.now + oche_random_below(random, steps[oche_random_below(random, 4)]) + 1;
    struct oche_packet packet = {.frame_bytes = 1062};

    /* A long run with a timer of half a microsecond would only take time. */
    switch (oche_random_below(random, 8)) {
    case 0:
    case 1:
        bench_cnp(&bench, at);
        break;
    case 2:
        bench_data(&bench, at, true);
        break;
    case 3:
        bench_data(&bench, at, false);
        break;
    case 4:
        bench_run(&bench, at);
        bench.scheme->idle(&bench.flow, at);
        break;
    case 5:
        bench_run(&bench, at);
        bench.scheme->busy(&bench.flow, at);
        break;
    default:
        bench_run(&bench, at);
        for (unsigned i = 0; i < 20; i++)
            bench.scheme->sent(&bench.flow, at, &packet, 1082);
        break;
    }
}

static uint64_t run_set(unsigned set)
{
    struct oche_random random = oche_random_stream(set, "test", 0);

    bench_init(&bench, "dcqcn", LINE_BPS);
    bench.trace.sink = NULL; /* more records than it keeps */
    draw_params(&random);
    bench_start(&bench, false);
    for (unsigned i = 0; i < EVENTS; i++) {
        one_event(&random);
        check_flow(bench.now);
        if (bench.cnp_count > BENCH_RECORDS / 2)
            bench.cnp_count = 0;
    }
    return bench.trace.hash;
}

static void invariants_hold_and_runs_repeat(void **state)
{
    unsigned refused = 0;

    (void)state;
    for (unsigned set = 0; set < SETS; set++) {
        uint64_t hash = run_set(set);

        refused += bench.scheme->check(bench.params) != NULL;
        if (set % 10 == 0)
            assert_true(run_set(set) == hash);
    }
    assert_in_range(refused, SETS / 100, SETS / 2); /* both kinds are tried */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(invariants_hold_and_runs_repeat)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
