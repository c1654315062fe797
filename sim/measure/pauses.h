/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PAUSE: how often and for how long, by tier. "Sent" counts PAUSEs that a
 * switch sends upstream, at the ingress port whose buffer filled; "received" counts PAUSEs at the
 * port that they hold.
 */
#ifndef OCHE_SIM_MEASURE_PAUSES_H
#define OCHE_SIM_MEASURE_PAUSES_H

#include "sim/topology/topology.h"

/* Sums by kind of node (enum oche_node_kind), over ports and classes. */
struct oche_pause_sum {
    uint64_t sent, received; /* frames; received includes refreshes */
    oche_time sent_time;     /* how long upstream ports were held */
    oche_time received_time; /* how long ports were held */
    oche_time longest_held;  /* the longest hold of one port and class */
};
/*
 * `stats` is indexed by topology->nodes[node].first_port + port; for host ports only the members
 * about received PAUSEs are read.
 */
void oche_pause_by_kind(const struct oche_topology *topology,
                        const struct oche_switch_port_stats *stats,
                        struct oche_pause_sum sums[OCHE_NODE_KINDS]);

#endif
