/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rogue/'s port: how a connection posts, limits, fails and restarts its queue pairs, and reports
 * completed work to the application.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rogue/verbs/internal.h"

#define AT_ONCE      32
#define CATCH_UP     OCHE_MS
#define LINE_HEADERS 82 /* of a packet: preamble, Ethernet, IPv4, UDP, BTH, ICRC, FCS, gap */
#define IPV6_MORE    20
#define RETH         16
#define AETH         4
#define BASE_PACKETS 24 /* rogue.md#r19 */
#define SLOW_ANCHOR  4

/* ---- rates ---- */

/*
 * Returns the rate of the window, 0 for no limit. If the user has given the link's rate, the
 * limiter keeps to it, as the port may be faster, or be software. Some devices ignore a limiter at
 * the port's own rate, so it is just below.
 */
static uint64_t out_rate(const struct rv_qp *qp, unsigned side)
{
    if (qp->out_bps[side] == 0 && rv_line_rate() > 0)
        return qp->line_rate_bps - OCHE_KBPS;
    return qp->out_bps[side];
}

void rv_apply_limit(struct rv_qp *qp, unsigned side)
{
    uint64_t out = out_rate(qp, side), reads = qp->reads_bps[side];
    uint64_t bps = out == 0 || (reads != 0 && reads < out) ? reads : out; /* rogue.md#r15 */
    struct ibv_qp_rate_limit_attr attr = {.rate_limit = (uint32_t)(bps / OCHE_KBPS)};

    if (qp->context->limits_rates && qp->up[side])
        qp->context->modify_qp_rate_limit(qp->qps[side], &attr);
}

static void limit(void *context, unsigned side, uint64_t bps)
{
    struct rv_qp *qp = context;

    qp->out_bps[side] = bps < qp->line_rate_bps ? bps : 0;
    rv_apply_limit(qp, side);
}

static uint64_t peer_line_rate(const struct rv_qp *qp)
{
    return qp->paired ? qp->peer.line_rate_bps : qp->line_rate_bps;
}

/* True if the peer's library can limit the data of our READs. */
static bool peer_limits(const struct rv_qp *qp)
{
    return qp->paired && qp->peer.limits_rates;
}

/* The data of our READs is sent by the peer. If its device has no limiter, we ask for it later. */
static void limit_reads(void *context, unsigned side, uint64_t bps)
{
    struct rv_qp *qp = context;
    uint64_t line = peer_line_rate(qp);
    struct rv_message message = {.kind = RV_LIMIT,
                                 .side = (uint8_t)side,
                                 .serial = ++qp->reads_serial[side],
                                 .number = bps < line ? bps : 0};

    qp->own_reads_bps = message.number;
    if (peer_limits(qp))
        rv_tell(qp, &message);
}

static bool is_read(const struct rogue_piece *piece)
{
    return piece->verb->kind == ROGUE_READ || piece->verb->kind == ROGUE_ATOMIC;
}

/* Returns the rate at which pieces like this one are posted; 0: a limiter does it. */
static uint64_t software_rate(const struct rv_qp *qp, unsigned side,
                              const struct rogue_piece *piece)
{
    if (is_read(piece) && peer_limits(qp))
        return 0;
    if (is_read(piece))
        return qp->own_reads_bps > 0 || rv_line_rate() == 0 ? qp->own_reads_bps
                                                            : peer_line_rate(qp);
    return qp->context->limits_rates ? 0 : out_rate(qp, side);
}

/* Returns the bytes of a piece on the line, and in *last_packet those of its last packet. */
static uint64_t line_bytes(const struct rv_qp *qp, const struct rogue_piece *piece,
                           uint64_t *last_packet)
{
    uint32_t mtu = UINT32_C(128) << qp->attr.path_mtu;
    uint64_t packets = piece->bytes > mtu ? (piece->bytes + mtu - 1) / mtu : 1;
    bool ipv4 = IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)(const void *)qp->gid.raw);
    uint64_t headers = ipv4 ? LINE_HEADERS : LINE_HEADERS + IPV6_MORE;
    /* in the first packet and in the last one */
    uint64_t first = is_read(piece) ? AETH : RETH, last = is_read(piece) ? AETH : 0;

    *last_packet = piece->bytes - (packets - 1) * mtu + headers + (packets == 1 ? first : last);
    return piece->bytes + packets * headers + first + (packets == 1 ? 0 : last);
}

