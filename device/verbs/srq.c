/* SPDX-License-Identifier: Apache-2.0 */
/* Shared receive queues: each is one of the core's, in memory of its own. */
#include <stdlib.h>

#include "device/verbs/internal.h"

static uint32_t power_of_two_from(uint32_t count)
{
    uint32_t power = 1;

    while (power < count)
        power *= 2;
    return power;
}

static struct oche_srq *create_core(struct ov_srq *srq, const struct oche_srq_config *config)
{
    void *memory = aligned_alloc(OCHE_CACHE_LINE, oche_lines(oche_srq_bytes(config)));
    struct oche_srq *core;

    if (memory == NULL)
        return NULL;
    oche_device_lock(srq->port->device);
    core = oche_srq_create(oche_device_nic(srq->port->device), memory, config);
    oche_device_unlock(srq->port->device);
    if (core == NULL)
        free(memory);
    return core;
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    OV_PASS_ON(pd->context->device, ibv_create_srq, pd, attr);

    struct ov_srq *srq;
    int error;

    if (attr->attr.max_wr < 1 || attr->attr.max_wr > OV_MAX_WR || attr->attr.max_sge > OCHE_MAX_SGE)
        return ov_null(EINVAL);
    error = ov_refuses(ov_port_of(pd->context), OCHE_CALL_CREATE_SRQ);
    if (error != 0)
        return ov_null(error);
    srq = calloc(1, sizeof(*srq));
    if (srq == NULL)
        return ov_null(ENOMEM);
    srq->port = ov_port_of(pd->context);
    srq->attr = (struct ibv_srq_attr){.max_wr = power_of_two_from(attr->attr.max_wr),
                                      .max_sge = attr->attr.max_sge > 0 ? attr->attr.max_sge : 1};
    srq->core = create_core(srq, &(struct oche_srq_config){.depth = srq->attr.max_wr,
                                                           .max_sge = srq->attr.max_sge,
                                                           .pd = ov_pd_of(pd)->number,
                                                           .user = srq});
    if (srq->core == NULL) {
        free(srq);
        return ov_null(ENOMEM);
    }
    pthread_mutex_init(&srq->lock, NULL);
    pthread_mutex_init(&srq->srq.mutex, NULL);
    pthread_cond_init(&srq->srq.cond, NULL);
    srq->context = ov_context_take(pd->context);
    atomic_fetch_add(&ov_pd_of(pd)->users, 1);
    srq->srq.context = pd->context;
    srq->srq.srq_context = attr->srq_context;
    srq->srq.pd = pd;
    attr->attr.max_wr = srq->attr.max_wr;
    attr->attr.max_sge = srq->attr.max_sge;
    return &srq->srq;
}

/*
 * Changes the number of receives, the limit, or both at once; neither if one of them is impossible.
 */
static int change(struct ov_srq *srq, const struct ibv_srq_attr *attr, int attr_mask, void *memory,
                  uint32_t depth)
{
    int error = 0;

    oche_device_lock(srq->port->device);
    if ((attr_mask & IBV_SRQ_LIMIT ? attr->srq_limit : oche_srq_limit(srq->core)) > depth ||
        (memory != NULL && !oche_srq_resize(srq->core, memory, depth)))
        error = EINVAL;
    else if (attr_mask & IBV_SRQ_LIMIT)
        oche_srq_set_limit(srq->core, attr->srq_limit);
    oche_device_unlock(srq->port->device);
    return error;
}

int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int attr_mask)
{
    OV_PASS_ON(srq->context->device, ibv_modify_srq, srq, attr, attr_mask);

    struct ov_srq *own = ov_srq_of(srq);
    const bool resize = (attr_mask & IBV_SRQ_MAX_WR) != 0;
    void *memory = NULL;
    uint32_t depth;
    int error;

    if ((attr_mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT)) != 0 ||
        (resize && (attr->max_wr < 1 || attr->max_wr > OV_MAX_WR)))
        return EINVAL;
    if (ov_gone(own->port) != 0)
        return ov_gone(own->port);
    pthread_mutex_lock(&own->lock); /* no thread may post meanwhile */
    depth = resize ? power_of_two_from(attr->max_wr) : own->attr.max_wr;
    if (resize)
        memory = malloc(oche_srq_entries_bytes(depth, own->attr.max_sge));
    error = resize && memory == NULL ? ENOMEM : change(own, attr, attr_mask, memory, depth);
    if (error == 0 && resize) {
        free(own->resized);
        own->resized = memory;
        own->attr.max_wr = depth;
    } else {
        free(memory);
    }
    pthread_mutex_unlock(&own->lock);
    return error;
}

int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
    OV_PASS_ON(srq->context->device, ibv_query_srq, srq, attr);

    struct ov_srq *own = ov_srq_of(srq);

    if (ov_foreign(own->port))
        return EPERM;
    pthread_mutex_lock(&own->lock);
    *attr = own->attr;
    oche_device_lock(own->port->device);
    attr->srq_limit = oche_srq_limit(own->core);
    oche_device_unlock(own->port->device);
    pthread_mutex_unlock(&own->lock);
    return 0;
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
    OV_PASS_ON(srq->context->device, ibv_destroy_srq, srq);

    struct ov_srq *own = ov_srq_of(srq);
    struct ov_context *context = own->context;
    bool free_now;

    if (ov_foreign(own->port))
        return EPERM;
    if (atomic_load(&own->users) > 0)
        return EBUSY;
    oche_device_lock(own->port->device);
    free_now = oche_srq_destroy(own->core);
    oche_device_unlock(own->port->device);
    if (!free_now)
        return EBUSY;
    ov_async_forget_srq(own);
    atomic_fetch_sub(&ov_pd_of(srq->pd)->users, 1);
    pthread_mutex_destroy(&own->lock);
    free(own->core);
    free(own->resized);
    free(own);
    ov_context_release(context);
    return 0;
}

int ov_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    struct ov_srq *own = ov_srq_of(srq);
    struct oche_recv_work work;
    int error = 0;

    if (ov_foreign(own->port)) {
        *bad = wr;
        return EPERM;
    }
    pthread_mutex_lock(&own->lock);
    for (; wr != NULL; wr = wr->next) {
        error = ov_fails(own->port, OCHE_CALL_POST_RECV);
        if (error == 0)
            error = ov_recv_work_of(wr, &work);
        if (error == 0)
            error = oche_srq_post_recv(own->core, &work);
        if (error != 0) {
            *bad = wr;
            break;
        }
    }
    pthread_mutex_unlock(&own->lock);
    ov_port_posted(own->port);
    return error;
}

void ov_srq_limit(void *context, struct oche_srq *srq)
{
    struct ov_srq *own = oche_srq_user(srq);
    const struct ibv_async_event event = {.element.srq = &own->srq,
                                          .event_type = IBV_EVENT_SRQ_LIMIT_REACHED};

    (void)context;
    ov_async_push(own->context, &event);
}
