/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes from a text file, instead of the shortest ones where it says so: to try what a wrong
 * route does, or to route by hand. A statement a line:
 *
 *     SWITCH DESTINATION PORT [PORT …]
 *
 * At SWITCH, packets for DESTINATION leave by PORT; of several ports each flow takes one, by its
 * hash. DESTINATION is a host, a switch (all hosts linked to it), or * (all hosts that are not
 * linked to SWITCH itself); a host counts more than its switch, and that more than *. PORT is what
 * stands behind the colon in a port's name: the neighbour, or the port's number. It leads to a
 * switch, or to the destination itself. What the file does not mention keeps its shortest paths.
 */
#ifndef OCHE_SIM_TOPOLOGY_STATIC_ROUTES_H
#define OCHE_SIM_TOPOLOGY_STATIC_ROUTES_H

#include "params/error.h"
#include "sim/topology/routes.h"

struct oche_static_routes {
    struct oche_routes *of; /* by switch: node - host_count; NULL: none have been read */
    uint32_t *group_of;
    struct oche_static_table *tables;
    uint32_t switches;
    uint32_t groups; /* hosts that are named are groups of their own, after the others */
};

/*
 * Reads `path` over `shortest`, which must outlive the result. False with an error of one line
 * (PATH:LINE: …); then nothing is left to free.
 */
bool oche_static_routes_read(const struct oche_topology_routes *shortest, const char *path,
                             struct oche_static_routes *routes, struct oche_error *error);
void oche_static_routes_free(struct oche_static_routes *routes);

#endif
