/* SPDX-License-Identifier: Apache-2.0 */
/* Routes: a breadth-first search from each group, port sets made once per switch, tables shared. */
#include "sim/topology/routes.h"

#include <stdlib.h>
#include <string.h>

#include "params/error.h"
#include "sim/topology/builder.h"
#include "sim/topology/onward.h"
#include "sim/topology/route_memory.h"

#define UNREACHED UINT16_MAX
#define NO_SET    UINT16_MAX

/* A link between switches, seen from one end. This file numbers switches from 0. */
struct edge {
    uint32_t peer;
    uint16_t port;
    bool up;
};

/* What is needed only while routes are made. */
struct maker {
    const struct oche_topology *topology;
    struct oche_topology_routes *routes;
    struct oche_route_memory *memory;
    const bool *dead; /* by link; NULL: no link is dead */
    bool up_down;
    uint32_t *from_top; /* with up_down: the switches, from the top down */
    uint16_t *down;     /* with up_down: by switch, links on the path down to the current group */
    struct edge *edges;
    uint32_t *first_edge; /* by switch: index into `edges`; one entry more, for the end */
    uint32_t *group_at;   /* by switch: the group of its hosts, or UINT32_MAX */
    uint16_t *distance;   /* by switch: links to the current group, or UNREACHED */
    uint32_t *queue;      /* switches */
    uint16_t *candidates; /* ports */
};

static bool find_groups(struct maker *maker)
{
    const struct oche_topology *topology = maker->topology;
    struct oche_topology_routes *routes = maker->routes;
    uint32_t hosts = topology->host_count;

    for (uint32_t host = 0; host < hosts; host++)
        maker->group_at[oche_topology_port(topology, host, 0)->peer - hosts] = 0;
    for (uint32_t s = 0; s < topology->switch_count; s++)
        if (maker->group_at[s] == 0) {
            maker->group_at[s] = routes->group_count;
            routes->switch_of_group[routes->group_count++] = hosts + s;
        }
    for (uint32_t host = 0; host < hosts; host++) {
        const struct oche_topology_port *end = oche_topology_port(topology, host, 0);

        maker->memory->group_of[host] = maker->group_at[end->peer - hosts];
        maker->memory->port_of_address[host] = (uint16_t)end->peer_port;
    }
    return routes->group_count < NO_SET;
}

static void find_edges(struct maker *maker)
{
    const struct oche_topology *topology = maker->topology;
    uint32_t hosts = topology->host_count, count = 0;

    for (uint32_t s = 0; s < topology->switch_count; s++) {
        maker->first_edge[s] = count;
        for (uint32_t p = 0; p < topology->nodes[hosts + s].port_count; p++) {
            const struct oche_topology_port *end = oche_topology_port(topology, hosts + s, p);

            if (end->peer < hosts || (maker->dead != NULL && maker->dead[end->link]))
                continue;
            maker->edges[count++] =
                (struct edge){.peer = end->peer - hosts,
                              .port = (uint16_t)p,
                              .up = oche_topology_is_up(topology, hosts + s, p)};
        }
    }
    maker->first_edge[topology->switch_count] = count;
}

/*
 * Computes the distance of each switch from `start`, in links. If `up` is true, only paths from the
 * switch straight down to `start` count. A switch without a path stays UNREACHED.
 */
static void search(struct maker *maker, uint32_t start, uint16_t *distance, bool up)
{
    uint32_t count = 0;

    for (uint32_t s = 0; s < maker->topology->switch_count; s++)
        distance[s] = UNREACHED;
    maker->queue[count++] = start;
    distance[start] = 0;
    for (uint32_t head = 0; head < count; head++) {
        uint32_t s = maker->queue[head];

        for (uint32_t e = maker->first_edge[s]; e < maker->first_edge[s + 1]; e++) {
            uint32_t peer = maker->edges[e].peer;

            if (distance[peer] != UNREACHED || (up && !maker->edges[e].up))
                continue;
            distance[peer] = (uint16_t)(distance[s] + 1);
            maker->queue[count++] = peer;
        }
    }
}

/*
 * Computes distances to `target` along paths that go up and then down. A switch that has a path
 * down to the target uses that path.
 */
