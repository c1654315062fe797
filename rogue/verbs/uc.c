/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unreliable connections (RoGUE sec 3.4). They have one queue pair and no recovery. The last WRITE
 * of a batch carries immediate data, which consumes a receive of the peer's library. That answers
 * with an empty WRITE with immediate data, which consumes one of ours. So all receives are the
 * libraries'. The application has only WRITEs without immediate data, of at least one byte: an
 * empty one at the end of a batch would look like an answer.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>

#include "rogue/verbs/internal.h"

#define AT_ONCE 32
#define SIGNAL_EVERY                                                                               \
    16 /* answers; a signal tells the adapter's library that there is room again                   \
        */

struct rv_uc {
    struct ibv_cq_ex *stamped; /* the receives' CQ, if it has time stamps */
    uint32_t answers;          /* since one had a signal */
    bool rests;                /* no work is under way, and an event reports arrivals */
};

/* A WRITE with immediate data. */
struct came {
    uint32_t imm;
    bool empty;
    oche_time when;
};

bool rv_uc_create(struct rv_qp *qp)
{
    struct ibv_cq_init_attr_ex attr = {
        .cqe = 2 * RV_UC_RECEIVES,
        .channel = qp->context->hidden,
        .wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_IMM |
                    IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
    };

    qp->uc = calloc(1, sizeof(*qp->uc));
    if (qp->uc == NULL)
        return false;
    if (qp->context->create_cq_ex != NULL)
        qp->uc->stamped = qp->context->create_cq_ex(qp->context->context, &attr);
    if (qp->uc->stamped != NULL)
        qp->hidden_recv = ibv_cq_ex_to_cq(qp->uc->stamped);
    else
        qp->hidden_recv =
            rv_next.create_cq(qp->context->context, (int)attr.cqe, NULL, qp->context->hidden, 0);
    return qp->hidden_recv != NULL;
}

void rv_uc_destroy(struct rv_qp *qp)
{
    free(qp->uc);
}

int rv_uc_refuses(const struct ibv_send_wr *wr, uint64_t bytes)
{
    if (wr->opcode != IBV_WR_RDMA_WRITE)
        return EOPNOTSUPP;
    return bytes > 0 ? 0 : EINVAL;
}

/* ---- receives ---- */

static void post_receive(struct rv_qp *qp)
{
    struct ibv_recv_wr wr = {0}, *bad;

    if (qp->context->ops.post_recv(qp->qps[0], &wr, &bad) != 0)
        errno = 0; /* the queue is full, or the queue pair has failed */
}

void rv_uc_receive(struct rv_qp *qp)
{
    for (unsigned i = 0; i < RV_UC_RECEIVES; i++)
        post_receive(qp);
    rv_hidden_arm(qp);
    qp->uc->rests = true;
}

static int poll_stamped(struct rv_qp *qp, struct came *came, int *count)
{
    struct ibv_cq_ex *cq = qp->uc->stamped;
    struct ibv_poll_cq_attr none = {0};
    uint64_t wall_ns;
    oche_time now;
    int polled = 0;

    if (ibv_start_poll(cq, &none) != 0)
        return 0;
    wall_ns = rv_wall_ns();
    now = rv_now();
    do {
        polled++;
        if (cq->status == IBV_WC_SUCCESS)
            came[(*count)++] = (struct came){
                .imm = ntohl(ibv_wc_read_imm_data(cq)),
                .empty = ibv_wc_read_byte_len(cq) == 0,
                .when = rv_time_of(ibv_wc_read_completion_wallclock_ns(cq), wall_ns, now)};
    } while (polled < AT_ONCE && ibv_next_poll(cq) == 0);
    ibv_end_poll(cq);
    return polled;
}

/*
 * Polls up to AT_ONCE receives; `count` becomes the number of good ones. Returns the number of all.
 */
static int poll_receives(struct rv_qp *qp, struct came *came, int *count)
{
    struct ibv_wc wc[AT_ONCE];
    oche_time now;
    int polled;

    *count = 0;
    if (qp->uc->stamped != NULL)
        return poll_stamped(qp, came, count);
    polled = qp->context->ops.poll_cq(qp->hidden_recv, AT_ONCE, wc);
    now = rv_now();
    for (int i = 0; i < polled; i++)
        if (wc[i].status == IBV_WC_SUCCESS)
            came[(*count)++] = (struct came){
                .imm = ntohl(wc[i].imm_data), .empty = wc[i].byte_len == 0, .when = now};
    return polled < 0 ? 0 : polled;
}

void rv_uc_reset(struct rv_qp *qp)
{
    struct came came[AT_ONCE];
    int count;

    while (poll_receives(qp, came, &count) > 0)
        ;
    qp->uc->rests = false;
    qp->uc->answers = 0;
}

/* ---- making progress ---- */

/*
 * Sends complete before they are answered, so their completions are handled first, although the
 * receives are polled first.
 */
static void take(struct rv_qp *qp)
{
    struct came came[AT_ONCE];
    int polled, count;

    do {
        polled = poll_receives(qp, came, &count);
        for (int i = 0; i < polled && qp->state != IBV_QPS_ERR; i++)
            post_receive(qp);
        rv_drain_sends(qp);
        for (int i = 0; i < count && qp->rogue != NULL; i++)
            rogue_immediate(qp->rogue, came[i].imm, came[i].empty, came[i].when, rv_now());
    } while (polled == AT_ONCE);
    if (qp->rogue != NULL && (qp->paced_until[0] | qp->paced_until[1]) != 0 && !qp->ended)
        rogue_pump(qp->rogue, rv_now());
    rv_settle(qp);
}

void rv_uc_drain(struct rv_qp *qp)
{
    take(qp);
    if (qp->active || qp->ended || qp->uc->rests)
        return;
    /* The application need not poll for questions of the peer's library. */
    qp->uc->rests = true;
    rv_hidden_arm(qp);
    take(qp); /* completions from before the request raise no event */
}

void rv_uc_event(struct rv_qp *qp)
{
    qp->uc->rests = false;
}

void rv_uc_answer(void *context, uint32_t imm)
{
    struct rv_qp *qp = context;
    struct ibv_send_wr wr = {.wr_id = RV_UC_ANSWER,
                             .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                             .imm_data = htonl(imm)},
                       *bad;

    if (qp->state != IBV_QPS_RTS)
        return;
    if (qp->uc->answers + 1 >= SIGNAL_EVERY)
        wr.send_flags = IBV_SEND_SIGNALED;
    if (qp->context->ops.post_send(qp->qps[0], &wr, &bad) == 0)
        qp->uc->answers = wr.send_flags != 0 ? 0 : qp->uc->answers + 1;
}
