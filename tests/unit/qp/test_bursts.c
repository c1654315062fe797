/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bursts chosen by a scheme: packets that follow each other at once, and a gap that compensates for
 * them, with exact times. A scheme is told once when a queue pair stops.
 */
#include "tests/support/test.h"

#include "core/wire/aeth.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

#define LINE   (100 * OCHE_GBPS)
#define RATE   (10 * OCHE_GBPS)
#define WIRE   (62 + 1024 + 20) /* line bytes of a full packet that is not a FIRST */
#define FIRST  (WIRE + 16)
#define PACKET 1024

struct plan {
    uint32_t burst; /* packets */
    uint32_t starts, stops;
};

static struct plan *plan_of(struct oche_cc_flow *flow)
{
    return *(struct plan *const *)flow->params;
}

static void start(struct oche_cc_flow *flow, oche_time now)
{
    (void)now;
    assert_false(flow->burst);
    flow->rate_bps = RATE;
    plan_of(flow)->starts++;
}

static void stop(struct oche_cc_flow *flow)
{
    plan_of(flow)->stops++;
}

static void sent(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet,
                 uint64_t line_bytes)
{
    (void)now;
    (void)line_bytes;
    flow->burst = (packet->psn + 1) % plan_of(flow)->burst != 0;
}

static const struct oche_cc_scheme scheme = {
    .name = "bursts",
    .transports = OCHE_CC_RC,
    .start = start,
    .stop = stop,
    .sent = sent,
};

static struct pair *open_with(struct plan **plan, uint32_t window_packets)
{
    struct pair_options options = {
        .cc = &scheme, .cc_params = plan, .qps = 2, .window_packets = window_packets};

    return pair_open(&options);
}

/* Takes one packet from side 0 at `now`; NULL: none. */
static struct oche_packet *pull(struct pair *pair, oche_time now)
{
    static struct oche_packet packet;
    static uint8_t payload[9216];
    struct oche_packet *out = &packet;

    packet.payload = payload;
    return oche_nic_transmit(pair->side[0].nic, now, now, UINT8_MAX, &out, 1) ? out : NULL;
}

static void post(struct pair *pair, uint32_t index, uint32_t packets)
{
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 0, 0, 0, packets * PACKET);

    assert_int_equal(oche_qp_post_send(pair->side[0].qp[index], &work), 0);
}

static oche_time spacing(uint32_t line_bytes, uint64_t bps)
{
    return oche_time_of_bytes(line_bytes, bps);
}

/*
 * Four packets at once, or as fast as the port takes them. The fifth follows when the time of all
 * four is over.
 */
static void test_gap_after_burst(void **state)
{
    struct plan plan = {.burst = 4}, *at = &plan;
    struct pair *pair = open_with(&at, 0);
    oche_time now = 10 * OCHE_US, line = spacing(WIRE, LINE);

    (void)state;
    post(pair, 0, 12);
    for (uint32_t burst = 0; burst < 3; burst++) {
        for (uint32_t i = 0; i < 4; i++) {
            struct oche_packet *packet = pull(pair, now + i * line);
            assert_non_null(packet);
            assert_int_equal(packet->psn, 4 * burst + i);
        }
        now += 3 * spacing(WIRE, RATE) + spacing(burst == 0 ? FIRST : WIRE, RATE);
        assert_null(pull(pair, now - 1));
        if (burst < 2)
            assert_int_equal(oche_nic_next(pair->side[0].nic, UINT8_MAX), now);
    }
    pair_close(pair);
}