static void search_up_down(struct maker *maker, uint32_t target)
{
    search(maker, target, maker->down, true);
    for (uint32_t i = 0; i < maker->topology->switch_count; i++) {
        uint32_t s = maker->from_top[i];
        uint16_t least = maker->down[s];

        for (uint32_t e = maker->first_edge[s];
             maker->down[s] == UNREACHED && e < maker->first_edge[s + 1]; e++) {
            uint16_t above = maker->edges[e].up ? maker->distance[maker->edges[e].peer] : UNREACHED;

            if (above != UNREACHED && above + 1 < least)
                least = (uint16_t)(above + 1);
        }
        maker->distance[s] = least;
    }
}

/* True if a route from switch `s` to the current group can begin with the link `edge`. */
static bool is_way(const struct maker *maker, uint32_t s, const struct edge *edge)
{
    if (maker->distance[s] == UNREACHED)
        return false;
    if (!maker->up_down)
        return maker->distance[edge->peer] + 1 == maker->distance[s];
    if (maker->down[s] != UNREACHED)
        return !edge->up && maker->down[edge->peer] + 1 == maker->down[s];
    return edge->up && maker->distance[edge->peer] + 1 == maker->distance[s];
}

/* Makes room for `needed` items; returns false if memory runs out. */
static bool grow(void **array, uint32_t *room, uint32_t needed, size_t item_bytes)
{
    uint32_t wanted = *room == 0 ? 8 : *room;
    void *grown;

    while (wanted < needed)
        wanted *= 2;
    if (wanted == *room)
        return true;
    grown = realloc(*array, wanted * item_bytes);
    if (grown == NULL)
        return false;
    *array = grown;
    *room = wanted;
    return true;
}

/*
 * Returns the set with exactly these ports, which is added if it does not exist; NO_SET if memory
 * runs out.
 */
static uint16_t find_set(struct oche_route_table *table, const uint16_t *ports, uint32_t count)
{
    uint16_t set = count == 1 ? table->set_of_port[ports[0]] : NO_SET;

    for (uint32_t i = 0; count != 1 && i < table->set_count && set == NO_SET; i++)
        if (table->sets[i].count == count &&
            memcmp(&table->ports[table->sets[i].first], ports, count * sizeof(*ports)) == 0)
            set = (uint16_t)i;
    if (set != NO_SET)
        return set;
    if (!grow((void **)&table->sets, &table->set_room, table->set_count + 1,
              sizeof(*table->sets)) ||
        !grow((void **)&table->ports, &table->port_room, table->port_count + count + 1,
              sizeof(*table->ports)))
        return NO_SET;
    set = (uint16_t)table->set_count++;
    table->sets[set] = (struct oche_port_set){.first = table->port_count, .count = count};
    if (count > 0)
        memcpy(&table->ports[table->port_count], ports, count * sizeof(*ports));
    table->port_count += count;
    if (count == 1)
        table->set_of_port[ports[0]] = set;
    return set;
}

/* Gives every switch its set of ports towards `group`. */
static bool route_group(struct maker *maker, uint32_t group)
{
    struct oche_topology_routes *routes = maker->routes;
    uint32_t hosts = maker->topology->host_count;
    uint32_t target = routes->switch_of_group[group] - hosts;

    if (maker->up_down)
        search_up_down(maker, target);
    else
        search(maker, target, maker->distance, false);
    for (uint32_t g = 0; g < routes->group_count; g++)
        routes->distance[(size_t)group * routes->group_count + g] =
            maker->distance[routes->switch_of_group[g] - hosts];
    for (uint32_t s = 0; s < maker->topology->switch_count; s++) {
        struct oche_route_table *table = &maker->memory->tables[s];
        uint32_t count = 0;

        if (s == target)
            continue;
        for (uint32_t e = maker->first_edge[s]; e < maker->first_edge[s + 1]; e++)
            if (is_way(maker, s, &maker->edges[e]))
                maker->candidates[count++] = maker->edges[e].port;
        table->set_of_group[group] = find_set(table, maker->candidates, count);
        if (table->set_of_group[group] == NO_SET)
            return false;
    }
    return true;
}

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static bool is_same(const struct oche_route_table *a, const struct oche_route_table *b,
                    uint32_t groups)
{
    return a->hash == b->hash && a->set_count == b->set_count && a->port_count == b->port_count &&
           memcmp(a->set_of_group, b->set_of_group, groups * sizeof(*a->set_of_group)) == 0 &&
           memcmp(a->sets, b->sets, a->set_count * sizeof(*a->sets)) == 0 &&
           memcmp(a->ports, b->ports, a->port_count * sizeof(*a->ports)) == 0;
}

