/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inputs of a congestion-control scheme and the effects of its decisions. Every hook, with
 * exact bytes, times and round trips; rate, window, timers, CNPs, stamps; state by peer and by NIC.
 */
#include "tests/support/test.h"

#include <string.h>

#include "core/cc/cc_nic.h"
#include "core/qp/qp_internal.h"
#include "tests/support/pair.h"

#define LINE (100 * OCHE_GBPS)

/* A scheme that records its calls and does as the test says. */
struct log {
    uint32_t starts, sent, acked, cnps, losses[2], timers[OCHE_CC_TIMERS], idles, busies, arrived,
        stamps;
    uint64_t sent_bytes, acked_bytes, flight_bytes, rtt_count, echoes;
    oche_time rtt, timer_time;
    bool cnp_on_ce, ack_now, echo;
    uint32_t cnp_after_timer; /* index + 1 */
    uint32_t shrink_after;    /* packets; then the window is one packet */
    uint32_t ask_at;          /* after that many packets, the last one asks for an ACK */
};

static struct log *log_of(struct oche_cc_flow *flow)
{
    return *(struct log *const *)flow->params;
}

static void hook_start(struct oche_cc_flow *flow, oche_time now)
{
    (void)now;
    assert_int_equal(flow->rate_bps, flow->line_rate_bps);
    assert_true(flow->window_bytes == UINT64_MAX);
    for (unsigned i = 0; i < OCHE_CC_TIMERS; i++)
        assert_true(flow->timer[i] == OCHE_NEVER);
    assert_int_equal(*(uint64_t *)flow->state, 0);
    *(uint64_t *)flow->state = 77;
    ++*(uint64_t *)flow->peer_state;
    ++*(uint64_t *)flow->nic_state;
    log_of(flow)->starts++;
}

static void hook_sent(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet,
                      uint64_t line_bytes)
{
    (void)now;
    assert_int_equal(line_bytes, packet->frame_bytes + OCHE_GAP_BYTES);
    assert_int_equal(*(uint64_t *)flow->state, 77);
    log_of(flow)->sent++;
    log_of(flow)->sent_bytes += packet->payload_bytes;
    packet->bth_reserved = 0x15;
    if (log_of(flow)->sent == log_of(flow)->shrink_after)
        flow->window_bytes = 1024;
    if (log_of(flow)->sent == log_of(flow)->ask_at)
        packet->bth |= OCHE_BTH_ACKREQ;
}

static void hook_acked(struct oche_cc_flow *flow, oche_time now, const struct oche_cc_ack *ack)
{
    struct log *log = log_of(flow);

    (void)now;
    log->acked++;
    log->acked_bytes += ack->acked_bytes;
    log->flight_bytes = ack->flight_bytes;
    log->echoes += ack->ecn_echo;
    log->rtt = ack->rtt;
    log->rtt_count += ack->rtt != OCHE_NEVER;
}

static void hook_cnp(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *cnp)
{
    (void)now;
    assert_int_equal(cnp->opcode, OCHE_CNP);
    assert_true(cnp->bth & OCHE_BTH_BECN);
    log_of(flow)->cnps++;
    flow->rate_bps /= 2;
}

static void hook_loss(struct oche_cc_flow *flow, oche_time now, enum oche_cc_loss kind)
{
    (void)now;
    log_of(flow)->losses[kind]++;
}

static void hook_timer(struct oche_cc_flow *flow, oche_time now, unsigned index,
                       struct oche_cc_reply *reply)
{
    struct log *log = log_of(flow);

    assert_true(flow->timer[index] == OCHE_NEVER);
    log->timers[index]++;
    log->timer_time = now;
    if (index == 0 && log->timers[0] < 5)
        flow->timer[0] = now + 10 * OCHE_US;
    reply->send_cnp = log->cnp_after_timer == index + 1;
}

static void hook_idle(struct oche_cc_flow *flow, oche_time now)
{
    (void)now;
    log_of(flow)->idles++;
}

static void hook_busy(struct oche_cc_flow *flow, oche_time now)
{
    (void)now;
    log_of(flow)->busies++;
}

