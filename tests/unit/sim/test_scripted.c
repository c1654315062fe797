/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripted events in worlds: each type at the last hop of one message of 20 packets, with structs
 * and with bytes and payload, whose results are the same.
 */
#include <stdio.h>
#include <string.h>

#include "sim/scenario/scenario.h"
#include "sim/world/world.h"
#include "tests/support/test.h"

#define TEST_FILE "scripted.events"
#include "tests/support/temporary_folder.h"

struct ran {
    struct oche_world_totals totals;
    struct oche_world_events events;
    enum oche_world_end end;
};

static struct ran run_form(const char *events, const char *rest, bool bytes)
{
    struct ran ran;
    struct oche_error error;
    char text[1024];
    FILE *out = fopen(path, "w");

    assert_non_null(out);
    fprintf(out, "events:\n%s", events);
    assert_int_equal(fclose(out), 0);
    snprintf(text, sizeof(text),
             "topology: {type: star, hosts: 2, host_rate: 10Gbps}\n"
             "congestion_control: none\n"
             "switch: {pfc: false}\n"
             "bytes: %s\npayload: %s\n"
             "events: {file: %s, port: \"tor0:host1\"}\n%s",
             bytes ? "true" : "false", bytes ? "true" : "false", path, rest);
    struct oche_scenario *scenario = oche_scenario_parse("s.yaml", text, strlen(text), &error);

    if (scenario == NULL)
        fail_msg("%s: %s", rest, error.text);
    struct oche_world *world = oche_world_create(&scenario->config, &error);

    if (world == NULL)
        fail_msg("%s: %s", rest, error.text);
    oche_world_run(world, NULL, NULL);
    oche_world_totals(world, &ran.totals);
    assert_true(oche_world_event_counts(world, &ran.events));
    ran.end = oche_world_ended(world);
    oche_world_free(world);
    oche_scenario_close(scenario);
    return ran;
}

/* Runs both forms, which must be alike, to the end of all flows. */
static struct ran run(const char *events, const char *rest)
{
    const struct ran ran = run_form(events, rest, false), other = run_form(events, rest, true);

    assert_int_equal(ran.totals.hash, other.totals.hash);
    assert_int_equal(ran.totals.flows_completed, ran.totals.flows);
    assert_int_equal(ran.totals.corrupt_bytes + other.totals.corrupt_bytes, 0);
    assert_int_equal(ran.end, OCHE_END_DELIVERED);
    assert_memory_equal(&ran.events.counts, &other.events.counts, sizeof(ran.events.counts));
    return ran;
}

#define MTU "host: {mtu: 1024B, ack_timeout: 200us}\n"
#define ONE                                                                                        \
    MTU "workload: {type: permutation, pattern: shift, bytes: 20480B}\nrecovery: go_back_n\n"
#define SELECTIVE                                                                                  \
    MTU "workload: {type: permutation, pattern: shift, bytes: 20480B}\n"                           \
        "recovery: selective_repeat\n"
#define READS                                                                                      \
    MTU "workload: {type: permutation, pattern: shift, bytes: 20480B, verb: read}\n"               \
        "recovery: go_back_n\n"

static void losses(void **state)
{
    struct ran ran = run("- {qpn: 0, psn: 5, type: drop, iter: 1}\n"
                         "- {qpn: 0, psn: 5, type: drop, iter: 2}\n"
                         "- {qpn: 0, psn: 19, type: bit-error, iter: 3}\n"
                         "- {qpn: 0, psn: 20, type: drop, iter: 1}\n"
                         "- {qpn: 1, psn: 0, type: drop, iter: 1}\n",
                         ONE);

    (void)state;
    assert_int_equal(ran.totals.lost_packets, 3);
    assert_int_equal(ran.events.counts.happened, 3);
    assert_int_equal(ran.events.counts.never, 2);
    assert_int_equal(ran.events.first_left.psn, 20);
    assert_true(ran.totals.nic.timeouts >= 2);
    ran = run("- {qpn: 0, psn: 5, type: drop, iter: 1}\n"
              "- {qpn: 0, psn: 5, type: drop, iter: 2}\n",
              READS);
    assert_int_equal(ran.totals.lost_packets, 2);
    assert_int_equal(ran.events.counts.never, 0);
}

static void marks_and_copies(void **state)
{
    const struct ran ran = run("- {qpn: 0, psn: 3, type: ecn, iter: 1}\n"
                               "- {qpn: 0, psn: 5, type: duplicate, iter: 1}\n"
                               "- {qpn: 0, psn: 19, type: duplicate, iter: 1}\n",
                               ONE);

    (void)state;
    assert_int_equal(ran.totals.nic.ce_received, 1);
    assert_int_equal(ran.totals.nic.duplicate_packets, 2);
    assert_int_equal(ran.totals.nic.retransmitted_packets, 0);
    assert_int_equal(ran.totals.lost_packets, 0);
}

static void overtaken(void **state)
{
    struct ran ran = run("- {qpn: 0, psn: 5, type: reorder, iter: 1, by: 3}\n", SELECTIVE);

    (void)state;
    assert_int_equal(ran.totals.nic.placed_packets, 3);
    assert_int_equal(ran.totals.nic.duplicate_packets, ran.totals.nic.retransmitted_packets);
    assert_int_equal(ran.events.counts.kept, 0);
    /* Two are kept, and go on behind the same packet, in their order. */
    ran = run("- {qpn: 0, psn: 5, type: reorder, iter: 1, by: 3}\n"
              "- {qpn: 0, psn: 6, type: reorder, iter: 1, by: 3}\n",
              SELECTIVE);
    assert_int_equal(ran.totals.nic.placed_packets, 3);
    /* The last packet is never overtaken by so many. It is in no queue and on no link then. */
    ran = run("- {qpn: 0, psn: 19, type: reorder, iter: 1, by: 100}\n", ONE);
    assert_int_equal(ran.events.counts.kept, 1);
    assert_true(ran.totals.nic.timeouts >= 1);
    assert_int_equal(ran.totals.live_packets, 0);
}

static void delayed(void **state)
{
    /* 3.5 us are the time of four packets; then Go-Back-N sends again. */
    struct ran ran = run("- {qpn: 0, psn: 5, type: delay, iter: 1, by: 3.5us}\n", SELECTIVE);

    (void)state;
    assert_in_range(ran.totals.nic.placed_packets, 3, 4);
    ran = run("- {qpn: 0, psn: 5, type: delay, iter: 1, by: 1ps}\n"
              "- {qpn: 0, psn: 6, type: delay, iter: 1, by: 1ns}\n",
              ONE);
    assert_int_equal(ran.totals.nic.retransmitted_packets, 0);
    assert_int_equal(ran.events.counts.by_type[OCHE_PACKET_EVENT_DELAY], 2);
    /* Longer than a timeout: the packet comes when the message is long complete. */
    ran = run_form("- {qpn: 0, psn: 0, type: delay, iter: 1, by: 1ms}\n",
                   ONE "duration: 3ms\nstop_when_done: false\n", true);
    assert_int_equal(ran.totals.flows_completed, ran.totals.flows);
    assert_true(ran.totals.nic.duplicate_packets >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses),
        cmocka_unit_test(marks_and_copies),
        cmocka_unit_test(overtaken),
        cmocka_unit_test(delayed),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
