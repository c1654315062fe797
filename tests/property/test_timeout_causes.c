/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random lossy worlds with every recovery scheme: each timeout has one cause, and the causes are
 * the same on any number of threads. If the timeout is far longer than a packet's time in the
 * network, every timeout is explained. Only a receiver without the exception delays a NAK for
 * another PSN.
 */
#include "tests/support/seeds.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#include <string.h>

#define WORLDS     60 /* a scheme */
#define MOST_FLOWS 12
#define MTU        1024
/* Far longer than a round trip, and no multiple of a NAK interval, so no NAK is in flight then. */
#define PATIENCE (1230 * OCHE_US)

struct lossy {
    uint64_t number;
    const struct oche_recovery_scheme *recovery;
    struct oche_flow_plan flows[MOST_FLOWS];
    uint32_t flow_count;
    bool exception, impatient;
};

static uint64_t between(struct oche_random *random, uint64_t least, uint64_t most)
{
    return least + oche_random_below(random, most - least + 1);
}

static void set_up(struct small_world *small, struct lossy *lossy, uint32_t threads)
{
    static const double probabilities[] = {0.0005, 0.005, 0.03, 0.15};
    struct oche_random random = oche_random_stream(lossy->number, "timeout causes", 0);
    uint32_t hosts = (uint32_t)between(&random, 2, 4);
    oche_time nak_intervals[] = {0, 50 * OCHE_US, 500 * OCHE_US, OCHE_NEVER};

    small_world_init(small, "star", "none", lossy->recovery->name);
    small_world_topology(small, "hosts", hosts);
    struct oche_world_config *config = &small->config;
    config->threads = threads;
    config->seed = lossy->number;
    /* A message that never passes takes long to simulate. */
    config->run.duration = lossy->recovery->whole_messages ? 10 * OCHE_MS : OCHE_SEC;
    config->run.stop_when_done = true;
    config->loss.probability = probabilities[oche_random_below(&random, 4)];
    config->hosts.mtu_bytes = MTU;
    config->hosts.ack_every_packets = oche_random_below(&random, 2) ? 1 : 256;
    config->hosts.window_packets = oche_random_below(&random, 3) ? 0 : between(&random, 1, 30);
    config->hosts.connections =
        oche_random_below(&random, 2) ? OCHE_CONNECTION_PER_PAIR : OCHE_CONNECTION_PER_FLOW;
    lossy->impatient = oche_random_below(&random, 4) == 0;
    config->hosts.ack_timeout = lossy->impatient ? 5 * OCHE_US : PATIENCE;
    lossy->exception = oche_random_below(&random, 2);
    if (oche_param_find(&lossy->recovery->table, "nak_exception") != NULL) {
        oche_time interval = nak_intervals[oche_random_below(&random, 4)];
        const struct oche_param *param = oche_param_find(&lossy->recovery->table, "nak_interval");
        small_world_recovery(small, "nak_exception", lossy->exception);
        small_world_recovery(small, "nak_interval",
                             interval < param->minimum.u ? param->minimum.u : interval);
    }
    if (oche_param_find(&lossy->recovery->table, "rto_low") !=
        NULL) { /* the scheme uses it instead */
        small_world_recovery(small, "rto_low", config->hosts.ack_timeout);
        small_world_recovery(small, "rto_high", config->hosts.ack_timeout);
    }
    lossy->flow_count = (uint32_t)between(&random, 1, MOST_FLOWS);
    for (uint32_t i = 0; i < lossy->flow_count; i++) {
        uint32_t src = (uint32_t)oche_random_below(&random, hosts);
        uint32_t dst = (src + (uint32_t)between(&random, 1, hosts - 1)) % hosts;
        uint64_t packets = oche_random_below(&random, 3) == 0 ? 1 : between(&random, 1, 60);
        oche_time start = oche_random_below(&random, 100 * OCHE_US);
        lossy->flows[i] = small_flow(src, dst, packets * MTU, start);
    }
}

static void assert_explained(const struct lossy *lossy, const struct oche_world_totals *totals,
                             uint64_t *seen)
{
    uint64_t sum = 0;

    for (unsigned cause = 0; cause < OCHE_TIMEOUT_CAUSES; cause++) {
        sum += totals->timeout_causes[cause];
        seen[cause] += totals->timeout_causes[cause];
    }
    if (sum != totals->nic.timeouts)
        fail_msg("world %llu, %s: %llu causes of %llu timeouts", (unsigned long long)lossy->number,
                 lossy->recovery->name, (unsigned long long)sum,
                 (unsigned long long)totals->nic.timeouts);
    if (lossy->impatient)
        return;
    if (totals->timeout_causes[OCHE_TIMEOUT_OTHER] > 0)
        fail_msg("world %llu, %s: %llu of %llu timeouts without explanation",
                 (unsigned long long)lossy->number, lossy->recovery->name,
                 (unsigned long long)totals->timeout_causes[OCHE_TIMEOUT_OTHER],
                 (unsigned long long)totals->nic.timeouts);
    if (lossy->exception && totals->timeout_causes[OCHE_TIMEOUT_NAK_HELD] > 0)
        fail_msg("world %llu, %s: a NAK for another PSN was held back",
                 (unsigned long long)lossy->number, lossy->recovery->name);
}

static void test_every_timeout_is_explained(void **state)
{
    (void)state;
    for (size_t scheme = 0; scheme < oche_recovery_scheme_count; scheme++) {
        uint64_t seen[OCHE_TIMEOUT_CAUSES] = {0};
        for (uint64_t number = 0; number < seeds_of(WORLDS); number++) {
            struct oche_world_totals one;
            for (uint32_t threads = 1; threads <= 2; threads++) {
                struct lossy lossy = {.number = number, .recovery = oche_recovery_schemes[scheme]};
                struct small_world small;

                set_up(&small, &lossy, threads);
                small_world_run(&small, lossy.flows, lossy.flow_count);
                assert_explained(&lossy, &small.totals, seen);
                if (threads > 1) {
                    assert_int_equal(small.totals.hash, one.hash);
                    assert_memory_equal(small.totals.timeout_causes, one.timeout_causes,
                                        sizeof(one.timeout_causes));
                }
                one = small.totals;
                small_world_free(&small);
            }
        }
        print_message("%s:", oche_recovery_schemes[scheme]->name);
        for (unsigned cause = 0; cause < OCHE_TIMEOUT_CAUSES; cause++)
            print_message(" %s %llu", oche_timeout_cause_name(cause),
                          (unsigned long long)seen[cause] / 2);
        print_message("\n");
        if (!seeds_show_all())
            continue;
        assert_true(seen[OCHE_TIMEOUT_LAST_PACKET] > 0);
        assert_true(seen[OCHE_TIMEOUT_LAST_ACK] > 0);
        if (seeds_percent() >= 20) /* with fewer worlds selective repeat meets none */
            assert_true(seen[OCHE_TIMEOUT_OTHER] > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_timeout_is_explained),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
