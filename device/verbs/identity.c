/* SPDX-License-Identifier: Apache-2.0 */
/* Lists addresses of interfaces; see identity.h. */
#include "device/verbs/identity.h"

#include <errno.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "params/error.h"

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

static void add(struct oche_identity *device, const struct ifaddrs *at,
                const struct oche_address *address, unsigned nth)
{
    *device = (struct oche_identity){.address = *address,
                                     .loopback = (at->ifa_flags & IFF_LOOPBACK) != 0};
    snprintf(device->interface, sizeof(device->interface), "%s", at->ifa_name);
    name_device(device->name, sizeof(device->name), at->ifa_name, nth,
                oche_address_is_ipv4(address) ? 4 : 6);
}

static int add_all(const struct ifaddrs *all, bool loopback, sa_family_t family,
                   struct oche_identity *list, int count)
{
    struct oche_address address;

    for (const struct ifaddrs *at = all; at != NULL && count < OCHE_MOST_DEVICES; at = at->ifa_next)
        if (usable(at, &address) && ((at->ifa_flags & IFF_LOOPBACK) != 0) == loopback &&
            at->ifa_addr->sa_family == family)
            add(&list[count++], at, &address, place_of(all, at));
    return count;
}

/*
 * Lists the device of the address `text`. This may be any address of this host, and any in
 * 127.0.0.0/8, although interfaces do not list them all. Returns 1, or 0 with *why.
 */
static int add_named(const struct ifaddrs *all, const char *text, struct oche_identity *list,
                     struct oche_error *why)
{
    struct oche_address wanted, address;
    bool loopback;

    if (!oche_address_parse(text, &wanted) || !oche_address_is_unicast(&wanted))
        return oche_fail(why, "not an IP address of this host; 192.0.2.1 or 2001:db8::1 is meant");
    if (oche_address_is_link_local(&wanted))
        return oche_fail(why, OCHE_NO_LINK_LOCAL);
    loopback = oche_address_is_ipv4(&wanted) && wanted.ip[12] == 127;
    for (const struct ifaddrs *at = all; at != NULL; at = at->ifa_next) {
        if (!usable(at, &address))
            continue;
        if (memcmp(address.ip, wanted.ip, 16) != 0 &&
            !(loopback && (at->ifa_flags & IFF_LOOPBACK) != 0 && oche_address_is_ipv4(&address)))
            continue;
        add(list, at, &wanted, place_of(all, at));
        return 1;
    }
    return oche_fail(why, "no interface that is up has this address");
}

int oche_identities(const char *only, struct oche_identity **list, struct oche_error *why)
{
    struct ifaddrs *all = NULL;
    int count = 0;

    *list = NULL;
    if (getifaddrs(&all) != 0)
        return -1;
    *list = calloc(OCHE_MOST_DEVICES, sizeof(**list));
    if (*list == NULL) {
        freeifaddrs(all);
        errno = ENOMEM;
        return -1;
    }
    if (only != NULL) {
        count = add_named(all, only, *list, why);
    } else {
        for (int loopback = 0; loopback < 2; loopback++) {
            count = add_all(all, loopback, AF_INET, *list, count);
            count = add_all(all, loopback, AF_INET6, *list, count);
        }
    }
    freeifaddrs(all);
    if (count == 0) {
        free(*list);
        *list = NULL;
    }
    return count;
}

void oche_identity_guid(const struct oche_address *address, uint8_t guid[8])
{
    uint64_t words[2], mixed;

    memcpy(words, address->ip, sizeof(words));
    mixed = oche_mix64(words[0] ^ oche_mix64(words[1]));
    memcpy(guid, &mixed, sizeof(mixed));
    guid[0] = (uint8_t)((guid[0] | 2) & ~1);
}
