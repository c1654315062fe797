/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thread domains and parent domains. A parent domain is another handle of a protection domain, with
 * the same number: objects of both work together (ibv_alloc_parent_domain(3)). A thread domain
 * promises that only one thread uses its objects; we ignore the promise, and all objects stay safe
 * for several threads. A parent domain with allocators of the program's is rejected: our queues are
 * parts of larger memory.
 */
#include <stdlib.h>

#include "device/verbs/internal.h"

struct ov_td {
    struct ibv_td td;
    struct ov_context *context;
    _Atomic uint32_t users; /* parent domains */
};

struct ibv_td *ov_alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
    struct ov_td *td;

    if (attr->comp_mask != 0)
        return ov_null(EINVAL);
    if (ov_foreign(ov_port_of(context)))
        return ov_null(EPERM);
    td = calloc(1, sizeof(*td));
    if (td == NULL)
        return ov_null(ENOMEM);
    td->context = ov_context_take(context);
    td->td.context = context;
    return &td->td;
}

int ov_dealloc_td(struct ibv_td *td)
{
    struct ov_td *own = (struct ov_td *)(void *)td;

    if (atomic_load(&own->users) > 0)
        return EBUSY;
    ov_context_release(own->context);
    free(own);
    return 0;
}

struct ibv_pd *ov_alloc_parent_domain(struct ibv_context *context,
                                      struct ibv_parent_domain_init_attr *attr)
{
    const uint32_t known =
        IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS | IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT;
    struct ov_td *td = (struct ov_td *)(void *)attr->td;
    struct ov_pd *parent;

    if (attr->pd == NULL || attr->pd->context != context || (attr->comp_mask & ~known) != 0 ||
        (td != NULL && td->td.context != context))
        return ov_null(EINVAL);
    if ((attr->comp_mask & IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS) != 0)
        return ov_null(EOPNOTSUPP);
    if (ov_foreign(ov_port_of(context)))
        return ov_null(EPERM);
    parent = calloc(1, sizeof(*parent));
    if (parent == NULL)
        return ov_null(ENOMEM);
    parent->extends = ov_pd_of(attr->pd);
    parent->td_users = td != NULL ? &td->users : NULL;
    parent->number = parent->extends->number;
    parent->context = ov_context_take(context);
    parent->pd.context = context;
    parent->pd.handle = parent->number;
    atomic_fetch_add(&parent->extends->users, 1);
    if (td != NULL)
        atomic_fetch_add(&td->users, 1);
    return &parent->pd;
}
