/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a switch that misroutes must know of its surroundings (fabric/iofd.h): which way is up, and
 * from where there is a way on.
 */
#ifndef OCHE_SIM_TOPOLOGY_ONWARD_H
#define OCHE_SIM_TOPOLOGY_ONWARD_H

#include "sim/topology/routes.h"

/*
 * Whether the far end of a port is above its node: of a higher tier, or of the same with a higher
 * number. So each link has one upper end, and nobody is above himself.
 */
bool oche_topology_is_up(const struct oche_topology *topology, uint32_t node, uint32_t port);

/* 64-bit words of the bits below, for switch number 0 …. */
size_t oche_topology_onward_words(const struct oche_topology_routes *routes, uint32_t number);
/*
 * Sets, in zeroed `bits`, number port * group_count + group if the far end of the port is a switch
 * that has hosts of the group or a way to it by another link than this one. Of `routes`, topology,
 * group_count and of are enough.
 */
void oche_topology_onward(const struct oche_topology_routes *routes, uint32_t number,
                          uint64_t *bits);

#endif