static void hook_arrived(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet,
                         struct oche_cc_reply *reply)
{
    struct log *log = log_of(flow);

    (void)now;
    if (packet->bth_reserved == 0x15)
        log->arrived++;
    reply->send_cnp = log->cnp_on_ce && packet->ecn == OCHE_ECN_CE;
    reply->ack_now = log->ack_now;
}

static void hook_stamp(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet)
{
    (void)now;
    log_of(flow)->stamps++;
    if (log_of(flow)->echo)
        packet->bth |= OCHE_BTH_BECN;
}

static size_t peer_bytes(const void *params)
{
    (void)params;
    return 8;
}

static const struct oche_cc_nic_hooks nic_hooks = {.peer_bytes = peer_bytes};

static const struct oche_cc_scheme scheme = {
    .name = "log",
    .flow_state_bytes = 8,
    .nic_state_bytes = 8,
    .needs = OCHE_CC_NEEDS_ECN | OCHE_CC_NEEDS_RTT,
    .transports = OCHE_CC_RC,
    .start = hook_start,
    .sent = hook_sent,
    .acked = hook_acked,
    .cnp = hook_cnp,
    .loss = hook_loss,
    .timer = hook_timer,
    .idle = hook_idle,
    .busy = hook_busy,
    .arrived = hook_arrived,
    .stamp_ack = hook_stamp,
    .nic = &nic_hooks,
};

/* Both sides write into one log. Tests read the entries of one side. */
static struct pair *open_logged(struct pair_options options, struct log **log)
{
    options.cc = &scheme;
    options.cc_params = log;
    return pair_open(&options);
}

/* The scheme's own view of side 0. Tests make decisions through it. */
static struct oche_cc_flow *flow_of(struct pair *pair)
{
    return &pair->side[0].qp[0]->flow;
}

static void test_bytes_and_rtt(void **state)
{
    struct log log = {0}, *at = &log;
    struct pair *pair = open_logged((struct pair_options){.ack_every = 1}, &at);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 2500);

    (void)state;
    pair_post(pair, 0, &work);
    work.sge[0].length = 700;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_int_equal(log.starts, 2);
    assert_int_equal(log.sent, 4);
    assert_int_equal(log.sent_bytes, 3200);
    assert_int_equal(log.arrived, 4);
    assert_int_equal(log.stamps, 4);
    assert_int_equal(log.acked, 4);
    assert_int_equal(log.acked_bytes, 3200);
    assert_int_equal(log.flight_bytes, 0);
    assert_int_equal(log.rtt_count, 4);
    /* The last packet: its own time and its ACK's on the line, and two delays. */
    assert_int_equal(log.rtt, oche_time_of_bytes(62 + 16 + 700 + 20, LINE) +
                                  oche_time_of_bytes(86, LINE) + 2 * OCHE_US);
    assert_int_equal(log.idles, 1);
    assert_int_equal(log.busies, 0); /* it was never idle before */
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_int_equal(log.idles, 2);
    assert_int_equal(log.busies, 1);
    pair_close(pair);
}

static enum pair_fate drop_psn_once(struct pair *pair, int from, const struct oche_packet *packet)
{
    uint32_t *psn = pair->context;

    if (from != 0 || packet->psn != *psn)
        return PAIR_PASS;
    *psn = UINT32_MAX;
    return PAIR_DROP;
}

/* No round trip is measured on packets that were, or may have been, sent twice (Karn). */
static void test_rtt_after_loss(void **state)
{
    struct log log = {0}, *at = &log;
    struct pair *pair = open_logged((struct pair_options){0}, &at);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 10 * 1024);
    uint32_t lost = 2;

    (void)state;
    pair->fate = drop_psn_once;
    pair->context = &lost;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_int_equal(log.acked_bytes, 10 * 1024);
    assert_int_equal(log.rtt_count, 2); /* of PSN 0 and 1 */
    assert_int_equal(log.losses[OCHE_CC_LOSS_NAK], 1);
    assert_int_equal(log.losses[OCHE_CC_LOSS_TIMEOUT], 0);
    lost = 19;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_int_equal(log.losses[OCHE_CC_LOSS_TIMEOUT], 1);
    assert_int_equal(log.flight_bytes, 0);
    pair_close(pair);
}

