/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of rogue/rogue.h, those that replace libibverbs' (interpose.c has the ones that
 * make objects), and the pointers in a context that verbs are called through. Calls for other
 * objects are passed on unchanged.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "rogue/rogue.h"
#include "rogue/verbs/internal.h"

#define SHOWN __attribute__((visibility("default")))
/* The same function under its name in rogue/rogue.h. */
#define ALSO(name)                                                                                 \
    extern __typeof__(ibv_##name) rogue_##name SHOWN __attribute__((alias("ibv_" #name)))

struct rv_next rv_next;

/* A program that is linked with this library may have libibverbs before or after it. */
static void *find(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name), *library;

    if (found != NULL)
        return found;
    library = dlopen("libibverbs.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return library == NULL ? NULL : dlsym(library, name);
}

__attribute__((constructor)) static void find_next(void)
{
    void (*at_end)(void (*tell)(void)); /* in this project's libibverbs alone */

    *(void **)&at_end = find("oche_at_end");
    if (at_end != NULL)
        at_end(rv_tell_stats);
#define NEXT(name) *(void **)&rv_next.name = find("ibv_" #name)
    NEXT(open_device);
    NEXT(close_device);
    NEXT(create_comp_channel);
    NEXT(destroy_comp_channel);
    NEXT(create_cq);
    NEXT(destroy_cq);
    NEXT(get_cq_event);
    NEXT(ack_cq_events);
    NEXT(create_qp);
    NEXT(modify_qp);
    NEXT(query_qp);
    NEXT(destroy_qp);
    NEXT(get_async_event);
    NEXT(ack_async_event);
#undef NEXT
}

/* ---- verbs that are called through pointers ---- */

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    struct rv_context *own = rv_find(RV_CONTEXT, context);
    enum rv_refusal refusal;
    struct ibv_qp *qp = rv_qp_create(own, attr, false, &refusal);

    if (qp != NULL)
        return qp;
    qp = own->create_qp_ex(context, attr);
    rv_others_use(qp, 1);
    if (qp != NULL)
        rv_count_left(refusal);
    return qp;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    struct rv_context *own = rv_find(RV_CONTEXT, context);
    struct ibv_cq_ex *cq = own->create_cq_ex(context, attr);

    if (cq != NULL && rv_cq_create(own, ibv_cq_ex_to_cq(cq), true) == NULL) {
        rv_next.destroy_cq(ibv_cq_ex_to_cq(cq));
        errno = ENOMEM;
        return NULL;
    }
    return cq;
}

static int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
    struct rv_context *own = rv_find(RV_CONTEXT, qp->context);

    return rv_find(RV_QP, qp) != NULL ? EOPNOTSUPP : own->ops.bind_mw(qp, mw, bind);
}

/* The limiter of a wrapped queue pair is RoGUE's. */
static int modify_qp_rate_limit(struct ibv_qp *qp, struct ibv_qp_rate_limit_attr *attr)
{
    struct rv_context *own = rv_find(RV_CONTEXT, qp->context);

    return rv_find(RV_QP, qp) != NULL ? EOPNOTSUPP : own->modify_qp_rate_limit(qp, attr);
}

static void replace(struct rv_context *own)
{
    struct ibv_context *context = own->context;
    struct verbs_context *more = verbs_get_ctx(context);

    own->ops = context->ops;
    context->ops.poll_cq = rv_poll_cq;
    context->ops.req_notify_cq = rv_req_notify_cq;
    context->ops.post_send = rv_post_send;
    context->ops.post_recv = rv_post_recv;
    context->ops.bind_mw = bind_mw;
    if (more == NULL)
        return;
    own->create_qp_ex = more->create_qp_ex;
    own->create_cq_ex = more->create_cq_ex;
    own->modify_qp_rate_limit = more->modify_qp_rate_limit;
    if (own->create_qp_ex != NULL && rv_interposes())
        more->create_qp_ex = create_qp_ex;
    if (own->create_cq_ex != NULL && rv_interposes())
        more->create_cq_ex = create_cq_ex;
    if (own->modify_qp_rate_limit != NULL)
        more->modify_qp_rate_limit = modify_qp_rate_limit;
}

/* ---- devices ---- */

static void learn(struct rv_context *own)
{
    const uint32_t connected = 1u << IBV_QPT_RC | 1u << IBV_QPT_UC;
    struct ibv_device_attr_ex attr;

    memset(&attr, 0, sizeof(attr));
    if (ibv_query_device_ex(own->context, NULL, &attr) != 0)
        ibv_query_device(own->context, &attr.orig_attr);
    own->most_wr = (uint32_t)attr.orig_attr.max_qp_wr;
    own->limits_rates = attr.packet_pacing_caps.qp_rate_limit_max > 0 &&
                        (attr.packet_pacing_caps.supported_qpts & connected) == connected;
}

