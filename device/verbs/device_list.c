/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of devices: ours (identity.h), then the kernel's RDMA devices. With OCHE_DEVICE the list
 * has only the device of that address. A program that takes the first device gets one of ours,
 * because the user chose this library.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/verbs/identity.h"
#include "device/verbs/internal.h"
#include "params/local_rank.h"

struct ov_device *ov_device_take(struct ov_device *device)
{
    atomic_fetch_add(&device->references, 1);
    return device;
}

void ov_device_release(struct ov_device *device)
{
    if (atomic_fetch_sub(&device->references, 1) == 1)
        free(device);
}

static struct ov_device *make(const struct oche_identity *from, bool only)
{
    struct ov_device *device = calloc(1, sizeof(*device));

    if (device == NULL)
        return NULL;
    device->references = 1;
    device->mark = ov_mark;
    device->address = from->address;
    device->interface_index = if_nametoindex(from->interface);
    device->loopback = from->loopback;
    device->only = only;
    device->device.node_type = IBV_NODE_CA;
    device->device.transport_type = IBV_TRANSPORT_IB;
    snprintf(device->device.name, sizeof(device->device.name), "%s", from->name);
    snprintf(device->device.dev_name, sizeof(device->device.dev_name), "u%.50s",
             device->device.name);
    snprintf(device->device.dev_path, sizeof(device->device.dev_path),
             "/sys/class/infiniband_verbs/%s", device->device.dev_name);
    snprintf(device->device.ibdev_path, sizeof(device->device.ibdev_path),
             "/sys/class/infiniband/%s", device->device.name);
    return device;
}

/*
 * Lists our devices. `only`: the address of the only one, or NULL; if it gives none, a line says
 * why. Returns their number, or -1 with errno if the interfaces cannot be listed.
 */
static int list_ours(const char *only, struct ov_device **list)
{
    struct oche_identity *all;
    struct oche_error why;
    const int found = oche_identities(only, &all, &why);
    int count = 0;

    if (found == 0 && only != NULL)
        ov_say("OCHE_DEVICE=%s: %s", only, why.text);
    while (count < found && (list[count] = make(&all[count], only != NULL)) != NULL)
        count++;
    free(all);
    return found < 0 ? found : count;
}

/* A list of devices; the application gets a pointer to `devices`. */
struct list {
    struct ibv_device **theirs; /* the list of the system's library, which must free it */
    struct ibv_device *devices[];
};

/* Prints a line if no interface is up, as in a new network namespace. */
static void say_none(void)
{
    if (oche_is_first_of_host())
        ov_say_once(OV_ONCE_NO_INTERFACE,
                    "there is no device, as no network interface that is up has an address (other "
                    "than link-local ones); `ip link set lo up` gives 127.0.0.1");
}

static struct list *list_all(int *num_devices)
{
    const char *value = secure_getenv("OCHE_DEVICE"),
               *only = value != NULL && value[0] ? value : NULL;
    struct ov_device *ours[OCHE_MOST_DEVICES];
    struct ibv_device **theirs = NULL;
    const int own = ov_only_theirs ? 0 : list_ours(only, ours);
    struct list *list;
    int others = 0;

    if (own < 0)
        return NULL;
    if (own > 0 || only == NULL ||
        ov_only_theirs) /* if the named address does not exist, the list is empty */
        theirs = ov_system_devices(&others);
    if (own + others == 0 && only == NULL && !ov_only_theirs)
        say_none();
    list = calloc(1, sizeof(*list) + (size_t)(own + others + 1) * sizeof(list->devices[0]));
    if (list == NULL) {
        for (int i = 0; i < own; i++)
            ov_device_release(ours[i]);
        if (theirs != NULL)
            ov_system->ibv_free_device_list(theirs);
        return ov_null(ENOMEM);
    }
    list->theirs = theirs;
    for (int i = 0; i < own; i++)
        list->devices[i] = &ours[i]->device;
    for (int i = 0; i < others; i++)
        list->devices[own + i] = theirs[i];
    *num_devices = own + others;
    return list;
}

struct ibv_device **ibv_get_device_list(int *num_devices)
{
    struct list *list;
    int count = 0;

    if (ov_system_lists)
        return ov_system->ibv_get_device_list(num_devices);
    if (num_devices != NULL)
        *num_devices = 0;
    if (!ov_system_load())
        return ov_null(EINVAL);
    list = list_all(&count);
    if (list == NULL)
        return NULL;
    if (list->devices[0] != NULL && !(ov_system_loaded() && ov_is_theirs(list->devices[0])))
        ov_unsupported_files((const struct ov_device *)(const void *)list->devices[0],
                             __builtin_return_address(0));
    if (num_devices != NULL)
        *num_devices = count;
    return list->devices;
}

void ibv_free_device_list(struct ibv_device **devices)
{
    struct list *list;

    if (devices == NULL)
        return;
    if (ov_system_lists) {
        ov_system->ibv_free_device_list(devices);
        return;
    }
    list = (struct list *)(void *)((uint8_t *)devices - offsetof(struct list, devices));
    for (unsigned i = 0; devices[i] != NULL; i++)
        if (!ov_system_loaded() || !ov_is_theirs(devices[i]))
            ov_device_release((struct ov_device *)(void *)devices[i]);
    if (list->theirs != NULL)
        ov_system->ibv_free_device_list(list->theirs);
    free(list);
}

const char *ibv_get_device_name(struct ibv_device *device)
{
    OV_PASS_ON(device, ibv_get_device_name, device);
    return device->name;
}

int ibv_get_device_index(struct ibv_device *device)
{
    OV_PASS_ON_OR(-1, device, ibv_get_device_index, device);
    return -1; /* the kernel does not know the device */
}

__be64 ibv_get_device_guid(struct ibv_device *device)
{
    const struct ov_device *own = (const struct ov_device *)(const void *)device;
    uint8_t bytes[8];
    __be64 guid;

    OV_PASS_ON(device, ibv_get_device_guid, device);
    oche_identity_guid(&own->address, bytes);
    memcpy(&guid, bytes, sizeof(guid));
    return guid;
}
