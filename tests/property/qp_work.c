/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random work: chooses the requests, the times at which they are posted, and the link. See
 * qp_work.h.
 */
#include "core/cc/cc_headers.h"
#include "core/wire/extension.h"
#include "core/wire/opcode.h"
#include "tests/property/qp_work.h"
#include "tests/support/blocks.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT        (2000 * OCHE_SEC) /* of virtual time; enough for all retries */
#define STEPS        30000000
#define WAKES_WITHIN OCHE_SEC

_Noreturn void qp_work_fail(struct qp_work *w, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(w->wrong, w->wrong_bytes, format, arguments);
    va_end(arguments);
    longjmp(w->out, 1);
}

/* ---- a congestion control with a random window ---- */

static void fickle_window(struct oche_cc_flow *flow)
{
    static const uint32_t packets[] = {0, 1, 2, 5, 20, 1000};

    flow->window_bytes = (uint64_t)flow->mtu_bytes * packets[oche_random_below(flow->random, 6)];
}

static void fickle_start(struct oche_cc_flow *flow, oche_time now)
{
    (void)now;
    flow->rate_bps = flow->line_rate_bps;
}

static void fickle_sent(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet,
                        uint64_t line_bytes)
{
    (void)now;
    (void)line_bytes;
    if (oche_random_below(flow->random, 4) == 0)
        fickle_window(flow);
    if (packet->payload_bytes > 0 && oche_random_below(flow->random, 16) == 0)
        packet->bth |= OCHE_BTH_ACKREQ;
}

static void fickle_acked(struct oche_cc_flow *flow, oche_time now, const struct oche_cc_ack *ack)
{
    (void)now;
    (void)ack;
    fickle_window(flow);
}

static void calm_start(struct oche_cc_flow *flow, oche_time now)
{
    fickle_start(flow, now);
    flow->window_bytes = UINT64_MAX;
}

/* ---- checks of its packets ---- */

/* An ACK with an extension header: the peer must understand it, or never get it. */
static void stamp_share(struct oche_cc_flow *flow, oche_time now, struct oche_packet *packet)
{
    const struct oche_share share = {.senders = 1};

    (void)flow;
    (void)now;
    if (packet->opcode == OCHE_RC_ACK_SHARE)
        oche_share_put(packet, &share);
}

/* CNPs without a cause. They change no rate, and none may be taken for a stranger's. */
static void notify_some(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet,
                        struct oche_cc_reply *reply)
{
    (void)now;
    (void)packet;
    reply->send_cnp = oche_random_below(flow->random, 8) == 0;
}

static void take_cnp(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *cnp)
{
    (void)flow;
    (void)now;
    (void)cnp;
}

/* The capabilities of a side, which are independent of its recovery. */
enum appearance { PLAIN, NOTIFYING, EXTENDED, APPEARANCES };

#define CALM(...)                                                                                  \
    {                                                                                              \
        .name = "calm", .transports = OCHE_CC_RC, .start = calm_start, __VA_ARGS__                 \
    }
#define FICKLE(...)                                                                                \
    {                                                                                              \
        .name = "fickle window", .transports = OCHE_CC_RC, .start = fickle_start,                  \
        .sent = fickle_sent, .acked = fickle_acked, __VA_ARGS__                                    \
    }
#define NOTIFIES .cnp = take_cnp, .arrived = notify_some
#define EXTENDS  NOTIFIES, .headers = &headers, .stamp_ack = stamp_share

#define READS .windows_reads = true

static const struct oche_cc_headers headers = {.ack_opcode = OCHE_RC_ACK_SHARE};

/* Depends on whether the window is random, and whether READs leave in pieces. */
static const struct oche_cc_scheme schemes[2][2][APPEARANCES] = {
    {{[PLAIN] = CALM(.cnp = NULL), [NOTIFYING] = CALM(NOTIFIES), [EXTENDED] = CALM(EXTENDS)},
     {[PLAIN] = CALM(READS),
      [NOTIFYING] = CALM(READS, NOTIFIES),
      [EXTENDED] = CALM(READS, EXTENDS)}},
    {{[PLAIN] = FICKLE(.cnp = NULL), [NOTIFYING] = FICKLE(NOTIFIES), [EXTENDED] = FICKLE(EXTENDS)},
     {[PLAIN] = FICKLE(READS),
      [NOTIFYING] = FICKLE(READS, NOTIFIES),
      [EXTENDED] = FICKLE(READS, EXTENDS)}},
};

