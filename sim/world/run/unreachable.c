/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a run without duration whose last flows have no way left: links that stay down lie
 * between their hosts. Their senders would go on until stall.c's patience is over, at line rate.
 * The run ends once nothing has arrived for a few timeouts, after the last link and the last route
 * have changed: packets that were past the cut have arrived by then.
 */
#include <stdlib.h>

#include "sim/network/link_failure.h"
#include "sim/world/internal.h"
#include "sim/world/results/readings.h"

#define TIMEOUTS 4 /* so many of the longest timeout pass without a byte */

/*
 * True if senders retry for ever. Then no awaited flow ends in an error, and no arrived packet is
 * held for long.
 */
static bool senders_go_on(const struct oche_world *world)
{
    const struct oche_world_config *config = world->config;
    const struct oche_endpoint *endpoint = config->endpoint;
    const void *params = oche_world_endpoint_params(config);

    if (config->receiver_count > 0 || world->host_params.retry_count < OCHE_HOST_RETRIES_NO_LIMIT)
        return false;
    for (uint32_t i = 0; i <= config->nic_count; i++)
        if (oche_timeouts_most(&world->nics[i].habits.timeouts, world->host_params.ack_timeout) > 0)
            return false;
    return endpoint == NULL ||
           (endpoint->roce &&
            (endpoint->completes_early == NULL || !endpoint->completes_early(params)) &&
            (endpoint->idles == NULL || endpoint->idles(params, "retry_count") == NULL));
}

/* Returns when the last link or route changes; OCHE_NEVER: all links are up in the end. */
static oche_time last_change(const struct oche_world *world)
{
    oche_time last = 0;
    int64_t down = 0;

    for (uint32_t n = 0; n < world->network.node_count; n++) {
        const struct oche_node *node = &world->network.nodes[n];

        for (uint32_t i = 0; i < node->change_count; i++) {
            const struct oche_change *change = &node->changes[i];

            last = oche_time_max(last, change->time);
            down += change->kind == OCHE_CHANGE_LINK_DOWN;
            down -= change->kind == OCHE_CHANGE_LINK_UP;
        }
    }
    return down > 0 ? last : OCHE_NEVER;
}

/* The times are ends of windows, where the run is looked at in any case. */
static void set_next(struct oche_world *world, oche_time from)
{
    const oche_time window = world->network.window;
    oche_time next = oche_time_add(from, world->unreachable.quiet);

    world->unreachable.next = next >= world->until ? OCHE_NEVER : (next / window + 1) * window;
}

void oche_world_unreachable_start(struct oche_world *world, oche_time timeout)
{
    oche_time last = last_change(world);

    world->unreachable =
        (struct oche_world_unreachable){.quiet = TIMEOUTS * timeout, .next = OCHE_NEVER};
    if (last != OCHE_NEVER && timeout < world->until / TIMEOUTS && senders_go_on(world))
        set_next(world, last);
}

/* ---- which hosts a way joins ---- */

static uint32_t find_root(uint32_t *parents, uint32_t node)
{
    while (parents[node] != node)
        node = parents[node] = parents[parents[node]];
    return node;
}

/*
 * Returns for each node one number; nodes between which there are links that are up have the same
 * (malloc'd). Whether a route uses these links is not asked.
 */
static uint32_t *parts(const struct oche_world *world)
{
    const struct oche_topology *topology = &world->topology;
    uint32_t *parents = oche_world_make(world->network.node_count, sizeof(*parents));

    for (uint32_t i = 0; i < world->network.node_count; i++)
        parents[i] = i;
    for (uint32_t i = 0; i < topology->link_count; i++) {
        const struct oche_topology_link *link = &topology->links[i];
        uint32_t port = world->network.nodes[link->a].first_port + link->port_a;

        if (!world->network.extras[port].down)
            parents[find_root(parents, link->a)] = find_root(parents, link->b);
    }
    for (uint32_t i = 0; i < world->network.node_count; i++)
        parents[i] = find_root(parents, i);
    return parents;
}

/* Tells all ranks which links are down, each of its own nodes. */
static void share_links(struct oche_world *world)
{
    const uint32_t count = world->topology.link_count;
    uint64_t *down = oche_world_make(count / 64 + 1, sizeof(*down));

    for (uint32_t i = 0; i < count; i++) {
        const struct oche_topology_link *link = &world->topology.links[i];
        uint32_t port = world->network.nodes[link->a].first_port + link->port_a;

        if (oche_world_has(world, link->a) && world->network.extras[port].down)
            down[i / 64] |= UINT64_C(1) << (i % 64);
    }
    oche_ranks_sum(world->network.ranks, down, count / 64 + 1);
    for (uint32_t i = 0; i < count; i++) {
        const struct oche_topology_link *link = &world->topology.links[i];

        world->network.extras[world->network.nodes[link->a].first_port + link->port_a].down =
            (down[i / 64] >> (i % 64) & 1) != 0;
    }
    free(down);
}

static bool all_are_cut_off(struct oche_world *world)
{
    share_links(world);
    uint32_t *part = parts(world);
    bool all = true;

    for (OCHE_EACH_MADE_FLOW(i, &world->flows)) {
        const struct oche_flow_plan *plan = &world->flows.plan[i];

        all = all && (!oche_world_is_under_way(world, i) || part[plan->src] != part[plan->dst]);
    }
    free(part);
    return oche_ranks_all(world->network.ranks, all);
}

/* ---- looking ---- */

/* Returns a number that changes when a flow completes, or bytes of one arrive. */
static uint64_t delivered(const struct oche_world *world)
{
    uint64_t sum = 0;

    for (OCHE_EACH_MADE_FLOW(i, &world->flows))
        if (oche_world_is_under_way(world, i) && oche_world_has(world, world->flows.plan[i].dst))
            sum += oche_world_flow_bytes(world, i);
    oche_ranks_sum(world->network.ranks, &sum, 1);
    for (uint32_t s = 0; s < world->network.shard_count; s++)
        sum += world->network.shards[s].flows_completed;
    return sum;
}

bool oche_world_unreachable_check(struct oche_world *world)
{
    struct oche_world_unreachable *unreachable = &world->unreachable;
    oche_time now = world->network.now;

    if (now < unreachable->next)
        return false;
    set_next(world, now);
    if (oche_world_something_is_to_come(world, true)) {
        unreachable->since = 0;
        return false;
    }
    uint64_t sum = delivered(world);
    bool quiet = unreachable->since > 0 && sum == unreachable->delivered;

    if (!quiet)
        unreachable->since = now;
    unreachable->delivered = sum;
    return unreachable->ended = quiet && all_are_cut_off(world);
}
