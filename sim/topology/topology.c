/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies in general: the registry, the builder, lookups by name. */
#include "sim/topology/topology.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/error.h"
#include "sim/topology/builder.h"
#include "sim/topology/types.h"

const struct oche_topology_type *const oche_topology_types[] = {
    &oche_topology_star,        &oche_topology_dumbbell,
    &oche_topology_parking_lot, &oche_topology_leaf_spine,
    &oche_topology_clos,        &oche_topology_fat_tree,
    &oche_topology_from_file,   NULL,
};

const struct oche_topology_type *oche_topology_type_find(const char *name)
{
    for (size_t i = 0; oche_topology_types[i] != NULL; i++)
        if (strcmp(oche_topology_types[i]->name, name) == 0)
            return oche_topology_types[i];
    return NULL;
}

bool oche_topology_begin(struct oche_topology *topology, uint64_t hosts, uint64_t switches,
                         uint64_t links, struct oche_error *error)
{
    size_t nodes = (size_t)(hosts + switches);

    OCHE_MUST(nodes > 0 && nodes <= OCHE_TOPOLOGY_MAX_NODES && links <= OCHE_TOPOLOGY_MAX_LINKS);
    *topology =
        (struct oche_topology){.host_count = (uint32_t)hosts, .switch_count = (uint32_t)switches};
    topology->nodes = calloc(nodes, sizeof(*topology->nodes));
    topology->links = calloc((size_t)links + 1, sizeof(*topology->links));
    topology->ports = calloc(2 * (size_t)links + 1, sizeof(*topology->ports));
    if (topology->nodes != NULL && topology->links != NULL && topology->ports != NULL)
        return true;
    oche_topology_free(topology);
    return oche_fail(error, "no memory for %zu nodes and %llu links", nodes,
                     (unsigned long long)links);
}

void oche_topology_name(struct oche_topology *topology, uint32_t node, enum oche_node_kind kind,
                        uint32_t pod, const char *prefix, uint32_t number)
{
    struct oche_topology_node *n = &topology->nodes[node];

    snprintf(n->name, sizeof(n->name), "%s%u", prefix, number);
    n->kind = kind;
    n->pod = pod;
}

void oche_topology_link(struct oche_topology *topology, uint32_t a, uint32_t b, uint64_t rate_bps,
                        oche_time delay)
{
    struct oche_topology_node *node_a = &topology->nodes[a], *node_b = &topology->nodes[b];

    OCHE_MUST(a != b && rate_bps > 0 && delay > 0);
    topology->links[topology->link_count++] =
        (struct oche_topology_link){.a = a,
                                    .b = b,
                                    .port_a = node_a->port_count++,
                                    .port_b = node_b->port_count++,
                                    .rate_bps = rate_bps,
                                    .delay = delay};
}

void oche_topology_hosts(struct oche_topology *topology, uint32_t tor, uint32_t first,
                         uint32_t count, uint32_t pod, uint64_t rate_bps, oche_time delay)
{
    for (uint32_t host = first; host < first + count; host++) {
        oche_topology_name(topology, host, OCHE_NODE_HOST, pod, "host", host);
        oche_topology_link(topology, host, tor, rate_bps, delay);
    }
}

bool oche_topology_finish(struct oche_topology *topology, struct oche_error *error)
{
    uint32_t next = 0;

    for (uint32_t n = 0; n < oche_topology_nodes(topology); n++) {
        struct oche_topology_node *node = &topology->nodes[n];

        if (node->port_count > OCHE_TOPOLOGY_MAX_PORTS) {
            oche_fail(error, "%s has %u links; at most %u", node->name, node->port_count,
                      OCHE_TOPOLOGY_MAX_PORTS);
            oche_topology_free(topology);
            return false;
        }
        node->first_port = next;
        next += node->port_count;
    }
    for (uint32_t l = 0; l < topology->link_count; l++) {
        const struct oche_topology_link *link = &topology->links[l];

        topology->ports[topology->nodes[link->a].first_port + link->port_a] =
            (struct oche_topology_port){.link = l, .peer = link->b, .peer_port = link->port_b};
        topology->ports[topology->nodes[link->b].first_port + link->port_b] =
            (struct oche_topology_port){.link = l, .peer = link->a, .peer_port = link->port_a};
    }
    return true;
}

