/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queue pairs, shared receive queues and completion queues of identifiers. A program that gives no
 * completion queue gets one with a channel of its own, which rdma_verbs.h waits at. Where the
 * identifier is the system's, its library makes the queue pair and the shared receive queue.
 */
#include "device/cm/internal.h"

/* ---- completion queues ---- */

/* Makes a queue of `entries` with a channel. Returns false with errno; then neither exists. */
static bool make_cq(struct rdma_cm_id *id, uint32_t entries, struct ibv_comp_channel **channel,
                    struct ibv_cq **cq)
{
    *channel = ibv_create_comp_channel(id->verbs);
    if (*channel == NULL)
        return false;
    *cq = ibv_create_cq(id->verbs, entries > 0 ? (int)entries : 1, id, *channel, 0);
    if (*cq != NULL)
        return true;
    ibv_destroy_comp_channel(*channel);
    *channel = NULL;
    return false;
}

static void destroy_cq(struct ibv_comp_channel **channel, struct ibv_cq **cq)
{
    if (*cq != NULL)
        ibv_destroy_cq(*cq);
    if (*channel != NULL)
        ibv_destroy_comp_channel(*channel);
    *cq = NULL;
    *channel = NULL;
}

/* Destroys the completion queues that we made: those whose channel is in the identifier. */
void cm_destroy_cqs(struct cm_id *own)
{
    struct rdma_cm_id *id = &own->id;

    if (id->qp_type == IBV_QPT_XRC_RECV && id->srq != NULL)
        return;
    if (id->recv_cq_channel != NULL && id->srq == NULL)
        destroy_cq(&id->recv_cq_channel, &id->recv_cq);
    if (id->send_cq_channel != NULL)
        destroy_cq(&id->send_cq_channel, &id->send_cq);
}

/* ---- queue pairs ---- */

static int to_state(struct rdma_cm_id *id, enum ibv_qp_state state)
{
    struct ibv_qp_attr attr = {.qp_state = state};
    int mask = 0;

    if (rdma_init_qp_attr(id, &attr, &mask) != 0)
        return -1;
    return cm_result(ibv_modify_qp(id->qp, &attr, mask));
}

/* A connection's queue pair waits in INIT; one for datagrams is ready. */
static int initialise(struct rdma_cm_id *id)
{
    if (to_state(id, IBV_QPS_INIT) != 0)
        return -1;
    if (id->qp_type != IBV_QPT_UD)
        return 0;
    return to_state(id, IBV_QPS_RTR) != 0 || to_state(id, IBV_QPS_RTS) != 0 ? -1 : 0;
}

static void forget_qp(struct cm_id *own)
{
    own->id.qp = NULL;
    cm_destroy_cqs(own);
    if (own->id.send_cq_channel == NULL)
        own->id.send_cq = NULL;
    if (own->id.recv_cq_channel == NULL)
        own->id.recv_cq = NULL;
}

/*
 * Returns for how many receives a completion queue must have room. With a shared receive queue that
 * is its size; the queue pair's own number is then ignored.
 */
static uint32_t receives_of(const struct cm_id *own, const struct ibv_qp_init_attr_ex *attr)
{
    struct ibv_srq_attr shared;

    if (own->is_theirs || attr->srq == NULL || ibv_query_srq(attr->srq, &shared) != 0)
        return attr->cap.max_recv_wr;
    return shared.max_wr;
}

/* Makes the queues that the program has not given. Returns false with errno; then none exists. */
static bool make_cqs(struct cm_id *own, struct ibv_qp_init_attr_ex *attr)
{
    struct rdma_cm_id *id = &own->id;
    /* a queue pair of XRC has one side */
    const bool sends = !own->is_theirs || attr->cap.max_send_wr > 0;
    const bool receives = !own->is_theirs || attr->cap.max_recv_wr > 0;

    if (attr->send_cq == NULL && sends) {
        if (!make_cq(id, attr->cap.max_send_wr, &id->send_cq_channel, &id->send_cq))
            return false;
        attr->send_cq = id->send_cq;
    }
    if (attr->recv_cq == NULL && receives) {
        if (!make_cq(id, receives_of(own, attr), &id->recv_cq_channel, &id->recv_cq)) {
            cm_destroy_cqs(own);
            return false;
        }
        attr->recv_cq = id->recv_cq;
    }
    return true;
}

