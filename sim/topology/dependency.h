/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cyclic buffer dependency. Under PFC a port waits for those ports of the next switch to which that
 * switch passes on what it sends: a packet that came by port e and leaves by port f makes e wait
 * for f. If the ways of all flows make such waiting go round in a circle, the network can come to
 * a stop for ever; if they do not, it cannot. Routes that go up and then down never make one.
 *
 * Ports are numbered for the whole network, as in sim/topology/walk.h.
 */
#ifndef OCHE_SIM_TOPOLOGY_DEPENDENCY_H
#define OCHE_SIM_TOPOLOGY_DEPENDENCY_H

#include "sim/topology/walk.h"

/* Ports of which each waits for the next, and the last for the first. All zero: none. */
struct oche_circle {
    uint32_t *ports; /* malloc'd; the smallest first */
    uint32_t count;
};
void oche_circle_free(struct oche_circle *circle);
/* Takes over `ports` (malloc'd) and turns it so that the smallest is first. */
struct oche_circle oche_circle_make(uint32_t *ports, uint32_t count);
/* "s0:s1 → s1:s2 → s2:s0 → s0:s1"; malloc'd. Of a long one the middle is left out. */
char *oche_circle_text(const struct oche_topology *topology, const struct oche_circle *circle);

/* What waits for what, of one traffic class. */
struct oche_dependencies;

struct oche_dependencies *oche_dependencies_create(const struct oche_topology *topology);
void oche_dependencies_free(struct oche_dependencies *dependencies);
/* The packets of a flow go this way. */
void oche_dependencies_add(struct oche_dependencies *dependencies, const struct oche_walk *walk);
/* A circle, always the same one; empty if there is none. */
struct oche_circle oche_dependencies_circle(const struct oche_dependencies *dependencies);

#endif
