/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of devices: one for each IP address of each interface that is up, except link-local IPv6
 * addresses (they need a scope, which no GID has). Devices of loopback interfaces come last.
 *
 *   oche_IF_v4  the interface's first IPv4 address      oche2_IF_v4  its second, …
 *   oche_IF_v6  its first IPv6 address                  oche2_IF_v6, …
 *
 * No name is a prefix of another, because some programs match by prefix (libfabric: strncmp): with
 * the version at its end, that of eth1 is no prefix of that of eth10. A device's name depends only
 * on its own interface.
 *
 * With OCHE_DEVICE the list has only the device of that address. The kernel's RDMA devices follow
 * ours. A program that takes the first device gets one of ours, because the user chose this
 * library.
 */
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "device/verbs/internal.h"
#include "params/local_rank.h"

#define MOST_DEVICES 256

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

/* Returns true if a device can be made of the interface's address, and puts that into *address. */
static bool usable(const struct ifaddrs *at, struct oche_address *address)
{
    struct sockaddr_storage socket_address = {0};
    uint16_t port;

    if (at->ifa_addr == NULL || (at->ifa_flags & IFF_UP) == 0)
        return false;
    if (at->ifa_addr->sa_family == AF_INET)
        memcpy(&socket_address, at->ifa_addr, sizeof(struct sockaddr_in));
    else if (at->ifa_addr->sa_family == AF_INET6)
        memcpy(&socket_address, at->ifa_addr, sizeof(struct sockaddr_in6));
    else
        return false;
    if (!oche_address_from_socket(&socket_address, address, &port))
        return false;
    return oche_address_is_unicast(address) && !oche_address_is_link_local(address);
}

/* Names the device of the interface's `nth` address of this IP version, 4 or 6. */
static void name_device(char *name, size_t bytes, const char *interface, unsigned nth,
                        unsigned version)
{
    char number[12] = "", shown[IF_NAMESIZE], *inside = shown;

    if (nth > 1)
        snprintf(number, sizeof(number), "%u", nth);
    snprintf(shown, sizeof(shown), "%s", interface);
    /* an interface that is called eth1_v4 itself must not continue the name of eth1's device */
    while ((inside = strstr(inside, "_v")) != NULL)
        *inside = '-';
    snprintf(name, bytes, "oche%s_%s_v%u", number, shown, version);
}

static struct ov_device *make(const char *interface, const struct oche_address *address,
                              unsigned nth)
{
    struct ov_device *device = calloc(1, sizeof(*device));

    if (device == NULL)
        return NULL;
    device->references = 1;
    device->mark = ov_mark;
    device->address = *address;
    device->interface_index = if_nametoindex(interface);
    device->device.node_type = IBV_NODE_CA;
    device->device.transport_type = IBV_TRANSPORT_IB;
    name_device(device->device.name, sizeof(device->device.name), interface, nth,
                oche_address_is_ipv4(address) ? 4 : 6);
    snprintf(device->device.dev_name, sizeof(device->device.dev_name), "u%.50s",
             device->device.name);
    snprintf(device->device.dev_path, sizeof(device->device.dev_path),
             "/sys/class/infiniband_verbs/%s", device->device.dev_name);
    snprintf(device->device.ibdev_path, sizeof(device->device.ibdev_path),
             "/sys/class/infiniband/%s", device->device.name);
    return device;
}

/*
 * Returns the position of an address among the addresses of the same IP version on its interface.
 */
static unsigned place_of(const struct ifaddrs *all, const struct ifaddrs *one)
{
    struct oche_address address;
    unsigned nth = 1;

    for (const struct ifaddrs *at = all; at != one; at = at->ifa_next)
        if (usable(at, &address) && strcmp(at->ifa_name, one->ifa_name) == 0 &&
            at->ifa_addr->sa_family == one->ifa_addr->sa_family)
            nth++;
    return nth;
}

static unsigned add_all(const struct ifaddrs *all, bool loopback, sa_family_t family,
                        struct ov_device **list, unsigned count)
{
    struct oche_address address;

    for (const struct ifaddrs *at = all; at != NULL && count < MOST_DEVICES; at = at->ifa_next) {
        if (!usable(at, &address) || ((at->ifa_flags & IFF_LOOPBACK) != 0) != loopback ||
            at->ifa_addr->sa_family != family)
            continue;
        list[count] = make(at->ifa_name, &address, place_of(all, at));
        if (list[count] == NULL)
            break;
        list[count]->loopback = loopback;
        count++;
    }
    return count;
}

/*
 * Lists the device of the address `text`. This may be any address of this host, and any in
 * 127.0.0.0/8, although interfaces do not list them all. Returns the number of devices: 1, or 0
 * after printing a line with the reason.
 */
static unsigned add_named(const struct ifaddrs *all, const char *text, struct ov_device **list)
{
    struct oche_address wanted, address;
    bool loopback;

    if (!oche_address_parse(text, &wanted) || !oche_address_is_unicast(&wanted)) {
        ov_say("OCHE_DEVICE=%s: not an IP address of this host; 192.0.2.1 or 2001:db8::1 is meant",
               text);
        return 0;
    }
    if (oche_address_is_link_local(&wanted)) {
        ov_say("OCHE_DEVICE=%s: " OCHE_NO_LINK_LOCAL, text);
        return 0;
    }
    loopback = oche_address_is_ipv4(&wanted) && wanted.ip[12] == 127;
    for (const struct ifaddrs *at = all; at != NULL; at = at->ifa_next) {
        if (!usable(at, &address))
            continue;
        if (memcmp(address.ip, wanted.ip, 16) != 0 &&
            !(loopback && (at->ifa_flags & IFF_LOOPBACK) != 0 && oche_address_is_ipv4(&address)))
            continue;
        list[0] = make(at->ifa_name, &wanted, place_of(all, at));
        if (list[0] == NULL)
            return 0;
        list[0]->loopback = (at->ifa_flags & IFF_LOOPBACK) != 0;
        list[0]->only = true;
        return 1;
    }
    ov_say("OCHE_DEVICE=%s: no interface that is up has this address", text);
    return 0;
}

/*
 * Lists our devices, at most MOST_DEVICES. Returns their number, or -1 with errno if the interfaces
 * cannot be listed.
 */
static int list_ours(const char *only, struct ov_device **list)
{
    struct ifaddrs *all = NULL;
    unsigned count = 0;

    if (getifaddrs(&all) != 0)
        return -1;
    if (only != NULL) {
        count = add_named(all, only, list);
    } else {
        for (int loopback = 0; loopback < 2; loopback++) {
            count = add_all(all, loopback, AF_INET, list, count);
            count = add_all(all, loopback, AF_INET6, list, count);
        }
    }
    freeifaddrs(all);
    return (int)count;
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
    struct ov_device *ours[MOST_DEVICES];
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

/*
 * The GUID is derived from the address, so it is the same in every process and after every start.
 * It is marked as locally administered.
 */
__be64 ibv_get_device_guid(struct ibv_device *device)
{
    const struct ov_device *own = (const struct ov_device *)(const void *)device;
    uint64_t words[2], guid;
    uint8_t bytes[8];

    OV_PASS_ON(device, ibv_get_device_guid, device);
    memcpy(words, own->address.ip, sizeof(words));
    guid = oche_mix64(words[0] ^ oche_mix64(words[1]));
    memcpy(bytes, &guid, sizeof(bytes));
    bytes[0] = (uint8_t)((bytes[0] | 2) & ~1);
    memcpy(&guid, bytes, sizeof(bytes));
    return guid;
}