/* Makes the queue pair and takes it to its first state. Returns an errno; then none exists. */
static int make_qp(struct cm_id *own, struct ibv_qp_init_attr_ex *attr)
{
    struct rdma_cm_id *id = &own->id;
    int error;

    if (own->is_theirs) {
        if (CM_SYSTEM(rdma_create_qp_ex, cm_system_set_qp(own), attr) != 0)
            return errno;
        id->qp = own->theirs->qp;
        return 0;
    }
    /* as large as its descriptors' place, as with soft-RoCE: rdma_xclient asks for none */
    if (attr->cap.max_inline_data < attr->cap.max_send_sge * sizeof(struct ibv_sge))
        attr->cap.max_inline_data = (uint32_t)(attr->cap.max_send_sge * sizeof(struct ibv_sge));
    id->qp = ibv_create_qp_ex(id->verbs, attr);
    if (id->qp != NULL && initialise(id) == 0)
        return 0;
    error = errno;
    if (id->qp != NULL)
        ibv_destroy_qp(id->qp);
    return error;
}

int rdma_create_qp_ex(struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *attr)
{
    struct cm_id *own = cm_id_of(id);
    int error;

    CM_IF_SYSTEM_CALLS(rdma_create_qp_ex, id, attr);
    if (id->qp != NULL || id->verbs == NULL)
        return cm_result(EINVAL);
    if ((attr->comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || attr->pd == NULL) {
        attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
        attr->pd = id->pd;
    } else if (attr->pd->context != id->verbs) {
        return cm_result(EINVAL);
    }
    if (attr->srq == NULL)
        attr->srq = id->srq;
    if (attr->recv_cq == NULL && attr->srq != NULL && id->recv_cq != NULL)
        attr->recv_cq = id->recv_cq;
    if (!make_cqs(own, attr))
        return -1;
    id->send_cq = attr->send_cq;
    id->recv_cq = attr->recv_cq;
    error = make_qp(own, attr);
    if (error != 0) {
        forget_qp(own);
        return cm_result(error);
    }
    id->pd = id->qp->pd;
    return 0;
}

int rdma_create_qp(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *qp_init_attr)
{
    struct ibv_qp_init_attr_ex all = {
        .qp_context = qp_init_attr->qp_context,
        .send_cq = qp_init_attr->send_cq,
        .recv_cq = qp_init_attr->recv_cq,
        .srq = qp_init_attr->srq,
        .cap = qp_init_attr->cap,
        .qp_type = qp_init_attr->qp_type,
        .sq_sig_all = qp_init_attr->sq_sig_all,
        .comp_mask = pd != NULL ? IBV_QP_INIT_ATTR_PD : 0,
        .pd = pd,
    };
    int result;

    CM_IF_SYSTEM_CALLS(rdma_create_qp, id, pd, qp_init_attr);
    if (!cm_id_of(id)->is_theirs && all.qp_type != id->qp_type &&
        !(id->qp_type == IBV_QPT_RC && all.qp_type == IBV_QPT_UC))
        return cm_result(EINVAL);
    if (!cm_id_of(id)->is_theirs)
        id->qp_type = all.qp_type;
    result = rdma_create_qp_ex(id, &all);
    qp_init_attr->qp_type = all.qp_type;
    qp_init_attr->cap = all.cap;
    qp_init_attr->send_cq = all.send_cq;
    qp_init_attr->recv_cq = all.recv_cq;
    return result;
}

void rdma_destroy_qp(struct rdma_cm_id *id)
{
    CM_IF_SYSTEM_CALLS(rdma_destroy_qp, id);
    if (id->qp == NULL)
        return;
    if (cm_id_of(id)->is_theirs)
        CM_SYSTEM_VOID(rdma_destroy_qp, cm_system_set_qp(cm_id_of(id)));
    else
        ibv_destroy_qp(id->qp);
    forget_qp(cm_id_of(id));
}

int cm_create_kept_qp(struct cm_id *id, const struct cm_id *from)
{
    struct ibv_qp_init_attr attr;

    if (from->qp_init_attr == NULL)
        return 0;
    attr = *from->qp_init_attr;
    return rdma_create_qp(&id->id, from->id.pd, &attr);
}

/* ---- shared receive queues ---- */

/* A shared receive queue for XRC needs a completion queue when it is made. */
static int create_their_srq(struct cm_id *own, struct ibv_srq_init_attr_ex *attr)
{
    struct rdma_cm_id *id = &own->id;
    const bool xrc =
        (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) != 0 && attr->srq_type == IBV_SRQT_XRC;
    bool made = false;

    if (xrc && ((attr->comp_mask & IBV_SRQ_INIT_ATTR_CQ) == 0 || attr->cq == NULL)) {
        made = id->recv_cq == NULL;
        if (made && !make_cq(id, attr->attr.max_wr, &id->recv_cq_channel, &id->recv_cq))
            return -1;
        attr->cq = id->recv_cq;
        attr->comp_mask |= IBV_SRQ_INIT_ATTR_CQ;
    }
    if (CM_SYSTEM(rdma_create_srq_ex, own->theirs, attr) != 0) {
        const int error = errno;

        if (made)
            destroy_cq(&id->recv_cq_channel, &id->recv_cq);
        return cm_result(error);
    }
    id->srq = own->theirs->srq;
    if (id->pd == NULL)
        id->pd = own->theirs->pd;
    return 0;
}

int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr)
{
    struct ibv_srq *srq;

    CM_IF_SYSTEM_CALLS(rdma_create_srq_ex, id, attr);
    if (cm_id_of(id)->is_theirs)
        return create_their_srq(cm_id_of(id), attr);
    if (id->srq != NULL || id->verbs == NULL)
        return cm_result(EINVAL);
    if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) != 0 && attr->srq_type != IBV_SRQT_BASIC) {
        cm_not_basic(attr->srq_type);
        return cm_result(EOPNOTSUPP);
    }
    struct ibv_pd *pd = (attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) != 0 ? attr->pd : id->pd;
    struct ibv_srq_init_attr basic = {.srq_context = attr->srq_context, .attr = attr->attr};

    if (pd == NULL || pd->context != id->verbs)
        return cm_result(EINVAL);
    srq = ibv_create_srq(pd, &basic);
    if (srq == NULL)
        return -1;
    attr->attr = basic.attr;
    if (id->recv_cq == NULL &&
        !make_cq(id, attr->attr.max_wr, &id->recv_cq_channel, &id->recv_cq)) {
        ibv_destroy_srq(srq);
        return -1;
    }
    id->pd = pd;
    id->srq = srq;
    return 0;
}