void oche_topology_free(struct oche_topology *topology)
{
    free(topology->nodes);
    free(topology->links);
    free(topology->ports);
    free(topology->by_name);
    *topology = (struct oche_topology){0};
}

bool oche_topology_fits(uint64_t hosts, uint64_t switches, uint64_t links, uint64_t ports,
                        const char *param, struct oche_error *error)
{
    if (hosts + switches > OCHE_TOPOLOGY_MAX_NODES)
        return oche_fail(error, "%s: %llu hosts and %llu switches; at most %u nodes", param,
                         (unsigned long long)hosts, (unsigned long long)switches,
                         OCHE_TOPOLOGY_MAX_NODES);
    if (links > OCHE_TOPOLOGY_MAX_LINKS)
        return oche_fail(error, "%s: %llu links; at most %u", param, (unsigned long long)links,
                         OCHE_TOPOLOGY_MAX_LINKS);
    if (ports > OCHE_TOPOLOGY_MAX_PORTS)
        return oche_fail(error, "%s: a switch would have %llu ports; at most %u", param,
                         (unsigned long long)ports, OCHE_TOPOLOGY_MAX_PORTS);
    return true;
}

const char *oche_topology_ratio(uint64_t a, uint64_t b, char *text, size_t text_bytes)
{
    uint64_t x = a, y = b;

    while (y != 0) {
        uint64_t rest = x % y;

        x = y;
        y = rest;
    }
    OCHE_MUST(x != 0);
    snprintf(text, text_bytes, "%llu:%llu", (unsigned long long)(a / x),
             (unsigned long long)(b / x));
    return text;
}

const char *oche_topology_oversubscription(uint64_t down, uint64_t up, char *text,
                                           size_t text_bytes)
{
    char ratio[48];

    oche_topology_ratio(down, up, ratio, sizeof(ratio));
    snprintf(text, text_bytes, down < up ? "none (%s)" : "%s", ratio);
    return text;
}

const char *oche_topology_rate(uint64_t bps, char *text, size_t text_bytes)
{
    static const struct {
        uint64_t unit;
        const char *name;
    } units[] = {{OCHE_GBPS, "Gbps"}, {OCHE_MBPS, "Mbps"}, {OCHE_KBPS, "Kbps"}, {1, "bps"}};
    size_t i = 0;

    while (bps % units[i].unit != 0)
        i++;
    snprintf(text, text_bytes, "%llu%s", (unsigned long long)(bps / units[i].unit), units[i].name);
    return text;
}

enum oche_port_place oche_topology_place(const struct oche_topology *topology, uint32_t node,
                                         uint32_t port)
{
    const struct oche_topology_port *end = oche_topology_port(topology, node, port);

    if (topology->nodes[node].kind == OCHE_NODE_HOST)
        return OCHE_PLACE_HOST_NIC;
    if (topology->nodes[end->peer].kind == OCHE_NODE_HOST)
        return OCHE_PLACE_TO_HOST;
    switch (topology->nodes[node].kind) {
    case OCHE_NODE_TOR:
        return OCHE_PLACE_TOR_UP;
    case OCHE_NODE_AGGREGATION:
        return OCHE_PLACE_AGGREGATION;
    default:
        return OCHE_PLACE_CORE;
    }
}

const char *oche_port_place_name(enum oche_port_place place)
{
    switch (place) {
    case OCHE_PLACE_TO_HOST:
        return "ToR to host";
    case OCHE_PLACE_TOR_UP:
        return "ToR to up";
    case OCHE_PLACE_AGGREGATION:
        return "aggregation";
    case OCHE_PLACE_CORE:
        return "core";
    case OCHE_PLACE_HOST_NIC:
        return "host NIC";
    case OCHE_PLACES:
        break;
    }
    return "unknown";
}

