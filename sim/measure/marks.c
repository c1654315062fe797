/* SPDX-License-Identifier: Apache-2.0 */
/* ECN marks by place; see the header. */
#include "sim/measure/marks.h"

#include <string.h>

/* False if the packet had no port to go to; switches count it at the port where it came in. */
static bool is_for_a_port(enum oche_drop cause)
{
    return cause != OCHE_DROP_NO_ROUTE && cause != OCHE_DROP_TTL;
}

void oche_marks_by_place(const struct oche_topology *topology,
                         const struct oche_switch_port_stats *stats, uint64_t host_packets,
                         uint64_t host_marks, struct oche_mark_row rows[OCHE_PLACES])
{
    memset(rows, 0, OCHE_PLACES * sizeof(*rows));
    rows[OCHE_PLACE_HOST_NIC] =
        (struct oche_mark_row){.packets = host_packets, .marks = host_marks};
    for (uint32_t n = topology->host_count; n < oche_topology_nodes(topology); n++)
        for (uint32_t p = 0; p < topology->nodes[n].port_count; p++) {
            const struct oche_switch_port_stats *port = &stats[topology->nodes[n].first_port + p];
            struct oche_mark_row *row = &rows[oche_topology_place(topology, n, p)];

            row->packets += port->packets;
            row->marks += port->marks;
            for (unsigned cause = 0; cause < OCHE_DROP_CAUSES; cause++)
                if (is_for_a_port((enum oche_drop)cause))
                    row->drops += port->drops[cause];
        }
}