static void free_table(struct oche_route_table *table)
{
    free(table->set_of_group);
    free(table->sets);
    free(table->ports);
    free(table->set_of_port);
    *table = (struct oche_route_table){0};
}

/* Keeps one of equal tables, at the front of memory->tables, and points routes->of to the tables.
 */
static bool share_tables(struct maker *maker)
{
    struct oche_topology_routes *routes = maker->routes;
    struct oche_route_memory *memory = maker->memory;
    uint32_t groups = routes->group_count;

    for (uint32_t s = 0; s < memory->switches; s++) {
        struct oche_route_table table = memory->tables[s];
        uint32_t kept = 0;

        /* A topology of one switch has no sets; an empty set keeps every index valid. */
        if (table.set_count == 0 && find_set(&table, NULL, 0) == NO_SET)
            return false;
        memory->tables[s] = (struct oche_route_table){0};
        table.hash = hash_bytes(0, table.set_of_group, groups * sizeof(*table.set_of_group));
        table.hash = hash_bytes(table.hash, table.ports, table.port_count * sizeof(*table.ports));
        while (kept < routes->table_count && !is_same(&memory->tables[kept], &table, groups))
            kept++;
        if (kept < routes->table_count)
            free_table(&table);
        else
            memory->tables[routes->table_count++] = table;
        routes->of[s] = (struct oche_routes){.group_of = memory->group_of,
                                             .set_of_group = memory->tables[kept].set_of_group,
                                             .sets = memory->tables[kept].sets,
                                             .ports = memory->tables[kept].ports,
                                             .port_of_address = memory->port_of_address,
                                             .own_group = maker->group_at[s],
                                             .addresses = maker->topology->host_count};
    }
    return true;
}

static bool make_memory(struct maker *maker)
{
    const struct oche_topology *topology = maker->topology;
    struct oche_topology_routes *routes = maker->routes;
    size_t switches = topology->switch_count, hosts = topology->host_count;
    struct oche_route_memory *memory = calloc(1, sizeof(*memory));

    if (memory == NULL)
        return false;
    routes->memory = maker->memory = memory;
    memory->switches = (uint32_t)switches;
    memory->tables = calloc(switches, sizeof(*memory->tables));
    memory->group_of = calloc(hosts, sizeof(*memory->group_of));
    memory->port_of_address = calloc(hosts, sizeof(*memory->port_of_address));
    memory->mark = calloc(switches, sizeof(*memory->mark));
    memory->layer = calloc(switches, sizeof(*memory->layer));
    memory->next_layer = calloc(switches, sizeof(*memory->next_layer));
    routes->of = calloc(switches, sizeof(*routes->of));
    routes->switch_of_group = calloc(switches, sizeof(*routes->switch_of_group));
    maker->edges = calloc(2 * (size_t)topology->link_count + 1, sizeof(*maker->edges));
    maker->first_edge = calloc(switches + 1, sizeof(*maker->first_edge));
    maker->group_at = malloc(switches * sizeof(*maker->group_at));
    maker->distance = calloc(switches, sizeof(*maker->distance));
    maker->queue = calloc(switches, sizeof(*maker->queue));
    maker->candidates = calloc(OCHE_TOPOLOGY_MAX_PORTS, sizeof(*maker->candidates));
    if (maker->group_at != NULL)
        memset(maker->group_at, 0xff, switches * sizeof(*maker->group_at));
    return memory->tables != NULL && memory->group_of != NULL && memory->port_of_address != NULL &&
           memory->mark != NULL && memory->layer != NULL && memory->next_layer != NULL &&
           routes->of != NULL && routes->switch_of_group != NULL && maker->edges != NULL &&
           maker->first_edge != NULL && maker->group_at != NULL && maker->distance != NULL &&
           maker->queue != NULL && maker->candidates != NULL;
}

