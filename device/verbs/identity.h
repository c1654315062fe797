/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which devices this host has, with their names and GUIDs: for libibverbs.so.1, which lists them,
 * and for liboche-files.so, which has a folder for each.
 *
 * There is a device for each IP address of each interface that is up, except link-local IPv6
 * addresses (they need a scope, which no GID has). Devices of loopback interfaces come last.
 *
 *   oche_IF_v4  the interface's first IPv4 address      oche2_IF_v4  its second, …
 *   oche_IF_v6  its first IPv6 address                  oche2_IF_v6, …
 *
 * No name is a prefix of another, because some programs match by prefix (libfabric: strncmp): with
 * the version at its end, that of eth1 is no prefix of that of eth10. A device's name depends only
 * on its own interface.
 */
#ifndef OCHE_DEVICE_VERBS_IDENTITY_H
#define OCHE_DEVICE_VERBS_IDENTITY_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/error.h"
#include "device/path/address.h"

#define OCHE_MOST_DEVICES 256
#define OCHE_DEVICE_NAME  64 /* bytes of a name with its terminating 0 */

struct oche_identity {
    char name[OCHE_DEVICE_NAME];
    char interface[IF_NAMESIZE];
    struct oche_address address;
    bool loopback;
};

/*
 * Lists the devices. `only`: the address of the only device (OCHE_DEVICE), or NULL; it may be any
 * address in 127.0.0.0/8. *list is malloc'd, for the caller to free. Returns their number, at most
 * OCHE_MOST_DEVICES; 0 with *why if `only` gives no device; -1 with errno if the interfaces cannot
 * be listed, or without memory. *list is then NULL.
 */
int oche_identities(const char *only, struct oche_identity **list, struct oche_error *why);

/*
 * Writes the device's GUID in network order. It is derived from the address, so it is the same in
 * every process and after every start. It is marked as locally administered.
 */
void oche_identity_guid(const struct oche_address *address, uint8_t guid[8]);

#endif
