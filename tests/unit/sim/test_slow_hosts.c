/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slow receivers and PAUSE storms, against arithmetic: the rate at which a buffer drains, flows
 * that share a NIC, and how often quanta expire.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/wire/opcode.h"
#include "sim/scenario/scenario.h"
#include "sim/world/derived.h"
#include "sim/world/world.h"
#include "tests/support/ran.h"

#define STAR    "topology: {type: star, hosts: 6, host_rate: 100Gbps}\ncongestion_control: none\n"
#define ENDLESS "workload: {type: transfers, pairs: \"1>0, 1>2, 3>4\", bytes: 1GB, messages: 1}\n"
#define WINDOW  "duration: 6ms\nwarmup: 2ms\n"
#define SLOW    "slow_receivers: {hosts: host0, drain_rate: 10Gbps, buffer: 200KB}\n"
/* The switch can be made to pause host0 after 20 KB, long before any other effect. */
#define TIGHT "switch: {threshold: static, xoff: 20KB}\n"

static struct oche_error error;

static double gbps_of(const struct ran *ran, uint32_t flow)
{
    return (double)oche_world_flow_bytes_measured(ran->world, flow) * 8000 /
           (double)ran->totals.measured;
}

/* Returns the payload rate of `line` Gbps of frames without gaps. */
static double payload_of(double line)
{
    return line * 1024 / oche_frame_bytes(OCHE_RC_WRITE_MIDDLE, 1024, false);
}

static void assert_near(double got, double expected, double share)
{
    if (got < expected * (1 - share) || got > expected * (1 + share))
        fail_msg("%g, and %g is expected", got, expected);
}

static uint64_t all_drops(const struct oche_world_totals *totals)
{
    uint64_t sum = totals->dropped_by_hosts;

    for (unsigned cause = 0; cause < OCHE_DROP_CAUSES; cause++)
        sum += totals->drops[cause];
    return sum;
}

/*
 * Flow 0 gets the receiver's drain rate. Its sender's NIC serves its two flows in turn, and is
 * paused for both: the victim, flow 1, gets as much. Flow 2, between other hosts, gets the line
 * rate.
 */
static void test_a_slow_receiver_slows_down_its_senders_others(void **state)
{
    struct ran ran = ran_open(WINDOW STAR ENDLESS SLOW TIGHT, false, 1);
    struct oche_slow_host_stats stats = oche_world_slow_host(ran.world, 0);

    (void)state;
    assert_near(gbps_of(&ran, 0), payload_of(10), 0.01);
    assert_near(gbps_of(&ran, 1), payload_of(10), 0.05);
    assert_true(gbps_of(&ran, 2) > 90);
    assert_int_equal(all_drops(&ran.totals), 0);
    assert_int_equal(ran.totals.nic.retransmitted_packets, 0);
    assert_true(ran.totals.pauses_sent_by_hosts > 0);
    assert_true(ran.totals.pauses_sent > ran.totals.pauses_sent_by_hosts);
    assert_true(stats.most_bytes > 100000 && stats.most_bytes <= 200000);
    ran_close(&ran);
}

/* The same without PFC: the host drops, the switch does not, and no other flow is slowed down. */
static void test_without_pfc_the_host_drops(void **state)
{
    struct ran ran = ran_open(WINDOW STAR ENDLESS SLOW "switch: {pfc: false}\n", false, 1);

    (void)state;
    assert_true(ran.totals.dropped_by_hosts > 0);
    assert_int_equal(all_drops(&ran.totals), ran.totals.dropped_by_hosts);
    assert_int_equal(ran.totals.dropped_by_hosts,
                     oche_world_slow_host(ran.world, 0).dropped_packets);
    assert_int_equal(ran.totals.pauses_sent, 0);
    assert_true(gbps_of(&ran, 0) > 0 && gbps_of(&ran, 0) < payload_of(10) * 1.01);
    assert_true(gbps_of(&ran, 1) > 30);
    assert_true(gbps_of(&ran, 2) > 90);
    ran_close(&ran);
}

