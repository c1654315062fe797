/* SPDX-License-Identifier: Apache-2.0 */
/* What a network interface says of its rate. */
#ifndef OCHE_DEVICE_PATH_LINK_RATE_H
#define OCHE_DEVICE_PATH_LINK_RATE_H

#include <stdint.h>

/*
 * Returns the bits per second of the interface's link, or 0 if they are not known: the link is
 * down, its driver does not say, or there is no link behind it. Interfaces without hardware (veth,
 * bridges, tunnels) may say anything, and are not believed.
 */
uint64_t oche_link_rate(unsigned interface_index);

#endif
