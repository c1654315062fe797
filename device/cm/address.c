/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses: which device one belongs to, and which of ours the kernel would use towards another.
 * An IPv4 address is a GID as ::ffff:a.b.c.d.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <unistd.h>

#include "device/cm/internal.h"
#include "device/path/address.h"

/* ---- forms of addresses ---- */

bool cm_gid_of(const struct sockaddr *address, union ibv_gid *gid)
{
    memset(gid, 0, sizeof(*gid));
    if (address->sa_family == AF_INET) {
        gid->raw[10] = gid->raw[11] = 0xff;
        memcpy(gid->raw + 12, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
        return true;
    }
    if (address->sa_family != AF_INET6)
        return false;
    memcpy(gid->raw, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 16);
    return true;
}

static bool is_mapped(const uint8_t *gid)
{
    static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

    return memcmp(gid, prefix, sizeof(prefix)) == 0;
}

void cm_sockaddr_of(const uint8_t *gid, uint16_t port, struct sockaddr_storage *address)
{
    memset(address, 0, sizeof(*address));
    if (is_mapped(gid)) {
        struct sockaddr_in *v4 = (struct sockaddr_in *)(void *)address;

        v4->sin_family = AF_INET;
        v4->sin_port = htons(port);
        memcpy(&v4->sin_addr, gid + 12, 4);
    } else {
        struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)(void *)address;

        v6->sin6_family = AF_INET6;
        v6->sin6_port = htons(port);
        memcpy(&v6->sin6_addr, gid, 16);
    }
}

uint16_t cm_port_of(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohs(((const struct sockaddr_in *)(const void *)address)->sin_port);
    if (address->sa_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)(const void *)address)->sin6_port);
    return 0;
}

void cm_set_port(struct sockaddr *address, uint16_t port)
{
    if (address->sa_family == AF_INET)
        ((struct sockaddr_in *)(void *)address)->sin_port = htons(port);
    else if (address->sa_family == AF_INET6)
        ((struct sockaddr_in6 *)(void *)address)->sin6_port = htons(port);
}

socklen_t cm_sockaddr_bytes(const struct sockaddr *address)
{
    return address->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
}

bool cm_is_wildcard(const struct sockaddr *address)
{
    static const uint8_t none[16];
    union ibv_gid gid;

    if (!cm_gid_of(address, &gid))
        return false;
    return memcmp(gid.raw + (address->sa_family == AF_INET ? 12 : 0), none,
                  address->sa_family == AF_INET ? 4 : 16) == 0;
}

/* ---- loopback ---- */

bool cm_is_loopback(const struct sockaddr *address)
{
    static const uint8_t v6_loopback[16] = {[15] = 1};
    union ibv_gid gid;

    return cm_gid_of(address, &gid) &&
           (address->sa_family == AF_INET ? gid.raw[12] == 127
                                          : memcmp(gid.raw, v6_loopback, 16) == 0);
}

/* True if both are of 127.0.0.0/8, and different places there: 127.0.0.1 is this host. */
static bool is_elsewhere(const struct sockaddr *address, const union ibv_gid *own)
{
    static const uint8_t localhost[4] = {127, 0, 0, 1};
    union ibv_gid gid;

    return address->sa_family == AF_INET && cm_gid_of(address, &gid) && is_mapped(own->raw) &&
           own->raw[12] == 127 && memcmp(gid.raw + 12, localhost, sizeof(localhost)) != 0;
}

static bool is_localhost(const struct sockaddr *address)
{
    const struct sockaddr_in *ipv4 = (const struct sockaddr_in *)(const void *)address;

    return cm_is_loopback(address) &&
           (address->sa_family != AF_INET || ipv4->sin_addr.s_addr == htonl(INADDR_LOOPBACK));
}

/*
 * With a single device (OCHE_DEVICE) a loopback address that is not its own stands for it, as in
 * Linux for a host's first device. Copies the address to use, with its port.
 */
