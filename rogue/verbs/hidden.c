/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two completion queues of a wrapped queue pair and its shadow that the application does not see:
 * one for pieces, with time stamps if the library below has them, and one for receives.
 */
#include <time.h>

#include "rogue/verbs/internal.h"

#define AT_ONCE 32

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec time;

    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

oche_time rv_now(void)
{
    return clock_ns(CLOCK_MONOTONIC) * OCHE_NS;
}

uint64_t rv_wall_ns(void)
{
    return clock_ns(CLOCK_REALTIME);
}

bool rv_hidden_create(struct rv_qp *qp)
{
    struct rv_context *context = qp->context;
    uint32_t sends = 2 * qp->depth + 16 + RV_UC_ANSWERS;
    uint32_t receives = 2 * (qp->receive_mask + 1) + 16;
    struct ibv_cq_init_attr_ex attr = {
        .cqe = sends,
        .channel = context->hidden,
        .wc_flags = IBV_WC_EX_WITH_QP_NUM | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
    };

    if (context->create_cq_ex != NULL)
        qp->stamped = context->create_cq_ex(context->context, &attr);
    if (qp->stamped != NULL)
        qp->hidden_send = ibv_cq_ex_to_cq(qp->stamped);
    else
        qp->hidden_send = rv_next.create_cq(context->context, (int)sends, NULL, context->hidden, 0);
    if (qp->hidden_send != NULL && qp->hidden_recv == NULL)
        qp->hidden_recv =
            rv_next.create_cq(context->context, (int)receives, NULL, context->hidden, 0);
    return qp->hidden_send != NULL && qp->hidden_recv != NULL;
}

void rv_hidden_destroy(struct rv_qp *qp)
{
    if (qp->hidden_recv != NULL)
        rv_next.destroy_cq(qp->hidden_recv);
    if (qp->hidden_send != NULL)
        rv_next.destroy_cq(qp->hidden_send);
}

void rv_hidden_arm(struct rv_qp *qp)
{
    qp->context->ops.req_notify_cq(qp->hidden_send, 0);
    qp->context->ops.req_notify_cq(qp->hidden_recv, 0);
}

static unsigned side_of(const struct rv_qp *qp, uint32_t qpn)
{
    return qpn == qp->qps[0]->qp_num ? 0 : 1;
}

oche_time rv_time_of(uint64_t stamp_ns, uint64_t wall_ns, oche_time now)
{
    uint64_t ago = wall_ns > stamp_ns ? (wall_ns - stamp_ns) * OCHE_NS : 0;

    return ago < now ? now - ago : 0;
}

static int poll_stamped(struct rv_qp *qp, struct rv_done *done, int most)
{
    struct ibv_poll_cq_attr none = {0};
    uint64_t wall_ns;
    oche_time now;
    int count = 0;

    if (ibv_start_poll(qp->stamped, &none) != 0)
        return 0;
    wall_ns = rv_wall_ns();
    now = rv_now();
    do {
        done[count++] = (struct rv_done){
            .wr_id = qp->stamped->wr_id,
            .status = qp->stamped->status,
            .side = side_of(qp, ibv_wc_read_qp_num(qp->stamped)),
            .when = qp->stamped->status == IBV_WC_SUCCESS
                        ? rv_time_of(ibv_wc_read_completion_wallclock_ns(qp->stamped), wall_ns, now)
                        : now,
        };
    } while (count < most && ibv_next_poll(qp->stamped) == 0);
    ibv_end_poll(qp->stamped);
    return count;
}

int rv_hidden_poll(struct rv_qp *qp, struct rv_done *done, int most)
{
    struct ibv_wc wc[AT_ONCE];
    oche_time now;
    int count;

    if (qp->stamped != NULL)
        return poll_stamped(qp, done, most);
    count = qp->context->ops.poll_cq(qp->hidden_send, most < AT_ONCE ? most : AT_ONCE, wc);
    now = rv_now();
    for (int i = 0; i < count; i++)
        done[i] = (struct rv_done){.wr_id = wc[i].wr_id,
                                   .status = wc[i].status,
                                   .side = side_of(qp, wc[i].qp_num),
                                   .when = now};
    return count < 0 ? 0 : count;
}
