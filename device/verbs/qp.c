/* SPDX-License-Identifier: Apache-2.0 */
/* Queue pairs: creation, destruction, and queries. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device/qp_numbers.h"
#include "device/shared/sharing.h"
#include "device/verbs/internal.h"

#define BASIC_OPERATIONS                                                                           \
    (IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |        \
     IBV_QP_EX_WITH_SEND_WITH_IMM)
#define UC_OPERATIONS (BASIC_OPERATIONS | IBV_QP_EX_WITH_LOCAL_INV | IBV_QP_EX_WITH_BIND_MW)
#define RC_OPERATIONS                                                                              \
    (UC_OPERATIONS | IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_RDMA_READ |                     \
     IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)

/* ---- checking what is asked for ---- */

static uint64_t operations_of(enum ibv_qp_type type)
{
    switch (type) {
    case IBV_QPT_RC:
        return RC_OPERATIONS;
    case IBV_QPT_UC:
        return UC_OPERATIONS;
    default:
        return IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
    }
}

static uint8_t transport_of(enum ibv_qp_type type)
{
    switch (type) {
    case IBV_QPT_RC:
        return OCHE_TRANSPORT_RC;
    case IBV_QPT_UC:
        return OCHE_TRANSPORT_UC;
    default:
        return OCHE_TRANSPORT_UD;
    }
}

static uint32_t power_of_two_from(uint32_t count)
{
    uint32_t power = count > 0 ? 1 : 0;

    while (power < count)
        power *= 2;
    return power;
}