/*
 * Returns a piece's bytes for rogue/, which computes its departure from them and the limiter's
 * rate. Without a limiter it leaves at the port's rate, which is as if it were shorter.
 */
static uint64_t bytes_at_limit(void *context, const struct rogue_piece *piece,
                               uint64_t *last_packet)
{
    const struct rv_qp *qp = context;
    uint64_t bytes = line_bytes(qp, piece, last_packet);
    uint64_t bps = software_rate(qp, rogue_active(qp->rogue), piece);
    uint64_t port = qp->port_rate_bps;

    if (bps == 0 || bps > port)
        return bytes;
    *last_packet = *last_packet * bps / port;
    return (uint64_t)((unsigned __int128)bytes * bps / port);
}

/*
 * Without a limiter: true if it is too early for the next piece. If a piece was posted late, later
 * pieces make up for that.
 */
static bool must_wait_for_rate(struct rv_qp *qp, unsigned side, const struct rogue_piece *piece)
{
    oche_time now, *until = &qp->paced_until[is_read(piece)];
    uint64_t bps = software_rate(qp, side, piece), last_packet;

    if (bps == 0)
        return false;
    now = rv_now();
    if (now < *until)
        return true;
    if (now - *until < CATCH_UP)
        now = *until;
    *until = oche_time_add(now, oche_time_of_bytes(line_bytes(qp, piece, &last_packet), bps));
    return false;
}

oche_time rv_paced_until(const struct rv_qp *qp)
{
    oche_time now = rv_now(), next = OCHE_NEVER;

    for (unsigned i = 0; i < OCHE_COUNT_OF(qp->paced_until); i++)
        if (qp->paced_until[i] > now)
            next = oche_time_min(next, qp->paced_until[i]);
    return next;
}

/* ---- posting ---- */

/*
 * After a change of queue pair, data that the peer has received must not be sent twice
 * (rogue.md#r11). True if a piece must wait until the peer has reported how much that is.
 */
static bool must_wait_for_count(struct rv_qp *qp, unsigned side, const struct rv_work *work)
{
    if (side != qp->count_qp || rogue_epoch(qp->rogue, side) != qp->count_epoch) {
        qp->count_qp = side;
        qp->count_epoch = rogue_epoch(qp->rogue, side);
        qp->count_known = false;
        qp->count_serial++;
        qp->count_repeat = OCHE_NEVER;
    }
    if (qp->count_known || (!work->consumes && qp->receives_posted == qp->receives_ended))
        return false;
    if (qp->count_repeat == OCHE_NEVER)
        rv_ask_count(qp, rv_now());
    return true;
}

/* Posts a request that is flushed after all others, on a queue pair in ERR. */
static bool post_marker(struct rv_qp *qp, unsigned side)
{
    struct ibv_send_wr wr = {.wr_id = ROGUE_MARKER,
                             .opcode = IBV_WR_RDMA_WRITE,
                             .send_flags = IBV_SEND_SIGNALED},
                       *bad;

    return qp->context->ops.post_send(qp->qps[side], &wr, &bad) == 0;
}

static bool post(void *context, unsigned side, const struct rogue_piece *piece)
{
    struct rv_qp *qp = context;
    const struct rv_work *work = &qp->works[piece->verb->user];
    int error;

    if (piece->number == ROGUE_MARKER)
        return post_marker(qp, side);
    if (qp->trouble != 0 || must_wait_for_count(qp, side, work) ||
        must_wait_for_rate(qp, side, piece))
        return false;
    error = rv_post_piece(qp, side, piece);
    if (error != 0) {
        if (error != ENOMEM)
            qp->trouble = IBV_WC_LOC_QP_OP_ERR;
        return false;
    }
    if (piece->last && work->consumes && qp->receives_posted <= work->receives_before)
        qp->receives_posted = work->receives_before + 1;
    return true;
}