/* ---- the plan ---- */

/*
 * Lengths that can cross such a link. If a loss restarts the message, it must pass once without a
 * loss; if a loss returns to the gap, it needs retries, too.
 */
static uint32_t longest_for(const struct pair_options *o, uint32_t length, bool mild, bool restarts)
{
    const uint32_t per_mille = o->drop + o->late + o->damage;

    if (per_mille == 0)
        return length;
    uint32_t packets = (restarts ? mild ? 40 : 2000 : 10000) / per_mille;
    uint32_t most = packets > 1 ? packets * o->mtu : o->mtu;
    return length < most ? length : most;
}

static void plan_faults(struct qp_work *w, struct pair_options *o, uint32_t trouble)
{
    const uint32_t most = trouble == 1 ? 3 : 60;

    o->bytes = qp_work_below(w, 2) == 0;
    if (trouble == 0)
        return;
    o->drop = qp_work_below(w, most + 1) * (trouble == 3 ? 3 : 1);
    o->twice = qp_work_below(w, most + 1);
    o->late = qp_work_below(w, most + 1);
    if (o->bytes)
        o->damage = qp_work_below(w, most + 1);
}

static void plan_retries(struct qp_work *w, struct qp_work_plan *plan)
{
    struct pair_options *o = &plan->pair;
    const uint32_t patience = qp_work_below(w, 4);

    plan->finite = patience >= 2;
    o->retry_count = o->rnr_retry = UINT32_MAX;
    if (patience == 2) {
        o->retry_count = o->rnr_retry = 7;
    } else if (patience == 3) {
        const uint32_t few[3] = {UINT32_MAX - 1, 1, 3};
        o->retry_count = few[qp_work_below(w, 3)];
        o->rnr_retry = few[qp_work_below(w, 3)];
        plan->mild = false;
    }
}

static uint32_t own_window(const struct oche_recovery_choice *scheme)
{
    if (scheme->recovery->window_packets == NULL)
        return UINT32_MAX;
    return scheme->recovery->window_packets(&scheme->params);
}

/* True if `scheme` finds each loss without a timer, if packets follow. */
static bool finds_losses(const struct oche_recovery_choice *scheme,
                         const struct oche_recovery_choice *peer)
{
    const struct oche_param *exception = oche_param_find(&scheme->recovery->table, "nak_exception");

    if (exception != NULL && oche_param_get(exception, &scheme->params).u == 0)
        return false; /* a scheme may delay a NAK until no packet follows */
    return own_window(scheme) >= 4 &&
           (own_window(scheme) <= own_window(peer) || scheme->recovery->window_packets == NULL);
}

/* There is no timer, so lose_once decides what is lost. */
static void plan_timerless(struct qp_work *w, struct qp_work_plan *plan)
{
    struct pair_options *o = &plan->pair;

    plan->timerless = true;
    o->cc = NULL; /* a window may close after a lost packet, and no packet follows it */
    plan->clean = plan->mild = plan->finite = false;
    o->drop = o->twice = o->late = o->damage = 0;
    o->ack_timeout = OCHE_NEVER;
    o->retry_count = o->rnr_retry = UINT32_MAX;
    o->window_packets = qp_work_below(w, 2) ? 0 : 4 + qp_work_below(w, 20);
}

static bool keeps(const struct oche_recovery_choice *scheme)
{
    return scheme->recovery->extend != NULL;
}

/*
 * Selective repeat sends a packet again only once. If that is refused for want of a receive, the
 * timer must repeat it. So here there is always a receive.
 */
static void plan_receives(struct qp_work_plan *plan)
{
    const uint32_t slots = RECEIVES_MOST / plan->max_length;

    plan->slots = slots < MAX_SLOTS ? slots : MAX_SLOTS;
    plan->pair.send_depth = plan->pair.send_depth < 4 ? plan->pair.send_depth : 4;
    plan->receive_gap = 0;
}

/*
 * Loses some packets inside a message when they are sent for the first time. The packets after them
 * show the loss.
 */
