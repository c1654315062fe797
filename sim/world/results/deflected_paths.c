/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the paths that deflected messages took. At a switch that deflected the message, the
 * switch's notes tell the path; at all other switches, the routes do. All packets of a message take
 * the same path. If failures changed the routes while a message was sent, its path is unknown and
 * left out.
 */
#include <stdlib.h>

#include "fabric/ecmp.h"
#include "fabric/iofd.h"
#include "sim/topology/onward.h"
#include "sim/topology/walk.h"
#include "sim/world/internal.h"

struct notes {
    struct oche_world_deflection *list;
    size_t count, capacity;
};

static void keep(void *context, const struct oche_world_deflection *deflection)
{
    struct notes *notes = context;

    if (deflection->flow == OCHE_NO_FLOW)
        return;
    if (notes->count == notes->capacity) {
        notes->capacity = notes->capacity == 0 ? 256 : notes->capacity * 2;
        notes->list = realloc(notes->list, notes->capacity * sizeof(*notes->list));
        OCHE_GOT(notes->list != NULL);
    }
    notes->list[notes->count++] = *deflection;
}

static int by_flow(const void *a, const void *b)
{
    const struct oche_world_deflection *x = a, *y = b;

    if (x->flow != y->flow)
        return x->flow < y->flow ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* A message on its path. */
struct traveller {
    const struct oche_world *world;
    const struct oche_iofd_params *iofd;
    struct oche_packet packet;
    const struct oche_world_deflection *notes; /* deflections of the flow, in order of time */
    size_t count;
    oche_time now; /* time of the last deflection so far */
    uint8_t lane, tokens;
};

/*
 * Returns the note of the message's deflection at switch `node`; NULL if it was not deflected at
 * that switch.
 */
static const struct oche_world_deflection *note_at(const struct traveller *at, uint32_t node,
                                                   uint32_t in_port)
{
    for (size_t i = 0; i < at->count; i++)
        if (at->notes[i].node == node && at->notes[i].in_port == in_port &&
            at->notes[i].time >= at->now && at->notes[i].tokens + 1 == at->tokens)
            return &at->notes[i];
    return NULL;
}

/* Returns the port that the routes of switch `node` choose for the message; -1: no route. */
static int ordinary_port(const struct traveller *at, uint32_t node, uint32_t in_port)
{
    const struct oche_world *world = at->world;
    const struct oche_topology *topology = &world->topology;
    const struct oche_routes *routes = &world->used_routes.of[node - topology->host_count];
    const uint64_t seed = world->config->seed;
    const uint64_t salt = oche_world_symmetric(world->config)
                              ? oche_ecmp_tier_salt(seed, oche_topology_tier(topology, node))
                              : oche_ecmp_salt(seed, oche_topology_place_of(topology, node));
    int port = oche_ecmp_route(routes, salt, &at->packet);

    if (port != (int)in_port ||
        oche_topology_port(topology, node, in_port)->peer < topology->host_count)
        return port;
    int other = oche_iofd_other_port(routes, salt, in_port, &at->packet);

    return other >= 0 ? other : port;
}

static bool turns_up(const struct oche_topology *topology, uint32_t node, uint32_t in_port,
                     uint32_t port)
{
    return oche_topology_is_up(topology, node, in_port) &&
           oche_topology_is_up(topology, node, port);
}

static void travel(struct traveller *at, struct oche_world_deflected_path *way)
{
    const struct oche_topology *topology = &at->world->topology;
    const struct oche_flow_plan *plan = &at->world->flows.plan[way->flow];
    uint32_t number = topology->nodes[plan->src].first_port;

    way->hops[way->count++] =
        (struct oche_world_hop){.port = number, .tokens = at->tokens, .time = OCHE_NEVER};
    while (way->count <= OCHE_HOP_LIMIT) {
        const uint32_t node = topology->ports[number].peer, in = topology->ports[number].peer_port;

        if (node < topology->host_count) {
            way->arrives = node == plan->dst;
            return;
        }
        const struct oche_world_deflection *note = note_at(at, node, in);
        int port = note != NULL ? (int)note->port : ordinary_port(at, node, in);

        if (port < 0)
            return;
        if (note != NULL) {
            at->now = note->time;
            at->lane = note->lane;
            at->tokens = note->tokens;
            way->deflections++;
        } else {
            at->lane = oche_iofd_lane(at->iofd, at->lane,
                                      turns_up(topology, node, in, (uint32_t)port), at->tokens);
        }
        number = topology->nodes[node].first_port + (uint32_t)port;
        way->hops[way->count++] =
            (struct oche_world_hop){.port = number,
                                    .deflected = note != NULL,
                                    .lane = at->lane,
                                    .tokens = at->tokens,
                                    .time = note != NULL ? note->time : OCHE_NEVER};
    }
}

void oche_world_deflected_paths(const struct oche_world *world,
                                void (*each)(void *context,
                                             const struct oche_world_deflected_path *way),
                                void *context)
{
    const struct oche_iofd_params *iofd = oche_world_mechanism(world->config, &oche_iofd);
    struct notes notes = {0};

    if (iofd == NULL)
        return;
    oche_world_deflections(world, keep, &notes);
    if (notes.count > 0)
        qsort(notes.list, notes.count, sizeof(*notes.list), by_flow);
    for (size_t i = 0, end; i < notes.count; i = end) {
        struct oche_world_deflected_path way = {.flow = notes.list[i].flow};
        const struct oche_flow_plan *plan = &world->flows.plan[way.flow];
        struct traveller at = {
            .world = world,
            .iofd = iofd,
            .packet = {.dst = plan->dst,
                       .flow_hash = oche_host_flow_hash(world->config->seed, plan->connection)},
            .notes = &notes.list[i],
            .tokens = (uint8_t)iofd->tokens};

        for (end = i; end < notes.count && notes.list[end].flow == way.flow; end++)
            continue;
        if (!oche_world_routes_whole(world, world->flows.sent[way.flow].started,
                                     world->flows.received[way.flow].delivered))
            continue;
        at.count = end - i;
        travel(&at, &way);
        way.others = (uint32_t)(at.count - way.deflections);
        each(context, &way);
    }
    free(notes.list);
}
