/* SPDX-License-Identifier: Apache-2.0 */
/*
 * htsim's failures name an aggregation switch and one of the cores that it leads to, both by number
 * from 0. The numbers count here in the order of the topology's nodes and ports. Of several cables
 * to that core the first one fails, as in htsim.
 */
#include "sim/app/failed_links.h"

#include <stdlib.h>

#include "sim/topology/topology.h"

#define NONE UINT32_MAX

static bool fail_at(const char *path, unsigned line, struct oche_error *error, const char *format,
                    ...) __attribute__((format(printf, 4, 5)));

static bool fail_at(const char *path, unsigned line, struct oche_error *error, const char *format,
                    ...)
{
    va_list arguments;

    va_start(arguments, format);
    oche_fail_at(error, path, line, format, arguments);
    va_end(arguments);
    return false;
}

/* Returns the aggregation switch of that number; NONE, with how many there are in `count`. */
static uint32_t find_switch(const struct oche_topology *topology, uint32_t number, uint32_t *count)
{
    *count = 0;
    for (uint32_t n = topology->host_count; n < oche_topology_nodes(topology); n++)
        if (topology->nodes[n].kind == OCHE_NODE_AGGREGATION && (*count)++ == number)
            return n;
    return NONE;
}

/* Returns the link to the core of that number; NONE, with how many there are in `count`. */
static uint32_t find_link(const struct oche_topology *topology, uint32_t node, uint32_t number,
                          uint32_t *count)
{
    *count = 0;
    for (uint32_t port = 0; port < topology->nodes[node].port_count; port++) {
        const struct oche_topology_port *of = oche_topology_port(topology, node, port);
        uint32_t place;

        oche_topology_parallel(topology, node, port, &place);
        if (topology->nodes[of->peer].kind == OCHE_NODE_CORE && place == 1 && (*count)++ == number)
            return of->link;
    }
    return NONE;
}

/* Returns the link of a failure; NONE, with an error. */
static uint32_t link_of(const char *path, const struct oche_schedule_failure *failure,
                        const struct oche_topology *topology, struct oche_error *error)
{
    uint32_t count, node = find_switch(topology, failure->agg, &count), link;

    if (node == NONE && count == 0) {
        fail_at(path, failure->line, error,
                "switch_type AGG: this topology has no aggregation switches; use one of three "
                "tiers, or leave the failure out");
        return NONE;
    }
    if (node == NONE) {
        fail_at(path, failure->line, error, "switch_id %u: AGG switches are 0 to %u", failure->agg,
                count - 1);
        return NONE;
    }
    link = find_link(topology, node, failure->link, &count);
    if (link == NONE)
        fail_at(path, failure->line, error, "link_id %u: %s leads to %u cores, from 0",
                failure->link, topology->nodes[node].name, count);
    return link;
}

bool oche_failed_links_add(const char *path, const struct oche_schedule_file *about,
                           const struct oche_workload_facts *facts, struct oche_flow_list *list,
                           struct oche_error *error)
{
    if (about->failure_count == 0)
        return true;
    OCHE_MUST(facts->topology != NULL);
    if (about->failure_count > facts->topology->link_count)
        return oche_fail(error, "%s: has %u failures, and the topology %u links", path,
                         about->failure_count, facts->topology->link_count);
    list->failed = realloc(list->failed, ((size_t)list->failed_count + about->failure_count) *
                                             sizeof(*list->failed));
    OCHE_GOT(list->failed != NULL);
    for (uint32_t i = 0; i < about->failure_count; i++) {
        const uint32_t link = link_of(path, &about->failures[i], facts->topology, error);

        if (link == NONE)
            return false;
        list->failed[list->failed_count++] = link;
    }
    return true;
}