static void stand_for(const struct cm_id *id, const struct sockaddr *address,
                      struct sockaddr_storage *used) OCHE_NEEDS(cm_lock)
{
    const struct cm_device *device;
    union ibv_gid gid;

    memset(used, 0, sizeof(*used));
    memcpy(used, address, cm_sockaddr_bytes(address));
    if (id->of_libfabric && is_localhost(address)) {
        device = cm_devices_open() ? cm_libfabric_localhost(address) : NULL;
        if (device != NULL)
            cm_sockaddr_of(device->gid.raw, cm_port_of(address), used);
        return;
    }
    if (cm_is_loopback(address) && cm_gid_of(address, &gid) && cm_device_of(&gid) == NULL &&
        errno == ENODEV && cm_devices_open() && cm_devices->next == NULL &&
        !is_elsewhere(address, &cm_devices->gid))
        cm_sockaddr_of(cm_devices->gid.raw, cm_port_of(address), used);
}

/* ---- binding ---- */

/* Returns 0 or an errno. Under the lock. */
static int bind_to(struct cm_id *id, const struct sockaddr *asked, bool *no_device)
    OCHE_NEEDS(cm_lock)
{
    struct sockaddr_storage used;
    const struct sockaddr *address = (const struct sockaddr *)&used;
    struct cm_device *device = NULL;
    union ibv_gid gid;
    int error;

    if (!cm_gid_of(asked, &gid))
        return EAFNOSUPPORT;
    stand_for(id, asked, &used);
    cm_gid_of(address, &gid);
    if (id->state != CM_ID_IDLE)
        return EINVAL;
    id->wildcard = cm_is_wildcard(address);
    *no_device = id->wildcard ? !cm_devices_open() : (device = cm_device_of(&gid)) == NULL;
    if (*no_device)
        return errno;
    memcpy(&id->id.route.addr.src_storage, address, cm_sockaddr_bytes(address));
    if (device != NULL)
        cm_id_attach(id, device);
    error = cm_port_take(id, cm_port_of(address));
    if (error == 0)
        id->state = CM_ID_BOUND;
    return error;
}

int cm_bind_ours(struct cm_id *id, const struct sockaddr *address, bool *no_device)
{
    int error;

    *no_device = false;
    oche_lock_take(&cm_lock);
    error = bind_to(id, address, no_device);
    oche_lock_release(&cm_lock);
    return error;
}

void cm_unbind_ours(struct cm_id *id)
{
    oche_lock_take(&cm_lock);
    if (id->state == CM_ID_BOUND) {
        cm_port_release(id);
        id->state = CM_ID_IDLE;
        id->wildcard = false;
        memset(&id->id.route.addr.src_storage, 0, sizeof(id->id.route.addr.src_storage));
    }
    oche_lock_release(&cm_lock);
}

/*
 * Returns the error, after saying once why a link-local address has no device. Not to libfabric,
 * which tries all addresses of the host.
 */
static int without_device(const struct cm_id *id, const struct sockaddr *address, int error)
{
    static _Atomic bool told;
    const struct sockaddr_in6 *ipv6 = (const struct sockaddr_in6 *)(const void *)address;
    char text[INET6_ADDRSTRLEN];

    if (error != ENODEV || id->of_libfabric || address->sa_family != AF_INET6 ||
        !IN6_IS_ADDR_LINKLOCAL(&ipv6->sin6_addr) || atomic_exchange(&told, true))
        return error;
    inet_ntop(AF_INET6, &ipv6->sin6_addr, text, sizeof(text));
    cm_say("%s: " OCHE_NO_LINK_LOCAL, text);
    return error;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
    CM_IF_SYSTEM_CALLS(rdma_bind_addr, id, addr);
    if (addr == NULL)
        return cm_result(EINVAL);
    cm_note_caller(cm_id_of(id), __builtin_return_address(0));
    return cm_result(without_device(cm_id_of(id), addr, cm_bind(cm_id_of(id), addr)));
}

