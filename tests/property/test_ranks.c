/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random worlds give the same trace hash, counters, flow times, ports and queues whether two or
 * four processes run them, one process, or two threads. Some worlds end when all is delivered, some
 * when nothing can be delivered any more.
 */
#include <stdlib.h>

#include "tests/property/same_world.h"
#include "tests/support/rank_sockets.h"
#include "tests/support/seeds.h"
#include "tests/support/test.h"

typedef void run_world(struct random_world *random, struct random_scenario *scenario,
                       uint32_t threads);

static void on_ranks(run_world *run, struct random_world *one, struct random_scenario *scenario,
                     uint32_t ranks)
{
    struct rank_sockets sockets;
    struct random_world many;

    rank_sockets_open(&sockets, ranks);
    random_world_use_mail(&sockets.mail);
    run(&many, scenario, 0);
    random_world_use_mail(NULL);
    rank_sockets_close(&sockets);
    assert_same_world(one, &many, ranks == 2 ? "two ranks" : "four ranks");
    random_world_free(&many);
}

static void compare(run_world *run, uint64_t first, uint64_t count)
{
    for (uint64_t number = first; number < first + count; number++) {
        struct random_scenario scenario;
        struct random_world one, threads;

        random_world_measure((unsigned)(number % 3));
        random_scenario_make(&scenario, number);
        run(&one, &scenario, 1);
        run(&threads, &scenario, 2);
        assert_same_world(&one, &threads, "two threads");
        random_world_free(&threads);
        on_ranks(run, &one, &scenario, 2);
        on_ranks(run, &one, &scenario, 4);
        random_world_free(&one);
        random_scenario_free(&scenario);
    }
}

/* Returns how many worlds to run: with OCHE_LONG=yes 1,000 of all three kinds, else some dozens. */
static uint64_t worlds(uint64_t few, uint64_t all)
{
    return seeds_of(getenv("OCHE_LONG") != NULL ? all : few);
}

static void test_for_a_duration(void **state)
{
    (void)state;
    compare(random_world_run, 21000, worlds(96, 400));
}

static void test_until_delivered(void **state)
{
    (void)state;
    compare(random_world_run_until_done, 22000, worlds(64, 400));
}

static void test_that_never_end(void **state)
{
    (void)state;
    compare(random_world_run_cut, 23000, worlds(32, 200));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_for_a_duration),
        cmocka_unit_test(test_until_delivered),
        cmocka_unit_test(test_that_never_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
