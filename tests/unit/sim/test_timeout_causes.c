/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every cause of a timeout, forced by losing the right packets ("Error recovery of RDMA packets in
 * data center networks" Fig 4), with one thread and with two. Host 0 sends to host 1 over a switch;
 * only the last packet of a message asks for an ACK, and a message is shorter than a round trip. So
 * all of it has left before a NAK can arrive.
 */
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#include <string.h>

#define MTU     1024
#define PACKETS 10
#define LAST    (PACKETS - 1)

/* The ports where packets are lost. */
#define FROM_SENDER   "host0"
#define TO_RECEIVER   "tor0:host1"
#define FROM_RECEIVER "host1"

#define MOST_FLOWS 4

struct expected {
    const char *what;
    const char *recovery; /* NULL: go_back_n */
    struct small_world_loss losses[SMALL_WORLD_LOSSES];
    uint64_t causes[OCHE_TIMEOUT_CAUSES];
    bool no_exception, one_nak, check_last, per_pair;
    uint32_t flows; /* 0: one */
    uint32_t window;
    uint64_t ack_timeout; /* 0: 10 ms */
};

static const struct expected cases[] = {
    {.what = "nothing is lost"},
    {.what = "Fig 4a: the last packet",
     .losses = {{FROM_SENDER, "psn 9"}},
     .causes[OCHE_TIMEOUT_LAST_PACKET] = 1},
    {.what = "the last packet, by the switch's link",
     .losses = {{TO_RECEIVER, "psn 9"}},
     .causes[OCHE_TIMEOUT_LAST_PACKET] = 1},
    {.what = "the last three packets, on two links",
     .losses = {{FROM_SENDER, "psn 7-8"}, {TO_RECEIVER, "psn 9"}},
     .causes[OCHE_TIMEOUT_LAST_PACKET] = 1},
    {.what = "the only packet in the window",
     .losses = {{FROM_SENDER, "psn 3, psn 6"}},
     .window = 1,
     .causes[OCHE_TIMEOUT_LAST_PACKET] = 2},
    {.what = "the last packet, and again",
     .losses = {{FROM_SENDER, "psn 9"}, {TO_RECEIVER, "psn 9"}},
     .causes[OCHE_TIMEOUT_LAST_PACKET] = 2},
    {.what = "every packet, then the first",
     .losses = {{FROM_SENDER, "1-11"}},
     .causes[OCHE_TIMEOUT_LAST_PACKET] = 1},
    {.what = "Fig 4b: the last ACK",
     .losses = {{FROM_RECEIVER, "1"}},
     .causes[OCHE_TIMEOUT_LAST_ACK] = 1},
    {.what = "the last ACK, and those of all that was sent again",
     .losses = {{FROM_RECEIVER, "1-3"}},
     .causes[OCHE_TIMEOUT_LAST_ACK] = 2},
    {.what = "the last packet, then its ACK",
     .losses = {{FROM_SENDER, "psn 9"}, {FROM_RECEIVER, "psn 9"}},
     .causes = {[OCHE_TIMEOUT_LAST_PACKET] = 1, [OCHE_TIMEOUT_LAST_ACK] = 1}},
    {.what = "Fig 4c: a packet, and its NAK",
     .losses = {{FROM_SENDER, "psn 5"}, {FROM_RECEIVER, "psn 5"}},
     .causes[OCHE_TIMEOUT_NAK_LOST] = 1},
    {.what = "the NAK of the second loss",
     .losses = {{FROM_SENDER, "4,14"}, {FROM_RECEIVER, "psn 6"}},
     .causes[OCHE_TIMEOUT_NAK_LOST] = 1},
    {.what = "Fig 4d: the same packet twice",
     .losses = {{FROM_SENDER, "psn 5"}, {TO_RECEIVER, "psn 5"}},
     .causes[OCHE_TIMEOUT_LOST_TWICE] = 1},
    {.what = "its NAK, then what the timeout sent again",
     .losses = {{FROM_SENDER, "psn 5"}, {FROM_RECEIVER, "psn 5"}, {TO_RECEIVER, "psn 5"}},
     .one_nak = true,
     .causes = {[OCHE_TIMEOUT_NAK_LOST] = 1, [OCHE_TIMEOUT_LOST_TWICE] = 1}},
    {.what = "the same packet twice, the second time with all behind it",
     .losses = {{FROM_SENDER, "psn 5"}, {TO_RECEIVER, "psn 5, 10-13"}},
     .causes[OCHE_TIMEOUT_LOST_TWICE] = 1},
    {.what = "another gap at once is told of", .losses = {{FROM_SENDER, "4,14"}}},
    {.what = "another gap at once, without the exception",
     .losses = {{FROM_SENDER, "4,14"}},
     .no_exception = true,
     .causes[OCHE_TIMEOUT_NAK_HELD] = 1},
    {.what = "the same, lost before when it did not matter",
     .losses = {{FROM_SENDER, "4,7,14"}},
     .no_exception = true,
     .causes[OCHE_TIMEOUT_NAK_HELD] = 1},
    {.what = "a packet and its NAK, without the exception",
     .losses = {{FROM_SENDER, "psn 5"}, {FROM_RECEIVER, "psn 5"}},
     .no_exception = true,
     .causes[OCHE_TIMEOUT_NAK_LOST] = 1},
    {.what = "the same packet twice, without the exception",
     .losses = {{FROM_SENDER, "psn 5"}, {TO_RECEIVER, "psn 5"}},
     .no_exception = true,
     .causes[OCHE_TIMEOUT_LOST_TWICE] = 1},
    {.what = "the last of one message, as the next follows",
     .losses = {{FROM_SENDER, "psn 9"}},
     .per_pair = true,
     .flows = 2},
    {.what = "the last of one message and its NAK, as the next follows",
     .losses = {{FROM_SENDER, "psn 9"}, {FROM_RECEIVER, "psn 9"}},
     .per_pair = true,
     .flows = 2,
     .causes[OCHE_TIMEOUT_NAK_LOST] = 1},
    {.what = "the last of all messages",
     .losses = {{FROM_SENDER, "psn 39"}},
     .per_pair = true,
     .flows = 4,
     .causes[OCHE_TIMEOUT_LAST_PACKET] = 1},
    {.what = "the ACKs of two connections",
     .losses = {{FROM_RECEIVER, "1-2"}},
     .flows = 2,
     .causes[OCHE_TIMEOUT_LAST_ACK] = 2},
    {.what = "go_back_0: the last packet",
     .recovery = "go_back_0",
     .losses = {{FROM_SENDER, "psn 9"}},
     .causes[OCHE_TIMEOUT_LAST_PACKET] = 1},
    {.what = "go_back_0: the last ACK",
     .recovery = "go_back_0",
     .losses = {{FROM_RECEIVER, "1"}},
     .causes[OCHE_TIMEOUT_LAST_ACK] = 1},
    {.what = "go_back_0: a packet, and the NAK, which names the first one",
     .recovery = "go_back_0",
     .losses = {{FROM_SENDER, "psn 5"}, {FROM_RECEIVER, "psn 0"}},
     .causes[OCHE_TIMEOUT_NAK_LOST] = 1},
    {.what = "go_back_0: the same packet twice is told of twice",
     .recovery = "go_back_0",
     .losses = {{FROM_SENDER, "psn 5"}, {TO_RECEIVER, "psn 5"}}},
    {.what = "go_back_0: the same packet twice, without the exception",
     .recovery = "go_back_0",
     .losses = {{FROM_SENDER, "psn 5"}, {TO_RECEIVER, "psn 5"}},
     .no_exception = true,
     .causes[OCHE_TIMEOUT_LOST_TWICE] = 1},
    {.what = "go_back_0: another gap in the second pass, without the exception",
     .recovery = "go_back_0",
     .losses = {{FROM_SENDER, "4,17"}},
     .no_exception = true,
     .causes[OCHE_TIMEOUT_NAK_HELD] = 1},
    {.what = "improved: one copy of the last packet",
     .recovery = "improved_go_back_n",
     .losses = {{FROM_SENDER, "psn 9"}}},
    {.what = "improved: both copies",
     .recovery = "improved_go_back_n",
     .losses = {{FROM_SENDER, "10-11"}},
     .causes[OCHE_TIMEOUT_LAST_PACKET] = 1},
    {.what = "improved: both copies, on two links, with the packet before them",
     .recovery = "improved_go_back_n",
     .losses = {{FROM_SENDER, "9-10"}, {TO_RECEIVER, "psn 9"}},
     .causes[OCHE_TIMEOUT_LAST_PACKET] = 1},
    {.what = "improved: the ACKs of both copies",
     .recovery = "improved_go_back_n",
     .losses = {{FROM_RECEIVER, "1-2"}},
     .causes[OCHE_TIMEOUT_LAST_ACK] = 1},
    {.what = "improved: a NAK is repeated",
     .recovery = "improved_go_back_n",
     .losses = {{FROM_SENDER, "psn 5"}, {FROM_RECEIVER, "psn 5"}}},
    {.what = "improved: every NAK until the timeout",
     .recovery = "improved_go_back_n",
     .losses = {{FROM_SENDER, "psn 5"}, {FROM_RECEIVER, "1-9"}},
     .ack_timeout = 4 * OCHE_MS,
     .causes[OCHE_TIMEOUT_NAK_LOST] = 1},
    {.what = "improved: in the repair both copies",
     .recovery = "improved_go_back_n",
     .losses = {{FROM_SENDER, "6,16-17"}},
     .causes[OCHE_TIMEOUT_LAST_PACKET] = 1},
    {.what = "improved: the same, but checked for",
     .recovery = "improved_go_back_n",
     .losses = {{FROM_SENDER, "6,16-17"}},
     .check_last = true},
    {.what = "selective: the last packet, and again",
     .recovery = "selective_repeat",
     .losses = {{FROM_SENDER, "psn 9"}, {TO_RECEIVER, "psn 9"}},
     .causes[OCHE_TIMEOUT_LAST_PACKET] = 2},
    {.what = "selective: the last ACK",
     .recovery = "selective_repeat",
     .losses = {{FROM_RECEIVER, "1"}},
     .causes[OCHE_TIMEOUT_LAST_ACK] = 1},
    {.what = "selective: a packet and all its NAKs",
     .recovery = "selective_repeat",
     .losses = {{FROM_SENDER, "psn 5"}, {FROM_RECEIVER, "1-4"}},
     .causes[OCHE_TIMEOUT_NAK_LOST] = 1},
    {.what = "selective: one of its NAKs arrives",
     .recovery = "selective_repeat",
     .losses = {{FROM_SENDER, "psn 5"}, {FROM_RECEIVER, "1-3"}}},
    {.what = "selective: the same packet twice",
     .recovery = "selective_repeat",
     .losses = {{FROM_SENDER, "psn 5"}, {TO_RECEIVER, "psn 5"}},
     .causes[OCHE_TIMEOUT_LOST_TWICE] = 1},
    {.what = "selective: of two packets the one that no NAK has named, twice",
     .recovery = "selective_repeat",
     .losses = {{FROM_SENDER, "psn 5, psn 7"}, {TO_RECEIVER, "psn 7"}},
     .causes[OCHE_TIMEOUT_LOST_TWICE] = 1},
    {.what = "no time to answer", .ack_timeout = 3 * OCHE_US, .causes[OCHE_TIMEOUT_OTHER] = 1},
};

static void set_up(struct small_world *small, const struct expected *expected)
{
    small_world_init(small, "star", "none",
                     expected->recovery != NULL ? expected->recovery : "go_back_n");
    small_world_topology(small, "hosts", 2);
    small->config.hosts.mtu_bytes = MTU;
    small->config.hosts.ack_every_packets = 256;
    small->config.hosts.ack_timeout =
        expected->ack_timeout != 0 ? expected->ack_timeout : 10 * OCHE_MS;
    small->config.hosts.window_packets = expected->window;
    small->config.hosts.connections =
        expected->per_pair ? OCHE_CONNECTION_PER_PAIR : OCHE_CONNECTION_PER_FLOW;
    small->config.run.duration = OCHE_SEC;
    small->config.run.stop_when_done = true;
    if (expected->no_exception)
        small_world_recovery(small, "nak_exception", false);
    if (expected->one_nak)
        small_world_recovery(small, "nak_interval", OCHE_NEVER);
    if (expected->check_last)
        small_world_recovery(small, "check_last", true);
    memcpy(small->losses, expected->losses, sizeof(small->losses));
}

static uint64_t sum(const uint64_t *causes)
{
    uint64_t all = 0;

    for (unsigned cause = 0; cause < OCHE_TIMEOUT_CAUSES; cause++)
        all += causes[cause];
    return all;
}

static void assert_causes(const struct expected *expected, const struct oche_world_totals *totals)
{
    for (unsigned cause = 0; cause < OCHE_TIMEOUT_CAUSES; cause++)
        if (totals->timeout_causes[cause] != expected->causes[cause])
            fail_msg("%s: %llu timeouts with the cause %s, not %llu", expected->what,
                     (unsigned long long)totals->timeout_causes[cause],
                     oche_timeout_cause_name(cause), (unsigned long long)expected->causes[cause]);
    assert_int_equal(totals->nic.timeouts, sum(expected->causes));
}

static void test_causes(void **state)
{
    struct oche_flow_plan flows[MOST_FLOWS];

    (void)state;
    for (uint32_t i = 0; i < MOST_FLOWS; i++)
        flows[i] = small_flow(0, 1, PACKETS * MTU, 0);
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        uint64_t hash = 0;

        for (uint32_t threads = 1; threads <= 2; threads++) {
            uint32_t count = cases[i].flows > 0 ? cases[i].flows : 1;
            struct small_world small;

            set_up(&small, &cases[i]);
            small.config.threads = threads;
            small_world_run(&small, flows, count);
            assert_int_equal(oche_world_network(small.world)->shard_count, threads);
            assert_int_equal(small.totals.flows_completed, count);
            assert_causes(&cases[i], &small.totals);
            if (threads > 1)
                assert_int_equal(small.totals.hash, hash);
            hash = small.totals.hash;
            small_world_free(&small);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_causes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
