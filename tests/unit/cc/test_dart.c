/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Both halves of Dart's state machine, without a NIC. Tests every transition of Fig 5
 * (dart.md#states), the hysteresis and the windows (dart.md#d5, #d6), the content of messages in
 * each state (dart.md#d3), CNPs, updates (dart.md#d8), slack (dart.md#d4), and the sender's
 * reaction.
 */
#include "tests/support/test.h"

#include <stdlib.h>
#include <string.h>

#include "core/cc/cc_headers.h"
#include "core/cc/cc_messages.h"
#include "core/cc/cc_nic.h"
#include "core/cc/dart/dart.h"
#include "core/wire/extension.h"
#include "core/wire/opcode.h"

#define LINE   (10 * OCHE_GBPS)
#define FRAME  1086
#define LINED  1106
#define WINDOW (50 * OCHE_US)
#define RTT    (20 * OCHE_US)
#define FLOWS  6

/* A NIC whose queue pairs 0 … FLOWS-1 go to peers 0, 0, 1, 2, 3, 4. */
struct bench {
    const struct oche_cc_scheme *cc;
    oche_time now;
    struct oche_cc_nic nic;
    struct oche_cc_flow flow[FLOWS];
    struct oche_cc_flow *wanting[FLOWS];
    _Alignas(OCHE_CACHE_LINE) uint64_t flow_state[FLOWS][128];
    _Alignas(OCHE_CACHE_LINE) uint64_t peer_state[5][32];
    uint64_t line_bytes, params[128];
    uint32_t cnps, updates[FLOWS];
    bool touched;
    struct oche_trace trace;
    struct oche_trace_record ring[8];
};

static const uint32_t peers[FLOWS] = {0, 0, 1, 2, 3, 4};

static void set(struct bench *b, const char *name, union oche_value value)
{
    const struct oche_param *param = oche_param_find(&b->cc->table, name);

    assert_non_null(param);
    oche_param_set(param, b->params, value);
}

static struct bench *make(void)
{
    struct bench *b = aligned_alloc(OCHE_CACHE_LINE, sizeof(*b));

    assert_non_null(b);
    memset(b, 0, sizeof(*b));
    b->cc = oche_cc_find("dart");
    assert_non_null(b->cc);
    assert_true(b->cc->flow_state_bytes <= sizeof(b->flow_state[0]));
    assert_true(b->cc->table.struct_bytes <= sizeof(b->params));
    oche_param_defaults(&b->cc->table, b->params);
    assert_true(b->cc->nic->peer_bytes(b->params) <= sizeof(b->peer_state[0]));
    set(b, "base_rtt", (union oche_value){.u = RTT});
    return b;
}

static void *peer_state(const struct oche_cc_nic *nic, uint32_t address)
{
    struct bench *b = OCHE_CONTAINER((void *)(uintptr_t)nic, struct bench, nic);

    return address < 5 ? b->peer_state[address] : NULL;
}

static void begin(struct bench *b)
{
    assert_null(b->cc->check(b->params));
    oche_trace_init(&b->trace, 0, b->ring, 8);
    b->nic = (struct oche_cc_nic){
        .wanting = b->wanting,
        .touched = &b->touched,
        .timer = OCHE_NEVER,
        .address = 9,
        .shared_addresses = 8,
        .max_peers = FLOWS,
        .peer_state = peer_state,
        .line_rate_bps = LINE,
        .received_line_bytes = &b->line_bytes,
        .params = b->params,
        .state = calloc(1, b->cc->nic_state_bytes),
        .tables = aligned_alloc(OCHE_CACHE_LINE, b->cc->nic->tables_bytes(b->params, FLOWS)),
        .trace = &b->trace};
    assert_true(b->nic.state != NULL && b->nic.tables != NULL);
    memset(b->nic.tables, 0xa5, b->cc->nic->tables_bytes(b->params, FLOWS)); /* it is not zeroed */
    b->cc->nic->start(&b->nic);
    for (uint32_t i = 0; i < FLOWS; i++) {
        b->flow[i] = (struct oche_cc_flow){.extended = true,
                                           .qpn = 16 + i,
                                           .state = b->flow_state[i],
                                           .params = b->params,
                                           .line_rate_bps = LINE,
                                           .initial_rate_bps = LINE,
                                           .mtu_bytes = 1024,
                                           .peer_address = peers[i],
                                           .trace = &b->trace,
                                           .peer_state = b->peer_state[peers[i]],
                                           .nic_state = b->nic.state,
                                           .peer_line_rate_bps = LINE};
        for (unsigned k = 0; k < OCHE_CC_TIMERS; k++)
            b->flow[i].timer[k] = OCHE_NEVER;
        b->cc->start(&b->flow[i], 0);
    }
}

static void done(struct bench *b)
{
    free(b->nic.state);
    free(b->nic.tables);
    free(b);
}

#define MARKS(b) ((b)->cc->nic->marks((b)->nic.state))

static struct oche_dart_view view(const struct bench *b)
{
    return oche_dart_look(b->nic.state);
}

/* Does as the NIC does after each hook: an update leaves at once. */
static void attend(struct bench *b)
{
    for (uint32_t i = 0; i < b->nic.wanting_count; i++) {
        struct oche_cc_flow *flow = b->nic.wanting[i];
        if (flow->wants & OCHE_CC_WANTS_OWN) {
            struct oche_packet packet = {.opcode = OCHE_SHARE};
            b->cc->stamp_ack(flow, b->now, &packet);
            b->updates[flow->qpn - 16]++;
        }
        flow->wants = 0;
    }
    b->nic.wanting_count = 0;
    b->touched = false;
}

static void flow_timers(struct bench *b, oche_time to)
{
    for (uint32_t i = 0; i < FLOWS; i++) {
        for (unsigned k = 0; k < OCHE_CC_TIMERS; k++) {
            struct oche_cc_reply reply = {0};
            oche_time due = b->flow[i].timer[k];
            if (due > to)
                continue;
            b->flow[i].timer[k] = OCHE_NEVER;
            b->cc->timer(&b->flow[i], due, k, &reply);
            b->cnps += reply.send_cnp;
        }
    }
}

static void advance(struct bench *b, oche_time to)
{
    flow_timers(b, to);
    while (b->nic.timer <= to) {
        b->now = b->nic.timer > b->now ? b->nic.timer : b->now;
        b->nic.timer = OCHE_NEVER;
        b->cc->nic->timer(&b->nic, b->now);
        attend(b);
    }
    b->now = to;
}

static void arrive(struct bench *b, uint32_t flow, bool marked)
{
    struct oche_packet packet = {.opcode = OCHE_RC_WRITE_MIDDLE,
                                 .payload_bytes = 1024,
                                 .frame_bytes = FRAME,
                                 .ecn = marked ? OCHE_ECN_CE : OCHE_ECN_ECT0};
    struct oche_cc_reply reply = {0};

    b->line_bytes += LINED;
    b->cc->arrived(&b->flow[flow], b->now, &packet, &reply);
    b->cnps += reply.send_cnp;
    attend(b);
}

/* Packets for this long, which fill a fraction of the line. One packet in the middle has a mark. */
static void feed(struct bench *b, oche_time span, double fraction, bool marked)
{
    oche_time gap = (oche_time)((double)oche_time_of_bytes(LINED, LINE) / fraction);
    oche_time end = b->now + span, mark = b->now + span / 2;

    while (b->now + gap <= end) {
        bool now_marked = marked && b->now + gap > mark;
        advance(b, b->now + gap);
        arrive(b, 2, now_marked);
        marked &= !now_marked;
    }
}

static void message(struct bench *b, uint32_t flow, bool begins)
{
    if (begins)
        b->cc->messages->begins(&b->flow[flow], b->now);
    else
        b->cc->messages->ends(&b->flow[flow], b->now);
    attend(b);
}

/* Two windows' time, so that one window lies wholly in it and has been evaluated. */
static void reach(struct bench *b, bool marked, double fraction)
{
    for (unsigned i = 0; i < 8; i++)
        feed(b, WINDOW / 2, fraction, marked);
}

/* From each state, with each of the two symptoms (dart.md#states). */
static void transitions(void **state)
{
    static const struct {
        bool marks;
        double fraction;
        enum oche_dart_state to;
    } inputs[] = {
        {false, 0.5, OCHE_DART_NONE},
        {false, 1.0, OCHE_DART_NONE},
        {true, 1.0, OCHE_DART_RECEIVER},
        {true, 0.5, OCHE_DART_NON_RECEIVER},
    };

    (void)state;
    for (unsigned from = 1; from < 4; from++) {
        for (unsigned to = 0; to < 4; to++) {
            struct bench *b = make();
            begin(b);
            message(b, 2, true);
            message(b, 3, true);
            if (from > 0)
                reach(b, inputs[from].marks, inputs[from].fraction);
            assert_int_equal(view(b).state, inputs[from].to);
            reach(b, inputs[to].marks, inputs[to].fraction);
            assert_int_equal(view(b).state, inputs[to].to);
            assert_int_equal(view(b).told, inputs[to].to == OCHE_DART_NON_RECEIVER ? 1 : 2);
            done(b);
        }
    }
}

/* At line rate from 95 %, until below 90 %. */
static void hysteresis(void **state)
{
    static const struct {
        double fraction;
        enum oche_dart_state to;
    } steps[] = {{0.92, OCHE_DART_NON_RECEIVER}, {0.94, OCHE_DART_NON_RECEIVER},
                 {0.97, OCHE_DART_RECEIVER},     {0.92, OCHE_DART_RECEIVER},
                 {0.88, OCHE_DART_NON_RECEIVER}, {0.93, OCHE_DART_NON_RECEIVER}};
    struct bench *b = make();

    (void)state;
    begin(b);
    message(b, 2, true);
    for (unsigned i = 0; i < OCHE_COUNT_OF(steps); i++) {
        reach(b, true, steps[i].fraction);
        assert_int_equal(view(b).state, steps[i].to);
    }
    done(b);
}

/*
 * The first mark on an idle line has no effect and causes no CNP. On a full line it means the
 * receiver state at once. Marks count only in their window.
 */
static void first_marks(void **state)
{
    struct bench *b = make();

    (void)state;
    begin(b);
    message(b, 2, true);
    feed(b, WINDOW / 2, 0.3, false);
    arrive(b, 2, true);
    assert_true(view(b).state == OCHE_DART_NONE && MARKS(b) == OCHE_CC_MARKS_UNDECIDED);
    feed(b, WINDOW * 11 / 10, 1.0, false); /* congestion has begun, at this receiver */
    assert_int_equal(view(b).state, OCHE_DART_RECEIVER);
    assert_int_equal(b->cnps, 0);
    feed(b, 5 * WINDOW / 2, 1.0, false);
    assert_int_equal(view(b).state, OCHE_DART_NONE);
    arrive(b, 2, true);
    assert_int_equal(view(b).state, OCHE_DART_RECEIVER);
    advance(b, b->now + 10 * WINDOW); /* silence */
    arrive(b, 2, false);
    assert_int_equal(view(b).state, OCHE_DART_NONE);
    done(b);
}

/* Marks become CNPs, at most one in 50 us, only in the non-receiver state. */
static void cnps(void **state)
{
    struct bench *b = make();

    (void)state;
    begin(b);
    message(b, 2, true);
    reach(b, true, 1.0);
    assert_true(b->cnps == 0 && MARKS(b) == OCHE_CC_MARKS_SUPPRESSED);
    reach(b, true, 0.5);
    assert_int_equal(MARKS(b), OCHE_CC_MARKS_ANSWERED);
    b->cnps = 0;
    for (unsigned i = 0; i < 10; i++)
        feed(b, WINDOW, 0.5, true);
    assert_in_range(b->cnps, 4, 10);
    b->cnps = 0;
    for (unsigned i = 0; i < 3; i++)
        feed(b, WINDOW, 1.0, true);
    b->cnps = 0;
    reach(b, true, 1.0);
    assert_int_equal(b->cnps, 0);
    done(b);
    b = make(); /* suppress_marks: false: in the receiver state as well */
    set(b, "suppress_marks", (union oche_value){.u = 0});
    begin(b);
    message(b, 2, true);
    message(b, 3, true);
    reach(b, true, 1.0);
    b->cnps = 0;
    for (unsigned i = 0; i < 10; i++)
        feed(b, WINDOW, 1.0, true);
    assert_in_range(b->cnps, 4, 10);
    assert_int_equal(view(b).state, OCHE_DART_RECEIVER);
    assert_int_equal(MARKS(b), OCHE_CC_MARKS_ANSWERED);
    assert_int_equal(view(b).told, 2);
    done(b);
}

/* advertise=congestion follows Fig 5 to the letter. */
static void letter(void **state)
{
    struct bench *b = make();

    (void)state;
    set(b, "advertise", (union oche_value){.u = 1});
    begin(b);
    message(b, 2, true);
    message(b, 3, true);
    message(b, 4, true);
    assert_int_equal(view(b).told, 1);
    reach(b, true, 1.0);
    assert_int_equal(view(b).told, 3);
    reach(b, false, 1.0);
    assert_int_equal(view(b).told, 1);
    done(b);
}

/* Two windows below line rate lower n by the unused part, until a mark or a newcomer. */
static void slack(void **state)
{
    struct bench *b = make();

    (void)state;
    set(b, "work_conserving", (union oche_value){.u = 1});
    begin(b);
    for (uint32_t i = 2; i < 6; i++)
        message(b, i, true);
    assert_int_equal(view(b).told, 4);
    feed(b, 11 * WINDOW / 5, 0.5, false);
    assert_int_equal(view(b).told, 2);
    feed(b, 6 * WINDOW, 1.0, false);
    assert_int_equal(view(b).told, 2);
    feed(b, WINDOW, 1.0, true);
    feed(b, WINDOW, 1.0, true);
    assert_int_equal(view(b).told, 4);
    message(b, 0, true);
    assert_int_equal(view(b).told, 5);
    done(b);
}

/*
 * A newcomer without an ACK for half a round trip gets an update at once. With an ACK, it gets it
 * half a round trip later, or with the next ACK. It gets at most one in that time.
 */
static void updates(void **state)
{
    struct bench *b = make();
    struct oche_packet ack = {.opcode = OCHE_RC_ACK_SHARE};

    (void)state;
    begin(b);
    advance(b, OCHE_MS);
    message(b, 2, true);
    message(b, 3, true);
    advance(b, 2 * OCHE_MS);
    memset(b->updates, 0, sizeof(b->updates));
    b->cc->stamp_ack(&b->flow[2], b->now, &ack);
    assert_int_equal(oche_share_get(&ack).senders, 2);
    advance(b, b->now + 2 * OCHE_US);
    message(b, 4, true);
    b->cc->stamp_ack(&b->flow[4], b->now, &ack); /* the newcomer's own ACK */
    advance(b, b->now);
    assert_int_equal(b->updates[2], 0);
    assert_int_equal(b->updates[3], 1);
    assert_int_equal(b->updates[4], 0);
    advance(b, 2 * OCHE_MS + RTT / 2 - 1);
    assert_int_equal(b->updates[2], 0);
    advance(b, 2 * OCHE_MS + RTT / 2);
    assert_int_equal(b->updates[2], 1);
    for (unsigned i = 0; i < 40; i++) { /* changes all the time */
        message(b, 5, i % 2 == 0);
        advance(b, b->now + RTT / 8);
    }
    assert_in_range(b->updates[3], 5, 11);
    advance(b, b->now + OCHE_MS);
    assert_true(b->nic.timer > b->now + OCHE_SEC); /* only the soft timeout is left */
    done(b);
}

static void hear(struct bench *b, uint32_t flow, struct oche_share share)
{
    struct oche_packet packet = {.opcode = OCHE_SHARE};

    oche_share_put(&packet, &share);
    b->cc->headers->own(&b->flow[flow], b->now, &packet);
    attend(b);
}

static void send(struct bench *b, uint32_t flow)
{
    struct oche_packet packet = {.opcode = OCHE_RC_WRITE_MIDDLE, .payload_bytes = 1024};

    b->cc->sent(&b->flow[flow], b->now, &packet, LINED);
    attend(b);
}

/* Sets if the queue pair has more to send. */
static void more(struct bench *b, uint32_t flow, bool is)
{
    b->flow[flow].more = is;
    b->cc->messages->more(&b->flow[flow], b->now);
    attend(b);
}

/* Shares divided among the sender's queue pairs. Void messages change nothing. */
static void hears(void **state)
{
    struct bench *b = make();

    (void)state;
    begin(b);
    send(b, 0);
    more(b, 0, true);
    hear(b, 0, (struct oche_share){.senders = 4, .sequence = 1});
    assert_true(b->flow[0].rate_bps == LINE / 4);
    assert_true(b->flow[1].rate_bps == LINE);
    send(b, 1); /* a second queue pair to the same peer */
    more(b, 1, true);
    assert_true(b->flow[0].rate_bps == LINE / 8 && b->flow[1].rate_bps == LINE / 8);
    hear(b, 1, (struct oche_share){.senders = 9, .sequence = 1});
    hear(b, 1, (struct oche_share){.senders = 9, .sequence = 250});
    hear(b, 1, (struct oche_share){.senders = 0, .sequence = 2});
    hear(b, 1, (struct oche_share){.senders = 9, .tenant = 1, .sequence = 2});
    assert_true(b->flow[0].rate_bps == LINE / 8);
    hear(b, 1, (struct oche_share){.senders = 2, .sequence = 100});
    assert_true(b->flow[0].rate_bps == LINE / 4);
    hear(b, 1, (struct oche_share){.senders = 1, .sequence = 101});
    assert_true(b->flow[0].rate_bps == LINE && b->flow[1].rate_bps == LINE);
    for (unsigned i = 0; i < 20; i++) /* the peer began anew */
        hear(b, 0, (struct oche_share){.senders = 5, .sequence = (uint8_t)(i + 1)});
    assert_true(b->flow[0].rate_bps == LINE / 10);
    b->cc->idle(&b->flow[1], b->now);
    attend(b);
    assert_true(b->flow[0].rate_bps == LINE / 5 && b->flow[1].rate_bps == LINE);
    b->cc->stop(&b->flow[0]);
    attend(b);
    assert_true(b->flow[0].rate_bps == LINE);
    b->cc->start(&b->flow[0], b->now);
    send(b, 0); /* all begin at line rate, in every order */
    assert_true(b->flow[0].rate_bps == LINE);
    hear(b, 0, (struct oche_share){.senders = 3, .sequence = 200});
    assert_true(b->flow[0].rate_bps == LINE / 3);
    done(b);
}

/*
 * Only queue pairs with more to send get parts. One that waits for ACKs keeps the limit with which
 * it would restart. A packet that leaves when all is done (READ data, UC) makes no queue pair
 * active.
 */
static void parts(void **state)
{
    struct bench *b = make();

    (void)state;
    begin(b);
    send(b, 0);
    hear(b, 0, (struct oche_share){.senders = 4, .sequence = 1});
    assert_int_equal(b->flow[0].rate_bps, LINE / 4);
    more(b, 0, true);
    send(b, 1);
    assert_int_equal(b->flow[0].rate_bps, LINE / 4);
    assert_int_equal(b->flow[1].rate_bps, LINE / 8);
    more(b, 1, true);
    assert_int_equal(b->flow[0].rate_bps, LINE / 8);
    more(b, 0, false);
    assert_int_equal(b->flow[0].rate_bps, LINE / 8);
    assert_int_equal(b->flow[1].rate_bps, LINE / 4);
    b->flow[1].more = false;
    b->cc->idle(&b->flow[1], b->now);
    send(b, 1);
    assert_int_equal(b->flow[0].rate_bps, LINE / 4);
    assert_int_equal(b->flow[1].rate_bps, LINE);
    b->cc->busy(&b->flow[1], b->now);
    more(b, 1, true); /* requests without data */
    assert_int_equal(b->flow[0].rate_bps, LINE / 4);
    send(b, 1);
    assert_int_equal(b->flow[1].rate_bps, LINE / 4);
    assert_int_equal(b->flow[0].rate_bps, LINE / 8);
    b->cc->stop(&b->flow[1]);
    attend(b);
    assert_int_equal(b->flow[0].rate_bps, LINE / 4);
    done(b);
}

/* The slower of the two lines, or of the receiver's (dart.md#d1). */
static void two_lines(void **state)
{
    static const struct {
        uint64_t peer_line, share_line, rate;
    } rows[] = {{LINE / 10, 0, LINE / 40},
                {LINE * 10, 0, LINE / 4},
                {LINE / 10, 1, LINE / 40},
                {LINE * 2, 1, LINE / 2},
                {LINE * 10, 1, LINE}};

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(rows); i++) {
        struct bench *b = make();
        set(b, "share_line", (union oche_value){.u = rows[i].share_line});
        begin(b);
        b->flow[0].peer_line_rate_bps = rows[i].peer_line;
        send(b, 0);
        hear(b, 0, (struct oche_share){.senders = 4, .sequence = 1});
        assert_int_equal(b->flow[0].rate_bps, rows[i].rate);
        done(b);
    }
}

/* Shares that leave a part of the line free. A single flow gets all of it. */
static void fill(void **state)
{
    struct bench *b = make();

    (void)state;
    set(b, "fill", (union oche_value){.real = 0.9});
    begin(b);
    send(b, 0);
    hear(b, 0, (struct oche_share){.senders = 4, .sequence = 1});
    assert_int_equal(b->flow[0].rate_bps, LINE / 10 * 9 / 4);
    hear(b, 0, (struct oche_share){.senders = 1, .sequence = 2});
    assert_true(b->flow[0].rate_bps == LINE);
    done(b);
}

/* The rate is the lower one of the share and DCQCN's rate, which goes on below the share. */
static void least_of_both(void **state)
{
    struct oche_packet cnp = {.opcode = OCHE_CNP};
    struct bench *b = make();

    (void)state;
    begin(b);
    send(b, 0);
    hear(b, 0, (struct oche_share){.senders = 4, .sequence = 1});
    b->cc->cnp(&b->flow[0], b->now, &cnp);
    assert_true(b->flow[0].rate_bps == LINE / 4); /* DCQCN: half the line */
    b->cc->cnp(&b->flow[0], b->now, &cnp);
    assert_true(b->flow[0].rate_bps == LINE / 4); /* a quarter */
    b->cc->cnp(&b->flow[0], b->now, &cnp);
    assert_true(b->flow[0].rate_bps < LINE / 7);
    hear(b, 0, (struct oche_share){.senders = 1, .sequence = 2});
    assert_true(b->flow[0].rate_bps < LINE / 7);
    for (unsigned i = 0; i < 40; i++) { /* recovery, hidden by the smaller share */
        struct oche_cc_reply reply = {0};
        if (i == 2)
            hear(b, 0, (struct oche_share){.senders = 100, .sequence = 3});
        b->now += 55 * OCHE_US;
        b->flow[0].timer[0] = OCHE_NEVER;
        b->cc->timer(&b->flow[0], b->now, 0, &reply);
        assert_true(i < 2 || b->flow[0].rate_bps == LINE / 100);
    }
    hear(b, 0, (struct oche_share){.senders = 1, .sequence = 4});
    assert_true(b->flow[0].rate_bps > LINE / 5);
    done(b);
}

/* Every 16 packets, and every round trip, a packet asks for an ACK if none did. */
static void asks_for_acks(void **state)
{
    struct oche_packet packet = {.opcode = OCHE_RC_WRITE_MIDDLE, .payload_bytes = 1024};
    unsigned asked = 0;
    struct bench *b = make();

    (void)state;
    begin(b);
    for (unsigned i = 0; i < 160; i++) {
        packet.bth = 0;
        b->cc->sent(&b->flow[0], b->now, &packet, LINED);
        asked += (packet.bth & OCHE_BTH_ACKREQ) != 0;
    }
    assert_int_equal(asked, 10);
    b->now += RTT;
    packet.bth = 0;
    b->cc->sent(&b->flow[0], b->now, &packet, LINED);
    assert_true(packet.bth & OCHE_BTH_ACKREQ);
    packet.opcode = OCHE_UC_WRITE_MIDDLE;
    for (unsigned i = 0; i < 40; i++) {
        packet.bth = 0;
        b->cc->sent(&b->flow[1], b->now, &packet, LINED);
        assert_false(packet.bth & OCHE_BTH_ACKREQ);
    }
    done(b);
}

/* Announces senders 1, 2 and 3 to queue pair 2, whose peer is 1; or none, after a gap. */
static void name_group(struct bench *b, uint32_t id, uint8_t tenant, bool kept)
{
    static const uint8_t members[] = {0, 1, 0, 2, 0, 3};
    const struct oche_group group = {.id = id, .count = 3, .members = members};
    struct oche_packet packet = {.opcode = OCHE_RC_WRITE_FIRST_GROUP};

    oche_group_put(&packet, &group, tenant);
    if (kept)
        oche_group_clear(&packet);
    b->cc->messages->group(&b->flow[2], b->now, &packet, true);
    attend(b);
}

static void announce(struct bench *b, uint32_t id, uint8_t tenant)
{
    name_group(b, id, tenant, false);
}

static void announce_kept(struct bench *b, uint32_t id, uint8_t tenant)
{
    name_group(b, id, tenant, true);
}

/*
 * Announced senders count at once, only in their tenant's set, and only until the timeout. Senders
 * without a queue pair get no update. Lists of another tenant, or with addresses unknown to a
 * device, are void and counted. If the option is off, lists are ignored.
 */
static void groups(void **state)
{
    (void)state;
    for (unsigned how = 0; how < 3; how++) {
        struct bench *b = make();

        set(b, "tenants", (union oche_value){.u = 2});
        set(b, "look_ahead", (union oche_value){.u = how != 2});
        begin(b);
        assert_int_equal(b->flow[2].names_groups, how != 2);
        b->nic.shared_addresses = how == 1 ? 0 : 8;
        b->cc->messages->begins(&b->flow[2], b->now);
        announce(b, 1, 0);
        assert_int_equal(view(b).senders, how == 0 ? 3 : 1);
        assert_int_equal(view(b).told, how == 0 ? 3 * 16 : 16); /* in sixteenths */
        assert_int_equal(oche_dart_look_at(b->nic.state, 1).senders, 0);
        announce(b, 2, 1);
        assert_int_equal(view(b).void_groups, how == 0 ? 1 : how == 1 ? 2 : 0);
        announce_kept(b, 2, 1); /* what has been counted once */
        assert_int_equal(view(b).void_groups, how == 0 ? 1 : how == 1 ? 2 : 0);
        advance(b, b->now + 9 * OCHE_MS);
        assert_int_equal(view(b).senders, how == 0 ? 3 : 1);
        advance(b, b->now + 2 * OCHE_MS);
        assert_int_equal(view(b).senders, 1);
        assert_int_equal(view(b).not_come, how == 0 ? 2 : 0);
        b->cc->messages->ends(&b->flow[2], b->now);
        assert_int_equal(view(b).senders, 0);
        done(b);
    }
}

/*
 * Announced senders get n before they send: at once, and then like the others, on the queue pair of
 * their last message. Senders that never had one, or that no longer count, get nothing.
 */
static void told_ahead(void **state)
{
    (void)state;
    for (unsigned how = 0; how < 3; how++) {
        struct bench *b = make();

        set(b, "look_ahead_updates", (union oche_value){.u = how != 1});
        set(b, "updates", (union oche_value){.u = how != 2});
        begin(b);
        message(b, 3, true);
        b->cc->stamp_ack(&b->flow[3], b->now, &(struct oche_packet){.opcode = OCHE_RC_ACK_SHARE});
        message(b, 3, false);
        advance(b, OCHE_MS);
        message(b, 2, true);
        announce(b, 1, 0);
        memset(b->updates, 0, sizeof(b->updates));
        advance(b, b->now + RTT / 4);
        assert_int_equal(view(b).told, 3);
        assert_int_equal(b->updates[3], how == 0);
        assert_int_equal(b->updates[4], 0);
        advance(b, b->now + OCHE_MS);
        assert_int_equal(b->updates[3], how == 0);
        message(b, 0, true);
        advance(b, b->now + RTT);
        assert_int_equal(b->updates[3], how == 0 ? 2 : 0);
        message(b, 3, true); /* the message comes: an update is no longer early */
        b->cc->stamp_ack(&b->flow[3], b->now, &(struct oche_packet){.opcode = OCHE_RC_ACK_SHARE});
        message(b, 3, false);
        advance(b, b->now + 20 * OCHE_MS);
        assert_int_equal(view(b).senders, 2);
        message(b, 0, false);
        advance(b, b->now + OCHE_MS);
        assert_true(b->updates[3] <= 3);
        done(b);
    }
}

/* For any announcements, the updates that may leave are a fraction of the packets that arrive. */
static void told_ahead_bounded(void **state)
{
    struct bench *b = make();

    (void)state;
    set(b, "look_ahead_timeout", (union oche_value){.u = OCHE_SEC});
    begin(b);
    message(b, 3, true);
    message(b, 3, false);
    message(b, 2, true);
    announce(b, 1, 0);
    for (unsigned i = 0; i < 1000; i++) { /* n changes all the time, and few packets arrive */
        message(b, 5, i % 2 == 0);
        advance(b, b->now + RTT);
        if (i == 250)
            assert_in_range(b->updates[3], 200, 210);
    }
    const uint32_t before = b->updates[3];
    assert_in_range(before, 200, 210);
    b->line_bytes += 14000;
    for (unsigned i = 0; i < 100; i++) {
        message(b, 5, i % 2 == 0);
        advance(b, b->now + RTT);
    }
    assert_int_equal(b->updates[3], before + 10);
    done(b);
}

/*
 * A share that arrives while nothing is sent is used as the first share. It is not if it is old, or
 * came while something was sent.
 */
static void heard_ahead(void **state)
{
    (void)state;
    for (unsigned how = 0; how < 2; how++) {
        struct bench *b = make();

        set(b, "look_ahead_updates", (union oche_value){.u = how == 0});
        begin(b);
        hear(b, 0, (struct oche_share){.senders = 4, .sequence = 1});
        assert_true(b->flow[0].rate_bps == LINE);
        advance(b, b->now + 9 * OCHE_MS);
        send(b, 1);
        assert_true(b->flow[1].rate_bps == (how == 0 ? LINE / 4 : LINE));
        hear(b, 1, (struct oche_share){.senders = 5, .sequence = 2});
        assert_true(b->flow[1].rate_bps == LINE / 5);
        b->cc->idle(&b->flow[1], b->now);
        b->cc->busy(&b->flow[1], b->now);
        send(b, 1);
        assert_true(b->flow[1].rate_bps == LINE);
        b->cc->idle(&b->flow[1], b->now);
        b->cc->busy(&b->flow[1], b->now);
        hear(b, 1, (struct oche_share){.senders = 6, .sequence = 3});
        advance(b, b->now + 10 * OCHE_MS);
        send(b, 0);
        assert_true(b->flow[0].rate_bps == LINE);
        done(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transitions),   cmocka_unit_test(hysteresis),
        cmocka_unit_test(first_marks),   cmocka_unit_test(cnps),
        cmocka_unit_test(letter),        cmocka_unit_test(slack),
        cmocka_unit_test(updates),       cmocka_unit_test(hears),
        cmocka_unit_test(two_lines),     cmocka_unit_test(fill),
        cmocka_unit_test(least_of_both), cmocka_unit_test(asks_for_acks),
        cmocka_unit_test(groups),        cmocka_unit_test(parts),
        cmocka_unit_test(told_ahead),    cmocka_unit_test(told_ahead_bounded),
        cmocka_unit_test(heard_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
