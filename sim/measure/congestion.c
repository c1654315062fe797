/* SPDX-License-Identifier: Apache-2.0 */
/* Where congestion occurs; see the header. */
#include "sim/measure/congestion.h"

#include <math.h>
#include <string.h>

enum oche_where oche_where_of(const struct oche_topology *topology, uint32_t node, uint32_t port)
{
    const uint32_t from = topology->nodes[node].kind;
    const uint32_t to = topology->nodes[oche_topology_port(topology, node, port)->peer].kind;

    if (from == OCHE_NODE_HOST)
        return OCHE_WHERE_HOST_NIC;
    if (to == OCHE_NODE_HOST)
        return OCHE_WHERE_TO_HOST;
    if (from == to)
        return OCHE_WHERE_LEVEL;
    if (to > from)
        return from == OCHE_NODE_TOR ? OCHE_WHERE_TOR_UP : OCHE_WHERE_AGGREGATION_UP;
    return from == OCHE_NODE_CORE ? OCHE_WHERE_CORE_DOWN : OCHE_WHERE_AGGREGATION_DOWN;
}

const char *oche_where_name(enum oche_where where)
{
    static const char *const names[OCHE_WHERES] = {
        [OCHE_WHERE_HOST_NIC] = "host NIC",
        [OCHE_WHERE_TOR_UP] = "ToR up",
        [OCHE_WHERE_AGGREGATION_UP] = "aggregation up",
        [OCHE_WHERE_CORE_DOWN] = "core down",
        [OCHE_WHERE_AGGREGATION_DOWN] = "aggregation down",
        [OCHE_WHERE_LEVEL] = "switch to switch",
        [OCHE_WHERE_TO_HOST] = "ToR to host",
        [OCHE_WHERE_INSIDE] = "inside",
        [OCHE_WHERE_ALL] = "all",
    };

    OCHE_MUST(where < OCHE_WHERES);
    return names[where];
}

const char *oche_where_key(enum oche_where where)
{
    static const char *const keys[OCHE_WHERES] = {
        [OCHE_WHERE_HOST_NIC] = "host_nic",
        [OCHE_WHERE_TOR_UP] = "tor_up",
        [OCHE_WHERE_AGGREGATION_UP] = "aggregation_up",
        [OCHE_WHERE_CORE_DOWN] = "core_down",
        [OCHE_WHERE_AGGREGATION_DOWN] = "aggregation_down",
        [OCHE_WHERE_LEVEL] = "switch_to_switch",
        [OCHE_WHERE_TO_HOST] = "tor_to_host",
        [OCHE_WHERE_INSIDE] = "inside",
        [OCHE_WHERE_ALL] = "all",
    };

    OCHE_MUST(where < OCHE_WHERES);
    return keys[where];
}

static void add_port(struct oche_congestion_row *row, uint32_t node, uint32_t port,
                     const struct oche_switch_port_stats *stats)
{
    row->ports++;
    row->packets += stats->packets;
    row->marks += stats->marks;
    row->queueing += stats->queueing_time;
    for (unsigned cls = 0; cls < OCHE_CLASSES; cls++)
        row->paused += stats->paused_time[cls];
    if (stats->max_queue_bytes > row->queue_most)
        row->queue_most = stats->max_queue_bytes;
    if (stats->packets == 0)
        return;
    double mean = (double)stats->queueing_time / (double)stats->packets;

    if (isnan(row->queueing_worst) || mean > row->queueing_worst) {
        row->queueing_worst = mean;
        row->node = node;
        row->port = port;
    }
}

void oche_congestion(const struct oche_topology *topology,
                     const struct oche_switch_port_stats *stats,
                     struct oche_congestion_row rows[OCHE_WHERES])
{
    for (unsigned where = 0; where < OCHE_WHERES; where++)
        rows[where] = (struct oche_congestion_row){.queueing_worst = NAN};
    for (uint32_t n = 0; n < oche_topology_nodes(topology); n++)
        for (uint32_t p = 0; p < topology->nodes[n].port_count; p++) {
            enum oche_where where = oche_where_of(topology, n, p);
            const struct oche_switch_port_stats *port = &stats[topology->nodes[n].first_port + p];

            add_port(&rows[where], n, p, port);
            add_port(&rows[OCHE_WHERE_ALL], n, p, port);
            if (where != OCHE_WHERE_HOST_NIC && where != OCHE_WHERE_TO_HOST)
                add_port(&rows[OCHE_WHERE_INSIDE], n, p, port);
        }
    for (unsigned where = 0; where < OCHE_WHERES; where++) {
        struct oche_congestion_row *row = &rows[where];

        row->queueing_mean = row->packets == 0 ? NAN : (double)row->queueing / (double)row->packets;
    }
}