/* Returns 0 or an errno. */
static int check(struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr)
{
    const uint32_t masks = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    const struct ibv_qp_cap *cap = &attr->cap;

    ov_unsupported_qp(attr->qp_type);
    if ((attr->comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || attr->pd == NULL)
        return EINVAL;
    if ((attr->comp_mask & ~masks) != 0)
        return EOPNOTSUPP;
    if (attr->qp_type != IBV_QPT_RC && attr->qp_type != IBV_QPT_UC && attr->qp_type != IBV_QPT_UD)
        return EOPNOTSUPP;
    if (attr->srq != NULL && attr->srq->context != context)
        return EINVAL;
    if (attr->pd->context != context || attr->send_cq == NULL || attr->recv_cq == NULL ||
        attr->send_cq->context != context || attr->recv_cq->context != context)
        return EINVAL;
    if (cap->max_send_wr > OV_MAX_WR || cap->max_send_sge > OCHE_MAX_SGE ||
        cap->max_inline_data > OCHE_MAX_INLINE_BYTES)
        return EINVAL;
    /* With a shared receive queue these two are ignored (ibv_create_qp(3)). */
    if (attr->srq == NULL && (cap->max_recv_wr > OV_MAX_WR || cap->max_recv_sge > OCHE_MAX_SGE))
        return EINVAL;
    if ((attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0 &&
        (attr->send_ops_flags & ~operations_of(attr->qp_type)) != 0)
        return EOPNOTSUPP;
    return ov_refuses(ov_port_of(context), OCHE_CALL_CREATE_QP);
}

/*
 * Sets the queue pair's capacities, and stores them in `asked`. They are at least as large as asked
 * for; in strict mode they are exactly that large.
 */
static void set_cap(struct ov_qp *qp, struct ibv_qp_cap *asked, bool shared)
{
    asked->max_send_wr = asked->max_send_wr > 0 ? asked->max_send_wr : 1;
    if (shared)
        asked->max_recv_wr = asked->max_recv_sge = 0;
    if (!qp->port->strict) {
        asked->max_send_wr = power_of_two_from(asked->max_send_wr);
        asked->max_recv_wr = power_of_two_from(asked->max_recv_wr);
    }
    asked->max_send_sge = asked->max_send_sge > 0 ? asked->max_send_sge : 1;
    if (!shared && asked->max_recv_sge == 0)
        asked->max_recv_sge = 1;
    qp->cap = *asked;
}

static struct oche_qp *create_core(struct ov_qp *qp, const struct ibv_qp_init_attr_ex *attr,
                                   uint32_t number)
{
    const bool reliable = attr->qp_type == IBV_QPT_RC;
    const struct oche_qp_config config = {
        .transport = transport_of(attr->qp_type),
        .qpn = number,
        .srq = attr->srq != NULL ? ov_srq_of(attr->srq)->core : NULL,
        .pd = ov_pd_of(attr->pd)->number,
        .mtu_bytes = qp->largest_packet,
        .send_depth = power_of_two_from(qp->cap.max_send_wr),
        .recv_depth = power_of_two_from(qp->cap.max_recv_wr),
        .responder_resources = reliable ? OV_MAX_RD_ATOMIC : 0,
        .initiator_depth = reliable ? OV_MAX_RD_ATOMIC : 0,
        .max_send_sge = qp->cap.max_send_sge,
        .max_recv_sge = qp->cap.max_recv_sge,
        .windows = attr->qp_type != IBV_QPT_UD,
        .groups = attr->qp_type == IBV_QPT_RC && oche_device_names_groups(qp->port->device),
        .max_inline_bytes = qp->cap.max_inline_data,
        .send_cq = ov_cq_of(attr->send_cq)->ring,
        .recv_cq = ov_cq_of(attr->recv_cq)->ring,
        .user = qp,
    };
    struct oche_qp *core;

    ov_warn_unlimited(&config);
    core = oche_device_create_qp(qp->port->device, &config);
    if (core == NULL && errno == EADDRNOTAVAIL)
        ov_say_once(
            OV_ONCE_NUMBERS,
            "no queue pair number is free: each rests for %d s after its queue pair, so that "
            "late packets meet no other; make fewer than %u a minute, or use queue pairs "
            "again (IBV_QPS_RESET)",
            (int)(OCHE_QPN_REST / OCHE_SEC), 1u << OCHE_SLOT_SHIFT);
    return core;
}

/* ---- creation and destruction ---- */

static void take_references(struct ov_qp *qp)
{
    const uint32_t unreliable = qp->qp.qp_type == IBV_QPT_UC;

    atomic_fetch_add(&ov_pd_of(qp->qp.pd)->users, 1);
    atomic_fetch_add(&ov_cq_of(qp->qp.send_cq)->users, 1);
    atomic_fetch_add(&ov_cq_of(qp->qp.recv_cq)->users, 1);
    atomic_fetch_add(&ov_cq_of(qp->qp.send_cq)->unreliable, unreliable);
    atomic_fetch_add(&ov_cq_of(qp->qp.recv_cq)->unreliable, unreliable);
    if (qp->qp.srq != NULL)
        atomic_fetch_add(&ov_srq_of(qp->qp.srq)->users, 1);
}

static void release_references(struct ov_qp *qp)
{
    const uint32_t unreliable = qp->qp.qp_type == IBV_QPT_UC;

    atomic_fetch_sub(&ov_pd_of(qp->qp.pd)->users, 1);
    atomic_fetch_sub(&ov_cq_of(qp->qp.send_cq)->users, 1);
    atomic_fetch_sub(&ov_cq_of(qp->qp.recv_cq)->users, 1);
    atomic_fetch_sub(&ov_cq_of(qp->qp.send_cq)->unreliable, unreliable);
    atomic_fetch_sub(&ov_cq_of(qp->qp.recv_cq)->unreliable, unreliable);
    if (qp->qp.srq != NULL)
        atomic_fetch_sub(&ov_srq_of(qp->qp.srq)->users, 1);
}

struct ibv_qp *ov_create_qp_numbered(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr,
                                     uint32_t number)
{
    const int error = check(context, attr);
    struct ov_qp *qp;

    if (error != 0)
        return ov_null(error);
    qp = calloc(1, sizeof(*qp));
    if (qp == NULL)
        return ov_null(ENOMEM);
    qp->port = ov_port_of(context);
    qp->signal_all = attr->sq_sig_all != 0;
    qp->largest_packet =
        attr->qp_type == IBV_QPT_UD ? UINT32_C(128) << ov_port_mtu(qp->port) : OV_MAX_MTU;
    set_cap(qp, &attr->cap, attr->srq != NULL);
    if ((attr->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) == 0 ||
        ov_qp_ex_init(qp, attr->qp_type == IBV_QPT_UD))
        qp->core = create_core(qp, attr, number);
    if (qp->core == NULL) {
        ov_qp_ex_destroy(qp);
        free(qp);
        return ov_null(ENOMEM);
    }
    pthread_mutex_init(&qp->send_lock, NULL);
    pthread_mutex_init(&qp->recv_lock, NULL);
    pthread_mutex_init(&qp->state_lock, NULL);
    pthread_mutex_init(&qp->qp.mutex, NULL);
    pthread_cond_init(&qp->qp.cond, NULL);
    qp->context = ov_context_take(context);
    qp->qp.context = context;
    qp->qp.qp_context = attr->qp_context;
    qp->qp.pd = attr->pd;
    qp->qp.send_cq = attr->send_cq;
    qp->qp.recv_cq = attr->recv_cq;
    qp->qp.srq = attr->srq;
    qp->qp.qp_num = qp->qp.handle = oche_qp_number(qp->core);
    qp->qp.state = IBV_QPS_RESET;
    qp->qp.qp_type = attr->qp_type;
    take_references(qp);
    if (!qp->port->strict || number != 0 || ov_strict_add(qp)) /* not queue pair 1, our own */
        return &qp->qp;
    ibv_destroy_qp(&qp->qp);
    return ov_null(ENOMEM);
}

struct ibv_qp *ov_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    return ov_create_qp_numbered(context, attr, 0);
}

struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    OV_PASS_ON(pd->context->device, ibv_create_qp, pd, attr);

    struct ibv_qp_init_attr_ex all = {.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = pd};
    struct ibv_qp *qp;

    /* ibv_qp_init_attr_ex begins with the members of ibv_qp_init_attr. */
    memcpy(&all, attr,
           offsetof(struct ibv_qp_init_attr_ex, comp_mask) < sizeof(*attr)
               ? offsetof(struct ibv_qp_init_attr_ex, comp_mask)
               : sizeof(*attr));
    all.comp_mask = IBV_QP_INIT_ATTR_PD;
    qp = ov_create_qp_ex(pd->context, &all);
    attr->cap = all.cap;
    return qp;
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
    OV_PASS_ON(qp->context->device, ibv_destroy_qp, qp);

    struct ov_qp *own = ov_qp_of(qp);
    struct ov_context *context = own->context;

    if (ov_foreign(own->port))
        return EPERM;
    oche_device_destroy_qp(own->port->device, own->core);
    ov_qp_release_peer(own);
    ov_async_forget_qp(own);
    ov_cq_forget_qp(ov_cq_of(qp->send_cq), qp->qp_num);
    ov_cq_forget_qp(ov_cq_of(qp->recv_cq), qp->qp_num);
    ov_strict_remove(own);
    release_references(own);
    ov_qp_ex_destroy(own);
    pthread_mutex_destroy(&own->send_lock);
    pthread_mutex_destroy(&own->recv_lock);
    pthread_mutex_destroy(&own->state_lock);
    free(own);
    ov_context_release(context);
    return 0;
}