static void mark_some(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    if (from == 0 && packet->psn % 4 == 1 && oche_opcode_has(packet->opcode, OCHE_OP_PAYLOAD))
        ((struct oche_packet *)(uintptr_t)packet)->ecn = OCHE_ECN_CE;
}

static void test_cnp_halves_the_rate(void **state)
{
    struct log log = {.cnp_on_ce = true}, *at = &log;
    struct pair *pair = open_logged((struct pair_options){0}, &at);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 5 * 1024);

    (void)state;
    pair->tap = mark_some;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    const struct oche_nic_stats *a = oche_nic_stats(pair->side[0].nic);
    const struct oche_nic_stats *b = oche_nic_stats(pair->side[1].nic);
    assert_int_equal(b->ce_received, 1);
    assert_int_equal(b->cnps_sent, 1);
    assert_int_equal(a->cnps_received, 1);
    assert_int_equal(log.cnps, 1);
    assert_int_equal(oche_qp_rate_bps(pair->side[0].qp[0]), LINE / 2);
    pair_close(pair);
}

/* The limit applies beside the scheme; the lower one counts. */
static void test_limit_and_scheme(void **state)
{
    struct log log = {0}, *at = &log;
    struct pair *pair = open_logged((struct pair_options){0}, &at);
    struct oche_qp *qp = pair->side[0].qp[0];
    struct oche_packet cnp = pair_packet(pair, 1, OCHE_CNP, 0, 0);

    (void)state;
    cnp.bth = OCHE_BTH_BECN;
    oche_qp_set_rate_limit(qp, LINE / 4, pair->now);
    assert_int_equal(oche_qp_rate_bps(qp), LINE / 4);
    pair_inject(pair, 1, &cnp);
    assert_int_equal(oche_qp_rate_bps(qp), LINE / 4);
    pair_inject(pair, 1, &cnp);
    pair_inject(pair, 1, &cnp);
    assert_int_equal(oche_qp_rate_bps(qp), LINE / 8);
    oche_qp_set_rate_limit(qp, LINE * 2, pair->now);
    assert_int_equal(oche_qp_rate_bps(qp), LINE / 8);
    pair_close(pair);
}

static void test_ack_now(void **state)
{
    struct log log = {.ack_now = true}, *at = &log;
    struct pair *pair = open_logged((struct pair_options){.ack_every = 1000}, &at);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 10 * 1024);

    (void)state;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_int_equal(oche_nic_stats(pair->side[1].nic)->acks_sent, 10);
    assert_int_equal(log.acked_bytes, 10 * 1024);
    assert_int_equal(log.rtt_count, 1); /* only the last asked */
    pair_close(pair);
}

static void test_echo(void **state)
{
    struct log log = {.echo = true}, *at = &log;
    struct pair *pair = open_logged((struct pair_options){0}, &at);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 3 * 1024);

    (void)state;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_int_equal(log.echoes, 3);
    pair_close(pair);
}

static void test_timers(void **state)
{
    struct log log = {.cnp_after_timer = 3}, *at = &log;
    struct pair *pair = open_logged((struct pair_options){0}, &at);
    struct oche_packet cnp = pair_packet(pair, 1, OCHE_CNP, 0, 0);
    oche_time start = pair->now;

    (void)state;
    flow_of(pair)->timer[0] = start + 7 * OCHE_US;
    flow_of(pair)->timer[1] = start + 20 * OCHE_US;
    flow_of(pair)->timer[2] = start + 7 * OCHE_US;
    cnp.bth = OCHE_BTH_BECN;
    oche_nic_receive(pair->side[0].nic, &cnp, start); /* decisions are read after a hook */
    assert_int_equal(oche_nic_next_timer(pair->side[0].nic), start + 7 * OCHE_US);
    flow_of(pair)->timer[2] = start + 60 * OCHE_US; /* later than noted: not called before */
    pair_run_quiet(pair);
    assert_int_equal(log.timers[0], 5); /* at 7, 17, 27, 37, 47 */
    assert_int_equal(log.timers[1], 1);
    assert_int_equal(log.timers[2], 1);
    assert_int_equal(log.timer_time, start + 60 * OCHE_US);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->cnps_sent, 1);
    assert_int_equal(oche_nic_next_timer(pair->side[0].nic), OCHE_NEVER);
    pair_close(pair);
}