/* ---- the end of verbs ---- */

static enum ibv_wc_opcode opcode_of(enum ibv_wr_opcode opcode)
{
    switch (opcode) {
    case IBV_WR_RDMA_READ:
        return IBV_WC_RDMA_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
        return IBV_WC_COMP_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
        return IBV_WC_FETCH_ADD;
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
        return IBV_WC_RDMA_WRITE;
    default:
        return IBV_WC_SEND;
    }
}

static void ended(void *context, const struct rogue_verb *verb, enum rogue_outcome outcome,
                  int status)
{
    struct rv_qp *qp = context;
    const struct rv_work *work = &qp->works[verb->user];
    struct ibv_wc wc = {.wr_id = work->wr.wr_id,
                        .status = IBV_WC_SUCCESS,
                        .opcode = opcode_of(work->wr.opcode),
                        .byte_len = work->bytes,
                        .qp_num = qp->qps[0]->qp_num};

    qp->work_done++;
    qp->receives_ended += work->consumes;
    if (qp->receives_posted < qp->receives_ended)
        qp->receives_posted = qp->receives_ended;
    if (outcome == ROGUE_DONE && !verb->signaled)
        return;
    if (outcome == ROGUE_FAILED)
        wc.status = (enum ibv_wc_status)status;
    if (outcome == ROGUE_FLUSHED)
        wc.status = IBV_WC_WR_FLUSH_ERR;
    rv_cq_push(qp->send_cq, &wc);
}

/* ---- failing and restarting ---- */

static void fail(void *context, unsigned side)
{
    struct rv_qp *qp = context;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_ERR};

    if (qp->qps[side] == NULL)
        return;
    qp->up[side] = false;
    if (rv_real_modify(qp, side, &attr, IBV_QP_STATE) != 0)
        qp->trouble = IBV_WC_LOC_QP_OP_ERR;
}

static void restart(void *context, unsigned side, uint32_t send_psn, uint32_t recv_psn)
{
    struct rv_qp *qp = context;
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RESET};

    rv_receives_take(qp);
    rv_receives_returned(qp, side);
    if (rv_real_modify(qp, side, &attr, IBV_QP_STATE) != 0 ||
        !rv_bring_up(qp, side, send_psn, recv_psn))
        qp->trouble = IBV_WC_LOC_QP_OP_ERR;
}

static uint32_t new_psn(void *context, unsigned side, uint32_t epoch)
{
    (void)context;
    (void)side;
    (void)epoch;
    return (uint32_t)rv_random() & OCHE_PSN_MASK;
}

static void tell(void *context, const struct rogue_resync *message)
{
    struct rv_message whole = {.kind = RV_RESYNC, .side = message->qp, .resync = *message};

    rv_tell(context, &whole);
}

const struct rogue_port rv_port = {
    .post = post,
    .limit = limit,
    .limit_reads = limit_reads,
    .line_bytes = bytes_at_limit,
    .ended = ended,
    .fail = fail,
    .restart = restart,
    .new_psn = new_psn,
    .answer = rv_uc_answer,
    .tell = tell,
    .sampled = rv_sampled,
    .take_limiter = rv_limiter_take,
    .give_limiter = rv_limiter_give,
    .limiter_wanted = rv_limiter_wanted,
};

/* ---- the connection ---- */

/*
 * Derives from the line's rate what the user has not given. The paper's values are for 10 Gbit/s
 * and more. On slower lines, such as those of devices in software, 160 KB take long, and a device
 * that had to wait soon runs empty again (rogue.md#r26).
 */
static void fit_to_line(struct rogue_params *p, uint64_t line_bps, uint32_t mtu_bytes)
{
    uint64_t hold_off = rogue_segment_bytes(p, line_bps) * UINT64_C(5) / 2;
    bool slow = line_bps < 10 * OCHE_GBPS;

    if (!rv_is_given("least_base_rtt"))
        p->least_base_rtt = oche_time_of_bytes(BASE_PACKETS * (mtu_bytes + LINE_HEADERS), line_bps);
    if (slow && !rv_is_given("hold_off_bytes") && hold_off < p->hold_off_bytes)
        p->hold_off_bytes = hold_off;
    if (slow && !rv_is_given("anchor_batches"))
        p->anchor_batches = SLOW_ANCHOR;
}

