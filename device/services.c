/* SPDX-License-Identifier: Apache-2.0 */
#include "device/services.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

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
}

void oche_services_leave(const struct oche_services *services)
{
    for (const struct oche_service_name *service = services->first; service != NULL;
         service = service->next)
        close_names(service);
}

bool oche_services_has(const struct oche_services *services, uint64_t id)
{
    const struct oche_service_name *service = services->first;

    while (service != NULL && service->id != id)
        service = service->next;
    return service != NULL;
}

/* True if some process holds the name. */
static bool is_held(int fd, const struct oche_sharing *share, uint64_t id, unsigned slot)
{
    struct sockaddr_un name;
    const socklen_t bytes = name_of(share, id, slot, &name);

    return connect(fd, (struct sockaddr *)&name, bytes) == 0;
}

bool oche_services_held(const struct oche_services *services, const struct oche_sharing *share,
                        uint64_t id)
{
    int fd;
    bool held;

    if (oche_services_has(services, id))
        return true;
    fd = share->fd >= 0 ? unix_socket() : -1;
    held = fd >= 0 && is_held(fd, share, id, NO_SLOT);
    if (fd >= 0)
        close(fd);
    return held;
}

unsigned oche_services_slot(const struct oche_services *services, const struct oche_sharing *share,
                            uint64_t id)
{
    unsigned found = share->slot;
    int fd;

    if (oche_services_has(services, id))
        return share->slot;
    fd = unix_socket();
    if (fd < 0)
        return share->slot;
    if (is_held(fd, share, id, NO_SLOT)) /* else nobody listens */
        for (unsigned slot = 0; slot < OCHE_SLOTS && found == share->slot; slot++)
            if (slot != share->slot && is_held(fd, share, id, slot))
                found = slot; /* whether we trust it or not: whoever passes on looks at that */
    close(fd);
    return found;
}
