/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory regions. One random key is both lkey and rkey. Relaxed ordering and huge pages have no
 * effect here and are allowed; on-demand paging, dma-buf and device memory are refused.
 */
#include <stdlib.h>
#include <unistd.h>

#include "device/verbs/internal.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

#define KNOWN_ACCESS                                                                               \
    (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |                   \
     IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND | IBV_ACCESS_ZERO_BASED |                       \
     IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE)

uint32_t ov_access_of(unsigned int flags)
{
    return (flags & IBV_ACCESS_LOCAL_WRITE ? OCHE_ACCESS_LOCAL_WRITE : 0) |
           (flags & IBV_ACCESS_REMOTE_WRITE ? OCHE_ACCESS_REMOTE_WRITE : 0) |
           (flags & IBV_ACCESS_REMOTE_READ ? OCHE_ACCESS_REMOTE_READ : 0) |
           (flags & IBV_ACCESS_REMOTE_ATOMIC ? OCHE_ACCESS_REMOTE_ATOMIC : 0) |
           (flags & IBV_ACCESS_MW_BIND ? OCHE_ACCESS_MW_BIND : 0);
}

/* Returns 0, or an errno if the flags are wrong. */
static int check_access(unsigned int access)
{
    const unsigned int writes = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;

    if ((access & ~(unsigned int)KNOWN_ACCESS) != 0)
        return EINVAL;
    if ((access & writes) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0)
        return EINVAL;
    if ((access & IBV_ACCESS_ON_DEMAND) == 0)
        return 0;
    ov_unsupported(OV_ONCE_ODP);
    return EOPNOTSUPP;
}

/* Returns 0, or an errno if the memory is wrong. */
static int check_memory(const void *addr, size_t length, uint64_t iova, unsigned int access)
{
    if (length == 0 || length > UINTPTR_MAX - (uintptr_t)addr || length > UINT64_MAX - iova)
        return EINVAL;
    if (!ov_memory_is_mapped(addr, length, (access & IBV_ACCESS_LOCAL_WRITE) != 0))
        return EFAULT;
    return 0;
}

static struct ibv_mr *reg(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
                          unsigned int access)
{
    struct ov_port *port = ov_port_of(pd->context);
    int error = check_access(access);
    struct ov_mr *mr;

    if ((access & IBV_ACCESS_ZERO_BASED) != 0)
        iova = 0;
    if (error == 0)
        error = ov_refuses(port, OCHE_CALL_REG_MR);
    if (error == 0)
        error = check_memory(addr, length, iova, access);
    if (error != 0)
        return ov_null(error);
    mr = calloc(1, sizeof(*mr));
    if (mr == NULL)
        return ov_null(ENOMEM);
    mr->region = (struct oche_region){.va = iova,
                                      .length = length,
                                      .access = ov_access_of(access),
                                      .pd = ov_pd_of(pd)->number,
                                      .base = addr};
    if (!oche_device_add_region(port->device, &mr->region)) {
        free(mr);
        return ov_null(ENOMEM);
    }
    ov_context_take(pd->context);
    atomic_fetch_add(&ov_pd_of(pd)->users, 1);
    mr->mr = (struct ibv_mr){.context = pd->context,
                             .pd = pd,
                             .addr = addr,
                             .length = length,
                             .handle = mr->region.key,
                             .lkey = mr->region.key,
                             .rkey = mr->region.key};
    return &mr->mr;
}

struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t length, int access)
{
    OV_PASS_ON(pd->context->device, ibv_reg_mr, pd, addr, length, access);
    return reg(pd, addr, length, (uintptr_t)addr, (unsigned int)access);
}

struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
                               int access)
{
    OV_PASS_ON_OR(ov_null(EOPNOTSUPP), pd->context->device, ibv_reg_mr_iova, pd, addr, length, iova,
                  access);
    return reg(pd, addr, length, iova, (unsigned int)access);
}

struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t length, uint64_t iova,
                                unsigned int access)
{
    OV_PASS_ON_OR(ov_null(EOPNOTSUPP), pd->context->device, ibv_reg_mr_iova2, pd, addr, length,
                  iova, access);
    return reg(pd, addr, length, iova, access);
}

struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length, uint64_t iova,
                                 int fd, int access)
{
    OV_PASS_ON_OR(ov_null(EOPNOTSUPP), pd->context->device, ibv_reg_dmabuf_mr, pd, offset, length,
                  iova, fd, access);
    return ov_null(EOPNOTSUPP);
}

int ibv_dereg_mr(struct ibv_mr *mr)
{
    OV_PASS_ON(mr->context->device, ibv_dereg_mr, mr);

    struct ov_mr *own = (struct ov_mr *)(void *)mr;
    struct ov_port *port = ov_port_of(mr->context);
    struct ov_context *context = ov_context_of(mr->context);

    if (ov_foreign(port))
        return EPERM;
    if (!oche_device_deregister(port->device, own->region.key))
        return EBUSY; /* a window is bound to the region */
    atomic_fetch_sub(&ov_pd_of(mr->pd)->users, 1);
    free(own);
    ov_context_release(context);
    return 0;
}

/*
 * Fills in the changed region, with the same key. Returns 0, or an errno if the change is not
 * possible.
 */
static int changed_region(const struct ov_mr *mr, int flags, struct ibv_pd *pd, void *addr,
                          size_t length, int access, struct oche_region *region)
{
    int error = 0;

    *region = mr->region;
    if (flags & IBV_REREG_MR_CHANGE_PD) {
        if (pd == NULL || pd->context != mr->mr.context)
            return EINVAL;
        region->pd = ov_pd_of(pd)->number;
    }
    if (flags & IBV_REREG_MR_CHANGE_ACCESS) {
        error = check_access((unsigned int)access);
        region->access = ov_access_of((unsigned int)access);
    }
    if (error == 0 && (flags & IBV_REREG_MR_CHANGE_TRANSLATION)) {
        region->va = (uintptr_t)addr;
        region->base = addr;
        region->length = length;
    }
    if (error == 0)
        error = check_memory(region->base, region->length, region->va,
                             region->access & OCHE_ACCESS_LOCAL_WRITE ? IBV_ACCESS_LOCAL_WRITE : 0);
    return error;
}

/*
 * The change is made in one step, after all errors have been found; an error leaves the region
 * unchanged. The only error code is IBV_REREG_MR_ERR_INPUT, which means just that.
 */
int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length,
                 int access)
{
    OV_PASS_ON(mr->context->device, ibv_rereg_mr, mr, flags, pd, addr, length, access);

    struct ov_mr *own = (struct ov_mr *)(void *)mr;
    struct ov_port *port = ov_port_of(mr->context);
    struct oche_region region;

    if (flags == 0 || (flags & ~IBV_REREG_MR_FLAGS_SUPPORTED) != 0)
        errno = EINVAL;
    else if (ov_gone(port) != 0)
        errno = ov_gone(port);
    else
        errno = changed_region(own, flags, pd, addr, length, access, &region);
    if (errno != 0)
        return IBV_REREG_MR_ERR_INPUT;
    if (!oche_device_change_region(port->device, &region)) {
        errno = EBUSY; /* a window is bound to the region */
        return IBV_REREG_MR_ERR_INPUT;
    }
    own->region = region;
    mr->addr = region.base;
    mr->length = region.length;
    if (flags & IBV_REREG_MR_CHANGE_PD) {
        atomic_fetch_sub(&ov_pd_of(mr->pd)->users, 1);
        atomic_fetch_add(&ov_pd_of(pd)->users, 1);
        mr->pd = pd;
    }
    return 0;
}

struct ibv_mr *ibv_import_mr(struct ibv_pd *pd, uint32_t mr_handle)
{
    OV_PASS_ON_OR(ov_null(EOPNOTSUPP), pd->context->device, ibv_import_mr, pd, mr_handle);
    return ov_null(EOPNOTSUPP);
}

void ibv_unimport_mr(struct ibv_mr *mr)
{
    OV_PASS_ON_OR((void)0, mr->context->device, ibv_unimport_mr, mr);
}

struct ibv_dm *ibv_import_dm(struct ibv_context *context, uint32_t dm_handle)
{
    OV_PASS_ON_OR(ov_null(EOPNOTSUPP), context->device, ibv_import_dm, context, dm_handle);
    return ov_null(EOPNOTSUPP);
}

void ibv_unimport_dm(struct ibv_dm *dm)
{
    OV_PASS_ON_OR((void)0, dm->context->device, ibv_unimport_dm, dm);
}