static enum pair_fate lose_once(struct pair *pair, int from, const struct oche_packet *packet)
{
    struct qp_work *w = pair->context;
    const struct oche_opcode_row *row = oche_opcode(packet->opcode);
    const bool response = (row->flags & OCHE_OP_RESPONSE) != 0;
    uint32_t *sent = &w->way[response ? 1 - from : from].sent[response];

    if (!(row->flags & OCHE_OP_PAYLOAD) || oche_psn_diff(packet->psn, *sent) < 0)
        return PAIR_PASS;
    *sent = oche_psn_add(packet->psn, 1);
    if (!response && oche_psn_diff(packet->psn, w->way[from].acked) + 2 > (int)w->way[from].window)
        return PAIR_PASS; /* no packet may follow it */
    if ((row->flags & OCHE_OP_LAST) || qp_work_below(w, 8) > 0)
        return PAIR_PASS;
    w->way[from].lost += !response;
    return PAIR_DROP;
}

/*
 * In a quarter of the plans short messages may be deflected, and are kept apart from others or
 * followed by them.
 */
static void plan_deflection(struct qp_work *w, struct pair_options *o, uint32_t longest)
{
    if (qp_work_below(w, 4) != 0)
        return;
    o->deflection.tokens = (uint8_t)(1 + qp_work_below(w, OCHE_BTH_TOKENS));
    o->deflection.short_bytes = qp_work_below(w, longest + 1);
    o->deflection.hold = qp_work_below(w, 2) ? OCHE_NEVER : qp_work_below(w, 100) * OCHE_US;
    o->deflection.follow =
        o->deflection.hold != OCHE_NEVER && o->deflection.hold / OCHE_US % 2 == 0;
    o->deflection.linger = o->deflection.hold;
}

/* Checks that apply to all packets of a side. */
static unsigned shown_by(const struct oche_recovery_choice *scheme, enum appearance appearance)
{
    const bool extends = scheme->recovery->extend != NULL || appearance == EXTENDED;

    return (extends                   ? OCHE_BTH_EXTENSIONS
            : appearance == NOTIFYING ? OCHE_BTH_CNP_PSN
                                      : 0u) |
           (scheme->recovery->whole_messages ? OCHE_BTH_RESTARTS : 0u);
}

/* Payloads behind a gap are written at once, or wait in memory that may be too small. */
static void plan_held(struct pair_options *o, bool exact)
{
    struct oche_random random = oche_random_stream(o->seed, "qp work held", 0);
    const uint32_t payloads[] = {0, 512, 1, 7};

    o->held_bytes = payloads[oche_random_below(&random, exact ? 2 : 4)] * o->mtu;
    if (o->held_bytes > 0 && oche_random_below(&random, 2) == 0)
        o->held_later = 512 * o->mtu;
}

/*
 * Each side may be plain or extended, independently of its recovery, and READs may leave in pieces.
 * This is drawn from a stream of its own.
 */
static void plan_appearances(struct qp_work *w, const struct oche_recovery_choice of_side[2])
{
    struct pair_options *o = &w->plan.pair;
    struct oche_random random = oche_random_stream(o->seed, "qp work appearances", 0);
    const bool is_fickle = o->cc != NULL;
    enum appearance own = (enum appearance)oche_random_below(&random, APPEARANCES);
    enum appearance peers = (enum appearance)oche_random_below(&random, APPEARANCES);

    if (w->plan.rough) {
        own = peers = PLAIN;
    } else {
        o->cc = &schemes[is_fickle][oche_random_below(&random, 2)][own];
        o->peer_cc = &schemes[is_fickle][oche_random_below(&random, 2)][peers];
    }
    if (shown_by(&of_side[0], own) != shown_by(&of_side[1], peers))
        o->extensions = false; /* all claims are true */
}