/* The headroom of `xoff: auto` is enough at any rate and distance. */
static void test_auto_loses_nothing(void **state)
{
    static const char *const links[] = {"10Gbps, delay: 10us", "100Gbps, delay: 100ns",
                                        "400Gbps, delay: 3us"};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(links); i++)
        for (unsigned mtu = 1024; mtu <= 4096; mtu += 3072) {
            char text[1024];

            snprintf(text, sizeof(text),
                     "duration: 2ms\ntopology: {type: star, hosts: 4, host_rate: %s}\n"
                     "congestion_control: none\nhost: {mtu: %uB}\nswitch: {buffer: 20MB}\n"
                     "workload: {type: incast, degree: 3, bytes: 100MB}\n"
                     "slow_receivers: {hosts: all, drain_rate: 3Gbps, buffer: 800KB}\n",
                     links[i], mtu);
            struct ran ran = ran_open(text, false, 1);

            assert_true(ran.totals.pauses_sent_by_hosts > 0);
            assert_int_equal(all_drops(&ran.totals), 0);
            assert_true(ran.totals.receive_buffer_most <= 800000);
            ran_close(&ran);
        }
}

#define STORM                                                                                      \
    "topology: {type: fat_tree, k: 4, link_rate: 100Gbps}\n"                                       \
    "workload: {type: transfers, pairs: \"4>0, 12>8\", bytes: 4MB, messages: 1}\n"                 \
    "pause_storms: {hosts: host0, at: 20us, until: 2ms}\n"

/*
 * Packets for the host wait until the storm is over, and then take no longer than before. Quanta of
 * 65535 last 335.54 us at 100 Gbit/s: in 1.98 ms half of that time passes 11 times after the first
 * frame. The host pauses no other port, and its neighbours continue.
 */
static void test_a_storm_stops_who_sends_there(void **state)
{
    struct ran ran = ran_open(STORM, false, 1);
    const struct oche_flows *flows = oche_world_flows(ran.world);
    const struct oche_topology *topology = oche_world_topology(ran.world);
    const struct oche_topology_port *end = oche_topology_port(topology, 0, 0);
    uint32_t port = topology->nodes[end->peer].first_port + end->peer_port;
    struct oche_switch_port_stats stats[256];
    oche_time alone = oche_world_ideal_time(ran.world, 0);

    (void)state;
    assert_true(oche_world_network(ran.world)->port_count <= OCHE_COUNT_OF(stats));
    oche_world_port_stats(ran.world, stats);
    assert_true(flows->received[0].delivered > 2 * OCHE_MS);
    assert_true(flows->received[0].delivered < 2 * OCHE_MS + alone);
    assert_true(flows->received[1].delivered < alone + alone / 50);
    assert_int_equal(all_drops(&ran.totals), 0);
    assert_int_equal(ran.totals.pauses_sent_by_hosts, 2); /* for two classes */
    assert_int_equal(stats[port].pauses_received[0], 12);
    assert_int_equal(stats[port].pauses_received[1], 12);
    assert_near((double)stats[port].paused_time[0], 1.98 * (double)OCHE_MS, 0.002);
    ran_close(&ran);
}

/* Only the classes of the storm are paused; smaller quanta need more frames. */
static void test_priorities_and_quanta(void **state)
{
    /* Half of 1000 quanta is 2.56 us: 1980 us have 773, and one frame comes before. */
    struct ran ran = ran_open(
        "duration: 3ms\nstop_when_done: false\n"
        "topology: {type: fat_tree, k: 4, link_rate: 100Gbps}\n"
        "workload: {type: transfers, pairs: \"4>0, 12>8\", bytes: 4MB, messages: 1}\n"
        "pause_storms: {hosts: host0, at: 20us, until: 2ms, priorities: \"1\", quanta: 1000}\n",
        false, 1);
    const struct oche_topology *topology = oche_world_topology(ran.world);
    const struct oche_topology_port *end = oche_topology_port(topology, 0, 0);
    uint32_t port = topology->nodes[end->peer].first_port + end->peer_port;
    struct oche_switch_port_stats stats[256];

    (void)state;
    oche_world_port_stats(ran.world, stats);
    assert_int_equal(stats[port].pauses_received[0], 0);
    assert_near((double)stats[port].pauses_received[1], 774, 0.01);
    /* Data is not paused. */
    assert_true(oche_world_flows(ran.world)->received[0].delivered < OCHE_MS);
    ran_close(&ran);
}

