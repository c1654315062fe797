/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A context: an application's view of an open device, with the table of verbs that applications
 * call through pointers. The inline functions of verbs.h refuse a verb that is not in the table
 * with EOPNOTSUPP.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "device/verbs/internal.h"

static void fill(struct ov_context *context)
{
    struct verbs_context *verbs = &context->verbs;
    struct ibv_context_ops *ops = &verbs->context.ops;

    verbs->sz = sizeof(*verbs);
    verbs->query_port = ov_query_port;
    verbs->query_device_ex = ov_query_device_ex;
    verbs->query_rt_values = ov_query_rt_values;
    verbs->create_cq_ex = ov_create_cq_ex;
    verbs->modify_cq = ov_modify_cq;
    verbs->create_qp_ex = ov_create_qp_ex;
    verbs->modify_qp_rate_limit = ov_modify_qp_rate_limit;
    verbs->alloc_td = ov_alloc_td;
    verbs->dealloc_td = ov_dealloc_td;
    verbs->alloc_parent_domain = ov_alloc_parent_domain;
    ov_unsupported_fill(verbs);
    ops->poll_cq = ov_poll_cq;
    ops->req_notify_cq = ov_req_notify_cq;
    ops->post_send = ov_post_send;
    ops->post_recv = ov_post_recv;
    ops->alloc_mw = ov_alloc_mw;
    ops->bind_mw = ov_bind_mw;
    ops->dealloc_mw = ov_dealloc_mw;
    ops->post_srq_recv = ov_post_srq_recv;
    verbs->context.device = &context->device->device;
    verbs->context.cmd_fd = -1;
    verbs->context.num_comp_vectors = 1;
    verbs->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
    pthread_mutex_init(&verbs->context.mutex, NULL);
    pthread_mutex_init(&context->event_lock, NULL);
    context->last_event = &context->first_event;
}

/* ---- the contexts of a port, which get its asynchronous events ---- */

static void join_port(struct ov_context *context)
{
    pthread_mutex_lock(&context->port->lock);
    context->next_of_port = context->port->contexts;
    context->port->contexts = context;
    pthread_mutex_unlock(&context->port->lock);
}

/* In a forked child the port may be locked for ever; it sends no events there. */
static void leave_port(struct ov_context *context)
{
    struct ov_context **link;

    if (ov_foreign(context->port))
        return;
    pthread_mutex_lock(&context->port->lock);
    for (link = &context->port->contexts; *link != context; link = &(*link)->next_of_port)
        continue;
    *link = context->next_of_port;
    pthread_mutex_unlock(&context->port->lock);
}

/* ---- opening and closing ---- */

struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    OV_PASS_ON(device, ibv_open_device, device);

    struct ov_context *context = calloc(1, sizeof(*context));
    int error;

    if (context == NULL)
        return ov_null(ENOMEM);
    error = ov_fail_environment() ? ov_fails(NULL, OCHE_CALL_OPEN_DEVICE) : EINVAL;
    if (error != 0) {
        free(context);
        return ov_null(error);
    }
    context->device = (struct ov_device *)(void *)device;
    context->references = 1;
    fill(context);
    context->verbs.context.async_fd = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
    if (context->verbs.context.async_fd >= 0) {
        context->port = ov_port_open(context->device);
        if (context->port != NULL && ov_gone(context->port) != 0) {
            ov_port_close(context->port);
            errno = EIO;
        } else if (context->port != NULL) {
            ov_device_take(context->device);
            join_port(context);
            return &context->verbs.context;
        }
    }
    error = errno;
    if (context->verbs.context.async_fd >= 0)
        close(context->verbs.context.async_fd);
    free(context);
    return ov_null(error);
}

struct ov_context *ov_context_take(struct ibv_context *context)
{
    struct ov_context *own = ov_context_of(context);

    atomic_fetch_add(&own->references, 1);
    return own;
}

void ov_context_release(struct ov_context *context)
{
    struct ov_event *event;

    if (atomic_fetch_sub(&context->references, 1) > 1)
        return;
    leave_port(context);
    ov_port_close(context->port);
    while ((event = context->first_event) != NULL) {
        context->first_event = event->next;
        free(event);
    }
    close(context->verbs.context.async_fd);
    ov_device_release(context->device);
    free(context);
}

/* The context stays alive until all of its objects are destroyed. */
int ibv_close_device(struct ibv_context *context)
{
    OV_PASS_ON(context->device, ibv_close_device, context);
    ov_context_release(ov_context_of(context));
    return 0;
}

/* Imports a device through a descriptor of the kernel. Our devices have no such descriptors. */
struct ibv_context *ibv_import_device(int cmd_fd)
{
    struct ibv_context *context;

    if (!ov_system_load())
        return ov_null(EINVAL);
    if (!ov_system_loaded() || ov_system->ibv_import_device == NULL)
        return ov_null(EOPNOTSUPP);
    /* ibv_import_device may list its library's devices by a call of our functions */
    ov_system_lists = true;
    context = ov_system->ibv_import_device(cmd_fd);
    ov_system_lists = false;
    return context;
}