static void make_plan(struct qp_work *w, const struct oche_recovery_choice of_side[2],
                      uint64_t seed)
{
    static const uint32_t mtus[] = {64, 256, 1000, 1024, 4096};
    static const uint32_t lengths[] = {3000, 9000, 16384, 49152};
    static const oche_time timeouts[] = {300 * OCHE_US, 500 * OCHE_US, OCHE_MS};
    static const oche_time data_delays[] = {0, 0, OCHE_US / 2, 3 * OCHE_US};
    static const oche_time gaps[] = {0, 0, 20 * OCHE_US, 300 * OCHE_US};
    struct qp_work_plan *plan = &w->plan;
    struct pair_options *o = &plan->pair;
    const uint32_t trouble = qp_work_below(w, 4);

    *o = (struct pair_options){
        .recovery = of_side[0].recovery,
        .own_recovery_params = &of_side[0].params,
        .seed = seed,
        .mtu = mtus[qp_work_below(w, 5)],
        .line_rate_bps = (25 + qp_work_below(w, 4) * 25) * OCHE_GBPS,
        .delay = OCHE_US / 2 + qp_work_below(w, 5) * OCHE_US,
        .data_delay = data_delays[qp_work_below(w, 4)],
        .send_depth = 1u << qp_work_below(w, 5),
        .responder_resources = 1u << qp_work_below(w, 4),
        .first_psn = (uint32_t)oche_random_u64(&w->random) & OCHE_PSN_MASK,
        .ack_every = 1 + qp_work_below(w, 10),
        .window_packets = qp_work_below(w, 2) ? 0 : 1 + qp_work_below(w, 20),
        .ack_timeout = timeouts[qp_work_below(w, 3)],
        .ipv6 = qp_work_below(w, 2),
        .credits = qp_work_below(w, 2),
        .extensions = qp_work_below(w, 2),
    };
    if (of_side[1].recovery != of_side[0].recovery ||
        memcmp(&of_side[0].params, &of_side[1].params, sizeof(of_side[0].params)) != 0) {
        o->peer_recovery = of_side[1].recovery;
        o->peer_recovery_params = &of_side[1].params;
    }
    o->initiator_depth = o->responder_resources;
    if (qp_work_below(w, 3) == 0) {
        o->cc = &schemes[1][0][PLAIN];
        o->ack_every = 1 + qp_work_below(w, 1000);
    }
    plan->clean = trouble == 0;
    plan->mild = trouble == 1;
    plan_faults(w, o, trouble);
    plan_retries(w, plan);
    if (qp_work_below(w, 5) == 0 && finds_losses(&of_side[0], &of_side[1]) &&
        finds_losses(&of_side[1], &of_side[0]))
        plan_timerless(w, plan);
    qp_work_plan_rough(plan);
    plan->works = 20 + qp_work_below(w, WORKS - 19);
    plan->restarts = of_side[0].recovery->whole_messages && of_side[1].recovery->whole_messages;
    plan->max_length = longest_for(o, lengths[qp_work_below(w, 4)], plan->mild, plan->restarts);
    plan->cell = qp_work_below(w, plan->max_length < CELL_MOST ? plan->max_length : CELL_MOST) + 1;
    plan->slots = 1 + qp_work_below(w, MAX_SLOTS);
    if (plan->slots * plan->max_length > RECEIVES_MOST)
        plan->slots = RECEIVES_MOST / plan->max_length;
    o->recv_depth = MAX_SLOTS;
    plan->eagerness = 1u << qp_work_below(w, 4);
    plan->receive_gap = gaps[qp_work_below(w, 4)];
    if (plan->timerless && (keeps(&of_side[0]) || keeps(&of_side[1])))
        plan_receives(plan);
    plan->exact =
        plan->timerless && keeps(&of_side[0]) && keeps(&of_side[1]) && qp_work_below(w, 2) == 0;
    plan_appearances(w, of_side);
    plan_held(o, plan->exact);
    o->extensions |= plan->exact; /* from the first packet on */
    plan_deflection(w, o, plan->max_length);
}

/* ---- posting ---- */

static uint32_t room(const struct qp_work *w, int side)
{
    return PAIR_MEMORY - w->next_target[side];
}

static uint32_t pick_length(struct qp_work *w, uint32_t most)
{
    const uint32_t mtu = w->pair->options.mtu, full = w->plan.max_length / mtu;
    uint32_t length;

    switch (qp_work_below(w, 6)) {
    case 0:
        return 0;
    case 1:
        length = full > 0 ? mtu * (1 + qp_work_below(w, full)) : 1;
        break;
    case 2:
        length = qp_work_below(w, 40);
        break;
    case 3: /* a packet or two */
        length = qp_work_below(w, 2 * mtu + 1);
        break;
    default:
        length = qp_work_below(w, w->plan.max_length + 1);
        break;
    }
    if (length > w->plan.max_length)
        length = w->plan.max_length;
    return length < most ? length : most;
}

