/* SPDX-License-Identifier: Apache-2.0 */
/* Random worlds give the same trace hash, counters and flow times on any number of threads. */
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

static void test_any_number_of_threads(void **state)
{
    (void)state;
    for (uint64_t number = 1000; number < 1000 + seeds_of(SCENARIOS); number++) {
        struct random_scenario scenario;
        struct random_world one;

        random_scenario_make(&scenario, number);
        random_world_run(&one, &scenario, 1);
        for (uint32_t threads = 2; threads <= 3; threads++) {
            struct random_world many;

            random_world_run(&many, &scenario, threads);
            assert_same(&one, &many);
            random_world_free(&many);
        }
        random_world_free(&one);
        random_scenario_free(&scenario);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_number_of_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