uint32_t oche_topology_find(const struct oche_topology *topology, const char *name)
{
    for (uint32_t n = 0; n < oche_topology_nodes(topology); n++)
        if (strcmp(topology->nodes[n].name, name) == 0)
            return n;
    return UINT32_MAX;
}

/* Returns 1 if the port leads to a higher tier, -1 to a lower one, 0: to its own. */
static int direction(const struct oche_topology *topology, uint32_t node, uint32_t port)
{
    uint32_t here = topology->nodes[node].kind;
    uint32_t there = topology->nodes[oche_topology_port(topology, node, port)->peer].kind;

    return (there > here) - (there < here);
}

bool oche_topology_direction_name(const struct oche_topology *topology, uint32_t node,
                                  uint32_t port, char *text, size_t text_bytes)
{
    int way = direction(topology, node, port);
    uint32_t number = 0;

    if (way == 0)
        return false;
    for (uint32_t before = 0; before < port; before++)
        number += direction(topology, node, before) == way;
    snprintf(text, text_bytes, "%s%u", way > 0 ? "up" : "down", number);
    return true;
}

/* Returns the port that is "up3" or "down3", or UINT32_MAX. */
static uint32_t port_in_direction(const struct oche_topology *topology, uint32_t node,
                                  const char *text)
{
    char name[OCHE_TOPOLOGY_NAME_BYTES];

    for (uint32_t port = 0; port < topology->nodes[node].port_count; port++)
        if (oche_topology_direction_name(topology, node, port, name, sizeof(name)) &&
            strcmp(name, text) == 0)
            return port;
    return UINT32_MAX;
}

/* Returns the first port from `from` on that leads to the same node as `port`, or UINT32_MAX. */
static uint32_t parallel_from(const struct oche_topology *topology, uint32_t node, uint32_t port,
                              uint32_t from)
{
    uint32_t peer = oche_topology_port(topology, node, port)->peer;

    while (from < topology->nodes[node].port_count &&
           oche_topology_port(topology, node, from)->peer != peer)
        from++;
    return from < topology->nodes[node].port_count ? from : UINT32_MAX;
}

uint32_t oche_topology_next_parallel(const struct oche_topology *topology, uint32_t node,
                                     uint32_t port)
{
    return parallel_from(topology, node, port, port + 1);
}

uint32_t oche_topology_parallel(const struct oche_topology *topology, uint32_t node, uint32_t port,
                                uint32_t *number)
{
    uint32_t count = 0;

    *number = 0;
    for (uint32_t at = parallel_from(topology, node, port, 0); at != UINT32_MAX;
         at = oche_topology_next_parallel(topology, node, at)) {
        count++;
        if (at == port)
            *number = count;
    }
    return count;
}

/*
 * Returns the first port of `node` that leads to the neighbour `text`, or the one that "t1/2" means
 * of parallel links to it, or UINT32_MAX.
 */
static uint32_t port_to(const struct oche_topology *topology, uint32_t node, const char *text)
{
    size_t length = strcspn(text, "/");
    char *end = NULL;
    unsigned long wanted = text[length] == '\0' ? 1 : strtoul(text + length + 1, &end, 10);
    uint32_t port = 0;

    if (end != NULL && (text[length + 1] < '0' || text[length + 1] > '9' || *end != '\0'))
        return UINT32_MAX;
    for (; port < topology->nodes[node].port_count; port++) {
        const char *peer = topology->nodes[oche_topology_port(topology, node, port)->peer].name;

        if (strlen(peer) == length && memcmp(peer, text, length) == 0 && wanted-- <= 1)
            return wanted == 0 ? port : UINT32_MAX;
    }
    return UINT32_MAX;
}