/* A window holds back packets, asks for the ACK that opens it, and always lets one packet out. */
static void test_window(void **state)
{
    static const uint64_t windows[] = {1, 1024, 2047, 2048, 5000};
    static const uint64_t in_flight[] = {1, 1, 1, 2, 4};

    (void)state;
    for (unsigned i = 0; i < 5; i++) {
        struct log log = {0}, *at = &log;
        struct pair *pair = open_logged((struct pair_options){.ack_every = 1000}, &at);
        struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 20 * 1024);
        flow_of(pair)->window_bytes = windows[i];
        pair_post(pair, 0, &work);
        pair_run(pair, pair->now + 2 * OCHE_US); /* no ACK can have arrived yet */
        assert_int_equal(log.sent, in_flight[i]);
        pair_run_quiet(pair);
        pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
        assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 0);
        pair_close(pair);
    }
}

/*
 * The window shrinks after packets have left that ask for no ACK: one more leaves, and asks. If one
 * of them has asked, because of the window or the scheme, none leaves.
 */
static void test_window_shrinks(void **state)
{
    static const struct {
        uint32_t ack_every, shrink_after, ask_at, in_flight;
    } rows[] = {{1000, 1, 0, 2}, {1000, 5, 0, 6}, {3, 5, 0, 5},     {3, 3, 0, 3},
                {1000, 5, 2, 5}, {1000, 5, 5, 5}, {1000, 20, 0, 20}};

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(rows); i++) {
        struct log log = {.shrink_after = rows[i].shrink_after, .ask_at = rows[i].ask_at};
        struct log *at = &log;
        struct pair *pair = open_logged(
            (struct pair_options){.ack_every = rows[i].ack_every, .ack_timeout = OCHE_NEVER}, &at);
        struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 20 * 1024);
        pair_post(pair, 0, &work);
        pair_run(pair, pair->now + 2 * OCHE_US); /* no ACK can have arrived yet */
        assert_int_equal(log.sent, rows[i].in_flight);
        pair_run_quiet(pair);
        pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
        assert_int_equal(log.sent, 20);
        pair_close(pair);
    }
}

static enum pair_fate lose_the_first_ack(struct pair *pair, int from,
                                         const struct oche_packet *packet)
{
    if (from == 0 || packet->opcode != OCHE_RC_ACK || pair->context != NULL)
        return PAIR_PASS;
    pair->context = pair;
    return PAIR_DROP;
}

/* The scheme's requested ACK is lost, and the window waits for it: the timer runs. */
static void test_lost_ack_of_the_scheme(void **state)
{
    struct log log = {.shrink_after = 5, .ask_at = 5}, *at = &log;
    struct pair *pair = open_logged((struct pair_options){.ack_every = 1000}, &at);
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 20 * 1024);

    (void)state;
    pair->fate = lose_the_first_ack;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->timeouts, 1);
    pair_close(pair);
}

/*
 * One state for each peer, shared by its queue pairs, freed with the last of them. Then one for
 * each NIC.
 */
static void test_scopes(void **state)
{
    struct log log = {0}, *at = &log;
    struct pair *pair = open_logged((struct pair_options){.qps = 3}, &at);
    struct oche_cc_flow *first = flow_of(pair);
    static _Alignas(64) uint8_t memory[65536];

    (void)state;
    assert_int_equal(*(uint64_t *)first->peer_state, 3);
    assert_int_equal(*(uint64_t *)first->nic_state, 3);
    struct oche_qp_config config = pair_qp_config(pair, 0, 5);
    struct oche_qp_connection connection = pair_connection(pair, 0, 5);
    connection.remote_address = 4242;
    assert_true(oche_qp_bytes(pair->side[0].nic, &config) <= sizeof(memory));
    struct oche_qp *other = oche_qp_create(pair->side[0].nic, memory, &config);
    for (int round = 1; round <= 3; round++) {
        assert_true(oche_qp_init(other, 0));
        assert_true(oche_qp_ready_to_receive(other, &connection, 0));
        assert_int_equal(*(uint64_t *)other->flow.peer_state, 1); /* anew */
        assert_int_equal(*(uint64_t *)first->peer_state, 3);
        assert_int_equal(*(uint64_t *)first->nic_state, 3 + round);
        oche_qp_reset(other);
    }
    oche_qp_destroy(other);
    pair_close(pair);
}