/* ---- queries ---- */

enum ibv_qp_state ov_qp_state_of(const struct oche_qp *qp)
{
    static const enum ibv_qp_state names[] = {
        [OCHE_QP_RESET] = IBV_QPS_RESET, [OCHE_QP_INIT] = IBV_QPS_INIT, [OCHE_QP_RTR] = IBV_QPS_RTR,
        [OCHE_QP_RTS] = IBV_QPS_RTS,     [OCHE_QP_SQD] = IBV_QPS_SQD,   [OCHE_QP_SQE] = IBV_QPS_SQE,
        [OCHE_QP_ERR] = IBV_QPS_ERR,
    };

    return names[oche_qp_state(qp)];
}

/*
 * PSNs are shown as they are now, as RNICs do. Before a state change has given them to the core,
 * and after a reset, they are those of the attributes. Called under the device's lock.
 */
static void show_psns(const struct ov_qp *qp, struct ibv_qp_attr *attr)
{
    if (attr->qp_state < IBV_QPS_RTR)
        return;
    if (qp->qp.qp_type != IBV_QPT_UD) /* datagrams may have any PSN */
        attr->rq_psn = oche_qp_recv_psn(qp->core);
    if (attr->qp_state > IBV_QPS_RTR)
        attr->sq_psn = oche_qp_send_psn(qp->core);
}

