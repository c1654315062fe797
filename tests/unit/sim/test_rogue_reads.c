/* SPDX-License-Identifier: Apache-2.0 */
/*
 * READs of RoGUE with a window of one packet. The rate is then a packet in a round trip, or
 * least_rate if that is more. The responder sends the data at that rate, even if it is very low.
 */
#include "sim/endpoint/rogue/rogue_host.h"
#include "sim/world/internal.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#define MTU   256
#define DELAY (5 * OCHE_MS) /* of a link; a round trip takes four */
#define BYTES 163840

static struct small_world small;

/* Returns the rate in bit/s at which the data of a READ came. */
static double read_rate(uint64_t least_rate_bps)
{
    const struct oche_flow_plan flow = small_flow(0, 1, BYTES, 0);

    small_world_init(&small, "star", "rogue", "go_back_n");
    small_world_topology(&small, "hosts", 2);
    small_world_topology(&small, "host_rate", 10 * OCHE_GBPS);
    small_world_topology(&small, "delay", DELAY);
    small_world_cc(&small, "verb", OCHE_ROGUE_READS);
    small_world_cc(&small, "segment_bytes", 4096);
    small_world_cc(&small, "initial_packets", 1);
    small_world_cc_real(&small, "most_window", 1e-9);
    small_world_cc(&small, "least_rate", least_rate_bps);
    small.config.switches.pfc = false;
    small.config.hosts.mtu_bytes = MTU;
    small.config.hosts.ack_timeout = 60 * OCHE_SEC;
    small.config.run.duration = 600 * OCHE_SEC;
    small_world_run(&small, &flow, 1);
    oche_time completed = small.world->flows.sent[0].completed;
    assert_true(completed != OCHE_NEVER);
    small_world_end(&small);
    small_world_free(&small);
    return BYTES * 8.0 * (double)OCHE_SEC / (double)completed;
}

static void test_low_limits(void **state)
{
    const uint64_t of_window_bps = MTU * 8 * OCHE_SEC / (4 * DELAY);
    static const uint64_t least_bps[] = {OCHE_KBPS,        200 * OCHE_KBPS,  999999,
                                         1500 * OCHE_KBPS, 1999 * OCHE_KBPS, 3 * OCHE_MBPS};

    (void)state;
    assert_int_equal(of_window_bps, 102400);
    for (size_t i = 0; i < OCHE_COUNT_OF(least_bps); i++) {
        uint64_t limit = least_bps[i] < of_window_bps ? of_window_bps : least_bps[i];
        double share = read_rate(least_bps[i]) / (double)limit;
        assert_true(share > 0.5 && share < 0.8); /* of 330 bytes on the line, 256 are data */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_low_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
