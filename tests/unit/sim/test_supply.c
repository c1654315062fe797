/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flows whose bytes are produced at a rate of their own, over queue pairs, TCP and ExpressPass. No
 * byte leaves early, and none is lost while the network is slow. Measures for such traffic: marks
 * by flow. Flows with priority over others.
 */
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#include "sim/endpoint/registry.h"
#include "sim/world/internal.h"

#define RATE (10 * OCHE_GBPS)

static void open_star(struct small_world *small, const char *scheme)
{
    small_world_init(small, "star", scheme, "go_back_n");
    small_world_topology(small, "hosts", 10);
    small_world_topology(small, "host_rate", RATE);
    small->config.switches.ecn = false;
    small->config.run.stop_when_done = false;
}

static struct oche_flow_plan supplied(uint32_t src, uint64_t bytes, uint64_t bps)
{
    struct oche_flow_plan flow = small_flow(src, 0, bytes, 10 * OCHE_US);

    flow.supply_bps = bps;
    return flow;
}

/* Alone: at any time all produced bytes have arrived, except those on their way. */
static void arrives_as_it_is_made(void **state)
{
    static const char *const schemes[] = {"none", "dcqcn", "dart", "expresspass", "dctcp"};
    static const uint64_t rates[] = {5 * OCHE_MBPS, 600 * OCHE_MBPS, 7 * OCHE_GBPS};

    (void)state;
    for (size_t s = 0; s < 5; s++)
        for (size_t r = 0; r < 3; r++)
            for (oche_time end = OCHE_MS; end <= 9 * OCHE_MS; end += 4 * OCHE_MS) {
                struct oche_flow_plan flow = supplied(1, 1000000000, rates[r]);
                struct small_world small;

                open_star(&small, schemes[s]);
                if (s == 4)
                    small_world_cc(&small, "os_overhead", 0);
                small.config.run.duration = end;
                small_world_run(&small, &flow, 1);
                uint64_t made = oche_flow_supplied(&flow, end - 10 * OCHE_US);
                uint64_t arrived = oche_world_flow_bytes(small.world, 0);
                /* A packet more at the start, a segment less before it is complete, and the way. */
                if (arrived > made + 1024 || arrived + 2 * 1460 + rates[r] / 8 / 100000 < made)
                    fail_msg("%s at %llu bit/s: %llu bytes made, %llu there", schemes[s],
                             (unsigned long long)rates[r], (unsigned long long)made,
                             (unsigned long long)arrived);
                small_world_end(&small);
                small_world_free(&small);
            }
}

/* The last byte is produced 8 ms after the start. The flow ends right after that. */
static void ends_when_all_is_made(void **state)
{
    static const char *const schemes[] = {"none", "expresspass", "dctcp"};

    (void)state;
    for (size_t s = 0; s < 3; s++) {
        struct oche_flow_plan flow = supplied(1, 1000000, OCHE_GBPS);
        struct small_world small;

        open_star(&small, schemes[s]);
        if (s == 2)
            small_world_cc(&small, "os_overhead", 0);
        small.config.run.duration = 20 * OCHE_MS;
        small_world_run(&small, &flow, 1);
        oche_time end = oche_world_flows(small.world)->received[0].delivered;
        assert_true(end > 8 * OCHE_MS - 10 * OCHE_US && end < 8 * OCHE_MS + 20 * OCHE_US);
        assert_int_equal(small.totals.flows_completed, 1);
        small_world_end(&small);
        small_world_free(&small);
    }
}

/*
 * Eight others displace it for about 7 ms, in which it gets less than is produced. Then it catches
 * up, faster than its data is produced. A cap on its rate would leave it behind for good.
 */
static void what_waits_is_not_forgotten(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 2; threads++)
        for (unsigned per = 0; per < 3; per++) {
            struct oche_flow_plan flows[9] = {supplied(1, 1000000000, 2 * OCHE_GBPS)};
            struct small_world small;
            uint64_t made, behind[2];

            for (uint32_t i = 1; i < 9; i++)
                flows[i] = small_flow(i + 1, 0, 1000000, OCHE_MS);
            for (unsigned late = 0; late < 2; late++) {
                open_star(&small, "none");
                small.config.hosts.connections = per;
                small.config.threads = threads;
                small.config.run.duration = late ? 16 * OCHE_MS : 7 * OCHE_MS;
                small_world_run(&small, flows, 9);
                made = oche_flow_supplied(&flows[0], small.config.run.duration - 10 * OCHE_US);
                behind[late] = made - oche_world_flow_bytes(small.world, 0);
                small_world_end(&small);
                small_world_free(&small);
            }
            assert_true(behind[0] > 500000);
            assert_true(behind[1] < 10000);
        }
}

/*
 * All that a scenario can name, also flows that share a link: no byte arrives before it is
 * produced.
 */