static uint32_t take_target(struct qp_work *w, int side, uint32_t length)
{
    const uint32_t at = w->next_target[side];

    w->next_target[side] += (length + 15) & ~7u; /* always at least one byte apart */
    return at;
}

static uint32_t pick_source(struct qp_work *w, uint32_t length)
{
    return qp_work_below(w, SOURCE - length);
}

static void make_write(struct qp_work *w, int side, struct qp_item *item)
{
    struct qp_way *way = &w->way[side];

    item->opcode = qp_work_below(w, 3) == 0 ? OCHE_WORK_WRITE_IMM : OCHE_WORK_WRITE;
    item->cell = item->opcode == OCHE_WORK_WRITE && qp_work_below(w, 3) == 0;
    if (item->cell) {
        item->length = w->plan.cell;
        item->to = CELL;
        item->from = pick_source(w, item->length);
        item->number = way->versions;
        way->version_from[way->versions++] = item->from;
        return;
    }
    item->length = pick_length(w, room(w, 1 - side) > 100000 ? NONE : 16);
    item->from = pick_source(w, item->length);
    item->to = take_target(w, 1 - side, item->length);
}

static void make_read(struct qp_work *w, int side, struct qp_item *item)
{
    item->opcode = OCHE_WORK_READ;
    item->cell = qp_work_below(w, 3) == 0 && room(w, side) > 100000;
    item->oldest = w->way[side].versions - 1;
    item->length = item->cell ? w->plan.cell : pick_length(w, room(w, side) > 100000 ? NONE : 16);
    if (w->plan.rough && !item->cell && room(w, side) > 100000)
        item->length = w->pair->options.mtu * qp_work_below(w, 9) + 1 + qp_work_below(w, 40);
    item->from = item->cell ? CELL : pick_source(w, item->length);
    item->to = take_target(w, side, item->length);
}

static void make_item(struct qp_work *w, int side, struct qp_item *item)
{
    struct qp_way *way = &w->way[side];
    uint32_t kind = qp_work_below(w, w->plan.exact ? 5 : 8); /* neither READs nor atomics */

    if (w->plan.rough && qp_work_below(w, 2) == 0)
        kind = 5 + qp_work_below(w, 3); /* more READs and atomics */
    *item = (struct qp_item){.imm = way->posted + 7000};
    if (qp_work_below(w, 10) == 0) {
        item->opcode = OCHE_WORK_BIND_MW;
    } else if (kind < 3) {
        make_write(w, side, item);
    } else if (kind < 5) {
        item->opcode = qp_work_below(w, 2) ? OCHE_WORK_SEND_IMM : OCHE_WORK_SEND;
        item->length = pick_length(w, NONE);
        item->from = pick_source(w, item->length);
    } else if (kind < 7) {
        make_read(w, side, item);
    } else {
        item->opcode = qp_work_below(w, 2) ? OCHE_WORK_COMPARE_SWAP : OCHE_WORK_FETCH_ADD;
        item->length = 8;
        item->from = COUNTER;
        item->to = take_target(w, side, 8);
        item->number = way->atomics++;
    }
    if (qp_work_takes_receive(item)) {
        item->number = way->messages;
        way->message[way->messages++] = way->posted;
        item->flags |= qp_work_below(w, 4) == 0 ? OCHE_WORK_SOLICITED : 0;
    }
    if (qp_work_below(w, 3) > 0 || way->posted == w->plan.works - 1)
        item->flags |= OCHE_WORK_SIGNALED;
    if (qp_work_below(w, 8) == 0)
        item->flags |= OCHE_WORK_FENCE;
}

/* Splits the one SGE into up to four. Returns how many. */
static uint8_t scatter_sges(struct qp_work *w, struct oche_sge *sge)
{
    const struct oche_sge whole = sge[0];
    const uint32_t pieces = 1 + qp_work_below(w, 4);
    uint32_t done = 0;

    for (uint32_t i = 0; i < pieces; i++) {
        const uint32_t left = whole.length - done;
        const uint32_t length = i == pieces - 1 ? left : qp_work_below(w, left + 1);
        sge[i] = (struct oche_sge){.va = whole.va + done, .length = length, .lkey = whole.lkey};
        done += length;
    }
    return (uint8_t)pieces;
}

