/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dart's DASR in a network. The claim (Dart sec III-A, Fig 15): a newcomer starts. One base round
 * trip later all senders to its receiver have their fair share. The time for one packet of each
 * sender on the receiver's line is added. Fair share: within 5 %, for 2 and for 100 senders.
 * Further tests: queue pairs that share a share, weights, two kinds of line, and congestion that is
 * not the receiver's.
 */
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#include "core/cc/dart/dart.h"
#include "core/qp/qp_internal.h"
#include "sim/network/rnic.h"
#include "sim/network/host_state.h"
#include "sim/world/internal.h"

#define RATE       (10 * OCHE_GBPS)
#define DELAY      (5 * OCHE_US) /* a link */
#define FRAME      (1024 + 62)
#define LINE_BYTES (FRAME + OCHE_GAP_BYTES)
#define ACK_LINE   (70 + OCHE_GAP_BYTES) /* with the share */
#define LONG       1000000000
#define MOST       100

/* A packet through one switch, and its ACK. */
static oche_time base_rtt(void)
{
    return 4 * DELAY + 2 * oche_time_of_bytes(LINE_BYTES, RATE) +
           2 * oche_time_of_bytes(ACK_LINE, RATE);
}

static void open_star(struct small_world *small, uint32_t hosts, oche_time end)
{
    small_world_init(small, "star", "dart", "go_back_n");
    small_world_topology(small, "hosts", hosts);
    small_world_topology(small, "host_rate", RATE);
    small_world_topology(small, "delay", DELAY);
    small_world_cc(small, "base_rtt", base_rtt());
    small->config.run.duration = end;
    small->config.switches.buffer_bytes = 32000000;
    small->config.switches.ecn = true;
}

static uint64_t rate_of(const struct small_world *small, uint32_t flow)
{
    const struct oche_world *world = small->world;

    return oche_host_rate_bps(world->hosts[world->flows.plan[flow].src],
                              world->flows.plan[flow].connection);
}

static struct oche_dart_view view_of(const struct small_world *small, uint32_t host)
{
    const struct oche_rnic *rnic = oche_host_endpoint_state(small->world->hosts[host]);

    return oche_dart_look(rnic->nic->cc_nic.state);
}

static void assert_near(uint64_t rate, double want, double tolerance)
{
    if ((double)rate < want * (1 - tolerance) || (double)rate > want * (1 + tolerance))
        fail_msg("a rate is %.1f Mbps, not %.1f Mbps", (double)rate / 1e6, want / 1e6);
}

/*
 * `senders` - 1 send for long. With more than one, they start at a rate without a queue. The last
 * one starts at `start`. Returns the rates at `at`.
 */
static void rates_at(uint32_t senders, oche_time start, oche_time at, uint64_t rates[MOST])
{
    struct oche_flow_plan flows[MOST];
    struct small_world small;

    for (uint32_t i = 0; i < senders; i++) {
        flows[i] = small_flow(i + 1, 0, LONG, i == senders - 1 ? start : i * OCHE_US);
        if (senders > 2 && i < senders - 1)
            flows[i].initial_rate_bps = RATE / senders;
    }
    open_star(&small, senders + 1, at);
    small_world_run(&small, flows, senders);
    for (uint32_t i = 0; i < senders; i++)
        rates[i] = rate_of(&small, i);
    assert_int_equal(view_of(&small, 0).senders,
                     at > start + 2 * DELAY + OCHE_US ? senders : senders - 1);
    small_world_end(&small);
    small_world_free(&small);
}

static void converges(uint32_t senders)
{
    oche_time packet = oche_time_of_bytes(LINE_BYTES, RATE), begin = 10 * OCHE_MS;
    uint64_t rates[MOST];

    for (unsigned phase = 0; phase < 8; phase++) {
        oche_time start = begin + phase * packet / 8;

        rates_at(senders, start, start + base_rtt() / 4, rates);
        for (uint32_t i = 0; i < senders - 1; i++)
            assert_near(rates[i], (double)RATE / (senders - 1), 0.001);
        assert_true(rates[senders - 1] == RATE);
        rates_at(senders, start, start + base_rtt() + senders * packet, rates);
        for (uint32_t i = 0; i < senders; i++)
            assert_near(rates[i], (double)RATE / senders, senders > 2 ? 0.001 : 0.05);
        if (senders > 2 && phase == 1)
            break; /* the phase is one of a hundred */
    }
}

static void two_converge_in_a_round_trip(void **state)
{
    (void)state;
    converges(2);
}

static void a_hundred_converge_in_a_round_trip(void **state)
{
    (void)state;
    converges(100);
}

/*
 * All start at once, which the claim does not cover. Their packets of the first round trip queue,
 * and the first ACKs know few senders. An update comes half a round trip after an ACK at the
 * earliest, and a quarter later at the latest (dart.md#d8).
 */
