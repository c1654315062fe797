/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Look-ahead by devices. A host's messages name all hosts of the list but the receiver. The number
 * of the receiver is the id of the group, so that all senders of an incast name the same one.
 */
#include "device/incast.h"

#include <stdlib.h>
#include <string.h>

#include "core/cc/cc_messages.h"
#include "device/internal.h"
#include "params/incast_list.h"

uint32_t device_incast_numbers(const struct oche_device_config *config)
{
    return config->incast == NULL ? 0 : config->incast->count + 1;
}

static bool takes_lists(const struct oche_device *device)
{
    const struct oche_cc_messages *messages = device->config.cc->messages;

    return messages != NULL && messages->names_groups != NULL &&
           messages->names_groups(device->cc_params);
}

/* Fills the groups. The device's own host has the index `own`; 0: it is not in the list. */
static void make_groups(struct device_incast *incast, uint32_t own)
{
    for (uint32_t receiver = 0; receiver <= incast->count; receiver++) {
        struct oche_group *group = &incast->groups[receiver];

        *group = (struct oche_group){.id = receiver, .members = incast->members[receiver]};
        if (own == 0 || own == receiver)
            continue; /* this host is no sender: its messages name nobody */
        for (uint32_t host = 1; host <= incast->count; host++)
            if (host != receiver)
                oche_put16(incast->members[receiver] + 2 * (size_t)group->count++, (uint16_t)host);
    }
}

bool device_add_peers(struct oche_device *device, struct oche_error *error)
{
    const struct oche_incast_list *list = device->config.incast;
    struct oche_address host = {0};
    uint32_t own = 0;

    oche_peers_add(&device->peers, &device->address, device->port); /* index 0: this device */
    device->config.incast = NULL;                                   /* the list is the caller's */
    if (list == NULL || list->ipv6 != device->socket.ipv6)
        return true; /* hosts of another IP version send nothing to this device */
    if (!takes_lists(device))
        return oche_fail(error, "%s: an incast's hosts are given, but %s takes no list of them",
                         device->config.address, device->config.cc->name);
    if (list->count >= device->config.max_peers)
        return oche_fail(error, "%s: an incast of %u hosts; %u peers are possible",
                         device->config.address, list->count, device->config.max_peers);
    device->incast = calloc(1, sizeof(*device->incast));
    if (device->incast == NULL)
        return oche_fail(error, "%s: out of memory", device->config.address);
    device->incast->count = list->count;
    for (uint32_t i = 0; i < list->count; i++) {
        memcpy(host.ip, list->addresses[i], sizeof(host.ip));
        if (memcmp(host.ip, device->address.ip, sizeof(host.ip)) == 0) {
            own = i + 1;
            oche_peers_skip(&device->peers); /* it has index 0 already */
        } else {
            /* never released, so that nobody else gets the index */
            oche_peers_add(&device->peers, &host, device->port);
        }
    }
    make_groups(device->incast, own);
    return true;
}

bool oche_device_names_groups(const struct oche_device *device)
{
    return device->incast != NULL;
}

const struct oche_group *oche_device_group(const struct oche_device *device, uint32_t receiver)
{
    const struct oche_group *group;

    if (device->incast == NULL || receiver == 0) /* to itself */
        return NULL;
    group = &device->incast->groups[receiver <= device->incast->count ? receiver : 0];
    return group->count < 2 ? NULL : group;
}