/* A burst that the window cuts continues at once when the window opens. Its gap is as long. */
static void test_window_within_burst(void **state)
{
    struct plan plan = {.burst = 4}, *at = &plan;
    struct pair *pair = open_with(&at, 2);
    oche_time now = 10 * OCHE_US;

    (void)state;
    post(pair, 0, 8);
    assert_non_null(pull(pair, now));
    assert_non_null(pull(pair, now));
    assert_null(pull(pair, now));
    struct oche_packet ack = pair_packet(pair, 1, OCHE_RC_ACK, 1, 0);
    ack.aeth = oche_aeth(OCHE_SYNDROME_ACK, 0);
    oche_nic_receive(pair->side[0].nic, &ack, now + OCHE_US / 2);
    assert_non_null(pull(pair, now + OCHE_US / 2));
    assert_non_null(pull(pair, now + OCHE_US / 2));
    ack.psn = 3;
    oche_nic_receive(pair->side[0].nic, &ack, now + OCHE_US);
    now += spacing(FIRST, RATE) + 3 * spacing(WIRE, RATE);
    assert_null(pull(pair, now - 1));
    assert_non_null(pull(pair, now));
    pair_close(pair);
}

/* A change of rate within a burst does not split it. It applies from the next packet on. */
static void test_rate_change_within_burst(void **state)
{
    struct plan plan = {.burst = 4}, *at = &plan;
    struct pair *pair = open_with(&at, 0);
    struct oche_qp *qp = pair->side[0].qp[0];
    oche_time start_time = 10 * OCHE_US;

    (void)state;
    post(pair, 0, 8);
    assert_non_null(pull(pair, start_time));
    assert_non_null(pull(pair, start_time));
    oche_qp_set_rate_limit(qp, RATE / 2, start_time);
    assert_non_null(pull(pair, start_time));
    assert_non_null(pull(pair, start_time));
    oche_time due = start_time + spacing(FIRST, RATE) + 3 * spacing(WIRE, RATE / 2);
    assert_null(pull(pair, due - 1));
    /* Within the gap, only the rest of it changes: the last packet's part. */
    oche_qp_set_rate_limit(qp, RATE / 4, start_time + 1);
    due += spacing(WIRE, RATE / 4) - spacing(WIRE, RATE / 2);
    assert_null(pull(pair, due - 1));
    assert_non_null(pull(pair, due));
    pair_close(pair);
}

/* Two queue pairs with bursts at the same time alternate at the port. */
static void test_bursts_take_turns(void **state)
{
    struct plan plan = {.burst = 4}, *at = &plan;
    struct pair *pair = open_with(&at, 0);
    oche_time now = 10 * OCHE_US;

    (void)state;
    post(pair, 0, 8);
    post(pair, 1, 8);
    for (uint32_t i = 0; i < 8; i++) {
        struct oche_packet *packet = pull(pair, now);
        assert_non_null(packet);
        assert_int_equal(packet->psn, i / 2);
        assert_int_equal(packet->dest_qpn, PAIR_QPN + 1 + 2 * (i % 2));
    }
    assert_null(pull(pair, now));
    pair_close(pair);
}

/* A queue pair that never started is not stopped. None is stopped twice. */
static void test_stop(void **state)
{
    struct plan plan = {.burst = 1}, *at = &plan;
    struct pair *pair = open_with(&at, 0);
    struct oche_qp *qp = pair->side[0].qp[0];

    (void)state;
    assert_int_equal(plan.starts, 4);
    oche_qp_fail(qp, 0);
    assert_int_equal(plan.stops, 1);
    oche_qp_reset(qp);
    assert_int_equal(plan.stops, 1);
    assert_true(oche_qp_init(qp, 0));
    oche_qp_fail(qp, 0);
    oche_qp_reset(qp);
    assert_int_equal(plan.stops, 1);
    struct oche_qp_connection connection = pair_connection(pair, 0, 0);
    assert_true(oche_qp_init(qp, 0));
    assert_true(oche_qp_ready_to_receive(qp, &connection, 0));
    assert_int_equal(plan.starts, 5);
    oche_qp_reset(qp);
    assert_int_equal(plan.stops, 2);
    oche_qp_destroy(pair->side[0].qp[1]);
    pair->side[0].qp[1] = NULL;
    assert_int_equal(plan.stops, 3);
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gap_after_burst),
        cmocka_unit_test(test_window_within_burst),
        cmocka_unit_test(test_rate_change_within_burst),
        cmocka_unit_test(test_bursts_take_turns),
        cmocka_unit_test(test_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
