/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the ports that a list of names and patterns means. */
#include "sim/topology/port_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATORS ", "

struct search {
    const struct oche_topology *topology;
    enum oche_port_list_of of;
    struct oche_port_list *list;
    uint8_t *taken; /* one per port: it is in the list */
    struct oche_error *error;
};

/* True if the whole text matches. Linear in text and pattern but for one `*` at a time. */
static bool matches(const char *pattern, const char *text)
{
    const char *star = NULL, *after = NULL;

    while (*text != '\0') {
        if (*pattern == '*') {
            star = ++pattern;
            after = text;
        } else if (*pattern == '?' || *pattern == *text) {
            pattern++;
            text++;
        } else if (star != NULL) {
            pattern = star;
            text = ++after;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

/* True if the pattern matches one of the port's names. */
static bool matches_port(const struct oche_topology *topology, uint32_t node, uint32_t port,
                         const char *pattern)
{
    const char *peer = topology->nodes[oche_topology_port(topology, node, port)->peer].name;
    char name[OCHE_PORT_NAME_BYTES];
    uint32_t number;

    if (matches(pattern, peer))
        return true;
    if (oche_topology_parallel(topology, node, port, &number) > 1) {
        snprintf(name, sizeof(name), "%s/%u", peer, number);
        if (matches(pattern, name))
            return true;
    }
    snprintf(name, sizeof(name), "%u", port);
    return matches(pattern, name) ||
           (oche_topology_direction_name(topology, node, port, name, sizeof(name)) &&
            matches(pattern, name));
}

static void take(struct search *search, uint32_t port)
{
    if (search->taken[port])
        return;
    search->taken[port] = 1;
    search->list->ports[search->list->count++] = port;
}

static bool is_searched(const struct search *search, uint32_t node)
{
    return search->of == OCHE_PORTS_OF_ALL || node >= search->topology->host_count;
}

static bool find_pattern(struct search *search, const char *pattern)
{
    const struct oche_topology *topology = search->topology;
    const char *colon = strchr(pattern, ':');
    size_t length = colon == NULL ? strlen(pattern) : (size_t)(colon - pattern);
    char *nodes = strndup(pattern, length);
    uint64_t found = 0;

    OCHE_GOT(nodes != NULL);
    for (uint32_t node = 0; node < oche_topology_nodes(topology); node++) {
        const struct oche_topology_node *n = &topology->nodes[node];

        if (!is_searched(search, node) || !matches(nodes, n->name))
            continue;
        for (uint32_t port = 0; port < n->port_count; port++)
            if (colon == NULL || matches_port(topology, node, port, colon + 1)) {
                take(search, n->first_port + port);
                found++;
            }
    }
    free(nodes);
    if (found > 0)
        return true;
    const struct oche_topology_node *first = &topology->nodes[topology->host_count];

    return oche_fail(
        search->error,
        "no port matches \"%.64s\"; switches are %s to %s, and the first of the %u ports of %s is "
        "%s:0 or %s:%s",
        pattern, first->name, topology->nodes[oche_topology_nodes(topology) - 1].name,
        first->port_count, first->name, first->name, first->name,
        topology->nodes[oche_topology_port(topology, topology->host_count, 0)->peer].name);
}

static bool find_name(struct search *search, const char *name)
{
    const struct oche_topology *topology = search->topology;
    uint32_t node, port, count;
    char *end;

    if (search->of == OCHE_PORTS_OF_ALL && *name >= '0' && *name <= '9') {
        unsigned long number = strtoul(name, &end, 10);

        if (*end == '\0' && number < topology->host_count) {
            take(search, topology->nodes[number].first_port);
            return true;
        }
    }
    if (strcmp(name, "all") == 0 && oche_topology_find(topology, name) == UINT32_MAX)
        return find_pattern(search, "*");
    if (!oche_topology_find_ports(topology, name, &node, &port, &count, search->error))
        return false;
    if (!is_searched(search, node))
        return oche_fail(search->error, "%s is a host; name a port of a switch, such as tor0:host3",
                         name);
    for (; count > 0; count--) {
        take(search, topology->nodes[node].first_port + port);
        port = oche_topology_next_parallel(topology, node, port);
    }
    return true;
}

bool oche_port_list_find(const struct oche_topology *topology, const char *text,
                         enum oche_port_list_of of, struct oche_port_list *list,
                         struct oche_error *error)
{
    size_t ports = 2 * (size_t)topology->link_count;
    char *copy = strdup(text), *rest = copy;
    struct search search = {topology, of, list, calloc(ports + 1, 1), error};
    bool fine = true;

    *list = (struct oche_port_list){.ports = calloc(ports + 1, sizeof(*list->ports))};
    OCHE_GOT(copy != NULL && search.taken != NULL && list->ports != NULL);
    for (char *name; fine && (name = strsep(&rest, SEPARATORS)) != NULL;) {
        if (*name == '\0')
            continue;
        fine = strpbrk(name, "*?") != NULL ? find_pattern(&search, name) : find_name(&search, name);
    }
    free(copy);
    free(search.taken);
    if (!fine)
        oche_port_list_free(list);
    return fine;
}

void oche_port_list_free(struct oche_port_list *list)
{
    free(list->ports);
    *list = (struct oche_port_list){.count = 0};
}

uint32_t oche_port_list_node(const struct oche_topology *topology, uint32_t port)
{
    const struct oche_topology_port *end = &topology->ports[port];
    const struct oche_topology_link *link = &topology->links[end->link];

    return link->a == end->peer ? link->b : link->a;
}
