/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks before the run that routing is symmetric for every connection. ExpressPass needs this: its
 * switches limit credits on a link so that the data they ask for fits the same link in the other
 * direction (expresspass.md#symmetry).
 */
#include <stdio.h>

#include "params/error.h"
#include "sim/world/internal.h"

static bool walks_back(const struct oche_world *world, const struct oche_flow_plan *plan,
                       struct oche_walk *there)
{
    uint32_t hash = oche_host_flow_hash(world->config->seed, plan->connection);
    struct oche_walk back;

    oche_topology_walk(&world->topology, world->used_routes.of, world->config->seed, true,
                       plan->src, plan->dst, hash, there);
    oche_topology_walk(&world->topology, world->used_routes.of, world->config->seed, true,
                       plan->dst, plan->src, hash, &back);
    return oche_topology_walks_back(&world->topology, there, &back);
}

bool oche_world_check_symmetry(const struct oche_world *world, struct oche_error *error)
{
    const struct oche_topology *topology = &world->topology;
    struct oche_flow_walk walk = oche_flow_walk(&world->flows);
    const struct oche_flow_plan *plan;
    uint32_t last = UINT32_MAX; /* the connection of the flow before */
    struct oche_walk there;

    if (!oche_world_symmetric(world->config))
        return true;
    for (; (plan = oche_flow_walk_next(&walk)) != NULL; last = plan->connection) {
        if (plan->connection == last || walks_back(world, plan, &there))
            continue;
        return oche_fail(
            error,
            "%s: %s needs credits and data to take the same way, and between %s and %s they "
            "do not here; would be right: one link between two switches, and as many ways up "
            "from every switch of a tier, as in fat_tree, leaf_spine, clos by default",
            oche_world_has_static_routes(world->config) ? "routes.file" : "topology",
            world->config->endpoint->name, topology->nodes[plan->src].name,
            topology->nodes[plan->dst].name);
    }
    return true;
}
