/* SPDX-License-Identifier: Apache-2.0 */
/* The private part of routes, shared by routes.c, which makes it, and path.c, which reads it. */
#ifndef OCHE_SIM_TOPOLOGY_ROUTE_MEMORY_H
#define OCHE_SIM_TOPOLOGY_ROUTE_MEMORY_H

#include "sim/topology/routes.h"

/*
 * A routing table of switches. During construction there is one per switch; afterwards only the
 * distinct ones remain.
 */
struct oche_route_table {
    uint16_t *set_of_group;
    struct oche_port_set *sets;
    uint16_t *ports;
    uint16_t *set_of_port; /* the set that consists of this port alone, or none */
    uint32_t set_count, set_room, port_count, port_room;
    uint64_t hash;
};

struct oche_route_memory {
    struct oche_route_table *tables; /* the distinct ones come first; the rest are empty */
    uint32_t switches;
    uint32_t *group_of;
    uint16_t *port_of_address;
    uint32_t *mark, *layer, *next_layer; /* scratch of oche_topology_path: nodes of a step */
    uint32_t epoch;                      /* the mark of the current step */
};

#endif
