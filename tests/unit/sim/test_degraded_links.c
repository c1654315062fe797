/* SPDX-License-Identifier: Apache-2.0 */
/* Links that become slow or lose packets: entries of `failures` with speed or loss. */
#include "sim/world/internal.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#define BYTES           4096000                /* 1,000 packets */
#define MOST_FRAME_SLOW (5000 * UINT64_C(320)) /* ps of a frame at 25 Gbit/s, at most */

static struct oche_failure_params entry(const char *link)
{
    struct oche_failure_params failure;

    oche_param_defaults(&oche_failure_params, &failure);
    failure.link = link;
    return failure;
}

/*
 * Returns how long a message from host0 to host1 takes, and leaves the world as it is at the end.
 * The links have 100 Gbit/s.
 */
static oche_time run(struct small_world *small, struct oche_failure_params *failures,
                     uint32_t count)
{
    const struct oche_flow_plan flow = small_flow(0, 1, BYTES, 0);

    small_world_init(small, "star", "none", "selective_repeat");
    small_world_topology(small, "hosts", 2);
    small_world_topology(small, "host_rate", 100 * OCHE_GBPS);
    small->config.hosts.mtu_bytes = 4096;
    small->config.failures = failures;
    small->config.failure_count = count;
    small_world_run(small, &flow, 1);
    assert_true(small->world->flows.sent[0].completed != OCHE_NEVER);
    return small->world->flows.sent[0].completed;
}

static oche_time time_with(struct oche_failure_params *failures, uint32_t count)
{
    struct small_world small;
    const oche_time time = run(&small, failures, count);

    small_world_free(&small);
    return time;
}

static void a_slow_link_is_as_one_of_that_rate(void **state)
{
    struct oche_failure_params slow[] = {entry("host0"), entry("host1")};
    const struct oche_flow_plan flow = small_flow(0, 1, BYTES, 0);
    struct small_world small;

    (void)state;
    slow[0].speed = slow[1].speed = 0.25;
    small_world_init(&small, "star", "none", "selective_repeat");
    small_world_topology(&small, "hosts", 2);
    small_world_topology(&small, "host_rate", 25 * OCHE_GBPS);
    small.config.hosts.mtu_bytes = 4096;
    small_world_run(&small, &flow, 1);
    assert_int_equal(time_with(slow, 2), small.world->flows.sent[0].completed);
    small_world_free(&small);
}

/* Three quarters of the time in which the link is slow are lost. */
static void for_a_while(void **state)
{
    struct oche_failure_params slow = entry("host0");
    const oche_time whole = time_with(NULL, 0);
    oche_time time;

    (void)state;
    slow.speed = 0.25;
    slow.direction = OCHE_FAILURE_OUT;
    slow.at = 100 * OCHE_US;
    slow.until = 200 * OCHE_US;
    time = time_with(&slow, 1);
    assert_in_range(time, whole + 75 * OCHE_US - MOST_FRAME_SLOW,
                    whole + 75 * OCHE_US + MOST_FRAME_SLOW);
    slow.direction = OCHE_FAILURE_IN; /* has only ACKs to carry */
    time = time_with(&slow, 1);
    assert_in_range(time, whole, whole + MOST_FRAME_SLOW);
}

/* The lowest speed applies, and each entry ends by itself. */
static void entries_overlap(void **state)
{
    struct oche_failure_params slow[] = {entry("host0"), entry("host0")};
    const oche_time whole = time_with(NULL, 0);
    oche_time time;

    (void)state;
    slow[0].speed = 0.5;
    slow[0].at = 50 * OCHE_US;
    slow[0].until = 250 * OCHE_US;
    slow[1].speed = 0.25;
    slow[1].at = 100 * OCHE_US;
    slow[1].until = 200 * OCHE_US;
    time = time_with(slow, 2);
    assert_in_range(time, whole + 125 * OCHE_US - 2 * MOST_FRAME_SLOW,
                    whole + 125 * OCHE_US + 2 * MOST_FRAME_SLOW);
}

/* It loses packets of one direction, in its time, and they are counted where they were sent. */
static void a_grey_link(void **state)
{
    struct oche_failure_params grey = entry("host0");
    struct small_world small;

    (void)state;
    grey.loss = 0.1;
    grey.direction = OCHE_FAILURE_OUT;
    grey.at = 100 * OCHE_US;
    grey.until = 200 * OCHE_US; /* about 300 packets */
    run(&small, &grey, 1);
    assert_in_range(small.totals.grey_packets, 10, 70);
    assert_int_equal(small.totals.grey_packets, small.totals.lost_packets);
    assert_int_equal(small.totals.cut_packets, 0);
    assert_int_equal(oche_world_lost_packets(small.world, 0), small.totals.grey_packets);
    assert_true(oche_world_hit(small.world, 0).packets == small.totals.grey_packets);
    assert_in_range(oche_world_hit(small.world, 0).first, grey.at, grey.until);
    assert_in_range(oche_world_hit(small.world, 0).last, grey.at, grey.until);
    small_world_free(&small);
    grey.at = OCHE_MS; /* when all is over */
    grey.until = OCHE_NEVER;
    run(&small, &grey, 1);
    assert_int_equal(small.totals.lost_packets, 0);
    small_world_free(&small);
}

/* A packet of a slow link is lost if the link goes down while it is sent. */
static void slow_and_then_down(void **state)
{
    struct oche_failure_params failures[] = {entry("host0"), entry("host0")};
    struct small_world small;

    (void)state;
    failures[0].speed = 0.01; /* 330 us a packet */
    failures[0].until = 5 * OCHE_MS;
    failures[1].at = 30 * OCHE_US;
    failures[1].until = 31 * OCHE_US;
    run(&small, failures, 2);
    assert_int_equal(small.totals.cut_packets, 1);
    small_world_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_slow_link_is_as_one_of_that_rate),
        cmocka_unit_test(for_a_while),
        cmocka_unit_test(entries_overlap),
        cmocka_unit_test(a_grey_link),
        cmocka_unit_test(slow_and_then_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
