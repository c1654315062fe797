/* SPDX-License-Identifier: Apache-2.0 */
/* A number by which ranks on different machines notice that they have not made the same world. */
#include "core/random.h"
#include "sim/world/internal.h"

static uint64_t mix(uint64_t digest, uint64_t value)
{
    return oche_mix64(digest ^ value) + value;
}

static uint64_t mix_flow(uint64_t digest, const struct oche_flow_plan *plan)
{
    digest = mix(digest, (uint64_t)plan->src << 32 | plan->dst);
    digest = mix(digest, plan->bytes);
    digest = mix(digest, plan->start);
    digest = mix(digest, plan->then_same_source);
    digest = mix(digest, (uint64_t)plan->connection << 32 | plan->group);
    return mix(digest, plan->supply_bps ^ plan->initial_rate_bps << 1);
}

uint64_t oche_world_digest(const struct oche_world *world)
{
    const struct oche_topology *topology = &world->topology;
    uint64_t digest = mix(world->config->seed, sizeof(*world));

    digest = mix(digest, (uint64_t)world->flows.count << 32 | world->flows.connection_count);
    digest = mix(digest, world->awaited);
    digest = mix(digest, world->until);
    for (uint32_t i = 0; i < world->network.node_count; i++)
        digest = mix(digest, world->network.nodes[i].shard);
    for (uint32_t i = 0; i < topology->link_count; i++) {
        const struct oche_topology_link *link = &topology->links[i];

        digest = mix(digest, (uint64_t)link->a << 32 | link->b);
        digest = mix(digest, link->rate_bps);
        digest = mix(digest, link->delay);
    }
    for (OCHE_EACH_MADE_FLOW(i, &world->flows))
        digest = mix_flow(digest, &world->flows.plan[i]);
    return digest;
}
