/* SPDX-License-Identifier: Apache-2.0 */
/* The section `events`: reads the file, and gives one port its scripted events. */
#include "sim/network/port_events.h"
#include "sim/network/ranks.h"
#include "sim/scenario/events_file.h"
#include "sim/world/internal.h"
#include "sim/world/results/readings.h"

/* Reads events.file. Returns false with an error. */
static bool read_list(struct oche_world_scripted *scripted, const char *path,
                      struct oche_error *error)
{
    struct oche_error why;

    scripted->list = oche_world_make(OCHE_MOST_PACKET_EVENTS, sizeof(*scripted->list));
    return oche_events_file_read(path, scripted->list, &scripted->count, &why) ||
           oche_fail(error, "events.file: %s", why.text);
}

static bool find_port(struct oche_world *world, struct oche_error *error)
{
    const struct oche_events_params *params = &world->config->scripted;
    uint32_t node, local;
    struct oche_error why;

    if (params->port == NULL)
        return oche_fail(error, "events.port: is missing; write the port whose packets they are "
                                "for, such as tor0:host3");
    if (!oche_topology_find_port(&world->topology, params->port, &node, &local, &why))
        return oche_fail(error, "events.port: %s", why.text);
    world->scripted.port = world->network.nodes[node].first_port + local;
    if (world->network.extras[world->scripted.port].late != NULL)
        return oche_fail(error, "events.port: this port's packets are late at random, too "
                                "(loss.late); choose one of them, or other ports");
    return true;
}

bool oche_world_build_events(struct oche_world *world, struct oche_error *error)
{
    const struct oche_events_params *params = &world->config->scripted;
    struct oche_world_scripted *scripted = &world->scripted;
    struct oche_port_events *events;
    struct oche_arena *arena;
    uint32_t node;

    if (params->file == NULL && params->port == NULL)
        return true;
    if (params->file == NULL)
        return oche_fail(error, "events.port: there is no events.file; write one, or leave this "
                                "out");
    if (world->config->endpoint != NULL && !world->config->endpoint->roce)
        return oche_fail(error,
                         "events.file: is for queue pairs, not for %s; choose another "
                         "congestion_control, or leave this out",
                         world->config->endpoint->name);
    if (!find_port(world, error) || !read_list(scripted, params->file, error))
        return false;
    node = world->network.ports[scripted->port].node;
    if (!oche_world_has(world, node))
        return true;
    arena = &oche_network_shard_of(&world->network, node)->tables;
    events = oche_arena_take(arena, sizeof(*events));
    events->events = oche_packet_events_create(
        oche_arena_take(arena, oche_packet_events_bytes(scripted->list, scripted->count)),
        scripted->list, scripted->count);
    events->arrivals = oche_arrivals_create(
        oche_arena_take(arena, oche_arrivals_bytes(scripted->count)), scripted->count);
    world->network.extras[scripted->port].events = events;
    return true;
}

void oche_world_count_events(struct oche_world *world)
{
    struct oche_world_scripted *scripted = &world->scripted;
    const struct oche_port_events *events;

    if (scripted->count == 0)
        return;
    events = world->network.extras[scripted->port].events; /* NULL: another rank has the port */
    if (events != NULL)
        oche_packet_events_counts(events->events, &scripted->counts);
    oche_ranks_sum(world->network.ranks, (uint64_t *)&scripted->counts,
                   sizeof(scripted->counts) / sizeof(uint64_t)); /* all of them are uint64_t */
}

bool oche_world_event_counts(const struct oche_world *world, struct oche_world_events *events)
{
    const struct oche_world_scripted *scripted = &world->scripted;

    if (scripted->count == 0)
        return false;
    *events = (struct oche_world_events){.port = scripted->port, .counts = scripted->counts};
    if (events->counts.never > 0)
        events->first_left = scripted->list[events->counts.first_left];
    return true;
}
