/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One TCP endpoint, packet by packet, without a network: the test acts as the other end and the
 * clock. Segment i begins at byte 1460 i.
 */
#include "sim/endpoint/tcp_dctcp/tcp.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#define MSS    1460
#define RTO    (10 * OCHE_MS)
#define WINDOW (4000000 >> 6) /* on the wire */

struct script {
    struct small_world small;
    const struct oche_endpoint *endpoint;
    struct oche_tcp *tcp; /* of host `host` */
    oche_time now;
    struct oche_packet out; /* what it sent last */
};

/* A fresh world of hosts, and the endpoint of one of them. */
static void begin(struct script *s, const char *scheme, const struct oche_flow_plan *flows,
                  uint32_t count, uint32_t host)
{
    *s = (struct script){.now = OCHE_US};
    small_world_init(&s->small, "star", scheme, "go_back_n");
    small_world_cc(&s->small, "os_overhead", 0);
    small_world_cc(&s->small, "retries", 2);
    s->small.config.run.duration = 1; /* over before a flow starts */
    small_world_run(&s->small, flows, count);
    s->endpoint = s->small.config.endpoint;
    s->tcp = oche_host_endpoint_state(oche_world_host(s->small.world, host));
}

static bool sends(struct script *s)
{
    return s->endpoint->transmit(s->tcp, s->now, UINT8_MAX, &s->out);
}

/* The next packet is segment `number`. */
#define SENDS(s, number)                                                                           \
    do {                                                                                           \
        assert_true(sends(s));                                                                     \
        assert_int_equal((s)->out.tcp.sequence, oche_tcp_wire((uint64_t)(number)*MSS));            \
        assert_int_equal((s)->out.payload_bytes, MSS);                                             \
    } while (0)

/* The next packet is an ACK for all before segment `number`, with or without ECE. */
#define ACKS(s, number, ece)                                                                       \
    do {                                                                                           \
        assert_true(sends(s));                                                                     \
        assert_int_equal((s)->out.payload_bytes, 0);                                               \
        assert_int_equal((s)->out.tcp.acknowledgement, oche_tcp_wire((uint64_t)(number)*MSS));     \
        assert_int_equal((s)->out.tcp.flags, OCHE_TCP_ACK | ((ece) ? OCHE_TCP_ECE : 0));           \
    } while (0)

/* An ACK for all before segment `number` arrives from host 1, for connection 0. */
static void ack(struct script *s, uint32_t number, uint16_t window)
{
    struct oche_packet packet = {.kind = OCHE_PACKET_TCP,
                                 .src = 1,
                                 .dest_qpn = OCHE_FIRST_QPN,
                                 .tcp.sequence = OCHE_TCP_FIRST,
                                 .tcp.acknowledgement = oche_tcp_wire((uint64_t)number * MSS),
                                 .tcp.flags = OCHE_TCP_ACK,
                                 .tcp.window = window};

    s->endpoint->receive(s->tcp, &packet, s->now);
}

/* Segment `number` of connection 0 arrives from host 0. */
static void data(struct script *s, uint32_t number, bool ce)
{
    struct oche_packet packet = {.kind = OCHE_PACKET_TCP,
                                 .src = 0,
                                 .dest_qpn = OCHE_FIRST_QPN,
                                 .tcp.sequence = oche_tcp_wire((uint64_t)number * MSS),
                                 .tcp.flags = OCHE_TCP_ACK,
                                 .ecn = ce ? OCHE_ECN_CE : OCHE_ECN_ECT0,
                                 .payload_bytes = MSS};

    s->endpoint->receive(s->tcp, &packet, s->now);
}

static oche_time timer(const struct script *s)
{
    return s->endpoint->next_timer(s->tcp);
}

static void expire(struct script *s)
{
    s->now = timer(s);
    s->endpoint->expire(s->tcp, s->now);
}

/* A flow of 100 segments has started at host 0, and its first ten have left. */
static void ten_sent(struct script *s)
{
    static const struct oche_flow_plan flow = {
        .src = 0, .dst = 1, .bytes = 100 * MSS, .start = OCHE_MS, .then_same_source = OCHE_NO_FLOW};

    begin(s, "tcp", &flow, 1, 0);
    s->endpoint->start(s->tcp, 0, s->now);
    for (unsigned i = 0; i < 10; i++)
        SENDS(s, i);
    assert_false(sends(s));
}

