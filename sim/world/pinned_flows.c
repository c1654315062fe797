/* SPDX-License-Identifier: Apache-2.0 */
/* Gives flows the paths that the file of static routes has for them. */
#include <stdlib.h>

#include "sim/network/host.h"
#include "sim/world/internal.h"

/* Returns an earlier path of the same queue pair in the same direction; there is one. */
static const struct oche_pinned_path *before(const struct oche_world *world,
                                             const struct oche_pinned_path *path)
{
    const struct oche_pinned_path *other = world->static_routes.pinned.paths;
    uint32_t connection = oche_flows_plan(&world->flows, path->flow).connection;

    while (other < path && (other->dst != path->dst ||
                            oche_flows_plan(&world->flows, other->flow).connection != connection))
        other++;
    return other;
}

static bool pin(struct oche_world *world, const struct oche_pinned_path *path,
                struct oche_error *error)
{
    const struct oche_topology_node *nodes = world->topology.nodes;
    const char *file = world->config->routes.file;

    if (path->flow >= world->flows.count)
        return oche_fail(error, "%s:%u: there is no flow %u; the workloads make %u, counted from 0",
                         file, path->line, path->flow, world->flows.count);
    struct oche_flow_plan plan = oche_flows_plan(&world->flows, path->flow);

    if (!(plan.src == path->src && plan.dst == path->dst) &&
        !(plan.src == path->dst && plan.dst == path->src))
        return oche_fail(
            error,
            "%s:%u: flow %u goes from %s to %s; a path between these two, or back, would be "
            "right",
            file, path->line, path->flow, nodes[plan.src].name, nodes[plan.dst].name);
    if (oche_pinned_paths_pin(&world->static_routes.pinned, path,
                              oche_host_flow_hash(world->config->seed, plan.connection)))
        return true;
    return oche_fail(error,
                     "%s:%u: line %u has a path for this flow's queue pair in this direction "
                     "already; one would be right",
                     file, path->line, before(world, path)->line);
}

bool oche_world_pin_flows(struct oche_world *world, struct oche_error *error)
{
    const struct oche_pinned_paths *pinned = &world->static_routes.pinned;

    if (pinned->count > 0 && oche_world_spreads(world->config))
        return oche_fail(error,
                         "%s:%u: flows have many paths by host.entropy; ecmp, or a file without "
                         "paths of flows",
                         world->config->routes.file, pinned->paths[0].line);
    for (uint32_t i = 0; i < pinned->count; i++)
        if (!pin(world, &pinned->paths[i], error))
            return false;
    return true;
}