/* Returns all attributes. Ignores the mask, which only says which of them must be right. */
int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask,
                 struct ibv_qp_init_attr *init_attr)
{
    OV_PASS_ON(qp->context->device, ibv_query_qp, qp, attr, attr_mask, init_attr);

    struct ov_qp *own = ov_qp_of(qp);

    if (ov_foreign(own->port))
        return EPERM;
    pthread_mutex_lock(&own->state_lock);
    oche_device_lock(own->port->device);
    *attr = own->attr;
    attr->qp_state = attr->cur_qp_state = ov_qp_state_of(own->core);
    attr->sq_draining = attr->qp_state == IBV_QPS_SQD && !oche_qp_drained(own->core);
    show_psns(own, attr);
    oche_device_unlock(own->port->device);
    attr->cap = own->cap;
    qp->state = attr->qp_state;
    pthread_mutex_unlock(&own->state_lock);
    *init_attr = (struct ibv_qp_init_attr){
        .qp_context = qp->qp_context,
        .send_cq = qp->send_cq,
        .recv_cq = qp->recv_cq,
        .srq = qp->srq,
        .cap = own->cap,
        .qp_type = qp->qp_type,
        .sq_sig_all = own->signal_all,
    };
    return 0;
}

/*
 * Recovery may place packets out of order, so the arrival of a byte does not mean that all bytes
 * before it have arrived.
 */
int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode op, uint32_t flags)
{
    OV_PASS_ON_OR(0, qp->context->device, ibv_query_qp_data_in_order, qp, op, flags);
    return 0;
}

/*
 * Enhanced connection establishment negotiates options between two RNICs of one vendor; we have
 * none.
 */
int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    OV_PASS_ON_OR(EOPNOTSUPP, qp->context->device, ibv_set_ece, qp, ece);
    if (ece->vendor_id == 0)
        return 0;
    ov_unsupported(OV_ONCE_ECE);
    return EOPNOTSUPP;
}

int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    OV_PASS_ON_OR(EOPNOTSUPP, qp->context->device, ibv_query_ece, qp, ece);
    *ece = (struct ibv_ece){0};
    return 0;
}

int ov_modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
    struct ov_qp *own = ov_qp_of(qp);
    enum ibv_qp_state state;
    bool may;

    if (attr->comp_mask != 0)
        return EOPNOTSUPP;
    if (ov_foreign(own->port))
        return EPERM;
    pthread_mutex_lock(&own->state_lock);
    oche_device_lock(own->port->device);
    state = ov_qp_state_of(own->core);
    may = state == IBV_QPS_RTR || state == IBV_QPS_RTS;
    if (may) {
        oche_qp_set_rate_limit(own->core, attr->rate_limit * OCHE_KBPS,
                               oche_device_now(own->port->device));
        own->attr.rate_limit = attr->rate_limit;
    }
    oche_device_unlock(own->port->device);
    pthread_mutex_unlock(&own->state_lock);
    return may ? 0 : EINVAL;
}

/* ---- events ---- */

void ov_qp_event(void *context, struct oche_qp *qp, enum oche_qp_event event)
{
    static const enum ibv_event_type names[] = {
        [OCHE_QP_EVENT_LAST_RECEIVE] = IBV_EVENT_QP_LAST_WQE_REACHED,
        [OCHE_QP_EVENT_BAD_REQUEST] = IBV_EVENT_QP_REQ_ERR,
        [OCHE_QP_EVENT_BAD_ACCESS] = IBV_EVENT_QP_ACCESS_ERR,
        [OCHE_QP_EVENT_FATAL] = IBV_EVENT_QP_FATAL,
        [OCHE_QP_EVENT_ESTABLISHED] = IBV_EVENT_COMM_EST,
        [OCHE_QP_EVENT_DRAINED] = IBV_EVENT_SQ_DRAINED,
    };
    struct ov_qp *own = oche_qp_user(qp);

    if (event == OCHE_QP_EVENT_DRAINED && !own->attr.en_sqd_async_notify)
        return;
    const struct ibv_async_event told = {.element.qp = &own->qp, .event_type = names[event]};

    (void)context;
    ov_async_push(own->context, &told);
}