/* The timer belongs to the oldest segment. Later segments do not restart it. */
static void test_timer(void **state)
{
    struct script s;

    (void)state;
    ten_sent(&s);
    assert_int_equal(timer(&s), OCHE_US + RTO);
    s.now += OCHE_MS;
    ack(&s, 2, WINDOW); /* a round trip of 1 ms: SRTT 1, RTTVAR 0.5, so 3, but 10 at least */
    assert_int_equal(timer(&s), s.now + RTO);
    oche_time set = timer(&s);
    s.now += OCHE_MS;
    for (unsigned i = 10; i < 14; i++)
        SENDS(&s, i); /* two that the ACK allowed, and two of slow start */
    assert_false(sends(&s));
    assert_int_equal(timer(&s), set);
    ack(&s, 14, WINDOW); /* all of it: no timer */
    assert_int_equal(timer(&s), OCHE_NEVER);
    small_world_free(&s.small);
}

/*
 * Timeouts in a row double. Only a measured round trip ends that, and retransmitted segments give
 * none (Karn). The data in flight is sent again.
 */
static void test_backoff(void **state)
{
    struct script s;

    (void)state;
    ten_sent(&s);
    expire(&s);
    SENDS(&s, 0);
    assert_false(sends(&s)); /* a window of one segment */
    assert_int_equal(timer(&s), s.now + 2 * RTO);
    expire(&s);
    SENDS(&s, 0);
    assert_int_equal(timer(&s), s.now + 4 * RTO);
    s.now += OCHE_MS;
    ack(&s, 1, WINDOW);
    assert_int_equal(timer(&s), s.now + 4 * RTO);
    SENDS(&s, 1);
    SENDS(&s, 2);
    assert_false(sends(&s));
    ack(&s, 10, WINDOW); /* the rest had arrived: continue with new data */
    SENDS(&s, 10);
    assert_int_equal(timer(&s), s.now + 4 * RTO);
    s.now += OCHE_MS;
    ack(&s, 11, WINDOW);
    SENDS(&s, 11);
    assert_int_equal(timer(&s), s.now + RTO);
    assert_int_equal(s.tcp->stats.retransmitted_packets, 4);
    assert_int_equal(s.tcp->stats.timeouts, 2);
    small_world_free(&s.small);
}

/* One new segment for each of the first two duplicate ACKs. The third resends the first segment. */
static void test_duplicate_acks(void **state)
{
    struct script s;

    (void)state;
    ten_sent(&s);
    ack(&s, 0, WINDOW);
    SENDS(&s, 10);
    assert_false(sends(&s));
    ack(&s, 0, WINDOW);
    SENDS(&s, 11);
    assert_false(sends(&s));
    ack(&s, 0, WINDOW);
    SENDS(&s, 0);
    assert_false(sends(&s)); /* ssthresh 6, and 3: less than the data in flight */
    for (unsigned i = 0; i < 3; i++)
        ack(&s, 0, WINDOW); /* inflated to 12 */
    assert_false(sends(&s));
    ack(&s, 0, WINDOW);
    SENDS(&s, 12);
    assert_false(sends(&s));
    small_world_free(&s.small);
}

/* Each partial ACK sends the next hole. Only the first restarts the timer (RFC 6582, impatient). */
static void test_partial_acks(void **state)
{
    struct script s;

    (void)state;
    ten_sent(&s);
    for (unsigned i = 0; i < 3; i++)
        ack(&s, 0, WINDOW);
    SENDS(&s, 0);
    while (sends(&s))
        ;
    s.now += 5 * OCHE_MS;
    ack(&s, 3, WINDOW);
    SENDS(&s, 3);
    oche_time set = timer(&s);
    /* The segment that was timed was retransmitted: 5 ms is not a round trip (Karn). */
    assert_int_equal(set, s.now + RTO);
    while (sends(&s))
        ;
    s.now += OCHE_MS;
    ack(&s, 5, WINDOW);
    SENDS(&s, 5);
    assert_int_equal(timer(&s), set);
    s.now += OCHE_MS;
    ack(&s, 10, WINDOW); /* everything sent when recovery began: it is over */
    assert_int_equal(timer(&s), OCHE_NEVER);
    SENDS(&s, 10);
    assert_int_equal(s.tcp->stats.retransmitted_packets, 3);
    small_world_free(&s.small);
}

/* A round trip measured on a retransmission would make the timeout long. */
static void test_karn(void **state)
{
    struct script s;

    (void)state;
    ten_sent(&s); /* segment 0 is timed */
    for (unsigned i = 0; i < 3; i++)
        ack(&s, 0, WINDOW);
    SENDS(&s, 0);
    s.now += 9 * OCHE_MS;
    ack(&s, 10, WINDOW);
    assert_int_equal(s.tcp->stats.timeouts, 0);
    assert_int_equal(timer(&s), OCHE_NEVER);
    SENDS(&s, 10);
    assert_int_equal(timer(&s), s.now + RTO); /* with 9 ms as round trip: 27 ms */
    small_world_free(&s.small);
}

