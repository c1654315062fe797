/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about its surroundings that a switch needs for deflecting packets (fabric/iofd.h): which
 * ports lead up, and which neighbours can forward a packet.
 */
#ifndef OCHE_SIM_TOPOLOGY_ONWARD_H
#define OCHE_SIM_TOPOLOGY_ONWARD_H

#include "sim/topology/routes.h"

/*
 * True if the far end of a port is above its node: it has a higher tier, or the same tier and a
 * higher number. So each link has one upper end, and no switch can be above itself.
 */
bool oche_topology_is_up(const struct oche_topology *topology, uint32_t node, uint32_t port);

/* Returns how many 64-bit words oche_topology_onward needs for switch `number` (from 0). */
size_t oche_topology_onward_words(const struct oche_topology_routes *routes, uint32_t number);
/*
 * Sets bit port * group_count + group, in zeroed `bits`, if the far end of the port is a switch
 * that has hosts of the group, or a route to the group that does not lead back over the port's
 * link. Of `routes`, reads only the members topology, group_count and of.
 */
void oche_topology_onward(const struct oche_topology_routes *routes, uint32_t number,
                          uint64_t *bits);

#endif
