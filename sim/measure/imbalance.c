/* SPDX-License-Identifier: Apache-2.0 */
/* How evenly switches use their uplinks; see the header. */
#include "sim/measure/imbalance.h"

#include <math.h>

#define LEAST_SHARE 0.1 /* of the mean traffic of a switch, for `largest` */

/* The traffic that one switch sent by each of its uplinks, in time on the line. */
struct uplinks {
    uint32_t count;
    double sum, largest; /* seconds */
};

static struct uplinks uplinks_of(const struct oche_topology *topology, const uint64_t *line_bytes,
                                 uint32_t number, enum oche_where where)
{
    const struct oche_topology_node *node = &topology->nodes[number];
    struct uplinks uplinks = {0};

    for (uint32_t port = 0; port < node->port_count; port++) {
        if (oche_where_of(topology, number, port) != where)
            continue;
        const double used = (double)line_bytes[node->first_port + port] * 8 /
                            (double)oche_topology_port_link(topology, number, port)->rate_bps;

        uplinks.count++;
        uplinks.sum += used;
        uplinks.largest = used > uplinks.largest ? used : uplinks.largest;
    }
    return uplinks;
}

static void fill_row(const struct oche_topology *topology, const uint64_t *line_bytes,
                     enum oche_where where, struct oche_imbalance_row *row)
{
    const uint32_t first = topology->host_count, end = oche_topology_nodes(topology);
    double largest = 0, mean = 0, sum = 0;
    uint32_t switches = 0;

    for (uint32_t n = first; n < end; n++) {
        const struct uplinks uplinks = uplinks_of(topology, line_bytes, n, where);

        if (uplinks.count < 2)
            continue;
        switches++;
        sum += uplinks.sum;
        largest += uplinks.largest;
        mean += uplinks.sum / uplinks.count;
    }
    if (mean == 0)
        return;
    row->mean = largest / mean;
    for (uint32_t n = first; n < end; n++) {
        const struct uplinks uplinks = uplinks_of(topology, line_bytes, n, where);

        if (uplinks.count < 2 || uplinks.sum < LEAST_SHARE * sum / switches)
            continue;
        const double quotient = uplinks.largest * uplinks.count / uplinks.sum;

        if (isnan(row->largest) || quotient > row->largest) {
            row->largest = quotient;
            row->node = n;
        }
    }
}

void oche_imbalance(const struct oche_topology *topology, const uint64_t *line_bytes,
                    struct oche_imbalance_row rows[OCHE_WHERES])
{
    for (unsigned where = 0; where < OCHE_WHERES; where++)
        rows[where] = (struct oche_imbalance_row){.mean = NAN, .largest = NAN};
    fill_row(topology, line_bytes, OCHE_WHERE_TOR_UP, &rows[OCHE_WHERE_TOR_UP]);
    fill_row(topology, line_bytes, OCHE_WHERE_AGGREGATION_UP, &rows[OCHE_WHERE_AGGREGATION_UP]);
}
