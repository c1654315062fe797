/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PFC with the headroom of dcqcn.md#a12 loses nothing in any network: 200 random worlds have no
 * drop, and most of them pause. With half the headroom the same worlds drop. In all of them packets
 * and bytes are conserved, and no port stays paused.
 *
 * usage: test_losslessness [NUMBER HEADROOM]     that scenario alone, with that scale of headroom
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/property/random_world.h"
#include "tests/support/seeds.h"
#include "tests/support/test.h"

#define SCENARIOS        200
#define LEAST_THAT_PAUSE 150
#define LEAST_THAT_DROP  100 /* of the same worlds, with half the headroom */

struct count {
    unsigned worlds, paused, dropped;
    uint64_t drops, hops, pauses;
    uint64_t hash; /* hash of all traces; the same in every build */
};

static void run(uint64_t number, double headroom, struct count *count)
{
    struct random_scenario scenario;
    struct random_world random;
    uint64_t drops;

    random_scenario_make(&scenario, number);
    random_scenario_scale_headroom(&scenario, headroom);
    random_world_run(&random, &scenario, 1);
    random_world_assert_books(&random);
    drops = random_world_drops(&random);
    if (headroom >= 1 && drops > 0)
        fail_msg("test_losslessness %llu %g: %llu packets dropped; %s", (unsigned long long)number,
                 headroom, (unsigned long long)drops, scenario.text);
    count->worlds++;
    count->paused += random.totals.pauses_sent > 0;
    count->dropped += drops > 0;
    count->drops += drops;
    count->pauses += random.totals.pauses_sent;
    count->hops += random.totals.hops;
    count->hash = oche_mix64(count->hash ^ random.totals.hash);
    random_world_free(&random);
    random_scenario_free(&scenario);
}

static void report(double headroom, const struct count *count)
{
    print_message("headroom %g: %u of %u worlds pause (%llu PAUSE frames), %u drop (%llu packets), "
                  "%llu packet-hops, trace hash %016llx\n",
                  headroom, count->paused, count->worlds, (unsigned long long)count->pauses,
                  count->dropped, (unsigned long long)count->drops, (unsigned long long)count->hops,
                  (unsigned long long)count->hash);
}

static void test_no_drop(void **state)
{
    struct count count = {0};

    (void)state;
    for (uint64_t number = 0; number < seeds_of(SCENARIOS); number++)
        run(number, 1, &count);
    report(1, &count);
    assert_int_equal(count.drops, 0);
    assert_true(count.paused >= seeds_least(LEAST_THAT_PAUSE));
}

static void test_half_drops(void **state)
{
    struct count count = {0};

    (void)state;
    for (uint64_t number = 0; number < seeds_of(SCENARIOS); number++)
        run(number, 0.5, &count);
    report(0.5, &count);
    assert_true(count.dropped >= seeds_least(LEAST_THAT_DROP));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_drop),
        cmocka_unit_test(test_half_drops),
    };

    if (argc == 3) {
        struct count count = {0};
        double headroom = strtod(argv[2], NULL);

        run(strtoull(argv[1], NULL, 10), headroom, &count);
        report(headroom, &count);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