static bool make_tables(struct maker *maker)
{
    struct oche_topology_routes *routes = maker->routes;
    size_t groups = routes->group_count;

    routes->distance = calloc(groups * groups, sizeof(*routes->distance));
    for (uint32_t s = 0; s < maker->topology->switch_count; s++) {
        struct oche_route_table *table = &maker->memory->tables[s];
        size_t ports = maker->topology->nodes[maker->topology->host_count + s].port_count;

        table->set_of_group = calloc(groups, sizeof(*table->set_of_group));
        table->set_of_port = malloc((ports + 1) * sizeof(*table->set_of_port));
        if (table->set_of_group == NULL || table->set_of_port == NULL)
            return false;
        memset(table->set_of_port, 0xff, (ports + 1) * sizeof(*table->set_of_port));
    }
    return routes->distance != NULL;
}

static bool make(struct maker *maker, struct oche_error *error)
{
    struct oche_topology_routes *routes = maker->routes;
    uint32_t groups;

    if (!make_memory(maker))
        return oche_fail(error, "no memory for routes");
    if (!find_groups(maker))
        return oche_fail(error, "more than %u switches have hosts", NO_SET);
    find_edges(maker);
    groups = routes->group_count;
    if (!make_tables(maker))
        return oche_fail(error, "no memory for routes of %u switches to %u groups",
                         maker->topology->switch_count, groups);
    for (uint32_t group = 0; group < groups; group++) {
        if (!route_group(maker, group))
            return oche_fail(error, "no memory for routes");
        for (uint32_t g = 0; g < groups; g++) {
            uint16_t distance = routes->distance[(size_t)group * groups + g];

            if (distance != UNREACHED && distance + 2 > OCHE_PATH_LINKS)
                return oche_fail(error, "hosts of %s and %s are %u links apart; at most %u",
                                 maker->topology->nodes[routes->switch_of_group[group]].name,
                                 maker->topology->nodes[routes->switch_of_group[g]].name,
                                 distance + 2u, OCHE_PATH_LINKS);
        }
    }
    return share_tables(maker) || oche_fail(error, "no memory for routes");
}

/* Sorts switches from the top down, as oche_topology_is_up defines up. */
static bool sort_from_top(struct maker *maker)
{
    const struct oche_topology *topology = maker->topology;
    uint32_t count = 0;

    maker->from_top = calloc(topology->switch_count, sizeof(*maker->from_top));
    maker->down = calloc(topology->switch_count, sizeof(*maker->down));
    if (maker->from_top == NULL || maker->down == NULL)
        return false;
    for (uint32_t kind = OCHE_NODE_KINDS; kind-- > 0;)
        for (uint32_t s = topology->switch_count; s-- > 0;)
            if (topology->nodes[topology->host_count + s].kind == kind)
                maker->from_top[count++] = s;
    OCHE_MUST(count == topology->switch_count);
    return true;
}

bool oche_topology_route(const struct oche_topology *topology, struct oche_topology_routes *routes,
                         struct oche_error *error)
{
    return oche_topology_route_around(topology, NULL, false, routes, error);
}

bool oche_topology_route_around(const struct oche_topology *topology, const bool *dead,
                                bool up_down, struct oche_topology_routes *routes,
                                struct oche_error *error)
{
    struct maker maker = {.topology = topology, .routes = routes, .dead = dead, .up_down = up_down};
    bool good;

    *routes = (struct oche_topology_routes){.topology = topology};
    good = (!up_down || sort_from_top(&maker) || oche_fail(error, "no memory for routes")) &&
           make(&maker, error);
    free(maker.from_top);
    free(maker.down);
    free(maker.edges);
    free(maker.first_edge);
    free(maker.group_at);
    free(maker.distance);
    free(maker.queue);
    free(maker.candidates);
    if (!good)
        oche_topology_routes_free(routes);
    return good;
}

void oche_topology_routes_free(struct oche_topology_routes *routes)
{
    struct oche_route_memory *memory = routes->memory;

    if (memory != NULL) {
        for (uint32_t s = 0; memory->tables != NULL && s < memory->switches; s++)
            free_table(&memory->tables[s]);
        free(memory->tables);
        free(memory->group_of);
        free(memory->port_of_address);
        free(memory->mark);
        free(memory->layer);
        free(memory->next_layer);
        free(memory);
    }
    free(routes->of);
    free(routes->switch_of_group);
    free(routes->distance);
    *routes = (struct oche_topology_routes){0};
}