int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    struct ibv_srq_init_attr_ex all = {.srq_context = attr->srq_context,
                                       .attr = attr->attr,
                                       .comp_mask = pd != NULL ? IBV_SRQ_INIT_ATTR_PD : 0,
                                       .pd = pd};
    int result;

    CM_IF_SYSTEM_CALLS(rdma_create_srq, id, pd, attr);
    if (cm_id_of(id)->is_theirs) { /* the system's library must know that it is not XRC's */
        all.comp_mask |= IBV_SRQ_INIT_ATTR_TYPE;
        all.srq_type = IBV_SRQT_BASIC;
    }
    result = rdma_create_srq_ex(id, &all);
    attr->attr = all.attr;
    return result;
}

void rdma_destroy_srq(struct rdma_cm_id *id)
{
    CM_IF_SYSTEM_CALLS(rdma_destroy_srq, id);
    if (id->srq == NULL)
        return;
    if (cm_id_of(id)->is_theirs)
        CM_SYSTEM_VOID(rdma_destroy_srq, cm_id_of(id)->theirs);
    else
        ibv_destroy_srq(id->srq);
    id->srq = NULL;
    if (id->recv_cq_channel != NULL && id->qp == NULL)
        destroy_cq(&id->recv_cq_channel, &id->recv_cq);
}
