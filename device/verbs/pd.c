/* SPDX-License-Identifier: Apache-2.0 */
/* Protection domains are numbers: a queue pair can use only regions that have its number. */
#include <stdlib.h>

#include "device/verbs/internal.h"

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    OV_PASS_ON(context->device, ibv_alloc_pd, context);

    struct ov_pd *pd = calloc(1, sizeof(*pd));
    struct ov_port *port = ov_port_of(context);
    const int error = ov_refuses(port, OCHE_CALL_ALLOC_PD);

    if (pd == NULL || error != 0) {
        free(pd);
        return ov_null(error != 0 ? error : ENOMEM);
    }
    pthread_mutex_lock(&port->lock);
    /* wraps around only after 2^32 domains, and no process allocates so many */
    pd->number = ++port->next_pd;
    pthread_mutex_unlock(&port->lock);
    pd->context = ov_context_take(context);
    pd->pd.context = context;
    pd->pd.handle = pd->number;
    return &pd->pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
    OV_PASS_ON(pd->context->device, ibv_dealloc_pd, pd);

    struct ov_pd *own = ov_pd_of(pd);

    if (atomic_load(&own->users) > 0)
        return EBUSY;
    if (own->extends != NULL)
        atomic_fetch_sub(&own->extends->users, 1);
    if (own->td_users != NULL)
        atomic_fetch_sub(own->td_users, 1);
    ov_context_release(own->context);
    free(own);
    return 0;
}

struct ibv_pd *ibv_import_pd(struct ibv_context *context, uint32_t pd_handle)
{
    OV_PASS_ON_OR(ov_null(EOPNOTSUPP), context->device, ibv_import_pd, context, pd_handle);
    return ov_null(EOPNOTSUPP);
}

void ibv_unimport_pd(struct ibv_pd *pd)
{
    OV_PASS_ON_OR((void)0, pd->context->device, ibv_unimport_pd, pd);
}