/* A host's PAUSE begins at the port that it holds. Flows that wait there are no victims. */
static void test_where_it_begins(void **state)
{
    struct ran ran = ran_open(WINDOW STAR ENDLESS SLOW TIGHT, false, 1);
    const struct oche_topology *topology = oche_world_topology(ran.world);
    const struct oche_topology_port *end = oche_topology_port(topology, 0, 0);
    uint32_t held = topology->nodes[end->peer].first_port + end->peer_port, count, roots = 0;
    const struct oche_pause_node *nodes =
        oche_pause_tree_nodes(oche_world_pause_tree(ran.world), &count);
    struct oche_flow_pause_loss holds;

    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        roots += nodes[i].depth == 0;
        assert_true(nodes[i].depth > 0 || nodes[i].port == held);
    }
    assert_int_equal(roots, 1);
    oche_world_flow_pause_loss(ran.world, 0, &holds);
    assert_int_equal(holds.lost, 0);
    oche_world_flow_pause_loss(ran.world, 1, &holds);
    assert_true(holds.lost > holds.life / 2);
    oche_world_flow_pause_loss(ran.world, 2, &holds);
    assert_int_equal(holds.lost, 0);
    ran_close(&ran);
}

static void test_the_same_for_any_number_of_threads(void **state)
{
    static const char *const texts[] = {
        "duration: 30ms\n" STORM
        "slow_receivers: {hosts: \"host8, host0\", drain_rate: 20Gbps, buffer: 100KB}\n",
        "duration: 60ms\n" STORM "slow_receivers: {hosts: all, drain_rate: 9Gbps, buffer: 90KB}\n"
        "switch: {pfc: true}\nbytes: true\nfailures: {link: host8, at: 50us, until: 90us}\n",
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(texts); i++) {
        struct ran one = ran_open(texts[i], false, 1);

        for (uint32_t threads = 2; threads <= 3; threads++) {
            struct ran other = ran_open(texts[i], false, threads);

            assert_int_equal(one.totals.hash, other.totals.hash);
            ran_close(&other);
        }
        assert_int_equal(one.totals.flows_completed, 2);
        ran_close(&one);
    }
}

/* A run without arrivals for so long is not at its end while a storm is still to end. */
static void test_the_end_of_a_storm_is_waited_for(void **state)
{
    struct ran ran = ran_open(
        "topology: {type: star, hosts: 4, host_rate: 100Gbps}\ncongestion_control: none\n"
        "workload: {type: transfers, pairs: \"1>0\", bytes: 4KB, messages: 1, start: 9us}\n"
        "host: {ack_timeout: 10us}\npause_storms: {hosts: host0, until: 40ms}\n",
        false, 1);

    (void)state;
    assert_true(oche_world_flows(ran.world)->received[0].delivered > 40 * OCHE_MS);
    assert_true(oche_world_flows(ran.world)->received[0].delivered < 41 * OCHE_MS);
    ran_close(&ran);
}

/* The largest packet, with an RETH, has 1102 bytes; xon is two of them below xoff. */
static void test_auto_is_shown(void **state)
{
    (void)state;
    struct ran ran = ran_open(STAR "duration: 1us\n" ENDLESS "slow_receivers:\n"
                                   "- {hosts: host0, xoff: 10KB}\n- {hosts: 'host1, host2'}\n",
                              false, 1);
    char text[64], xon[64];

    assert_true(oche_world_derived(ran.world, "slow_receivers[0].xon", text, sizeof(text)));
    assert_string_equal(text, "7796B");
    assert_true(oche_world_derived(ran.world, "slow_receivers[1].xoff", text, sizeof(text)));
    assert_true(oche_world_derived(ran.world, "slow_receivers[1].xon", xon, sizeof(xon)));
    assert_int_equal(strtoul(text, NULL, 10) - strtoul(xon, NULL, 10), 2 * 1102);
    assert_false(oche_world_derived(ran.world, "slow_receivers[0].hosts", text, sizeof(text)));
    assert_false(oche_world_derived(ran.world, "slow_receivers[2].xoff", text, sizeof(text)));
    ran_close(&ran);
    ran = ran_open(STAR "duration: 1us\n" ENDLESS SLOW, false, 1); /* one entry, not in a list */
    assert_true(oche_world_derived(ran.world, "slow_receivers.xoff", text, sizeof(text)));
    ran_close(&ran);
    ran = ran_open(STAR "switch: {pfc: false}\nduration: 1us\n" ENDLESS SLOW, false, 1);
    assert_false(oche_world_derived(ran.world, "slow_receivers.xoff", text, sizeof(text)));
    ran_close(&ran);
}