static struct oche_send_work work_of(struct qp_work *w, int side, const struct qp_item *item)
{
    const bool comes = item->opcode >= OCHE_WORK_READ; /* data arrives at this side */
    struct oche_send_work work =
        pair_work(item->opcode, w->way[side].posted, comes ? item->to : item->from,
                  comes ? item->from : item->to, item->length);

    work.imm = item->imm;
    work.flags = item->flags;
    work.swap_add = item->opcode == OCHE_WORK_FETCH_ADD ? 1 : item->number + 1;
    work.compare = item->number;
    if (item->opcode == OCHE_WORK_BIND_MW) {
        w->bind = (struct oche_bind){.window = w->window[side],
                                     .rkey = w->window_key[side] + 1,
                                     .lkey = PAIR_KEY,
                                     .va = PAIR_VA,
                                     .length = item->imm};
        work.bind = &w->bind;
        work.sge_count = 0;
        return work;
    }
    if (!comes && item->length <= 64 && qp_work_below(w, 2) == 0) {
        work.flags |= OCHE_WORK_INLINE;
        work.inline_data = w->pair->side[side].memory + item->from;
    } else if (item->opcode <= OCHE_WORK_READ) {
        work.sge_count = scatter_sges(w, work.sge);
    }
    return work;
}

/* Posts the next work of a side, if there is room for it. */
static bool post(struct qp_work *w, int side)
{
    struct qp_way *way = &w->way[side];
    const struct qp_way saved = *way;
    const uint32_t targets[2] = {w->next_target[0], w->next_target[1]};
    struct qp_item *item = &way->item[way->posted];

    if (way->failed != NONE || way->posted == w->plan.works)
        return false;
    make_item(w, side, item);
    const struct oche_send_work work = work_of(w, side, item);
    if (oche_qp_post_send(w->pair->side[side].qp[0], &work) == 0) {
        w->window_key[side] += item->opcode == OCHE_WORK_BIND_MW;
        way->posted++;
        return true;
    }
    *way = saved;
    memcpy(w->next_target, targets, sizeof(targets));
    return false;
}

static void post_receives(struct qp_work *w, int side)
{
    struct qp_receives *r = &w->receives[side];

    while (r->posted - r->done < w->plan.slots && r->posted < w->plan.works &&
           w->way[side].failed == NONE && r->next <= w->pair->now) {
        const uint32_t at = RECEIVES + r->posted % w->plan.slots * w->plan.max_length;
        struct oche_recv_work work = {
            .wr_id = RECEIVE_ID + r->posted,
            .sge[0] = {.va = PAIR_VA + at, .length = w->plan.max_length, .lkey = PAIR_KEY}};
        work.sge_count = scatter_sges(w, work.sge);
        const int error = oche_qp_post_recv(w->pair->side[side].qp[0], &work);
        QP_WORK_CHECK(w, error == 0, "side %d: receive %u: error %d", side, r->posted, error);
        r->posted++;
        if (w->plan.receive_gap > 0)
            r->next = w->pair->now + oche_random_below(&w->random, w->plan.receive_gap);
    }
}

/* ---- a run ---- */

static bool finished(const struct qp_work *w, int side)
{
    const struct qp_way *way = &w->way[side];

    if (way->failed != NONE)
        return way->flushed == way->posted;
    return way->posted == w->plan.works && way->settled == way->posted;
}

static void post_some(struct qp_work *w)
{
    for (int side = 0; side < 2; side++) {
        post_receives(w, side);
        if (qp_work_below(w, w->plan.eagerness) == 0)
            post(w, side);
    }
}

/* No event is due: the test has more to post, or something is stuck. */
static void when_quiet(struct qp_work *w)
{
    bool more = false;

    for (int side = 0; side < 2; side++) {
        more |= w->receives[side].next > w->pair->now;
        more |= post(w, side);
    }
    QP_WORK_CHECK(w, more, "stuck: side 0 waits for %s, side 1 for %s",
                  oche_qp_waits_for(w->pair->side[0].qp[0]),
                  oche_qp_waits_for(w->pair->side[1].qp[0]));
    w->pair->now += OCHE_US;
}

