/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random worlds give the same trace hash, counters and flow times on any number of threads. Some
 * worlds end when all is delivered, some when nothing can be delivered any more.
 */
#include "tests/property/random_world.h"
#include "tests/support/seeds.h"
#include "tests/support/test.h"

#define SCENARIOS 24

static void assert_same(const struct random_world *one, const struct random_world *many)
{
    const struct oche_flows *a = oche_world_flows(one->world), *b = oche_world_flows(many->world);

    if (one->totals.hash != many->totals.hash)
        fail_msg("scenario %llu: hash %016llx on 1 thread, %016llx on %u; %s",
                 (unsigned long long)one->scenario->number, (unsigned long long)one->totals.hash,
                 (unsigned long long)many->totals.hash, many->config.threads, one->scenario->text);
    assert_memory_equal(&one->totals, &many->totals, sizeof(one->totals));
    for (uint32_t port = 0; port < oche_world_network(one->world)->port_count; port++)
        assert_int_equal(oche_world_line_bytes(one->world, port),
                         oche_world_line_bytes(many->world, port));
    assert_int_equal(a->count, b->count);
    for (OCHE_EACH_MADE_FLOW(f, a)) {
        assert_int_equal(a->sent[f].completed, b->sent[f].completed);
        assert_int_equal(a->received[f].delivered, b->received[f].delivered);
    }
}

typedef void run_world(struct random_world *random, struct random_scenario *scenario,
                       uint32_t threads);

/* Runs the scenarios from `first` on. Returns how many of them ended as `end` says. */
static uint32_t on_any_number_of_threads(run_world *run, uint64_t first, unsigned count,
                                         enum oche_world_end end)
{
    uint32_t ended = 0;

    for (uint64_t number = first; number < first + seeds_of(count); number++) {
        struct random_scenario scenario;
        struct random_world one;

        random_scenario_make(&scenario, number);
        run(&one, &scenario, 1);
        ended += oche_world_ended(one.world) == end;
        for (uint32_t threads = 2; threads <= 3; threads++) {
            struct random_world many;

            run(&many, &scenario, threads);
            assert_int_equal(oche_world_ended(one.world), oche_world_ended(many.world));
            assert_int_equal(oche_world_network(one.world)->now,
                             oche_world_network(many.world)->now);
            assert_same(&one, &many);
            random_world_free(&many);
        }
        random_world_free(&one);
        random_scenario_free(&scenario);
    }
    return ended;
}

static void test_any_number_of_threads(void **state)
{
    (void)state;
    on_any_number_of_threads(random_world_run, 1000, SCENARIOS, OCHE_END_DURATION);
}

static void test_until_delivered(void **state)
{
    (void)state;
    assert_true(on_any_number_of_threads(random_world_run_until_done, 2000, SCENARIOS,
                                         OCHE_END_DELIVERED) > 0);
}

static void test_that_never_end(void **state)
{
    (void)state;
    assert_true(on_any_number_of_threads(random_world_run_cut, 3000, SCENARIOS, OCHE_END_STALLED) >
                0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_number_of_threads),
        cmocka_unit_test(test_until_delivered),
        cmocka_unit_test(test_that_never_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