__be16 rdma_get_src_port(struct rdma_cm_id *id)
{
    CM_PASS_ON(rdma_get_src_port, id);
    return htons(cm_port_of(&id->route.addr.src_addr));
}

__be16 rdma_get_dst_port(struct rdma_cm_id *id)
{
    CM_PASS_ON(rdma_get_dst_port, id);
    return htons(cm_port_of(&id->route.addr.dst_addr));
}

/* ---- resolving ---- */

/* A datagram socket that is connected sends nothing. */
int cm_source_towards(const struct sockaddr *to, struct sockaddr_storage *from)
{
    const int fd = socket(to->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct sockaddr_storage target = {0};
    socklen_t bytes = sizeof(*from);
    int error = 0;

    if (fd < 0)
        return errno;
    memcpy(&target, to, cm_sockaddr_bytes(to));
    if (cm_port_of(to) == 0)
        cm_set_port((struct sockaddr *)&target, 4791);
    if (connect(fd, (struct sockaddr *)&target, cm_sockaddr_bytes(to)) != 0 ||
        getsockname(fd, (struct sockaddr *)from, &bytes) != 0)
        error = errno;
    close(fd);
    return error;
}

/* Chooses the device towards the destination. Returns 0 or an errno. */
static int choose_device(struct cm_id *id, const struct sockaddr *to) OCHE_NEEDS(cm_lock)
{
    struct sockaddr_storage from;
    struct cm_device *device;
    union ibv_gid gid;
    int error = cm_source_towards(to, &from);

    if (error != 0)
        return error;
    if (!cm_gid_of((struct sockaddr *)&from, &gid))
        return EAFNOSUPPORT;
    device = cm_device_of(&gid);
    if (device == NULL && errno == ENODEV && cm_devices_open() && cm_devices->next == NULL) {
        device = cm_devices; /* OCHE_DEVICE names the only one */
        cm_sockaddr_of(device->gid.raw, 0, &from);
        if (from.ss_family != to->sa_family)
            return ENODEV;
    }
    if (device == NULL)
        return errno;
    cm_set_port((struct sockaddr *)&from, id->port);
    memcpy(&id->id.route.addr.src_storage, &from, sizeof(from));
    cm_id_attach(id, device);
    return 0;
}

/* Returns 0 or an errno. Under the lock. */
static int resolve(struct cm_id *id, const struct sockaddr *from, const struct sockaddr *asked,
                   bool *no_device) OCHE_NEEDS(cm_lock)
{
    struct sockaddr_storage used;
    const struct sockaddr *to = (const struct sockaddr *)&used;
    struct cm_event *event;
    union ibv_gid gid;
    int error = 0, status = 0;

    if (!cm_gid_of(asked, &gid) || cm_is_wildcard(asked))
        return EAFNOSUPPORT;
    stand_for(id, asked, &used);
    if (from != NULL && from->sa_family != 0 && id->state == CM_ID_IDLE &&
        !(cm_is_wildcard(from) && cm_port_of(from) == 0))
        error = bind_to(id, from, no_device);
    if (error != 0)
        return error;
    if (id->state != CM_ID_IDLE && id->state != CM_ID_BOUND)
        return EINVAL;
    memset(&id->id.route.addr.dst_storage, 0, sizeof(id->id.route.addr.dst_storage));
    memcpy(&id->id.route.addr.dst_storage, to, cm_sockaddr_bytes(to));
    if (id->device == NULL)
        status = choose_device(id, to);
    *no_device = status != 0;
    if (status == ENODEV || status == EADDRNOTAVAIL || (status != 0 && id->theirs != NULL))
        return status;
    if (status == 0 && id->port == 0)
        error = cm_port_take_any(id);
    if (error != 0)
        return error;
    if (status == 0)
        id->state = CM_ID_ADDR_RESOLVED;
    event = cm_event_make(id, status == 0 ? RDMA_CM_EVENT_ADDR_RESOLVED : RDMA_CM_EVENT_ADDR_ERROR,
                          -status);
    if (event == NULL)
        return ENOMEM;
    cm_event_queue(event);
    return 0;
}

int cm_resolve_ours(struct cm_id *id, const struct sockaddr *from, const struct sockaddr *to,
                    bool *no_device)
{
    int error;

    *no_device = false;
    oche_lock_take(&cm_lock);
    error = resolve(id, from, to, no_device);
    oche_lock_release(&cm_lock);
    return error;
}

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src_addr, struct sockaddr *dst_addr,
                      int timeout_ms)
{
    struct cm_id *own = cm_id_of(id);
    int error;

    CM_IF_SYSTEM_CALLS(rdma_resolve_addr, id, src_addr, dst_addr, timeout_ms);
    if (dst_addr == NULL)
        return cm_result(EINVAL);
    cm_note_caller(own, __builtin_return_address(0));
    error = without_device(own, dst_addr, cm_resolve(own, src_addr, dst_addr, timeout_ms));
    if (error != 0)
        return cm_result(error);
    return own->sync ? cm_wait(own, RDMA_CM_EVENT_ADDR_RESOLVED) : 0;
}

