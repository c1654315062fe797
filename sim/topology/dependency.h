/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cyclic buffer dependency. Under PFC a port can send only if the next switch has room, and that
 * switch gets room only if it can forward packets. So if port e sends a packet that leaves the next
 * switch by port f, e may have to wait for f. If the paths of all flows make ports wait for each
 * other in a cycle, the network can deadlock; without a cycle it cannot. Routes that go up and then
 * down never form a cycle.
 *
 * Ports are numbered for the whole network, as in sim/topology/walk.h.
 */
#ifndef OCHE_SIM_TOPOLOGY_DEPENDENCY_H
#define OCHE_SIM_TOPOLOGY_DEPENDENCY_H

#include "sim/topology/walk.h"

/* A cycle: each port waits for the next one, the last port for the first. All 0: no cycle. */
struct oche_circle {
    uint32_t *ports; /* malloc'd; the smallest number comes first */
    uint32_t count;
};
void oche_circle_free(struct oche_circle *circle);
/* Takes over `ports` (malloc'd) and rotates it so that the smallest number comes first. */
struct oche_circle oche_circle_make(uint32_t *ports, uint32_t count);
/*
 * Returns a cycle as text (malloc'd): "s0:s1 → s1:s2 → s2:s0 → s0:s1". The text of a long cycle
 * leaves out the middle.
 */
char *oche_circle_text(const struct oche_topology *topology, const struct oche_circle *circle);

/* Which port waits for which, for one traffic class. */
struct oche_dependencies;

struct oche_dependencies *oche_dependencies_create(const struct oche_topology *topology);
void oche_dependencies_free(struct oche_dependencies *dependencies);
/* Adds the dependencies of a flow whose packets take the path `walk`. */
void oche_dependencies_add(struct oche_dependencies *dependencies, const struct oche_walk *walk);
/* Returns a cycle, always the same one for equal dependencies. All 0 if the ports form no cycle. */
struct oche_circle oche_dependencies_circle(const struct oche_dependencies *dependencies);

#endif