/* Each queue pair with work will get an event soon. */
static void check_wakes(struct qp_work *w)
{
    for (int side = 0; side < 2; side++) {
        const struct oche_qp *qp = w->pair->side[side].qp[0];
        oche_time when;
        const enum oche_wake wake = oche_qp_wake(qp, &when);

        QP_WORK_CHECK(w, wake != OCHE_WAKE_NEVER && wake != OCHE_WAKE_PROGRAM,
                      "side %d hangs: it waits for %s, and for %s to wake it", side,
                      oche_qp_waits_for(qp), oche_wake_name(wake));
        QP_WORK_CHECK(w, when == OCHE_NEVER || when < w->pair->now + WAKES_WITHIN,
                      "side %d: %s will wake it only in %lu ms", side, oche_wake_name(wake),
                      (unsigned long)((when - w->pair->now) / OCHE_MS));
    }
}

static void run(struct qp_work *w)
{
    for (uint64_t steps = 0; !finished(w, 0) || !finished(w, 1); steps++) {
        post_some(w);
        if (!pair_step(w->pair, LIMIT))
            when_quiet(w);
        check_wakes(w);
        qp_work_poll(w);
        QP_WORK_CHECK(w, steps < STEPS && w->pair->now < LIMIT,
                      "no end after %lu steps, %lu us: side 0 waits for %s, side 1 for %s",
                      (unsigned long)steps, (unsigned long)(w->pair->now / OCHE_US),
                      oche_qp_waits_for(w->pair->side[0].qp[0]),
                      oche_qp_waits_for(w->pair->side[1].qp[0]));
    }
    pair_run_quiet(w->pair);
    qp_work_poll(w);
    qp_work_check_end(w);
    w->ending = true;
    for (int side = 0; side < 2; side++)
        oche_qp_fail(w->pair->side[side].qp[0], w->pair->now);
    pair_run_quiet(w->pair);
    qp_work_poll(w);
    for (int side = 0; side < 2; side++) {
        QP_WORK_CHECK(w, w->receives[side].done == w->receives[side].posted,
                      "side %d: of %u receives %u were given back", side, w->receives[side].posted,
                      w->receives[side].done);
        QP_WORK_CHECK(w,
                      w->way[side].failed != NONE ||
                          oche_window_key(w->window[side]) == w->window_key[side],
                      "side %d: its window's key is %x, not %x", side,
                      oche_window_key(w->window[side]), w->window_key[side]);
        QP_WORK_CHECK(w, oche_window_destroy(w->window[side]), "side %d: binds are not done", side);
    }
}

/* Returns how many PSNs a side may have outstanding, by its connection and its scheme. */
static uint32_t window_of(const struct qp_work *w, const struct oche_recovery_choice *scheme)
{
    const uint32_t connection = w->plan.pair.window_packets, own = own_window(scheme);
    const uint32_t window = connection == 0 || own < connection ? own : connection;

    return window < UINT32_C(1) << 23 ? window : UINT32_C(1) << 23;
}

/* Thousands of runs use the same memory. */
static struct blocks blocks;

static void set_up(struct qp_work *w, const struct oche_recovery_choice of_side[2])
{
    w->plan.pair.blocks = &blocks;
    for (int side = 0; side < 2; side++)
        w->plan.pair.memory[side] = blocks_take(&blocks, PAIR_MEMORY);
    w->pair = pair_open(&w->plan.pair);
    w->pair->context = w;
    w->pair->tap = qp_work_sent;
    w->pair->arrival = qp_work_arrived;
    if (w->plan.timerless)
        w->pair->fate = lose_once;
    for (int side = 0; side < 2; side++) {
        pair_fill(w->pair, side, 0, PAIR_MEMORY, (uint8_t)(w->plan.pair.seed * 2 + (uint64_t)side));
        memset(w->pair->side[side].memory + COUNTER, 0, 8);
        w->first[side] = blocks_take(&blocks, PAIR_MEMORY);
        memcpy(w->first[side], w->pair->side[side].memory, PAIR_MEMORY);
        w->next_target[side] = TARGETS;
        struct oche_window_config window = {.key = 0x7700, .pd = PAIR_PD};
        w->window_memory[side] = malloc(oche_window_bytes());
        OCHE_MUST(w->window_memory[side] != NULL);
        w->window[side] =
            oche_window_create(w->pair->side[side].nic, w->window_memory[side], &window);
        OCHE_MUST(w->window[side] != NULL);
        w->window_key[side] = window.key;
        w->way[side].failed = NONE;
        w->way[side].versions = 1;
        w->way[side].acked = pair_connection(w->pair, side, 0).send_psn;
        w->way[side].sent[0] = w->way[side].sent[1] = w->way[side].acked;
        w->way[side].window = window_of(w, &of_side[side]);
    }
}