static bool adopt(struct ibv_context *context)
{
    struct rv_context *own;

    if (!rv_settings())
        return false;
    if (!rv_thread_start() || (own = calloc(1, sizeof(*own))) == NULL)
        return false;
    own->context = context;
    pthread_mutex_init(&own->limiters_lock, NULL);
    learn(own);
    own->pd = ibv_alloc_pd(context);
    own->hidden = rv_next.create_comp_channel(context);
    if (own->pd == NULL || own->hidden == NULL ||
        fcntl(own->hidden->fd, F_SETFL, O_NONBLOCK) != 0 ||
        !rv_thread_watch(own->hidden->fd, own) || !rv_put(RV_CONTEXT, context, own)) {
        rv_release(own);
        return false;
    }
    replace(own);
    return true;
}

/* Its memory stays: the thread may have taken an event of it. */
void rv_release(struct rv_context *own)
{
    pthread_mutex_lock(&rv_world.lock);
    if (own->hidden != NULL)
        rv_next.destroy_comp_channel(own->hidden);
    own->hidden = NULL;
    pthread_mutex_unlock(&rv_world.lock);
    if (own->pd != NULL)
        ibv_dealloc_pd(own->pd);
    own->pd = NULL;
}

SHOWN struct ibv_context *rogue_open_device(struct ibv_device *device)
{
    struct ibv_context *context = rv_next.open_device(device);

    if (context == NULL || adopt(context))
        return context;
    rv_next.close_device(context);
    errno = EINVAL;
    return NULL;
}

SHOWN int ibv_close_device(struct ibv_context *context)
{
    struct rv_context *own = rv_find(RV_CONTEXT, context);

    if (own != NULL) {
        rv_release(own);
        rv_remove(RV_CONTEXT, context);
    }
    return rv_next.close_device(context);
}
ALSO(close_device);

/* ---- channels and completion queues ---- */

SHOWN struct ibv_comp_channel *rogue_create_comp_channel(struct ibv_context *context)
{
    struct rv_context *own = rv_find(RV_CONTEXT, context);
    struct ibv_comp_channel *channel = rv_next.create_comp_channel(context);
    struct rv_channel *ours;

    if (own == NULL || channel == NULL)
        return channel;
    ours = rv_channel_create(own, channel);
    if (ours != NULL && rv_put(RV_CHANNEL, channel, ours))
        return channel;
    if (ours != NULL)
        rv_channel_destroy(ours);
    rv_next.destroy_comp_channel(channel);
    errno = ENOMEM;
    return NULL;
}

SHOWN int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    struct rv_channel *own = rv_find(RV_CHANNEL, channel);

    if (own != NULL) {
        if (channel->refcnt > 1)
            return EBUSY;
        rv_remove(RV_CHANNEL, channel);
        rv_channel_destroy(own);
    }
    return rv_next.destroy_comp_channel(channel);
}
ALSO(destroy_comp_channel);

SHOWN int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **cq_context)
{
    struct rv_channel *own = rv_find(RV_CHANNEL, channel);

    return own == NULL ? rv_next.get_cq_event(channel, cq, cq_context)
                       : rv_channel_get(own, cq, cq_context);
}
ALSO(get_cq_event);

SHOWN void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
    struct rv_cq *own = rv_find(RV_CQ, cq);
    unsigned int ours = 0;

    if (own != NULL) {
        pthread_mutex_lock(&own->lock);
        ours = count < own->own_events ? count : own->own_events;
        own->own_events -= ours;
        pthread_mutex_unlock(&own->lock);
    }
    if (count > ours)
        rv_next.ack_cq_events(cq, count - ours);
}
ALSO(ack_cq_events);

SHOWN struct ibv_cq *rogue_create_cq(struct ibv_context *context, int cqe, void *cq_context,
                                     struct ibv_comp_channel *channel, int vector)
{
    struct rv_context *own = rv_find(RV_CONTEXT, context);
    struct ibv_cq *cq = rv_next.create_cq(context, cqe, cq_context, channel, vector);

    if (own == NULL || cq == NULL || rv_cq_create(own, cq, false) != NULL)
        return cq;
    rv_next.destroy_cq(cq);
    errno = ENOMEM;
    return NULL;
}

SHOWN int ibv_destroy_cq(struct ibv_cq *cq)
{
    struct rv_cq *own = rv_find(RV_CQ, cq);

    if (own != NULL && (own->others > 0 || rv_cq_destroy(own) != 0))
        return EBUSY;
    return rv_next.destroy_cq(cq);
}
ALSO(destroy_cq);