bool rv_connect_rogue(struct rv_qp *qp)
{
    struct rogue_config config = {
        .params = &qp->params,
        .port = &rv_port,
        .context = qp,
        .token = rv_token(qp),
        .status_lost = IBV_WC_RETRY_EXC_ERR,
        .line_rate_bps = qp->line_rate_bps,
        .peer_line_rate_bps = peer_line_rate(qp),
        .mtu_bytes = UINT32_C(128) << qp->attr.path_mtu,
        .depth = qp->depth,
    };
    void *memory;

    qp->params = qp->uc != NULL ? *rv_uc_params() : *rv_params(qp->paired);
    fit_to_line(&qp->params, qp->line_rate_bps, config.mtu_bytes);
    memory = malloc(rogue_connection_bytes(&config));

    if (memory == NULL)
        return false;
    qp->rogue = rogue_connection_create(memory, &config);
    qp->count_known = true;
    qp->count_repeat = OCHE_NEVER;
    return true;
}

void rv_settle(struct rv_qp *qp)
{
    bool was_active = qp->active;

    if (qp->rogue == NULL) {
        qp->busy = qp->outstanding > 0 || qp->uc != NULL;
        return;
    }
    if (qp->trouble != 0)
        rogue_fail(qp->rogue, (int)qp->trouble);
    if (rogue_broken(qp->rogue) && !qp->ended) {
        struct rv_message gone = {.kind = RV_GONE};
        qp->ended = true;
        qp->state = IBV_QPS_ERR;
        if (qp->uc == NULL)
            rv_receives_take(qp);
        rv_receives_flush(qp);
        if (qp->paired && qp->uc == NULL)
            rv_tell(qp, &gone);
    }
    qp->active = !qp->ended && (qp->work_next != qp->work_done || !rogue_idle(qp->rogue) ||
                                (qp->uc != NULL && !rogue_quiet(qp->rogue)));
    qp->busy = qp->active || (!qp->ended && (qp->outstanding > 0 || qp->uc != NULL));
    if (qp->active && !was_active)
        rv_thread_wake();
}

static void completed(struct rv_qp *qp, const struct rv_done *done)
{
    struct rogue_completion completion = {
        .number = done->wr_id,
        .completed = done->when,
        .qp = done->side,
        .status = (int)done->status,
        .success = done->status == IBV_WC_SUCCESS,
        .lost = done->status == IBV_WC_RETRY_EXC_ERR,
        .flushed = done->status == IBV_WC_WR_FLUSH_ERR,
    };

    if (!completion.success)
        qp->up[done->side] = false; /* the device has moved it to ERR */
    rogue_completed(qp->rogue, &completion, rv_now());
}

void rv_drain_sends(struct rv_qp *qp)
{
    struct rv_done done[AT_ONCE];
    uint32_t lives[2];
    int count;

    do {
        count = qp->rogue != NULL ? rv_hidden_poll(qp, done, AT_ONCE) : 0;
        memcpy(lives, qp->lives, sizeof(lives));
        for (int i = 0; i < count; i++)
            if (qp->lives[done[i].side] == lives[done[i].side] && /* not restarted meanwhile */
                done[i].wr_id != RV_UC_ANSWER)
                completed(qp, &done[i]);
    } while (count == AT_ONCE);
}

void rv_drain(struct rv_qp *qp)
{
    if (qp->uc != NULL) {
        rv_uc_drain(qp);
        return;
    }
    rv_drain_sends(qp);
    rv_receives_take(qp);
    if (qp->rogue != NULL && (qp->paced_until[0] | qp->paced_until[1]) != 0 && !qp->ended)
        rogue_pump(qp->rogue, rv_now());
    rv_settle(qp);
}
