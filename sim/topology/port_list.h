/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of ports as users write them: "tor0:host3, core1:2", and patterns, in which `*` stands for
 * any characters and `?` for one. "tor*:up*" is every uplink of every ToR, "tor0:*" and "tor0*"
 * every port of such switches, "*" every port, and so is "all", which YAML takes without quotes.
 *
 * Beside the names of oche_topology_find_port a port has one by direction: up0, up1, … lead to a
 * higher tier, down0, down1, … to a lower one. The name of parallel links means all of them.
 */
#ifndef OCHE_SIM_TOPOLOGY_PORT_LIST_H
#define OCHE_SIM_TOPOLOGY_PORT_LIST_H

#include "sim/topology/topology.h"

enum oche_port_list_of {
    OCHE_PORTS_OF_SWITCHES, /* hosts are refused, and patterns match only ports of switches */
    OCHE_PORTS_OF_ALL,      /* "host3", or "3", is a host's only port */
};

struct oche_port_list {
    uint32_t *ports; /* indices into the topology's `ports`, each at most once */
    uint32_t count;
};

/*
 * Finds the ports that `text` names, in the order in which it names them. Returns false, with one
 * line in `error`, if a name or a pattern is of no port. The list is to be freed if this returns
 * true.
 */
bool oche_port_list_find(const struct oche_topology *topology, const char *text,
                         enum oche_port_list_of of, struct oche_port_list *list,
                         struct oche_error *error);
void oche_port_list_free(struct oche_port_list *list);

/* Returns the node that a port of the list belongs to. */
uint32_t oche_port_list_node(const struct oche_topology *topology, uint32_t port);

#endif