static void a_hundred_at_once(void **state)
{
    oche_time packet = oche_time_of_bytes(LINE_BYTES, RATE);
    struct oche_flow_plan flows[MOST];
    struct small_world small;

    (void)state;
    for (uint32_t i = 0; i < MOST; i++)
        flows[i] = small_flow(i + 1, 0, LONG, OCHE_US);
    open_star(&small, MOST + 1, OCHE_US + base_rtt() * 7 / 4 + MOST * packet);
    small_world_run(&small, flows, MOST);
    for (uint32_t i = 0; i < MOST; i++)
        assert_near(rate_of(&small, i), (double)RATE / MOST, 0.001);
    small_world_end(&small);
    small_world_free(&small);
}

/* When one is done, the others get the line again with the next message from the receiver. */
static void the_last_one_has_the_line(void **state)
{
    struct oche_flow_plan flows[] = {small_flow(1, 0, LONG, 0), small_flow(2, 0, 100000, OCHE_MS)};
    struct small_world small;

    (void)state;
    open_star(&small, 3, 2 * OCHE_MS);
    small_world_run(&small, flows, 2);
    assert_true(small.world->flows.received[1].delivered < 2 * OCHE_MS);
    assert_true(rate_of(&small, 0) == RATE);
    assert_int_equal(view_of(&small, 0).senders, 1);
    small_world_end(&small);
    small_world_free(&small);
}

/* A sender's queue pairs divide its share (dart.md#d2). */
static void queue_pairs_divide_a_share(void **state)
{
    struct oche_flow_plan flows[] = {
        small_flow(1, 0, LONG, 0), small_flow(1, 0, LONG, 0), small_flow(1, 0, LONG, OCHE_US),
        small_flow(2, 0, LONG, 0),
        small_flow(1, 3, LONG, 0)}; /* the last one goes to another receiver */
    struct small_world small;

    (void)state;
    open_star(&small, 4, OCHE_MS);
    small_world_run(&small, flows, 5);
    for (uint32_t i = 0; i < 3; i++)
        assert_near(rate_of(&small, i), (double)RATE / 6, 0.001);
    assert_near(rate_of(&small, 3), (double)RATE / 2, 0.001);
    assert_true(rate_of(&small, 4) == RATE);
    small_world_end(&small);
    small_world_free(&small);
}

/* w / W of the line; W travels. */
static void weights_divide_the_line(void **state)
{
    struct oche_flow_plan flows[] = {small_flow(1, 0, LONG, 0), small_flow(2, 0, LONG, 0),
                                     small_flow(3, 0, LONG, 0)};
    const struct oche_param *weights = oche_param_find(&oche_cc_find("dart")->table, "weights");
    struct small_world small;

    (void)state;
    open_star(&small, 4, OCHE_MS);
    oche_param_set(weights, small.cc_params, (union oche_value){.text = "2:3, 3:4"});
    assert_null(small.config.cc->check(small.cc_params));
    small_world_run(&small, flows, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_near(rate_of(&small, i), (double)RATE * (i == 0 ? 1 : i + 2) / 8, 0.001);
    assert_int_equal(view_of(&small, 0).told, 8);
    assert_int_equal(view_of(&small, 0).senders, 3);
    small_world_end(&small);
    oche_param_set(weights, small.cc_params, (union oche_value){.text = "2:3,3"});
    assert_non_null(small.config.cc->check(small.cc_params));
    oche_param_set(weights, small.cc_params, (union oche_value){.text = "2:0"});
    assert_non_null(small.config.cc->check(small.cc_params));
    small_world_free(&small);
}

/*
 * Two pairs of hosts share a link inside the network. Each receiver has one sender and, with marks,
 * half its line. DCQCN takes over, and n is 1. Later each has the link alone again.
 */
static void inside_the_network_dcqcn_takes_over(void **state)
{
    struct oche_flow_plan flows[] = {small_flow(0, 2, LONG, 0), small_flow(1, 3, LONG, 0)};
    struct small_world small;

    (void)state;
    small_world_init(&small, "dumbbell", "dart", "go_back_n");
    small_world_topology(&small, "host_rate", RATE);
    small_world_topology(&small, "bottleneck_rate", RATE);
    small.config.switches.ecn = true;
    small.config.run.duration = 300 * OCHE_US;
    small_world_run(&small, flows, 2);
    for (uint32_t host = 2; host < 4; host++) {
        assert_int_equal(view_of(&small, host).state, OCHE_DART_NON_RECEIVER);
        assert_int_equal(view_of(&small, host).told, 1);
        assert_true(small.totals.nic.cnps_sent > 0);
    }
    small_world_end(&small);
    small.config.run.duration = 20 * OCHE_MS;
    small_world_run(&small, flows, 2);
    assert_near(rate_of(&small, 0) + rate_of(&small, 1), RATE, 0.25);
    small_world_end(&small);
    small_world_free(&small);
}

/* Adds up what the first `count` flows' packets met. */
static struct oche_flow_path met(const struct small_world *small, uint32_t count)
{
    const struct oche_flows *flows = oche_world_flows(small->world);
    struct oche_flow_path sum = {.packets = 0};

    for (uint32_t i = 0; i < count; i++) {
        sum.packets += flows->paths[i].packets;
        sum.marked += flows->paths[i].marked;
        sum.suppressed += flows->paths[i].suppressed;
        sum.undecided += flows->paths[i].undecided;
    }
    return sum;
}

/*
 * With `stagger` a sender's packets come in bursts at line rate, but its mean rate is its share. So
 * two bursts meet at the switch, where packets that are paced make no queue.
 */
static void bursts_have_the_share_in_the_mean(void **state)
{
    const struct oche_flow_plan flows[2] = {small_flow(1, 0, LONG, 0), small_flow(2, 0, LONG, 0)};
    const uint64_t bursts[2] = {0, 64000};
    struct oche_flow_path seen[2];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct small_world small;

        open_star(&small, 3, 20 * OCHE_MS);
        small.config.measure.ways = true;
        small.config.switches.kmin_bytes = small.config.switches.kmax_bytes = 30 * FRAME;
        small_world_cc(&small, "stagger", bursts[i]);
        small_world_cc_real(&small, "fill", 0.9);       /* the queue of the beginning drains */
        small_world_cc_real(&small, "line_above", 0.8); /* marks are the receiver's all the same */
        small_world_cc_real(&small, "line_below", 0.7);
        small_world_run(&small, flows, 2);
        seen[i] = met(&small, 2);
        for (uint32_t f = 0; f < 2; f++)
            assert_near(oche_world_flows(small.world)->paths[f].packets,
                        (double)seen[i].packets / 2, 0.02);
        small_world_end(&small);
        small_world_free(&small);
    }
    assert_near(seen[1].packets, (double)seen[0].packets, 0.02);
    assert_true(seen[1].marked > 1000 && seen[1].marked > 10 * seen[0].marked);
}

