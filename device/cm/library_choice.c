/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the library of an identifier, ours or the system's, if the kernel has RDMA devices: when
 * it is bound to an address, or when one is resolved.
 *
 * An address of a kernel device belongs to the system's library, although we have a device for it,
 * too: an adapter takes packets to port 4791 itself. Loopback addresses are ours if our devices can
 * be opened, and so is the address in OCHE_DEVICE. A wildcard listener uses both, with one port. We
 * ask the kernel by binding an identifier.
 */
#include <arpa/inet.h>

#include "device/cm/internal.h"

#define MOST_TRIES 64 /* tries to find a port that is free in both */

/* ---- addresses ---- */

/* True if our library is preferred for a local address. */
static bool prefers_ours(const struct sockaddr *address)
{
    const char *named = secure_getenv("OCHE_DEVICE");
    union ibv_gid gid, own = {{0}};

    if (cm_is_loopback(address))
        return true;
    if (named == NULL || !cm_gid_of(address, &gid))
        return false;
    if (inet_pton(AF_INET, named, own.raw + 12) == 1)
        own.raw[10] = own.raw[11] = 0xff;
    else if (inet_pton(AF_INET6, named, own.raw) != 1)
        return false;
    return memcmp(own.raw, gid.raw, sizeof(gid.raw)) == 0;
}

/* True if a kernel device has this local address. */
static bool kernel_has(struct cm_id *id, const struct sockaddr *address)
{
    struct rdma_cm_id *probe;
    struct sockaddr_storage any_port = {0};
    bool has;

    memcpy(&any_port, address, cm_sockaddr_bytes(address));
    cm_set_port((struct sockaddr *)&any_port, 0);
    if (CM_SYSTEM(rdma_create_id, id->theirs->channel, &probe, NULL, id->id.ps) != 0)
        return false;
    has = CM_SYSTEM(rdma_bind_addr, probe, (struct sockaddr *)&any_port) == 0;
    CM_SYSTEM(rdma_destroy_id, probe);
    return has;
}

static bool is_kernels_family(const struct sockaddr *address)
{
    union ibv_gid gid;

    return !cm_gid_of(address, &gid);
}

/* ---- binding ---- */

/* Returns 0 or an errno. */
static int bind_theirs(struct cm_id *id, struct sockaddr *address)
{
    if (CM_SYSTEM(rdma_bind_addr, id->theirs, address) != 0)
        return errno;
    id->is_theirs = true;
    cm_system_copy_device(id);
    return 0;
}

/*
 * Binds both to a wildcard address and one port, or only the system's if ours cannot be opened. If
 * soft-RoCE has the UDP port we remember it, as the check takes milliseconds: perftest's clients
 * ask at once for a second listener of their server.
 */
static int bind_both(struct cm_id *id, struct sockaddr *address)
{
    static _Atomic bool port_is_gone;
    struct sockaddr_storage same = {0};
    bool no_device;
    int error = EADDRNOTAVAIL;

    if (port_is_gone)
        return bind_theirs(id, address);
    for (unsigned i = 0; i < MOST_TRIES; i++) {
        error = cm_bind_ours(id, address, &no_device);
        port_is_gone = no_device && error == EADDRINUSE;
        if (error != 0)
            return no_device ? bind_theirs(id, address) : error;
        memcpy(&same, address, cm_sockaddr_bytes(address));
        cm_set_port((struct sockaddr *)&same, id->port);
        if (CM_SYSTEM(rdma_bind_addr, id->theirs, (struct sockaddr *)&same) == 0)
            return 0;
        error = errno;
        cm_unbind_ours(id);
        if (error != EADDRINUSE || cm_port_of(address) != 0)
            return error;
    }
    return error;
}

static int bind_one(struct cm_id *id, struct sockaddr *address)
{
    bool no_device;
    int error;

    if (prefers_ours(address)) {
        error = cm_bind_ours(id, address, &no_device);
        if (error != 0)
            return no_device && bind_theirs(id, address) == 0 ? 0 : error;
    } else {
        error = bind_theirs(id, address);
        if (error != ENODEV && error != EADDRNOTAVAIL)
            return error;
        error = cm_bind_ours(id, address, &no_device);
    }
    if (error == 0)
        cm_system_drop_id(id);
    return error;
}

int cm_bind(struct cm_id *id, struct sockaddr *address)
{
    bool no_device;

    if (id->theirs == NULL)
        return cm_bind_ours(id, address, &no_device);
    if (id->is_theirs || is_kernels_family(address))
        return bind_theirs(id, address);
    return cm_is_wildcard(address) ? bind_both(id, address) : bind_one(id, address);
}

/* ---- resolving ---- */

/* True if the route to an address begins at a kernel device. */
static bool begins_at_kernels(struct cm_id *id, const struct sockaddr *from,
                              const struct sockaddr *to)
{
    struct sockaddr_storage found;

    if (is_kernels_family(to))
        return true;
    if (cm_is_loopback(to))
        return false;
    if (from == NULL || from->sa_family == 0 || cm_is_wildcard(from)) {
        if (cm_source_towards(to, &found) != 0)
            return false;
        from = (const struct sockaddr *)&found;
    }
    return is_kernels_family(from) || (!prefers_ours(from) && kernel_has(id, from));
}

static int resolve_theirs(struct cm_id *id, struct sockaddr *from, struct sockaddr *to,
                          int timeout_ms)
{
    const bool before = id->is_theirs || id->state != CM_ID_IDLE;

    if (!id->is_theirs)
        cm_unbind_ours(id);
    id->is_theirs = true; /* set before the event: another thread may get the event at once */
    if (CM_SYSTEM(rdma_resolve_addr, id->theirs, from, to, timeout_ms) == 0)
        return 0;
    id->is_theirs = before;
    return errno;
}

int cm_resolve(struct cm_id *id, struct sockaddr *from, struct sockaddr *to, int timeout_ms)
{
    bool no_device;
    int error;

    if (id->theirs == NULL)
        return cm_resolve_ours(id, from, to, &no_device);
    if (id->is_theirs || begins_at_kernels(id, from, to))
        return resolve_theirs(id, from, to, timeout_ms);
    error = cm_resolve_ours(id, from, to, &no_device);
    if (error == 0)
        cm_system_drop_id(id);
    else if (no_device && resolve_theirs(id, from, to, timeout_ms) == 0)
        return 0;
    return error;
}

/* ---- listening ---- */

int cm_listen(struct cm_id *id, int backlog)
{
    struct sockaddr_in6 any = {.sin6_family = AF_INET6};
    int error = 0;

    if (id->theirs != NULL && !id->is_theirs && id->state == CM_ID_IDLE)
        error = bind_both(id, (struct sockaddr *)&any);
    if (error != 0)
        return error;
    if (id->theirs != NULL && CM_SYSTEM(rdma_listen, id->theirs, backlog) != 0)
        return errno;
    if (id->is_theirs) {
        cm_system_copy_device(id); /* the port, if it was not bound */
        return 0;
    }
    return cm_listen_ours(id, backlog);
}
