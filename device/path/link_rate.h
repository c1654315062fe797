/* SPDX-License-Identifier: Apache-2.0 */
/* The rate of a network interface's link. */
#ifndef OCHE_DEVICE_PATH_LINK_RATE_H
#define OCHE_DEVICE_PATH_LINK_RATE_H

#include <stdint.h>

/*
 * Returns the bits per second of the interface's link; 0: unknown, as the link is down, its driver
 * does not say, or it has none. Interfaces without hardware (veth, bridges, tunnels) report
 * arbitrary rates, which are ignored.
 */
uint64_t oche_link_rate(unsigned interface_index);

#endif
