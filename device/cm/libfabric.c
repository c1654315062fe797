/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libfabric's verbs provider ignores devices of loopback addresses. If a program names no address
 * it asks for "localhost", and fails if that is an ignored device ("No data available"). To Linux
 * localhost means a host's first device. So it does here, for libfabric, if that is not loopback.
 */
#include <dlfcn.h>
#include <stdatomic.h>

#include "device/cm/internal.h"
#include "params/local_rank.h"

/* Beginnings of names of the library, and of its provider where that is a library of its own. */
static const char *const names[] = {"libfabric", "libverbs-fi"};

static bool is_libfabric(const void *caller)
{
    const char *name;
    Dl_info about;

    if (dladdr(caller, &about) == 0 || about.dli_fname == NULL)
        return false;
    name = strrchr(about.dli_fname, '/');
    name = name != NULL ? name + 1 : about.dli_fname;
    for (size_t i = 0; i < OCHE_COUNT_OF(names); i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

void cm_note_caller(struct cm_id *id, const void *caller)
{
    id->of_libfabric |= is_libfabric(caller);
}

static bool is_usable(const struct cm_device *device, sa_family_t family)
{
    struct sockaddr_storage address;

    cm_sockaddr_of(device->gid.raw, 0, &address);
    return !cm_is_loopback((const struct sockaddr *)&address) &&
           (family == AF_UNSPEC || address.ss_family == family);
}

struct cm_device *cm_libfabric_localhost(const struct sockaddr *address)
{
    const sa_family_t families[] = {address->sa_family, AF_UNSPEC};

    for (size_t i = 0; i < OCHE_COUNT_OF(families); i++)
        for (struct cm_device *device = cm_devices; device != NULL; device = device->next)
            if (is_usable(device, families[i]))
                return device;
    return NULL;
}

void cm_warn_libfabric(const void *caller)
{
    static _Atomic bool told;
    const char *chosen = secure_getenv("OCHE_DEVICE");

    for (const struct cm_device *device = cm_devices; device != NULL; device = device->next)
        if (is_usable(device, AF_UNSPEC))
            return;
    if (cm_devices == NULL || !is_libfabric(caller) || !oche_is_first_of_host() ||
        atomic_exchange(&told, true))
        return;
    if (chosen != NULL && chosen[0] != '\0')
        cm_say("libfabric connects no endpoints of loopback devices (FI_EP_MSG), and OCHE_DEVICE "
               "(--device) names one: another address is needed, or leave it out");
    else
        cm_say("libfabric connects no endpoints of loopback devices (FI_EP_MSG), and there is no "
               "other device: give an interface an address (`ip link add some0 type dummy; ip addr "
               "add 192.0.2.1/32 dev some0; ip link set some0 up`)");
}
