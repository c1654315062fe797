/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The largest IP packet, with its headers: of an interface, and of the current route to an address.
 * The latter is the interface's, the route's own (`ip route … mtu`), or the one that a router has
 * reported (path MTU discovery).
 */
#ifndef OCHE_DEVICE_PATH_ROUTE_MTU_H
#define OCHE_DEVICE_PATH_ROUTE_MTU_H

#include "device/path/address.h"

/* Both return bytes; 0: the MTU is unknown. */
uint32_t oche_interface_mtu(unsigned interface_index);
uint32_t oche_route_mtu(const struct oche_address *from, const struct oche_address *to);

#endif
