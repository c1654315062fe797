/* SPDX-License-Identifier: Apache-2.0 */
#include "device/shared/services.h"

#include <errno.h>
#include <stdlib.h>

bool oche_services_take(struct oche_services *services, const struct oche_sharing *share,
                        uint64_t id)
{
    struct oche_taken_service *service;
    int error;

    if (oche_services_has(services, id)) {
        errno = EADDRINUSE;
        return false;
    }
    service = malloc(sizeof(*service));
    if (service == NULL)
        return false;
    *service = (struct oche_taken_service){.next = services->first, .id = id};
    if (share->fd >= 0 && !oche_names_take_service(&share->names, id)) {
        error = errno;
        free(service);
        errno = error;
        return false;
    }
    services->first = service;
    return true;
}

void oche_services_release(struct oche_services *services, const struct oche_sharing *share,
                           uint64_t id)
{
    for (struct oche_taken_service **at = &services->first; *at != NULL; at = &(*at)->next) {
        struct oche_taken_service *service = *at;

        if (service->id != id)
            continue;
        *at = service->next;
        free(service);
        if (share->fd >= 0)
            oche_names_release_service(&share->names, id);
        return;
    }
}

void oche_services_clear(struct oche_services *services, const struct oche_sharing *share)
{
    while (services->first != NULL)
        oche_services_release(services, share, services->first->id);
    oche_services_manage(services, share, false);
}

void oche_services_manage(struct oche_services *services, const struct oche_sharing *share,
                          bool manages)
{
    if (share->fd >= 0 && services->manages && !manages)
        oche_names_release_manager(&share->names);
    services->manages = manages && (share->fd < 0 || oche_names_take_manager(&share->names));
}

void oche_services_take_again(const struct oche_services *services,
                              const struct oche_sharing *share)
{
    for (const struct oche_taken_service *service = services->first; service != NULL;
         service = service->next)
        if (!oche_names_take_service(&share->names, service->id))
            continue; /* another process has taken it, and gets the requests */
    if (services->manages && !oche_names_take_manager(&share->names))
        return; /* requests that nobody listens to go to another process */
}

bool oche_services_has(const struct oche_services *services, uint64_t id)
{
    const struct oche_taken_service *service = services->first;

    while (service != NULL && service->id != id)
        service = service->next;
    return service != NULL;
}

bool oche_services_taken(const struct oche_services *services, const struct oche_sharing *share,
                         uint64_t id)
{
    return oche_services_has(services, id) ||
           (share->fd >= 0 && oche_names_service_slot(&share->names, id) >= 0);
}

unsigned oche_services_manager(const struct oche_services *services,
                               const struct oche_sharing *share)
{
    const int slot =
        share->fd >= 0 && !services->manages ? oche_names_manager_slot(&share->names) : -1;

    return slot >= 0 ? (unsigned)slot : share->slot;
}

unsigned oche_services_slot(const struct oche_services *services, const struct oche_sharing *share,
                            uint64_t id)
{
    int slot = -1;

    if (oche_services_has(services, id))
        return share->slot;
    if (share->fd >= 0)
        slot = oche_names_service_slot(&share->names, id);
    return slot >= 0 ? (unsigned)slot : oche_services_manager(services, share);
}
