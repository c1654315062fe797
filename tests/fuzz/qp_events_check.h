/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sequence of events, made from any bytes, into a connected pair of queue pairs: posts, time,
 * losses, pauses, changes of state and of rate, regions that come and go, packets that no honest
 * peer sends, also with the peer's address. What must hold, whatever comes:
 *   - data is delivered in order of PSN, and none twice, but for messages that recovery restarts;
 *   - a completion has its work, works complete in the order in which they were posted, and only
 *     unsignalled ones are passed over;
 *   - what is received is what was sent (unless packets were forged in the peer's name);
 *   - when all that is in the way is removed, everything posted completes: nothing is stuck;
 *   - after each event something is due for each queue pair with work, and not only in an hour;
 *   - no invariant of core breaks (oche_panic).
 * Shared by the fuzz target and by the test that feeds it random bytes.
 */
#ifndef OCHE_TESTS_FUZZ_QP_EVENTS_CHECK_H
#define OCHE_TESTS_FUZZ_QP_EVENTS_CHECK_H

#include <stdlib.h>
#include <string.h>

#include "core/recovery/improved_go_back_n.h"
#include "core/recovery/selective_repeat.h"
#include "core/wire/aeth.h"
#include "core/wire/extension.h"
#include "core/wire/opcode.h"
#include "tests/support/pair.h"

#define QPE_PARAMS  256  /* bytes of a scheme's */
#define QPE_WORKS   512  /* posted by one side between resets, at most */
#define QPE_MESSAGE 6000 /* bytes, at most */
#define QPE_WINDOWS 2    /* of each side: one of each type */
#define QPE_KEY     0x7000
#define QPE_WITHIN  (60 * OCHE_SEC) /* a queue pair with work makes progress */
#define QPE_SOURCE  0               /* offset: data that is sent; no one writes there */
#define QPE_TARGET  (128 * 1024)

struct qpe_side {
    /* Works since the last reset. */
    uint32_t sends, send_done, recvs, recv_done;
    bool signalled[QPE_WORKS];
    /* The data that the peer will receive, in order. */
    uint32_t messages;
    struct {
        uint32_t from, length, imm;
        bool send, has_imm;
    } message[QPE_WORKS];
    uint32_t recv_at[QPE_WORKS];
    /* From the trace. */
    uint8_t arrived_opcode;
    bool any[2];
    uint32_t last_psn[2]; /* delivered: requests, responses */
};

struct qpe {
    const uint8_t *bytes;
    size_t count, at;
    struct pair *pair;
    uint64_t params[2][QPE_PARAMS / 8], cc_params[QPE_PARAMS / 8];
    struct qpe_side side[2];
    bool forged; /* packets were sent in a peer's name */
    bool removed[2];
    struct oche_window *window[2][QPE_WINDOWS];
    void *window_memory[2][QPE_WINDOWS];
    const char *wrong;
};

static inline uint32_t qpe_byte(struct qpe *q)
{
    return q->at < q->count ? q->bytes[q->at++] : 0;
}

static inline uint32_t qpe_word(struct qpe *q)
{
    uint32_t high = qpe_byte(q);

    return high << 8 | qpe_byte(q);
}

static inline void qpe_must(struct qpe *q, bool holds, const char *what)
{
    if (!holds && q->wrong == NULL)
        q->wrong = what;
}

/* ---- rules for the trace ---- */

static inline void qpe_sink(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct qpe *q = context;
    struct qpe_side *side = &q->side[node];

    if (record->kind == OCHE_TRACE_DATA_ARRIVED)
        side->arrived_opcode = (uint8_t)(record->b >> 32);
    if (record->kind == OCHE_TRACE_RESTARTED) {
        bool response = record->b >> 40 & 1;
        side->last_psn[response] = oche_psn_add((uint32_t)record->a, OCHE_PSN_MASK);
    }
    if (record->kind != OCHE_TRACE_DELIVERED)
        return;
    bool response = oche_opcode_has(side->arrived_opcode, OCHE_OP_RESPONSE);
    uint32_t psn = (uint32_t)record->a;
    qpe_must(q, !side->any[response] || oche_psn_diff(psn, side->last_psn[response]) > 0,
             "delivered twice or out of order");
    side->any[response] = true;
    side->last_psn[response] = psn;
}

/* ---- completions ---- */

static inline void qpe_check_recv(struct qpe *q, int s, const struct oche_completion *done)
{
    struct qpe_side *side = &q->side[s], *peer = &q->side[1 - s];
    uint32_t i = side->recv_done++;

    qpe_must(q, i < side->recvs && done->wr_id == QPE_WORKS + i, "a receive without its work");
    if (done->status != OCHE_STATUS_SUCCESS || q->forged || q->wrong != NULL)
        return;
    qpe_must(q, i < peer->messages, "received what nobody sent");
    if (q->wrong != NULL)
        return;
    qpe_must(q, done->bytes == peer->message[i].length, "received another length");
    qpe_must(q, done->has_imm == peer->message[i].has_imm, "immediate lost or invented");
    qpe_must(q, !done->has_imm || done->imm == peer->message[i].imm, "another immediate");
    if (!peer->message[i].send || q->wrong != NULL)
        return;
    qpe_must(q,
             memcmp(q->pair->side[s].memory + side->recv_at[i],
                    q->pair->side[1 - s].memory + peer->message[i].from, done->bytes) == 0,
             "received other bytes");
}

static inline void qpe_check_send(struct qpe *q, int s, const struct oche_completion *done)
{
    struct qpe_side *side = &q->side[s];

    while (side->send_done < side->sends && side->send_done != done->wr_id) {
        qpe_must(q, !side->signalled[side->send_done] && done->wr_id > side->send_done,
                 "a completion is missing or out of order");
        side->send_done++;
    }
    qpe_must(q, side->send_done < side->sends, "a completion without its work");
    side->send_done++;
}

static inline void qpe_poll(struct qpe *q)
{
    struct oche_completion done;

    for (int s = 0; s < 2; s++)
        while (q->wrong == NULL && oche_cq_poll(q->pair->side[s].cq, &done, 1) == 1) {
            if (done.wr_id >= QPE_WORKS)
                qpe_check_recv(q, s, &done);
            else
                qpe_check_send(q, s, &done);
        }
}

/* ---- events ---- */

/* The key of one of a side's windows, or a similar one. */
static inline uint32_t qpe_window_key(const struct qpe *q, uint32_t s, uint32_t odd)
{
    return oche_window_key(q->window[s][odd & 1]) + (odd % 16 == 15);
}

/* A bind that is possibly valid. */
static inline struct oche_bind qpe_bind(struct qpe *q, uint32_t s, uint32_t odd)
{
    struct oche_window *window = q->window[s][odd & 1];

    return (struct oche_bind){
        .window = window,
        .rkey = oche_window_key(window) + 1 + (odd % 16 == 15 ? 0x100 : 0),
        .lkey = odd % 16 == 13 ? oche_window_key(window) : PAIR_KEY,
        .va = PAIR_VA + QPE_TARGET + (odd % 16 == 11 ? PAIR_MEMORY : 0),
        .length = odd % 16 == 9 ? 0 : 2 * 65536 + QPE_MESSAGE,
        .access = odd % 16 == 7 ? UINT32_MAX : (odd >> 4 & 7) << 1,
    };
}

static inline void qpe_post_send(struct qpe *q)
{
    static uint8_t inline_data[64];
    uint32_t how = qpe_byte(q), s = how & 1, odd = qpe_byte(q);
    struct qpe_side *side = &q->side[s];
    enum oche_work_opcode opcode = (enum oche_work_opcode)((how >> 1) % OCHE_WORK_OPCODES);
    bool local = opcode == OCHE_WORK_LOCAL_INV || opcode == OCHE_WORK_BIND_MW;
    struct oche_bind bind = qpe_bind(q, s, odd);
    bool atomic = opcode >= OCHE_WORK_COMPARE_SWAP;
    uint32_t length = atomic ? 8 : qpe_word(q) % QPE_MESSAGE, from = qpe_word(q);
    bool writes_here = opcode >= OCHE_WORK_READ;
    struct oche_send_work work =
        pair_work(opcode, side->sends, (writes_here ? QPE_TARGET : QPE_SOURCE) + from,
                  QPE_TARGET + 8 * (from / 8), length);

    if (side->sends == QPE_WORKS)
        return;
    work.imm = from;
    work.bind = &bind;
    if (opcode == OCHE_WORK_LOCAL_INV)
        work.imm = qpe_window_key(q, s, odd);
    if (opcode == OCHE_WORK_SEND_INV)
        work.imm = qpe_window_key(q, 1 - s, odd);
    if (odd >= 16 && odd < 32)
        work.rkey = qpe_window_key(q, 1 - s, odd);
    work.swap_add = from;
    work.flags = (uint8_t)(how >> 4 & (OCHE_WORK_SIGNALED | OCHE_WORK_SOLICITED | OCHE_WORK_FENCE));
    if (odd == 1)
        work.rkey++;
    if (odd == 2)
        work.sge[0].lkey++;
    if (odd == 3)
        work.remote_va += PAIR_MEMORY;
    if (odd == 4)
        work.remote_va++;
    if (odd == 5 && length <= 64 && !local) {
        work.flags |= OCHE_WORK_INLINE;
        work.inline_data = inline_data;
        work.sge[0].va = PAIR_VA + PAIR_MEMORY - 64; /* where these zeros are */
    }
    if (odd >= 128 && length > 0) { /* two SGEs */
        uint32_t first = odd * length / 256;
        work.sge[1] = work.sge[0];
        work.sge[0].length = first;
        work.sge[1].va += first;
        work.sge[1].length -= first;
        work.sge_count = 2;
        if (atomic)
            work.sge_count = 1;
    }
    if (oche_qp_post_send(q->pair->side[s].qp[0], &work) != 0)
        return;
    side->signalled[side->sends++] = work.flags & OCHE_WORK_SIGNALED;
    if (opcode == OCHE_WORK_WRITE || writes_here || local)
        return;
    uint32_t m = side->messages++;
    side->message[m].from = (uint32_t)(work.sge[0].va - PAIR_VA);
    side->message[m].length = length;
    side->message[m].send = opcode != OCHE_WORK_WRITE_IMM;
    side->message[m].has_imm = opcode == OCHE_WORK_SEND_IMM || opcode == OCHE_WORK_WRITE_IMM;
    side->message[m].imm = work.imm;
}

/* Receives lie one after the other in the upper half, in turn. */
static inline void qpe_post_recv_on(struct qpe *q, uint32_t s, uint32_t length)
{
    struct qpe_side *side = &q->side[s];
    uint32_t at = 512 * 1024 + side->recvs % 32 * (QPE_MESSAGE + 16);
    struct oche_recv_work work = {
        .wr_id = QPE_WORKS + side->recvs,
        .sge_count = 1,
        .sge[0] = {.va = PAIR_VA + at, .length = length, .lkey = PAIR_KEY},
    };

    if (side->recvs == QPE_WORKS || oche_qp_post_recv(q->pair->side[s].qp[0], &work) != 0)
        return;
    memset(q->pair->side[s].memory + at, 0, length); /* the bytes there may be right already */
    side->recv_at[side->recvs++] = at;
}

/* An extended packet that is almost valid, or not at all. */
static inline void qpe_extended(struct qpe *q, uint32_t to, struct oche_packet *packet)
{
    uint32_t how = qpe_byte(q);
    struct oche_place place = {.receive = q->side[to].recv_done + (how & 3) - (how >> 2 & 1),
                               .offset = how & 8 ? PAIR_MTU * (how >> 4) : 0};
    struct oche_sack sack = {.first = oche_psn_add(packet->psn, how & 3),
                             .count = (uint8_t)(how >> 2),
                             .bits = (uint64_t)qpe_word(q) << 1};

    packet->bth_reserved = (uint8_t)(qpe_byte(q) & 0x3f);
    packet->opcode = (uint8_t)(OCHE_SCHEME_OPCODES + packet->opcode % 18);
    if (packet->opcode == OCHE_SHARE || packet->opcode == OCHE_RATE)
        packet->opcode = OCHE_RC_SEND_ONLY_INV_AT;
    if (packet->opcode != OCHE_RC_SACK) {
        oche_place_put(packet, &place);
        return;
    }
    oche_sack_put(packet, &sack);
    if (how & 0x80)
        packet->aeth = oche_aeth(OCHE_SYNDROME_NAK_SEQUENCE, 1);
}

static inline void qpe_hostile(struct qpe *q, bool forged)
{
    uint32_t from = qpe_byte(q) & 1, near = qpe_byte(q);
    struct oche_qp_connection connection = pair_connection(q->pair, (int)from, 0);
    struct qpe_side *target = &q->side[1 - from];
    uint32_t base = near & 1 ? connection.send_psn : connection.recv_psn;
    uint8_t opcode = (uint8_t)qpe_byte(q);

    if (near & 2)
        base = target->last_psn[near >> 2 & 1];
    struct oche_packet packet =
        pair_packet(q->pair, (int)from, opcode, oche_psn_add(base, (near >> 3) - 8),
                    (uint16_t)(qpe_byte(q) & 1 ? PAIR_MTU : qpe_word(q) % 1100));
    static uint8_t payload[9216];
    packet.bth = (uint8_t)qpe_byte(q);
    packet.aeth = qpe_byte(q) << 24 | qpe_word(q);
    packet.ext = (uint8_t)qpe_byte(q);
    packet.payload = payload;
    packet.reth.va = PAIR_VA + QPE_TARGET + qpe_word(q);
    packet.reth.rkey = PAIR_KEY + (qpe_byte(q) == 0);
    packet.reth.dma_length = qpe_byte(q) & 1 ? packet.payload_bytes : qpe_word(q);
    packet.atomic.swap_add = packet.atomic.compare = qpe_byte(q);
    packet.imm = qpe_window_key(q, 1 - from, qpe_byte(q));
    packet.deth.qkey = PAIR_QKEY;
    if (opcode >= OCHE_SCHEME_OPCODES)
        qpe_extended(q, 1 - from, &packet);
    if (!forged) {
        packet.src = 7 + (near & 1);
        if (near & 2)
            packet.dest_qpn ^= 0x100;
    }
    q->forged |= forged;
    oche_nic_receive(q->pair->side[1 - from].nic, &packet, q->pair->now);
}

static inline void qpe_reset(struct qpe *q)
{
    struct pair *pair = q->pair;

    qpe_poll(q);
    pair_clear_link(pair);
    for (int s = 0; s < 2; s++) {
        struct oche_qp_connection connection = pair_connection(pair, s, 0);
        struct oche_qp *qp = pair->side[s].qp[0];
        oche_qp_reset(qp);
        q->side[s] = (struct qpe_side){0};
        bool ready = oche_qp_init(qp, pair->now) &&
                     oche_qp_ready_to_receive(qp, &connection, pair->now) &&
                     oche_qp_ready_to_send(qp, pair->now);
        qpe_must(q, ready, "a reset queue pair cannot be connected");
    }
    q->forged = false;
}

static inline void qpe_region(struct qpe *q, uint32_t s, bool remove)
{
    struct oche_region region = {
        .va = PAIR_VA,
        .length = PAIR_MEMORY,
        .key = PAIR_KEY,
        .access = 31,
        .pd = PAIR_PD,
        .base = q->pair->side[s].memory,
    };

    if (remove == q->removed[s])
        return;
    if (remove ? oche_nic_remove_region(q->pair->side[s].nic, PAIR_KEY) /* no window is bound */
               : oche_nic_add_region(q->pair->side[s].nic, &region))
        q->removed[s] = remove;
}

static inline void qpe_state_change(struct qpe *q)
{
    uint32_t how = qpe_byte(q), s = how & 1;
    struct oche_qp *qp = q->pair->side[s].qp[0];

    switch (how >> 1 & 7) {
    case 0:
        oche_qp_fail(qp, q->pair->now);
        break;
    case 1:
        qpe_reset(q);
        break;
    case 2:
    case 3:
        oche_qp_drain(qp, q->pair->now);
        break;
    case 4:
    case 5:
        oche_qp_resume(qp, q->pair->now);
        break;
    default:
        qpe_region(q, s, how >> 4 & 1);
        break;
    }
}

static inline void qpe_event(struct qpe *q)
{
    struct pair *pair = q->pair;
    uint32_t event = qpe_byte(q), s = event >> 7;

    switch (event % 16) {
    case 0:
    case 1:
    case 2:
    case 3:
        qpe_post_send(q);
        break;
    case 4:
    case 5:
        qpe_post_recv_on(q, s, event & 0x40 ? QPE_MESSAGE : qpe_word(q) % QPE_MESSAGE);
        break;
    case 6:
    case 7:
    case 8:
        for (uint32_t i = 0; i < 1 + event / 16; i++)
            pair_step(pair, pair->now + OCHE_MS);
        break;
    case 9:
        pair_run(pair, pair->now + qpe_byte(q) * OCHE_US);
        if ((event & 0x30) && (oche_qp_state(pair->side[0].qp[0]) == OCHE_QP_ERR ||
                               oche_qp_state(pair->side[1].qp[0]) == OCHE_QP_ERR))
            qpe_reset(q); /* otherwise a run would end with its first error */
        break;
    case 10:
        qpe_hostile(q, false);
        break;
    case 11:
        if (event & 0x40)
            qpe_hostile(q, true);
        break;
    case 12:
        pair->side[s].classes = event & 0x40 ? UINT8_MAX : (uint8_t)qpe_byte(q);
        break;
    case 13:
        oche_qp_set_rate_limit(pair->side[s].qp[0], qpe_word(q) * 10 * OCHE_MBPS, pair->now);
        break;
    case 14:
        qpe_state_change(q);
        break;
    default:
        pair->options.drop = qpe_byte(q);
        pair->options.twice = qpe_byte(q);
        pair->options.late = qpe_byte(q);
        pair->options.late_most = (event >> 4 & 3) * 10 * OCHE_US;
        pair->options.damage = pair->options.bytes && event & 0x40 ? 50 : 0;
        break;
    }
}

static inline void qpe_check_wakes(struct qpe *q)
{
    for (int s = 0; s < 2; s++) {
        oche_time when;
        enum oche_wake wake = oche_qp_wake(q->pair->side[s].qp[0], &when);

        qpe_must(q, wake != OCHE_WAKE_NEVER, "a queue pair hangs");
        qpe_must(q, when == OCHE_NEVER || when < q->pair->now + QPE_WITHIN,
                 "a queue pair goes on much too late");
    }
}

static inline bool qpe_idle(const struct qpe *q)
{
    return oche_qp_idle(q->pair->side[0].qp[0]) && oche_qp_idle(q->pair->side[1].qp[0]);
}

/* Removes every obstacle; then all work must end. */
static inline void qpe_finish(struct qpe *q)
{
    struct pair *pair = q->pair;

    pair->options.drop = pair->options.twice = pair->options.late = pair->options.damage = 0;
    for (uint32_t s = 0; s < 2; s++) {
        pair->side[s].classes = UINT8_MAX;
        qpe_region(q, s, false);
        oche_qp_set_rate_limit(pair->side[s].qp[0], 0, pair->now);
        oche_qp_resume(pair->side[s].qp[0], pair->now);
    }
    for (int round = 0; round < 2 * QPE_WORKS / 16 && q->wrong == NULL; round++) {
        for (uint32_t i = 0; i < 32; i++)
            qpe_post_recv_on(q, i & 1, QPE_MESSAGE);
        pair_run_quiet(pair);
        qpe_poll(q);
        if (qpe_idle(q))
            break;
    }
    for (int s = 0; s < 2 && q->wrong == NULL; s++) {
        struct qpe_side *side = &q->side[s];
        struct oche_qp *qp = pair->side[s].qp[0];
        bool starved = q->side[1 - s].recvs == QPE_WORKS; /* no more receives to give */
        qpe_must(q, starved || oche_qp_idle(qp), "work is stuck");
        for (uint32_t i = side->send_done; i < side->sends && !starved; i++)
            qpe_must(q, !side->signalled[i], "a signalled work never completed");
        qpe_must(q, oche_qp_state(qp) != OCHE_QP_ERR || side->recv_done == side->recvs,
                 "receives were not flushed");
        qpe_must(q, oche_nic_backlog_bytes(pair->side[s].nic) == 0, "a backlog of nothing");
        qpe_must(q, !oche_cq_overflowed(pair->side[s].cq), "too many completions");
    }
}

/*
 * Any scheme, with its defaults. A scheme with timers also without each of them; selective repeat
 * with times and windows that suit the link.
 */
static inline const struct oche_recovery_scheme *qpe_scheme(uint32_t how, void *values)
{
    const struct oche_recovery_scheme *scheme =
        oche_recovery_schemes[how % oche_recovery_scheme_count];

    if (scheme->table.struct_bytes > QPE_PARAMS)
        abort();
    oche_param_defaults(&scheme->table, values);
    const struct oche_param *interval = oche_param_find(&scheme->table, "nak_interval");
    if (interval != NULL)
        oche_param_set(interval, values, (union oche_value){.u = (1 + how / 8 % 8) * 4 * OCHE_US});
    if (scheme == &oche_recovery_improved_go_back_n) {
        struct oche_improved_go_back_n_params *params = values;
        params->send_twice = how & 64;
        params->check_epsn = !(how & 128);
        params->check_last = how & 32;
    }
    if (scheme == &oche_recovery_selective_repeat) {
        struct oche_selective_repeat_params *params = values;
        params->window = how & 64 ? 4 : 110;
        params->rto_low = 20 * OCHE_US;
        params->rto_high = 60 * OCHE_US;
        params->memory =
            how & 32 ? OCHE_SELECTIVE_MEMORY_AS_IT_COMES : OCHE_SELECTIVE_MEMORY_IN_ORDER;
    }
    return scheme;
}

/* Usually the same on both sides, which may know of each other's support from the start. */
static inline void qpe_recovery(struct qpe *q, struct pair_options *options)
{
    uint32_t how = qpe_byte(q), peer = qpe_byte(q);

    if (peer >= 64)
        peer = how;
    options->recovery = qpe_scheme(how, q->params[0]);
    options->own_recovery_params = q->params[0];
    options->peer_recovery = qpe_scheme(peer, q->params[1]);
    options->peer_recovery_params = q->params[1];
    options->extensions =
        how & 128 && options->recovery->extend != NULL && options->peer_recovery->extend != NULL;
}

/*
 * In half of the runs with cubic's window, so READs leave in pieces, with or without memory for
 * data behind a gap.
 */
static inline void qpe_congestion(struct qpe *q, struct pair_options *options)
{
    const struct oche_cc_scheme *cubic = oche_cc_find("cubic");

    if (cubic == NULL || cubic->table.struct_bytes > sizeof(q->cc_params))
        abort();
    options->bytes = options->seed % 8 == 7;
    if (options->seed & 1)
        return;
    oche_param_defaults(&cubic->table, q->cc_params);
    oche_param_set(oche_param_find(&cubic->table, "initial_window"), q->cc_params,
                   (union oche_value){.u = 1 + options->seed / 2 % 4 * 3});
    options->cc = cubic;
    options->cc_params = q->cc_params;
    options->held_bytes = options->seed & 8 ? 64 * PAIR_MTU : 0;
}

static inline void qpe_open_windows(struct qpe *q)
{
    for (uint32_t s = 0; s < 2; s++)
        for (uint32_t i = 0; i < QPE_WINDOWS; i++) {
            struct oche_window_config config = {
                .key = QPE_KEY + 0x100 * i, .pd = PAIR_PD, .type = (uint8_t)i};
            q->window_memory[s][i] = malloc(oche_window_bytes());
            q->window[s][i] =
                oche_window_create(q->pair->side[s].nic, q->window_memory[s][i], &config);
            if (q->window[s][i] == NULL)
                abort();
        }
}

/* All binds have completed, or were removed with their queue pair. */
static inline void qpe_close_windows(struct qpe *q)
{
    for (int s = 0; s < 2; s++)
        oche_qp_reset(q->pair->side[s].qp[0]);
    for (uint32_t s = 0; s < 2; s++)
        for (uint32_t i = 0; i < QPE_WINDOWS; i++) {
            qpe_must(q, oche_window_destroy(q->window[s][i]), "a window cannot be destroyed");
            free(q->window_memory[s][i]);
        }
    qpe_must(q,
             oche_nic_remove_region(q->pair->side[0].nic, PAIR_KEY) &&
                 oche_nic_remove_region(q->pair->side[1].nic, PAIR_KEY),
             "a region is not free of windows");
}

/*
 * The sides' memory is the same in all runs. The data to send does not change, and the contents of
 * the rest decide nothing.
 */
static inline void qpe_use_memory(struct pair_options *options)
{
    static struct blocks blocks;
    static uint8_t memory[2][PAIR_MEMORY];
    static bool filled;

    options->blocks = &blocks;
    for (uint32_t s = 0; s < 2; s++) {
        options->memory[s] = memory[s];
        for (uint32_t i = QPE_SOURCE; i < QPE_TARGET && !filled; i++)
            memory[s][i] = (uint8_t)((i + s * 977) * UINT32_C(0x9e3779b1) >> 19);
    }
    filled = true;
}

/* NULL, or what is wrong. */
static inline const char *qp_events_check(const uint8_t *bytes, size_t count)
{
    static struct qpe whole;
    struct qpe *q = &whole;

    *q = (struct qpe){.bytes = bytes, .count = count};
    uint32_t how = qpe_byte(q);
    struct pair_options options = {
        .seed = qpe_word(q),
        .first_psn = how & 1 ? OCHE_PSN_MASK - 5 : 0,
        .ack_every = how & 2 ? 7 : 1,
        .window_packets = how & 4 ? 5 : 0,
        .credits = how & 8,
        .responder_resources = how & 16 ? 1 : 4,
        .initiator_depth = how & 32 ? 1 : 4,
        .mtu = how & 64 ? 256 : PAIR_MTU,
        .ack_timeout = 60 * OCHE_US,
        .in_flight = 1000,
        .rnr_retry = how & 128 ? UINT32_MAX : 3,
    };
    qpe_recovery(q, &options);
    qpe_congestion(q, &options);
    qpe_use_memory(&options);
    q->pair = pair_open(&options);
    for (int s = 0; s < 2; s++) {
        q->pair->side[s].trace.sink = qpe_sink;
        q->pair->side[s].trace.sink_context = q;
    }
    qpe_open_windows(q);
    while (q->at < q->count && q->wrong == NULL) {
        qpe_event(q);
        qpe_check_wakes(q);
        qpe_poll(q);
    }
    if (q->wrong == NULL)
        qpe_finish(q);
    qpe_close_windows(q);
    pair_close(q->pair);
    return q->wrong;
}

#endif
