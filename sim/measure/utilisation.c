/* SPDX-License-Identifier: Apache-2.0 */
/* Link utilisation; see the header. */
#include "sim/measure/utilisation.h"

#include <string.h>

double oche_utilisation(uint64_t line_bytes, uint64_t rate_bps, oche_time measured)
{
    if (measured == 0)
        return 0;
    return (double)line_bytes * 8 * (double)OCHE_SEC / ((double)rate_bps * (double)measured);
}

void oche_utilisation_by_place(const struct oche_topology *topology, const uint64_t *line_bytes,
                               oche_time measured, struct oche_utilisation_row rows[OCHE_PLACES])
{
    memset(rows, 0, OCHE_PLACES * sizeof(*rows));
    for (uint32_t n = 0; n < oche_topology_nodes(topology); n++) {
        const struct oche_topology_node *node = &topology->nodes[n];

        for (uint32_t p = 0; p < node->port_count; p++) {
            struct oche_utilisation_row *row = &rows[oche_topology_place(topology, n, p)];
            double used =
                oche_utilisation(line_bytes[node->first_port + p],
                                 oche_topology_port_link(topology, n, p)->rate_bps, measured);

            if (row->ports++ == 0 || used > row->largest) {
                row->largest = used;
                row->node = n;
                row->port = p;
            }
            row->mean += used; /* a sum at first; divided after the last port */
        }
    }
    for (unsigned place = 0; place < OCHE_PLACES; place++)
        if (rows[place].ports > 0)
            rows[place].mean /= (double)rows[place].ports;
}
