/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PAUSE: how often and for how long, by port and class, and by tier. "Sent" counts PAUSEs that a
 * switch sends upstream, at the ingress port whose buffer filled; "received" counts PAUSEs at the
 * port that they hold.
 */
#ifndef OCHE_SIM_MEASURE_PAUSES_H
#define OCHE_SIM_MEASURE_PAUSES_H

#include "sim/topology/topology.h"

/* The PAUSEs of one port and class. */
struct oche_pause_row {
    uint32_t node, port;
    uint32_t cls;
    uint64_t sent, refreshes, received; /* frames; received includes refreshes */
    oche_time sent_time;                /* how long the upstream was held */
    oche_time received_time;            /* how long the port was held */
};

/*
 * Lists the ports and classes that have any PAUSE, in order of node, port, class. `stats` is
 * indexed by topology->nodes[node].first_port + port; for host ports only the members about
 * received PAUSEs are read. Writes at most `room` rows; returns how many the whole list has.
 */
size_t oche_pause_rows(const struct oche_topology *topology,
                       const struct oche_switch_port_stats *stats, struct oche_pause_row *rows,
                       size_t room);

/* Sums by kind of node (enum oche_node_kind). */
struct oche_pause_sum {
    uint64_t sent, received;
    oche_time sent_time, received_time; /* summed over ports and classes */
    oche_time longest_held;             /* the longest hold of one port and class */
};
void oche_pause_by_kind(const struct oche_topology *topology,
                        const struct oche_switch_port_stats *stats,
                        struct oche_pause_sum sums[OCHE_NODE_KINDS]);

#endif