static void test_wrong_hosts_are_refused(void **state)
{
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"slow_receivers: [{hosts: host1}, {hosts: \"host2, host1\"}]\n",
         "s.yaml:4: slow_receivers[1].hosts: host1 is in the list already; name it once"},
        {"slow_receivers: {drain_rate: 1Gbps}\n",
         "s.yaml:4: slow_receivers.hosts: names none; write names such as host0, or all"},
        {"slow_receivers: {hosts: tor0}\n",
         "s.yaml:4: slow_receivers.hosts: no host is called \"tor0\"; they are host0 to host5, or "
         "all"},
        {"slow_receivers: {hosts: host0, buffer: 20KB}\n",
         "s.yaml:4: slow_receivers.buffer: 20000 bytes is less than the PFC headroom of host0, "
         "33538 bytes, and a packet; would be right: at least 34640 bytes, or an xoff"},
        {"slow_receivers: {hosts: host0, buffer: 100B}\n",
         "s.yaml:4: slow_receivers.buffer: 100 bytes, less than a packet; would be right: at least "
         "1102 bytes"},
        {"slow_receivers: {hosts: host0, xoff: 2MB}\n",
         "s.yaml:4: slow_receivers.xoff: 2000000 bytes is above buffer, 1000000 bytes; at most "
         "buffer"},
        {"slow_receivers: {hosts: host0, xoff: 2KB, xon: 3KB}\n",
         "s.yaml:4: slow_receivers.xon: 3000 bytes is above xoff, 2000 bytes; at most xoff"},
        {"slow_receivers: {hosts: host0}\nswitch: {mechanisms: ib_credits}\n",
         "s.yaml:4: slow_receivers: links with credits have no PAUSE; leave it out, or ib_credits "
         "in switch.mechanisms"},
        {"pause_storms: {hosts: host0}\nswitch: {pfc: false}\n",
         "s.yaml:4: pause_storms: nobody obeys: switch.pfc is false; leave it out, or change that"},
        {"pause_storms: {hosts: host0, at: 3us, until: 3us}\n",
         "s.yaml:4: pause_storms.until: is not after at; make it later, or never"},
        {"pause_storms: {hosts: host0, priorities: \"0, 2\"}\n",
         "s.yaml:4: pause_storms.priorities: \"2\" is no class; write numbers from 0 to 1, or all"},
        {"pause_storms: [{hosts: host0}, {hosts: all, at: 9ms}]\n",
         "s.yaml:4: pause_storms[1].at: host0 has a storm at that time already; make one of them "
         "end before the other begins"},
        {"duration: 5ms\npause_storms: {hosts: host0, at: 5ms}\n",
         "s.yaml:5: pause_storms.at: is not before the end of the run; make it less than "
         "duration"},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        char text[1024];

        snprintf(text, sizeof(text), "%s%s%s", STAR,
                 "workload: {type: incast, degree: 4, bytes: 5MB}\n", rows[i].text);
        struct oche_scenario *scenario = oche_scenario_parse("s.yaml", text, strlen(text), &error);
        struct oche_error why;

        if (scenario == NULL)
            fail_msg("%s", error.text);
        if (oche_world_create(&scenario->config, &why) != NULL)
            fail_msg("accepted: %s", rows[i].text);
        oche_scenario_place(scenario, why.text, &error);
        assert_string_equal(error.text, rows[i].error);
        oche_scenario_close(scenario);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_slow_receiver_slows_down_its_senders_others),
        cmocka_unit_test(test_without_pfc_the_host_drops),
        cmocka_unit_test(test_auto_loses_nothing),
        cmocka_unit_test(test_a_storm_stops_who_sends_there),
        cmocka_unit_test(test_priorities_and_quanta),
        cmocka_unit_test(test_where_it_begins),
        cmocka_unit_test(test_the_same_for_any_number_of_threads),
        cmocka_unit_test(test_the_end_of_a_storm_is_waited_for),
        cmocka_unit_test(test_auto_is_shown),
        cmocka_unit_test(test_wrong_hosts_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
