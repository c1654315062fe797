/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdma_getaddrinfo: converts names and services to addresses, by the C library. InfiniBand's own
 * addresses are left to the system's librdmacm. Results of both are freed here.
 */
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device/cm/internal.h"

static int socket_type(const struct rdma_addrinfo *hints)
{
    return hints != NULL && hints->ai_port_space == RDMA_PS_UDP ? SOCK_DGRAM : SOCK_STREAM;
}

static void *copy(const void *bytes, size_t count)
{
    void *made = count > 0 ? malloc(count) : NULL;

    if (made != NULL)
        memcpy(made, bytes, count);
    return made;
}

/* Fills in the hints' values, or those of the kind of socket. */
static void choose_type(struct rdma_addrinfo *result, const struct rdma_addrinfo *hints, int type)
{
    result->ai_port_space = hints != NULL ? hints->ai_port_space : 0;
    result->ai_qp_type = hints != NULL ? hints->ai_qp_type : 0;
    if (result->ai_port_space == 0)
        result->ai_port_space =
            type == SOCK_DGRAM || result->ai_qp_type == IBV_QPT_UD ? RDMA_PS_UDP : RDMA_PS_TCP;
    if (result->ai_qp_type == 0)
        result->ai_qp_type = result->ai_port_space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
}

/* Returns NULL if memory is out. */
static struct rdma_addrinfo *result_of(const struct addrinfo *found,
                                       const struct rdma_addrinfo *hints)
{
    struct rdma_addrinfo *result = calloc(1, sizeof(*result));
    struct sockaddr *address = copy(found->ai_addr, found->ai_addrlen);

    if (result == NULL || address == NULL) {
        free(result);
        free(address);
        return NULL;
    }
    result->ai_flags = hints != NULL ? hints->ai_flags : 0;
    result->ai_family = found->ai_family;
    choose_type(result, hints, found->ai_socktype);
    if ((result->ai_flags & RAI_PASSIVE) != 0) {
        result->ai_src_addr = address;
        result->ai_src_len = found->ai_addrlen;
        result->ai_src_canonname = found->ai_canonname != NULL ? strdup(found->ai_canonname) : NULL;
        return result;
    }
    result->ai_dst_addr = address;
    result->ai_dst_len = found->ai_addrlen;
    result->ai_dst_canonname = found->ai_canonname != NULL ? strdup(found->ai_canonname) : NULL;
    if (hints != NULL && hints->ai_src_len > 0 && hints->ai_src_addr != NULL) {
        result->ai_src_addr = copy(hints->ai_src_addr, hints->ai_src_len);
        result->ai_src_len = result->ai_src_addr != NULL ? hints->ai_src_len : 0;
    }
    return result;
}

/* Copies an address of the hints. Returns false if memory is out. */
static bool copy_address(const struct sockaddr *from, socklen_t bytes, struct sockaddr **to,
                         socklen_t *to_bytes)
{
    if (from == NULL || bytes == 0)
        return true;
    *to = copy(from, bytes);
    *to_bytes = bytes;
    return *to != NULL;
}

/* The hints have the addresses themselves. Returns 0 or an errno. */
static int copy_hints(const struct rdma_addrinfo *hints, struct rdma_addrinfo **res)
{
    struct rdma_addrinfo *result = calloc(1, sizeof(*result));

    *res = result;
    if (result == NULL)
        return ENOMEM;
    result->ai_flags = hints->ai_flags;
    result->ai_family = hints->ai_family;
    choose_type(result, hints, socket_type(hints));
    if (copy_address(hints->ai_src_addr, hints->ai_src_len, &result->ai_src_addr,
                     &result->ai_src_len) &&
        copy_address(hints->ai_dst_addr, hints->ai_dst_len, &result->ai_dst_addr,
                     &result->ai_dst_len))
        return 0;
    rdma_freeaddrinfo(result);
    *res = NULL;
    return ENOMEM;
}

/* True if they are InfiniBand's, and the system's library is there, or refused. */
static bool is_for_system(const struct rdma_addrinfo *hints, bool *there)
{
    return hints != NULL && (hints->ai_flags & RAI_FAMILY) != 0 && hints->ai_family == AF_IB &&
           (!cm_system_load(there) || *there);
}

int rdma_getaddrinfo(const char *node, const char *service, const struct rdma_addrinfo *hints,
                     struct rdma_addrinfo **res)
{
    struct addrinfo wanted = {.ai_socktype = socket_type(hints)}, *found;
    struct rdma_addrinfo **last = res;
    bool there;
    int error;

    CM_IF_SYSTEM_CALLS(rdma_getaddrinfo, node, service, hints, res);
    if (is_for_system(hints, &there))
        return there ? CM_SYSTEM(rdma_getaddrinfo, node, service, hints, res) : -1;
    if (res == NULL || (node == NULL && service == NULL && hints == NULL))
        return cm_result(EINVAL);
    *res = NULL;
    if (node == NULL && service == NULL)
        return cm_result(copy_hints(hints, res));
    if (hints != NULL) {
        if ((hints->ai_flags & RAI_PASSIVE) != 0)
            wanted.ai_flags |= AI_PASSIVE;
        if ((hints->ai_flags & RAI_NUMERICHOST) != 0)
            wanted.ai_flags |= AI_NUMERICHOST;
        wanted.ai_family = hints->ai_family; /* also without RAI_FAMILY, which is about `node` */
    }
    error = getaddrinfo(node, service, &wanted, &found);
    if (error != 0)
        return error; /* one of EAI_…, as the manual says */
    for (const struct addrinfo *one = found; one != NULL; one = one->ai_next) {
        *last = result_of(one, hints);
        if (*last == NULL)
            break;
        last = &(*last)->ai_next;
    }
    freeaddrinfo(found);
    return *res != NULL ? 0 : cm_result(ENOMEM);
}

void rdma_freeaddrinfo(struct rdma_addrinfo *res)
{
    CM_IF_SYSTEM_CALLS(rdma_freeaddrinfo, res);
    while (res != NULL) {
        struct rdma_addrinfo *next = res->ai_next;

        free(res->ai_src_addr);
        free(res->ai_dst_addr);
        free(res->ai_src_canonname);
        free(res->ai_dst_canonname);
        free(res->ai_route);
        free(res->ai_connect);
        free(res);
        res = next;
    }
}