static void every_scheme(const char *name)
{
    static const uint64_t rates[] = {100 * OCHE_MBPS, 2 * OCHE_GBPS, 4 * OCHE_GBPS};
    struct oche_flow_plan flows[4] = {
        supplied(1, 1000000000, rates[0]), supplied(2, 1000000000, rates[1]),
        supplied(3, 1000000000, rates[2]), supplied(4, 700001, rates[1])};
    struct small_world small;

    for (oche_time end = 500 * OCHE_US; end <= 8 * OCHE_MS; end += 2500 * OCHE_US) {
        open_star(&small, name);
        small.config.switches.ecn = true;
        small.config.run.duration = end;
        small_world_run(&small, flows, 4);
        for (uint32_t i = 0; i < 4; i++) {
            uint64_t made = oche_flow_supplied(&flows[i], end - flows[i].start);
            uint64_t arrived = oche_world_flow_bytes(small.world, i);
            /* A queue pair's first packet leaves at once. */
            if (arrived > made + 1024)
                fail_msg("%s, flow %u: %llu bytes made, %llu there", name, i,
                         (unsigned long long)made, (unsigned long long)arrived);
            if (end > 7 * OCHE_MS && arrived < made / 2)
                fail_msg("%s, flow %u: %llu bytes made, but %llu there", name, i,
                         (unsigned long long)made, (unsigned long long)arrived);
        }
        small_world_end(&small);
        small_world_free(&small);
    }
}

static void nothing_is_early(void **state)
{
    (void)state;
    for (size_t i = 0; i < oche_cc_scheme_count; i++)
        every_scheme(oche_cc_schemes[i]->name);
    for (size_t i = 0; oche_endpoints[i] != NULL; i++)
        every_scheme(oche_endpoints[i]->name);
}

/* Retransmissions are no new data: with losses the flow keeps its rate as well. */
static void losses_do_not_slow_the_supply(void **state)
{
    struct oche_flow_plan flow = supplied(1, 1000000000, OCHE_GBPS);
    struct small_world small;

    (void)state;
    open_star(&small, "none");
    small.config.run.duration = 30 * OCHE_MS;
    small.config.loss.probability = 0.001;
    small.config.hosts.ack_timeout = 200 * OCHE_US;
    small_world_run(&small, &flow, 1);
    uint64_t made = oche_flow_supplied(&flow, small.config.run.duration - 10 * OCHE_US);
    assert_true(small.totals.nic.retransmitted_packets > 10);
    assert_true(oche_world_flow_bytes(small.world, 0) + 100000 > made);
    small_world_end(&small);
    small_world_free(&small);
}

/* Every mark arrives, and is counted for the flow of the marked packet. */
static void marks_are_noted_by_flow(void **state)
{
    struct oche_flow_plan flows[9];
    uint64_t marked = 0, marks = 0, packets = 0;
    struct small_world small;

    (void)state;
    for (uint32_t i = 0; i < 9; i++)
        flows[i] = small_flow(i + 1, 0, 100000 * (i + 1), 0);
    open_star(&small, "dcqcn");
    small.config.switches.ecn = true;
    small.config.measure.ways = true;
    small.config.hosts.ecn_threshold_bytes = 0;
    small.config.run.duration = 40 * OCHE_MS;
    small_world_run(&small, flows, 9);
    assert_int_equal(small.totals.flows_completed, 9);
    for (uint32_t i = 0; i < 9; i++) {
        const struct oche_flow_path *way = &oche_world_flows(small.world)->paths[i];

        assert_true(way->marked <= way->packets && way->links == 2 * way->packets);
        marked += way->marked;
        packets += way->packets;
    }
    for (unsigned place = 0; place < OCHE_PLACES; place++)
        marks += small.totals.marks[place];
    assert_int_equal(marked, marks);
    assert_int_equal(packets, small.totals.nic.data_packets_sent);
    assert_true(marks > 10 && marks < packets);
    small_world_end(&small);
    small_world_free(&small);
}

/* Two flows fill the receiver's queue. A short one does, or does not, have priority. */
static void priority(void **state)
{
    oche_time took[2];

    (void)state;
    for (unsigned with = 0; with < 2; with++)
        for (unsigned per = 0; per < 3; per++) {
            struct oche_flow_plan flows[4] = {
                small_flow(1, 0, 10000000, 0), small_flow(2, 0, 10000000, 0),
                small_flow(3, 0, 8000, OCHE_MS), small_flow(2, 0, 8001, 2 * OCHE_MS)};
            struct small_world small;

            open_star(&small, "none");
            small.config.hosts.connections = per;
            small.config.hosts.priority_bytes = with ? 8000 : 0;
            small.config.run.duration = 40 * OCHE_MS;
            small_world_run(&small, flows, 4);
            const struct oche_flows *all = oche_world_flows(small.world);
            assert_int_equal(small.world->class_count, 2 + with);
            assert_int_equal(small.totals.flows_completed, 4);
            took[with] = all->received[2].delivered - all->sent[2].started;
            if (with) {
                /* A packet may be on the line already, at each of two ports. */
                assert_true(took[1] <= oche_world_ideal_time(small.world, 2) + 2 * 900 * OCHE_NS);
                assert_true(all->received[3].delivered - all->sent[3].started > took[1] * 4);
            } else {
                assert_true(took[0] > 4 * oche_world_ideal_time(small.world, 2));
            }
            small_world_end(&small);
            small_world_free(&small);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrives_as_it_is_made),
        cmocka_unit_test(ends_when_all_is_made),
        cmocka_unit_test(what_waits_is_not_forgotten),
        cmocka_unit_test(nothing_is_early),
        cmocka_unit_test(losses_do_not_slow_the_supply),
        cmocka_unit_test(marks_are_noted_by_flow),
        cmocka_unit_test(priority),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