/* ---- queue pairs ---- */

/* A queue pair that is not wrapped begins (1) or ceases (-1) to use its completion queues. */
void rv_others_use(const struct ibv_qp *qp, int change)
{
    struct ibv_cq *cqs[2] = {qp != NULL ? qp->send_cq : NULL, qp != NULL ? qp->recv_cq : NULL};

    for (unsigned i = 0; i < 2; i++) {
        struct rv_cq *own = cqs[i] != NULL ? rv_find(RV_CQ, cqs[i]) : NULL;
        if (own == NULL)
            continue;
        pthread_mutex_lock(&own->lock);
        atomic_fetch_add(&own->others, (uint32_t)change);
        bool missed = change > 0 && own->armed && !own->plain;
        pthread_mutex_unlock(&own->lock);
        if (missed) /* the event was requested before anybody used the CQ itself */
            own->context->ops.req_notify_cq(cqs[i], 0);
    }
}

struct ibv_qp *rv_wrapped_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr, bool asked,
                             enum rv_refusal *refusal)
{
    struct rv_context *own = rv_find(RV_CONTEXT, pd->context);
    struct ibv_qp_init_attr_ex all = {.qp_context = attr->qp_context,
                                      .send_cq = attr->send_cq,
                                      .recv_cq = attr->recv_cq,
                                      .srq = attr->srq,
                                      .cap = attr->cap,
                                      .qp_type = attr->qp_type,
                                      .sq_sig_all = attr->sq_sig_all,
                                      .comp_mask = IBV_QP_INIT_ATTR_PD,
                                      .pd = pd};
    struct ibv_qp *qp = rv_qp_create(own, &all, asked, refusal);

    if (qp != NULL)
        attr->cap = all.cap;
    return qp;
}

SHOWN struct ibv_qp *rogue_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    enum rv_refusal refusal;

    return rv_wrapped_qp(pd, attr, true, &refusal);
}

SHOWN struct ibv_qp *rogue_create_qp_ex(struct ibv_context *context,
                                        struct ibv_qp_init_attr_ex *attr)
{
    enum rv_refusal refusal;

    return rv_qp_create(rv_find(RV_CONTEXT, context), attr, true, &refusal);
}

/* A verb returns its error. Those of libibverbs also leave it in errno. */
static int with_errno(int error)
{
    if (error > 0)
        errno = error;
    return error;
}

SHOWN int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    struct rv_qp *own = rv_find(RV_QP, qp);

    return own == NULL ? rv_next.modify_qp(qp, attr, mask)
                       : with_errno(rv_qp_modify(own, attr, mask));
}
ALSO(modify_qp);

SHOWN int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
                       struct ibv_qp_init_attr *init_attr)
{
    struct rv_qp *own = rv_find(RV_QP, qp);

    return own == NULL ? rv_next.query_qp(qp, attr, mask, init_attr)
                       : with_errno(rv_qp_query(own, attr, mask, init_attr));
}
ALSO(query_qp);

SHOWN int ibv_destroy_qp(struct ibv_qp *qp)
{
    struct rv_qp *own = rv_find(RV_QP, qp);
    struct ibv_qp copy = {.send_cq = qp->send_cq, .recv_cq = qp->recv_cq};
    int error;

    if (own != NULL)
        return rv_qp_destroy(own);
    error = rv_next.destroy_qp(qp);
    if (error == 0)
        rv_others_use(&copy, -1);
    return error;
}
ALSO(destroy_qp);

/* ---- asynchronous events ---- */

static bool is_of_qp(enum ibv_event_type type)
{
    switch (type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
        return true;
    default:
        return false;
    }
}

/* An event of a shadow is one of the queue pair that the application knows. */
SHOWN int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    int status = rv_next.get_async_event(context, event);
    struct rv_qp *own;

    if (status != 0 || !is_of_qp(event->event_type))
        return status;
    own = rv_find(RV_SHADOW, event->element.qp);
    if (own == NULL)
        return status;
    rv_next.ack_async_event(event);
    event->element.qp = own->qps[0];
    atomic_fetch_add(&own->shadow_events, 1);
    return 0;
}
ALSO(get_async_event);

SHOWN void ibv_ack_async_event(struct ibv_async_event *event)
{
    struct rv_qp *own = is_of_qp(event->event_type) ? rv_find(RV_QP, event->element.qp) : NULL;

    if (own != NULL && atomic_load(&own->shadow_events) > 0)
        atomic_fetch_sub(&own->shadow_events, 1);
    else
        rv_next.ack_async_event(event);
}
ALSO(ack_async_event);
