/* SPDX-License-Identifier: Apache-2.0 */
/* The private part of routes, shared by routes.c, which makes it, and path.c, which reads it. */
#ifndef OCHE_SIM_TOPOLOGY_ROUTE_MEMORY_H
#define OCHE_SIM_TOPOLOGY_ROUTE_MEMORY_H

#include "sim/topology/routes.h"

/*
 * A routing table. During construction each switch has a table of its own; afterwards switches with
 * equal tables share one, and the other copies are freed.
 */
struct oche_route_table {
    uint16_t *set_of_group;
    struct oche_port_set *sets;
    uint16_t *ports;
    uint16_t *set_of_port; /* by port: the set of this port alone, or NO_SET */
    uint32_t set_count, set_room, port_count, port_room;
    uint64_t hash;
};

struct oche_route_memory {
    struct oche_route_table *tables; /* the distinct tables come first; the rest are empty */
    uint32_t switches;
    uint32_t *group_of;
    uint16_t *port_of_address;
    uint32_t *mark, *layer, *next_layer; /* scratch of oche_topology_path, one step at a time */
    uint32_t epoch;                      /* `mark` of a node that the current step has reached */
};

#endif
