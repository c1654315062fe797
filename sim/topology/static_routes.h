/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Routes from a text file: for the switches and destinations that the file names, its routes
 * replace the shortest paths. With such a file one can route by hand, or see what a wrong route
 * does. One statement per line:
 *
 *     SWITCH DESTINATION PORT [PORT …]
 *
 * At SWITCH, packets for DESTINATION leave by PORT; with several ports, a flow's hash chooses one.
 * DESTINATION is a host, a switch (all hosts linked to it), or * (all hosts that are not linked to
 * SWITCH itself). A line for a host takes precedence over a line for its switch, which takes
 * precedence over *. PORT is what follows the colon in a port's name: the neighbour's name or the
 * port's number. The port must lead to a switch, or to the destination itself. Statements that
 * begin with "flow" are paths of single flows and take precedence (sim/topology/pinned_paths.h);
 * who knows the flows must pin them.
 */
#ifndef OCHE_SIM_TOPOLOGY_STATIC_ROUTES_H
#define OCHE_SIM_TOPOLOGY_STATIC_ROUTES_H

#include "params/error.h"
#include "sim/topology/pinned_paths.h"
#include "sim/topology/routes.h"

struct oche_static_routes {
    struct oche_routes *of; /* by switch: node - host_count; NULL: no file has been read */
    uint32_t *group_of;
    struct oche_static_table *tables;
    uint32_t switches;
    struct oche_pinned_paths pinned;
    uint32_t groups; /* groups of the shortest paths, and one more for each host named */
};

/*
 * Copies the routes `shortest` (which must outlive the result) and changes the copy as the file
 * `path` says. On failure returns false, with an error of one line (PATH:LINE: …); then nothing
 * needs to be freed.
 */
bool oche_static_routes_read(const struct oche_topology_routes *shortest, const char *path,
                             struct oche_static_routes *routes, struct oche_error *error);
void oche_static_routes_free(struct oche_static_routes *routes);

#endif