/* Duplicate ACKs of data from before a timeout do not start fast recovery (RFC 6582 sec 4). */
static void test_no_second_repair(void **state)
{
    struct script s;

    (void)state;
    ten_sent(&s);
    expire(&s);
    SENDS(&s, 0);
    for (unsigned i = 0; i < 6; i++)
        ack(&s, 0, WINDOW);
    assert_false(sends(&s));
    assert_int_equal(s.tcp->stats.retransmitted_packets, 1);
    small_world_free(&s.small);
}

/* The data in flight does not exceed the receiver's window. */
static void test_peer_window(void **state)
{
    struct script s;

    (void)state;
    ten_sent(&s);
    ack(&s, 2, (9 * MSS) >> 6); /* 8 are in flight; 205 * 64 bytes hold 8 and not 9 */
    assert_false(sends(&s));
    ack(&s, 50, WINDOW); /* never sent */
    assert_false(sends(&s));
    assert_int_equal(s.tcp->stats.rejected_packets, 1);
    ack(&s, 4, (9 * MSS) >> 6);
    SENDS(&s, 10);
    SENDS(&s, 11);
    assert_false(sends(&s));
    small_world_free(&s.small);
}

/* The connection gives up: the flow fails, nothing is sent, nothing counts as waiting. */
static void test_fail(void **state)
{
    struct script s;

    (void)state;
    ten_sent(&s);
    expire(&s);
    SENDS(&s, 0);
    expire(&s);
    assert_true(s.tcp->backlog > 0); /* it could be sent again … */
    struct oche_packet lost;
    assert_true(s.endpoint->transmit(s.tcp, s.now, UINT8_MAX, &lost));
    expire(&s); /* … and the third time is one too many */
    assert_false(sends(&s));
    assert_int_equal(s.tcp->backlog, 0);
    assert_int_equal(timer(&s), OCHE_NEVER);
    assert_int_equal(oche_world_flows(s.small.world)->sent[0].failed, OCHE_STATUS_RETRY_EXCEEDED);
    ack(&s, 3, WINDOW); /* for a connection that is gone */
    assert_int_equal(s.tcp->stats.rejected_packets, 1);
    assert_int_equal(s.tcp->late, 1);
    small_world_free(&s.small);
}

/*
 * All data is acknowledged while it waits for retransmission: the connection ends, and nothing
 * waits.
 */
static void test_ends_in_line(void **state)
{
    struct oche_flow_plan flow = small_flow(0, 1, 10 * MSS, OCHE_MS);
    struct script s;

    (void)state;
    begin(&s, "tcp", &flow, 1, 0);
    s.endpoint->start(s.tcp, 0, s.now);
    for (unsigned i = 0; i < 10; i++)
        SENDS(&s, i);
    expire(&s);
    assert_int_equal(s.tcp->backlog, MSS);
    ack(&s, 10, WINDOW);
    assert_int_equal(s.tcp->backlog, 0);
    assert_false(sends(&s));
    assert_int_equal(oche_world_flows(s.small.world)->sent[0].completed, s.now);
    small_world_free(&s.small);
}

/* Connections take turns. */
static void test_turns(void **state)
{
    struct oche_flow_plan flows[3];
    uint32_t order[12];
    struct script s;

    (void)state;
    for (uint32_t i = 0; i < 3; i++)
        flows[i] = small_flow(0, 1, 100 * MSS, OCHE_MS);
    begin(&s, "tcp", flows, 3, 0);
    for (uint32_t i = 0; i < 3; i++)
        s.endpoint->start(s.tcp, i, s.now);
    for (unsigned i = 0; i < 12; i++) {
        assert_true(sends(&s));
        order[i] = s.out.dest_qpn - OCHE_FIRST_QPN;
        assert_int_equal(order[i], i < 3 ? order[i] : order[i - 3]);
    }
    assert_true(order[0] != order[1] && order[1] != order[2] && order[0] != order[2]);
    /* Paused: data of its class does not leave, but ACKs would. */
    assert_false(s.endpoint->transmit(s.tcp, s.now, 1 << OCHE_CONTROL_CLASS, &s.out));
    small_world_free(&s.small);
}

/* The receiver of a flow of 100 segments from host 0. It knows that the flow exists. */
static void receiver(struct script *s)
{
    struct oche_flow_plan flow = small_flow(0, 1, 100 * MSS, OCHE_MS);

    begin(s, "dctcp", &flow, 1, 1);
    struct oche_tcp *other = oche_host_endpoint_state(oche_world_host(s->small.world, 0));
    s->endpoint->start(other, 0, s->now);
}

/*
 * An ACK for every second segment, or after ack_delay; at once for a segment out of order, or one
 * that fills a gap.
 */