bool cm_fill_route(struct cm_id *id)
{
    struct rdma_route *route = &id->id.route;
    struct ibv_sa_path_rec *path = calloc(1, sizeof(*path));
    union ibv_gid remote;

    if (path == NULL || !cm_gid_of(&route->addr.dst_addr, &remote)) {
        free(path);
        return false;
    }
    path->sgid = id->device->gid;
    path->dgid = remote;
    path->pkey = htons(0xffff);
    path->hop_limit = CM_HOP_LIMIT;
    path->traffic_class = id->tos;
    path->reversible = 1;
    path->numb_path = 1;
    path->mtu_selector = path->rate_selector = path->packet_life_time_selector = 2; /* exactly */
    path->mtu = id->path_mtu; /* the MTU of the peer's request; 0: we choose it */
    if (path->mtu == 0)
        path->mtu = (uint8_t)oche_manager_path_mtu(id->device->verbs, remote.raw);
    path->rate = IBV_RATE_100_GBPS;
    path->packet_life_time = (uint8_t)(id->ack_timeout - 1);
    free(route->path_rec);
    route->path_rec = path;
    route->num_paths = 1;
    route->addr.addr.ibaddr.sgid = path->sgid;
    route->addr.addr.ibaddr.dgid = path->dgid;
    route->addr.addr.ibaddr.pkey = path->pkey;
    return true;
}

/* Returns 0 or an errno. */
static int resolve_route(struct cm_id *id)
{
    struct cm_event *event = NULL;
    int error = 0;

    oche_lock_take(&cm_lock);
    if (id->state != CM_ID_ADDR_RESOLVED)
        error = EINVAL;
    else if (!cm_fill_route(id) ||
             (event = cm_event_make(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0)) == NULL)
        error = ENOMEM;
    if (error == 0) {
        id->state = CM_ID_ROUTE_RESOLVED;
        cm_event_queue(event);
    }
    oche_lock_release(&cm_lock);
    return error;
}

/* Our resolution sends no packets, so it needs no time limit. */
int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
    struct cm_id *own = cm_id_of(id);
    int result;

    CM_IF_SYSTEM_CALLS(rdma_resolve_route, id, timeout_ms);
    result = own->is_theirs ? CM_SYSTEM(rdma_resolve_route, own->theirs, timeout_ms)
                            : cm_result(resolve_route(own));
    if (result != 0)
        return -1;
    return own->sync ? cm_wait(own, RDMA_CM_EVENT_ROUTE_RESOLVED) : 0;
}
