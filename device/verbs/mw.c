/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory windows. A window of type 1 is bound by ibv_bind_mw, which chooses the next key; one of
 * type 2 is bound by a work request, with a key chosen by the application.
 */
#include <stdlib.h>

#include "device/verbs/internal.h"

#define TRIES 100 /* most random keys that are tried, as a key may be in use */

static struct oche_window *create_core(struct ov_mw *mw, uint32_t pd, enum ibv_mw_type type)
{
    void *memory = malloc(oche_window_bytes());
    struct oche_window *core = NULL;
    bool room;

    if (memory == NULL)
        return NULL;
    oche_device_lock(mw->port->device);
    room = oche_device_make_region_room(mw->port->device);
    for (int i = 0; i < TRIES && room && core == NULL; i++) {
        struct oche_window_config config = {.pd = pd,
                                            .type = type == IBV_MW_TYPE_1 ? OCHE_WINDOW_TYPE_1
                                                                          : OCHE_WINDOW_TYPE_2,
                                            .user = mw};

        if (!oche_device_random_key(mw->port->device, &config.key))
            break;
        core = oche_window_create(oche_device_nic(mw->port->device), memory, &config);
    }
    oche_device_unlock(mw->port->device);
    if (core == NULL)
        free(memory);
    return core;
}

struct ibv_mw *ov_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
    struct ov_port *port = ov_port_of(pd->context);
    const int error = ov_refuses(port, OCHE_CALL_ALLOC_MW);
    struct ov_mw *mw;

    if (type != IBV_MW_TYPE_1 && type != IBV_MW_TYPE_2)
        return ov_null(EINVAL);
    if (error != 0)
        return ov_null(error);
    mw = calloc(1, sizeof(*mw));
    if (mw == NULL)
        return ov_null(ENOMEM);
    mw->port = port;
    mw->core = create_core(mw, ov_pd_of(pd)->number, type);
    if (mw->core == NULL) {
        free(mw);
        return ov_null(ENOMEM);
    }
    pthread_mutex_init(&mw->bind_lock, NULL);
    mw->context = ov_context_take(pd->context);
    atomic_fetch_add(&ov_pd_of(pd)->users, 1);
    mw->mw = (struct ibv_mw){.context = pd->context,
                             .pd = pd,
                             .rkey = oche_window_key(mw->core),
                             .handle = oche_window_key(mw->core),
                             .type = type};
    return &mw->mw;
}

int ov_dealloc_mw(struct ibv_mw *mw)
{
    struct ov_mw *own = (struct ov_mw *)(void *)mw;
    struct ov_context *context = own->context;
    bool done;

    if (ov_foreign(own->port))
        return EPERM;
    oche_device_lock(own->port->device);
    done = oche_window_destroy(own->core);
    oche_device_unlock(own->port->device);
    if (!done)
        return EBUSY; /* a bind of this window is in progress */
    atomic_fetch_sub(&ov_pd_of(mw->pd)->users, 1);
    pthread_mutex_destroy(&own->bind_lock);
    free(own->core);
    free(own);
    ov_context_release(context);
    return 0;
}

int ov_bind_of(const struct ov_qp *qp, struct ibv_mw *mw, uint32_t rkey,
               const struct ibv_mw_bind_info *info, struct oche_bind *bind)
{
    /* Flags that have no meaning for a window. RNICs accept these flags, so programs set them. */
    const unsigned int ignored = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_OPTIONAL_RANGE;
    const unsigned int known = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                               IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED;
    const unsigned int flags = info->mw_access_flags & ~ignored;

    if (mw == NULL || (flags & ~known) != 0 || (info->mr == NULL && info->length > 0))
        return EINVAL;
    if (!ov_same_pd(mw->pd, qp->qp.pd) || (info->mr != NULL && !ov_same_pd(info->mr->pd, mw->pd)))
        return EPERM;
    *bind =
        (struct oche_bind){.window = ((struct ov_mw *)(void *)mw)->core,
                           .rkey = rkey,
                           .lkey = info->mr != NULL ? info->mr->lkey : 0,
                           .va = info->addr,
                           .length = info->length,
                           .access = ov_access_of(flags) |
                                     (flags & IBV_ACCESS_ZERO_BASED ? OCHE_ACCESS_ZERO_BASED : 0u)};
    return 0;
}

int ov_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *mw_bind)
{
    struct ov_qp *own = ov_qp_of(qp);
    struct ov_mw *window = (struct ov_mw *)(void *)mw;
    struct oche_bind bind;
    struct oche_send_work work = {.wr_id = mw_bind->wr_id,
                                  .opcode = OCHE_WORK_BIND_MW,
                                  .flags = ov_work_flags_of(own, mw_bind->send_flags),
                                  .bind = &bind};
    int error;

    if (ov_foreign(own->port))
        return EPERM;
    if (mw->type != IBV_MW_TYPE_1 || (work.flags & OCHE_WORK_INLINE) != 0)
        return EINVAL;
    pthread_mutex_lock(&window->bind_lock);
    error = ov_bind_of(own, mw, ibv_inc_rkey(mw->rkey), &mw_bind->bind_info, &bind);
    if (error == 0) {
        pthread_mutex_lock(&own->send_lock);
        error = oche_qp_post_send(own->core, &work);
        pthread_mutex_unlock(&own->send_lock);
    }
    if (error == 0)
        mw->rkey = bind.rkey;
    pthread_mutex_unlock(&window->bind_lock);
    if (error == 0)
        ov_port_posted(own->port);
    return error;
}