static void describe(const struct qp_work *w)
{
    const struct qp_work_plan *p = &w->plan;
    const struct pair_options *o = &p->pair;

    fprintf(stderr,
            "%u works a side of up to %u bytes, cell %u, MTU %u, send depth %u, READs %u, "
            "receives %u (gap %lu us), window %u, ACK every %u, timeout %lu us, retries %d, RNR "
            "retries %d, credits %d, extensions %d, bytes %d, tokens %u up to %u bytes; 1/1000: "
            "lost %u, doubled %u, late "
            "%u, damaged %u; ACK opcodes %x and %x, CNPs %d and %d; "
            "%lu Gbit/s, delay %lu ns, first PSN %x\n",
            p->works, p->max_length, p->cell, o->mtu, o->send_depth, o->responder_resources,
            p->slots, (unsigned long)(p->receive_gap / OCHE_US), o->window_packets, o->ack_every,
            (unsigned long)(o->ack_timeout / OCHE_US), (int)o->retry_count, (int)o->rnr_retry,
            o->credits, o->extensions, o->bytes, o->deflection.tokens, o->deflection.short_bytes,
            o->drop, o->twice, o->late, o->damage, o->cc->headers != NULL ? OCHE_RC_ACK_SHARE : 0,
            o->peer_cc->headers != NULL ? OCHE_RC_ACK_SHARE : 0, o->cc->cnp != NULL,
            o->peer_cc->cnp != NULL, (unsigned long)(o->line_rate_bps / OCHE_GBPS),
            (unsigned long)(o->delay / OCHE_NS), o->first_psn);
}

static void count(const struct qp_work *w, struct qp_work_tally *tally)
{
    tally->runs++;
    tally->damaged += w->pair->damaged;
    tally->faults += w->pair->faults;
    for (int side = 0; side < 2; side++) {
        const struct qp_way *way = &w->way[side];
        const struct oche_nic_stats *stats = oche_nic_stats(w->pair->side[side].nic);
        tally->works += way->settled;
        tally->timeouts += stats->timeouts;
        tally->naks += stats->naks_received;
        tally->rnr_naks += stats->rnr_naks_received;
        tally->placed += stats->placed_packets;
        tally->retransmitted += stats->retransmitted_packets;
        tally->cnps += stats->cnps_received;
        tally->extended += w->way[side].extended;
        if (way->failed == NONE)
            continue;
        tally->flushed += way->posted - way->failed - 1;
        tally->retry_exceeded += way->status == OCHE_STATUS_RETRY_EXCEEDED;
        tally->rnr_exceeded += way->status == OCHE_STATUS_RNR_RETRY_EXCEEDED;
    }
}

/* True if no check failed. */
static bool comes_through(struct qp_work *w)
{
    if (setjmp(w->out) != 0)
        return false;
    run(w);
    return true;
}

bool qp_work_run(const struct oche_recovery_choice of_side[2], uint64_t seed, bool verbose,
                 struct qp_work_tally *tally, char *wrong, size_t wrong_bytes)
{
    struct qp_work *w = calloc(1, sizeof(*w));

    OCHE_MUST(w != NULL);
    w->random = oche_random_stream(seed, "qp work", 0);
    w->wrong = wrong;
    w->wrong_bytes = wrong_bytes;
    make_plan(w, of_side, seed);
    set_up(w, of_side);
    if (verbose)
        describe(w);
    bool good = comes_through(w);

    if (!good && verbose)
        pair_dump(w->pair);
    count(w, tally);
    pair_close(w->pair);
    for (int side = 0; side < 2; side++) {
        blocks_give(&blocks, w->first[side]);
        blocks_give(&blocks, w->plan.pair.memory[side]);
        free(w->window_memory[side]);
    }
    free(w);
    return good;
}