/* READ: the responder sends the data, and the requester receives it. */
static void test_read(void **state)
{
    struct log log = {.cnp_on_ce = true}, *at = &log;
    struct pair *pair = open_logged((struct pair_options){0}, &at);
    struct oche_packet request = pair_packet(pair, 1, OCHE_RC_READ_REQUEST, 1000, 0);

    (void)state;
    request.ext = OCHE_EXT_RETH;
    request.reth.va = PAIR_VA;
    request.reth.rkey = PAIR_KEY;
    request.reth.dma_length = 4 * 1024;
    oche_nic_receive(pair->side[0].nic, &request, pair->now);
    pair_run_quiet(pair);
    assert_int_equal(log.sent, 4);
    assert_int_equal(log.sent_bytes, 4 * 1024);
    pair_close(pair);

    memset(&log, 0, sizeof(log));
    log.cnp_on_ce = true;
    pair = open_logged((struct pair_options){0}, &at);
    struct oche_send_work work = pair_work(OCHE_WORK_READ, 1, 0, 0, 4 * 1024);
    pair->side[1].classes = (uint8_t)~2; /* keep the data, mark it by hand */
    pair_post(pair, 0, &work);
    pair_run(pair, pair->now + 10 * OCHE_US);
    struct oche_packet data = pair_packet(pair, 1, OCHE_RC_READ_RESPONSE_FIRST, 0, 1024);
    data.ecn = OCHE_ECN_CE;
    oche_nic_receive(pair->side[0].nic, &data, pair->now);
    pair->side[1].classes = UINT8_MAX;
    pair_run_quiet(pair);
    assert_int_equal(oche_nic_stats(pair->side[0].nic)->cnps_sent, 1);
    assert_int_equal(oche_nic_stats(pair->side[1].nic)->cnps_received, 1);
    assert_int_equal(oche_qp_rate_bps(pair->side[1].qp[0]), LINE / 2);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_close(pair);
}

static enum pair_fate lose_acks(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair;
    (void)from;
    return packet->opcode == OCHE_RC_ACK ? PAIR_DROP : PAIR_PASS;
}

/* A READ's response acknowledges the WRITEs before it. Congestion control gets their bytes. */
static void test_response_acknowledges(void **state)
{
    struct log log = {0}, *at = &log;
    struct pair *pair = open_logged((struct pair_options){.ack_every = 1}, &at);
    struct oche_send_work write = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 3000);
    struct oche_send_work read = pair_work(OCHE_WORK_READ, 2, 0, 0, 3000);

    (void)state;
    pair->fate = lose_acks;
    pair_post(pair, 0, &write);
    pair_post(pair, 0, &read);
    pair_run(pair, pair->now + 20 * OCHE_US);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(pair, 0, 2, OCHE_STATUS_SUCCESS);
    assert_int_equal(log.acked, 1);
    assert_int_equal(log.acked_bytes, 3000);
    assert_int_equal(log.rtt_count, 1);
    pair_close(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_and_rtt),
        cmocka_unit_test(test_rtt_after_loss),
        cmocka_unit_test(test_cnp_halves_the_rate),
        cmocka_unit_test(test_limit_and_scheme),
        cmocka_unit_test(test_ack_now),
        cmocka_unit_test(test_echo),
        cmocka_unit_test(test_timers),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_window_shrinks),
        cmocka_unit_test(test_lost_ack_of_the_scheme),
        cmocka_unit_test(test_scopes),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_response_acknowledges),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
