/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long IP packets may be, with their headers: on an interface, and on the way to an address as
 * the kernel's routes have it now. The latter is the interface's, or the route's own (`ip route …
 * mtu`), or what a router has answered since (path MTU discovery).
 */
#ifndef OCHE_DEVICE_PATH_ROUTE_MTU_H
#define OCHE_DEVICE_PATH_ROUTE_MTU_H

#include "device/path/address.h"

/* Both return bytes; 0: not known. */
uint32_t oche_interface_mtu(unsigned interface_index);
uint32_t oche_route_mtu(const struct oche_address *from, const struct oche_address *to);

#endif
