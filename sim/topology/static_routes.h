/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes from a text file, which replace the shortest ones where it says so: to see what a wrong
 * route does, or to route by hand. One statement per line:
 *
 *     SWITCH DESTINATION PORT [PORT …]
 *
 * At SWITCH, packets for DESTINATION leave by PORT; if there are several, each flow takes one of
 * them by its hash. DESTINATION is a host, a switch (all hosts linked to it), or * (all hosts that
 * are not linked to SWITCH itself); a line for a host takes precedence over one for its switch, and
 * that over *. PORT is what follows the colon in a port's name: the neighbour's name or the port's
 * number. It must lead to a switch, or to the destination itself. What the file does not mention
 * keeps its shortest paths.
 */
#ifndef OCHE_SIM_TOPOLOGY_STATIC_ROUTES_H
#define OCHE_SIM_TOPOLOGY_STATIC_ROUTES_H

#include "params/error.h"
#include "sim/topology/routes.h"

struct oche_static_routes {
    struct oche_routes *of; /* by switch: node - host_count; NULL: no file has been read */
    uint32_t *group_of;
    struct oche_static_table *tables;
    uint32_t switches;
    uint32_t groups; /* named hosts are groups of their own, numbered after the others */
};

/*
 * Reads the file `path` on top of `shortest`, which must outlive the result. Returns false, with an
 * error of one line (PATH:LINE: …); then nothing needs to be freed.
 */
bool oche_static_routes_read(const struct oche_topology_routes *shortest, const char *path,
                             struct oche_static_routes *routes, struct oche_error *error);
void oche_static_routes_free(struct oche_static_routes *routes);

#endif