static void test_acks(void **state)
{
    struct script s;

    (void)state;
    receiver(&s);
    data(&s, 0, false);
    assert_false(sends(&s));
    assert_int_equal(timer(&s), s.now + 500 * OCHE_US);
    data(&s, 1, false);
    ACKS(&s, 2, false);
    assert_int_equal(timer(&s), OCHE_NEVER);
    data(&s, 2, false);
    expire(&s);
    ACKS(&s, 3, false);
    data(&s, 4, false); /* behind a gap */
    ACKS(&s, 3, false);
    data(&s, 6, false);
    ACKS(&s, 3, false);
    data(&s, 3, false); /* fills the first */
    ACKS(&s, 5, false);
    data(&s, 5, false);
    ACKS(&s, 7, false);
    data(&s, 5, false); /* has come before */
    ACKS(&s, 7, false);
    assert_false(sends(&s));
    assert_int_equal(s.tcp->stats.duplicate_packets, 1);
    assert_int_equal(s.tcp->stats.delivered_bytes, 7 * MSS);
    small_world_free(&s.small);
}

/* RFC 8257 sec 3.2: a change of the mark sends the pending ACK, with the old mark. */
static void test_echo(void **state)
{
    struct script s;

    (void)state;
    receiver(&s);
    data(&s, 0, false);
    data(&s, 1, true);
    ACKS(&s, 1, false);
    assert_false(sends(&s));
    data(&s, 2, true);
    ACKS(&s, 3, true);
    data(&s, 3, true);
    data(&s, 4, false);
    ACKS(&s, 4, true);
    expire(&s);
    ACKS(&s, 5, false);
    small_world_free(&s.small);
}

/* Data beyond the granted window is not kept; otherwise a peer could fill the receiver's memory. */
static void test_beyond_window(void **state)
{
    struct script s;
    uint32_t first = 4000000 / MSS; /* the first that does not fit completely */

    (void)state;
    receiver(&s);
    data(&s, first, false);
    ACKS(&s, 0, false);
    assert_int_equal(s.tcp->stats.out_of_order_packets, 1);
    assert_int_equal(s.tcp->stats.placed_packets, 0);
    data(&s, first - 1, false);
    assert_int_equal(s.tcp->stats.placed_packets, 1);
    small_world_free(&s.small);
}

/*
 * A packet from the wrong host, for no connection, in the wrong direction, or not TCP: counted and
 * dropped.
 */
static void test_rejected(void **state)
{
    struct oche_packet packet = {.kind = OCHE_PACKET_TCP,
                                 .src = 2,
                                 .dest_qpn = OCHE_FIRST_QPN,
                                 .tcp.sequence = OCHE_TCP_FIRST,
                                 .tcp.flags = OCHE_TCP_ACK,
                                 .payload_bytes = MSS};
    struct script s;

    (void)state;
    receiver(&s);
    s.endpoint->receive(s.tcp, &packet, s.now); /* nothing is open, and it is not from host 0 */
    packet.src = 0;
    packet.dest_qpn = 0;
    s.endpoint->receive(s.tcp, &packet, s.now);
    packet.dest_qpn = UINT32_MAX;
    s.endpoint->receive(s.tcp, &packet, s.now);
    packet.dest_qpn = OCHE_FIRST_QPN;
    packet.kind = OCHE_PACKET_ROCE;
    s.endpoint->receive(s.tcp, &packet, s.now);
    assert_int_equal(s.tcp->stats.rejected_packets, 4);
    data(&s, 0, false);
    packet.kind = OCHE_PACKET_TCP;
    packet.src = 2; /* something is open now */
    s.endpoint->receive(s.tcp, &packet, s.now);
    packet.src = 0;
    packet.payload_bytes = 0; /* an ACK to a receiver */
    s.endpoint->receive(s.tcp, &packet, s.now);
    assert_int_equal(s.tcp->stats.rejected_packets, 6);
    assert_int_equal(s.tcp->late, 0);
    assert_int_equal(s.tcp->stats.delivered_bytes, MSS);
    small_world_free(&s.small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timer),          cmocka_unit_test(test_backoff),
        cmocka_unit_test(test_duplicate_acks), cmocka_unit_test(test_partial_acks),
        cmocka_unit_test(test_karn),           cmocka_unit_test(test_no_second_repair),
        cmocka_unit_test(test_peer_window),    cmocka_unit_test(test_fail),
        cmocka_unit_test(test_turns),          cmocka_unit_test(test_ends_in_line),
        cmocka_unit_test(test_acks),           cmocka_unit_test(test_echo),
        cmocka_unit_test(test_beyond_window),  cmocka_unit_test(test_rejected),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