/*
 * Returns the port of `node` that `text` names by neighbour, number or direction, or UINT32_MAX.
 */
static uint32_t port_of_node(const struct oche_topology *topology, uint32_t node, const char *text)
{
    const struct oche_topology_node *n = &topology->nodes[node];
    uint32_t port = port_to(topology, node, text);
    char *end;
    unsigned long number;

    if (port != UINT32_MAX)
        return port;
    if (*text == 'u' || *text == 'd')
        return port_in_direction(topology, node, text);
    if (*text < '0' || *text > '9')
        return UINT32_MAX;
    number = strtoul(text, &end, 10);
    return *end == '\0' && number < n->port_count ? (uint32_t)number : UINT32_MAX;
}

bool oche_topology_find_ports(const struct oche_topology *topology, const char *text,
                              uint32_t *node, uint32_t *port, uint32_t *count,
                              struct oche_error *error)
{
    const char *colon = strchr(text, ':');
    size_t length = colon == NULL ? strlen(text) : (size_t)(colon - text);
    char name[OCHE_TOPOLOGY_NAME_BYTES];
    uint32_t number;

    if (length >= sizeof(name))
        return oche_fail(error, "no node is called \"%.*s\"", 64, text);
    memcpy(name, text, length);
    name[length] = '\0';
    *node = oche_topology_find(topology, name);
    if (*node == UINT32_MAX)
        return oche_fail(error, "no node is called \"%s\"; hosts are %s to %s, switches %s to %s",
                         name, topology->nodes[0].name,
                         topology->nodes[topology->host_count - 1].name,
                         topology->nodes[topology->host_count].name,
                         topology->nodes[oche_topology_nodes(topology) - 1].name);
    if (colon == NULL && topology->nodes[*node].kind != OCHE_NODE_HOST)
        return oche_fail(error, "%s has %u ports; name one as %s:%s or %s:0", name,
                         topology->nodes[*node].port_count, name,
                         topology->nodes[oche_topology_port(topology, *node, 0)->peer].name, name);
    *port = colon == NULL ? 0 : port_of_node(topology, *node, colon + 1);
    if (*port == UINT32_MAX)
        return oche_fail(
            error, "%s has no port \"%.64s\"; its ports are 0 to %u, and the first leads to %s",
            name, colon + 1, topology->nodes[*node].port_count - 1,
            topology->nodes[oche_topology_port(topology, *node, 0)->peer].name);
    *count = 1;
    if (colon != NULL &&
        strcmp(colon + 1, topology->nodes[oche_topology_port(topology, *node, *port)->peer].name) ==
            0)
        *count = oche_topology_parallel(topology, *node, *port, &number);
    return true;
}

bool oche_topology_find_port(const struct oche_topology *topology, const char *text, uint32_t *node,
                             uint32_t *port, struct oche_error *error)
{
    uint32_t count;

    if (!oche_topology_find_ports(topology, text, node, port, &count, error))
        return false;
    if (count == 1)
        return true;
    return oche_fail(error, "%.64s is %u parallel links; name one of them, %.64s/1 to %.64s/%u",
                     text, count, text, text, count);
}

void oche_topology_port_name(const struct oche_topology *topology, uint32_t node, uint32_t port,
                             char *text, size_t text_bytes)
{
    const char *name = topology->nodes[node].name;
    const char *peer = topology->nodes[oche_topology_port(topology, node, port)->peer].name;
    uint32_t number;

    if (oche_topology_parallel(topology, node, port, &number) == 1)
        snprintf(text, text_bytes, "%s:%s", name, peer);
    else
        snprintf(text, text_bytes, "%s:%s/%u", name, peer, number);
}

oche_time oche_topology_smallest_delay(const struct oche_topology *topology)
{
    oche_time smallest = OCHE_NEVER;

    for (uint32_t l = 0; l < topology->link_count; l++)
        smallest = oche_time_min(smallest, topology->links[l].delay);
    return smallest;
}
