/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cyclic buffer dependency. Under PFC a port waits for those ports of the next switch to which that
 * switch passes on what it sends: a packet that came by port e and leaves by port f makes e wait
 * for f. If the paths of all flows make ports wait for each other in a cycle, the network can
 * deadlock; if they do not, it cannot. Routes that go up and then down never form a cycle.
 *
 * Ports are numbered for the whole network, as in sim/topology/walk.h.
 */
#ifndef OCHE_SIM_TOPOLOGY_DEPENDENCY_H
#define OCHE_SIM_TOPOLOGY_DEPENDENCY_H

#include "sim/topology/walk.h"

/*
 * A cycle: each port waits for the next one, and the last for the first. All zero: there is none.
 */
struct oche_circle {
    uint32_t *ports; /* malloc'd; the smallest number comes first */
    uint32_t count;
};
void oche_circle_free(struct oche_circle *circle);
/* Takes over `ports` (malloc'd) and rotates it so that the smallest number comes first. */
struct oche_circle oche_circle_make(uint32_t *ports, uint32_t count);
/*
 * Returns a cycle as text (malloc'd): "s0:s1 → s1:s2 → s2:s0 → s0:s1". The middle of a long one is
 * left out.
 */
char *oche_circle_text(const struct oche_topology *topology, const struct oche_circle *circle);

/* Which port waits for which, for one traffic class. */
struct oche_dependencies;

struct oche_dependencies *oche_dependencies_create(const struct oche_topology *topology);
void oche_dependencies_free(struct oche_dependencies *dependencies);
/* Adds the dependencies of a flow whose packets take this path. */
void oche_dependencies_add(struct oche_dependencies *dependencies, const struct oche_walk *walk);
/* Returns a cycle, always the same one; an empty one if there is none. */
struct oche_circle oche_dependencies_circle(const struct oche_dependencies *dependencies);

#endif