/*
 * One sender to four receivers: its own NIC is the bottleneck, and marks (dart.md#d25). Each
 * receiver has a quarter of its line with marks: that is not receiver congestion, so DCQCN acts.
 */
static void at_the_source_dcqcn_takes_over(void **state)
{
    struct oche_flow_plan flows[4];
    struct small_world small;

    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        flows[i] = small_flow(0, i + 1, LONG, 0);
    open_star(&small, 5, 300 * OCHE_US);
    small.config.hosts.ecn_threshold_bytes = 2 * FRAME;
    small.config.measure.ways = true;
    small_world_run(&small, flows, 4);
    assert_true(small.totals.nic.ce_marked > 0);
    assert_true(small.totals.nic.cnps_sent >= 4);
    for (uint32_t host = 1; host < 5; host++)
        assert_int_equal(view_of(&small, host).told, 1);
    for (uint32_t i = 0; i < 4; i++)
        assert_true(rate_of(&small, i) < RATE);
    assert_true(met(&small, 4).marked > 0);
    assert_int_equal(met(&small, 4).suppressed, 0);
    /* some come before the first windows have ended */
    assert_true(met(&small, 4).undecided > 0);
    assert_true(met(&small, 4).undecided < met(&small, 4).marked / 2);
    small_world_end(&small);
    small_world_free(&small);
}

/*
 * Many to one: the marks belong to the receiver, so no CNP is sent. All marks are counted as
 * suppressed, also the first one: the link is full when it comes, so it changes the state at once.
 */
static void at_the_receiver_marks_are_suppressed(void **state)
{
    struct oche_flow_plan flows[8];
    struct small_world small;

    (void)state;
    for (uint32_t i = 0; i < 8; i++)
        flows[i] = small_flow(i + 1, 0, LONG, i * 3 * OCHE_US);
    open_star(&small, 9, 3 * OCHE_MS);
    small.config.measure.ways = true;
    small_world_run(&small, flows, 8);
    assert_true(small.totals.nic.ce_received > 100);
    assert_int_equal(met(&small, 8).marked, small.totals.nic.ce_received);
    assert_int_equal(met(&small, 8).suppressed, met(&small, 8).marked);
    assert_int_equal(small.totals.nic.cnps_sent, 0);
    assert_int_equal(view_of(&small, 0).state, OCHE_DART_RECEIVER);
    for (uint32_t i = 0; i < 8; i++)
        assert_near(rate_of(&small, i), (double)RATE / 8, 0.001);
    small_world_end(&small);
    small_world_free(&small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_converge_in_a_round_trip),
        cmocka_unit_test(a_hundred_converge_in_a_round_trip),
        cmocka_unit_test(a_hundred_at_once),
        cmocka_unit_test(the_last_one_has_the_line),
        cmocka_unit_test(queue_pairs_divide_a_share),
        cmocka_unit_test(weights_divide_the_line),
        cmocka_unit_test(bursts_have_the_share_in_the_mean),
        cmocka_unit_test(inside_the_network_dcqcn_takes_over),
        cmocka_unit_test(at_the_source_dcqcn_takes_over),
        cmocka_unit_test(at_the_receiver_marks_are_suppressed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
