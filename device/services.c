/* SPDX-License-Identifier: Apache-2.0 */
#include "device/services.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/random.h"

#define NO_SLOT OCHE_SLOTS

static socklen_t name_of(const struct oche_sharing *share, uint64_t id, unsigned slot,
                         struct sockaddr_un *name)
{
    char what[48];

    if (slot == NO_SLOT)
        snprintf(what, sizeof(what), "cm/%" PRIx64, id);
    else
        snprintf(what, sizeof(what), "cm/%" PRIx64 "/%u", id, slot);
    return oche_sharing_name(share, what, name);
}

static int unix_socket(void)
{
    return socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* Returns a socket that holds a name, or -1 with errno. */
static int hold_name(const struct oche_sharing *share, uint64_t id, unsigned slot)
{
    struct sockaddr_un name;
    const socklen_t bytes = name_of(share, id, slot, &name);
    const int fd = unix_socket();
    int error;

    if (fd < 0 || bind(fd, (struct sockaddr *)&name, bytes) == 0)
        return fd;
    error = errno;
    close(fd);
    errno = error;
    return -1;
}

static void close_names(const struct oche_service_name *service)
{
    if (service->name_fd >= 0)
        close(service->name_fd);
    if (service->slot_fd >= 0)
        close(service->slot_fd);
}

static void free_service(struct oche_service_name *service)
{
    close_names(service);
    free(service);
}

bool oche_services_take(struct oche_services *services, const struct oche_sharing *share,
                        uint64_t id)
{
    struct oche_service_name *service;
    int error;

    if (oche_services_has(services, id)) {
        errno = EADDRINUSE;
        return false;
    }
    service = malloc(sizeof(*service));
    if (service == NULL)
        return false;
    *service =
        (struct oche_service_name){.next = services->first, .id = id, .name_fd = -1, .slot_fd = -1};
    if (share->fd >= 0 && ((service->name_fd = hold_name(share, id, NO_SLOT)) < 0 ||
                           (service->slot_fd = hold_name(share, id, share->slot)) < 0)) {
        error = errno;
        free_service(service);
        errno = error;
        return false;
    }
    services->first = service;
    return true;
}

void oche_services_release(struct oche_services *services, uint64_t id)
{
    for (struct oche_service_name **at = &services->first; *at != NULL; at = &(*at)->next) {
        struct oche_service_name *service = *at;

        if (service->id != id)
            continue;
        *at = service->next;
        free_service(service);
        return;
    }
}

void oche_services_clear(struct oche_services *services)
{
    while (services->first != NULL)
        oche_services_release(services, services->first->id);
    if (services->asks)
        close(services->ask_fd);
    services->asks = false;
}

void oche_services_leave(struct oche_services *services)
{
    for (const struct oche_service_name *service = services->first; service != NULL;
         service = service->next)
        close_names(service);
    if (services->asks)
        close(services->ask_fd);
    services->asks = false;
}

bool oche_services_has(const struct oche_services *services, uint64_t id)
{
    const struct oche_service_name *service = services->first;

    while (service != NULL && service->id != id)
        service = service->next;
    return service != NULL;
}

/* Makes the socket that asks. Returns false if there is none. */
static bool can_ask(struct oche_services *services)
{
    if (services->asks)
        return true;
    services->ask_fd = unix_socket();
    services->asks = services->ask_fd >= 0;
    return services->asks;
}

/* True if some process holds the name. */
static bool is_held(const struct oche_services *services, const struct oche_sharing *share,
                    uint64_t id, unsigned slot)
{
    struct sockaddr_un name;
    const socklen_t bytes = name_of(share, id, slot, &name);

    return connect(services->ask_fd, (struct sockaddr *)&name, bytes) == 0;
}

bool oche_services_held(struct oche_services *services, const struct oche_sharing *share,
                        uint64_t id)
{
    if (oche_services_has(services, id))
        return true;
    return share->fd >= 0 && can_ask(services) && is_held(services, share, id, NO_SLOT);
}

/* A service of another process's is at the slot where it was, or else at one of all. */
static unsigned find_slot(struct oche_services *services, const struct oche_sharing *share,
                          uint64_t id)
{
    const unsigned place = (unsigned)(oche_mix64(id) % OCHE_SERVICES_KNOWN);
    const unsigned was = services->known[place].slot;

    if (services->known[place].id == id && was != share->slot && is_held(services, share, id, was))
        return was;
    for (unsigned slot = 0; slot < OCHE_SLOTS; slot++) {
        if (slot == share->slot || !is_held(services, share, id, slot))
            continue;
        services->known[place].id = id;
        services->known[place].slot = (uint8_t)slot;
        return slot; /* whether we trust it or not: whoever passes on looks at that */
    }
    return share->slot;
}

unsigned oche_services_slot(struct oche_services *services, const struct oche_sharing *share,
                            uint64_t id)
{
    if (oche_services_has(services, id) || !can_ask(services) ||
        !is_held(services, share, id, NO_SLOT)) /* then nobody listens */
        return share->slot;
    return find_slot(services, share, id);
}
