/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Port spaces. A port of a device's address belongs to one identifier of one process: binding takes
 * the service of that number, which other processes of the address see (device/shared/services.h).
 * Local ports of connections are not announced: each process takes them from its own part of the
 * usual range, and then from the rest.
 */
#include "device/cm/internal.h"
#include "device/verbs/manager.h"

#define SLOTS     64
#define OWN_PORTS (CM_RANDOM_PORTS / SLOTS)

/* ---- ports that this process uses ---- */

static unsigned space_index(enum rdma_port_space ps)
{
    switch (ps) {
    case RDMA_PS_TCP:
        return 0;
    case RDMA_PS_UDP:
        return 1;
    case RDMA_PS_IPOIB:
        return 2;
    default:
        return 3;
    }
}

static bool is_used(const struct cm_device *device, enum rdma_port_space ps, uint16_t port)
{
    const uint8_t *bits = device->ports[space_index(ps)];

    return bits != NULL && (bits[port / 8] >> port % 8 & 1) != 0;
}

/* Returns false if memory is out. */
static bool set_used(struct cm_device *device, enum rdma_port_space ps, uint16_t port, bool used)
{
    uint8_t **bits = &device->ports[space_index(ps)];

    if (*bits == NULL)
        *bits = calloc(65536 / 8, 1);
    if (*bits == NULL)
        return false;
    if (used)
        (*bits)[port / 8] |= (uint8_t)(1 << port % 8);
    else
        (*bits)[port / 8] &= (uint8_t) ~(1 << port % 8);
    return true;
}

static uint64_t service_of(const struct cm_id *id, uint16_t port)
{
    return oche_cma_service((uint16_t)id->id.ps, port);
}

/* ---- devices of an identifier ---- */

static bool is_of(const struct cm_id *id, const struct cm_device *device)
{
    const bool v6 = id->id.route.addr.src_addr.sa_family == AF_INET6;
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    const bool device_v4 = memcmp(device->gid.raw, mapped, sizeof(mapped)) == 0;

    if (!id->wildcard)
        return device == id->device;
    return device_v4 ? !v6 || !id->af_only : v6;
}

static void release_until(const struct cm_id *id, uint16_t port, const struct cm_device *end)
    OCHE_NEEDS(cm_lock)
{
    for (struct cm_device *device = cm_devices; device != end; device = device->next)
        if (is_of(id, device))
            oche_manager_release_service(device->verbs, service_of(id, port));
}

/* Takes the service at every device of the identifier. Returns 0 or an errno. */
static int take_services(const struct cm_id *id, uint16_t port) OCHE_NEEDS(cm_lock)
{
    for (struct cm_device *device = cm_devices; device != NULL; device = device->next) {
        const int error =
            is_of(id, device) ? oche_manager_take_service(device->verbs, service_of(id, port)) : 0;

        if (error != 0) {
            release_until(id, port, device);
            return error;
        }
    }
    return 0;
}

/* ---- taking ---- */

static int note(struct cm_id *id, uint16_t port, bool held) OCHE_NEEDS(cm_lock)
{
    for (struct cm_device *device = cm_devices; device != NULL; device = device->next)
        if (is_of(id, device) && !set_used(device, id->id.ps, port, true)) {
            if (held)
                release_until(id, port, NULL);
            return ENOMEM;
        }
    id->port = port;
    id->port_held = held;
    cm_set_port(&id->id.route.addr.src_addr, port);
    return 0;
}

static bool used_anywhere(const struct cm_id *id, uint16_t port) OCHE_NEEDS(cm_lock)
{
    for (struct cm_device *device = cm_devices; device != NULL; device = device->next)
        if (is_of(id, device) && is_used(device, id->id.ps, port))
            return true;
    return false;
}

static int take_one(struct cm_id *id, uint16_t port) OCHE_NEEDS(cm_lock)
{
    int error;

    if (id->reuse)
        return note(id, port, false);
    if (used_anywhere(id, port))
        return EADDRINUSE;
    error = take_services(id, port);
    return error != 0 ? error : note(id, port, true);
}

int cm_port_take(struct cm_id *id, uint16_t port)
{
    if (port != 0)
        return take_one(id, port);
    for (unsigned i = 0; i < CM_RANDOM_PORTS; i++) {
        const int error = take_one(id, (uint16_t)(CM_FIRST_RANDOM + cm_random() % CM_RANDOM_PORTS));

        if (error != EADDRINUSE)
            return error;
    }
    return EADDRNOTAVAIL;
}

int cm_port_take_any(struct cm_id *id)
{
    struct cm_device *device = id->device;

    for (unsigned i = 0; i < OWN_PORTS; i++) {
        const uint32_t port =
            CM_FIRST_RANDOM + device->slot * OWN_PORTS + device->next_port++ % OWN_PORTS;

        if (!is_used(device, id->id.ps, (uint16_t)port))
            return note(id, (uint16_t)port, false);
    }
    return cm_port_take(id, 0);
}

int cm_port_listen(struct cm_id *id)
{
    int error;

    if (id->port_held)
        return 0;
    error = take_services(id, id->port);
    id->port_held = error == 0;
    return error;
}

void cm_port_release(struct cm_id *id)
{
    if (id->port == 0)
        return;
    if (id->port_held)
        release_until(id, id->port, NULL);
    for (struct cm_device *device = cm_devices; device != NULL; device = device->next)
        if (is_of(id, device))
            set_used(device, id->id.ps, id->port, false);
    id->port = 0;
    id->port_held = false;
}

/* ---- listeners ---- */

static struct cm_id *listeners OCHE_GUARDED_BY(cm_lock);

struct cm_id *cm_listener_of(struct cm_device *device, uint64_t service_id)
{
    for (struct cm_id *id = listeners; id != NULL; id = id->next_bound)
        if (service_of(id, id->port) == service_id && is_of(id, device))
            return id;
    return NULL;
}

int cm_listen_ours(struct cm_id *own, int backlog)
{
    int error = 0;

    oche_lock_take(&cm_lock);
    if (own->state == CM_ID_IDLE) { /* binds it to any address and any port */
        own->id.route.addr.src_addr.sa_family = AF_INET6;
        own->wildcard = true;
        error = cm_devices_open() ? cm_port_take(own, 0) : errno;
        own->state = error == 0 ? CM_ID_BOUND : CM_ID_IDLE;
    }
    if (error == 0)
        error = own->state == CM_ID_BOUND ? cm_port_listen(own) : EINVAL;
    if (error == 0) {
        own->backlog = backlog > 0 && backlog < CM_MOST_BACKLOG ? backlog : CM_MOST_BACKLOG;
        own->state = CM_ID_LISTENING;
        own->next_bound = listeners;
        listeners = own;
    }
    oche_lock_release(&cm_lock);
    return error;
}

int rdma_listen(struct rdma_cm_id *id, int backlog)
{
    CM_IF_SYSTEM_CALLS(rdma_listen, id, backlog);
    return cm_result(cm_listen(cm_id_of(id), backlog));
}

void cm_unlisten(struct cm_id *id)
{
    struct cm_id **at = &listeners;

    while (*at != NULL && *at != id)
        at = &(*at)->next_bound;
    if (*at != NULL)
        *at = id->next_bound;
}
