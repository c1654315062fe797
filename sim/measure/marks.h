/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ECN marks by place, which show the links that are congested. A packet counts at every port that
 * sends it; only the first port that marks it counts the mark.
 */
#ifndef OCHE_SIM_MEASURE_MARKS_H
#define OCHE_SIM_MEASURE_MARKS_H

#include "sim/topology/topology.h"

struct oche_mark_row {
    uint64_t packets; /* packets that left ports of the place, all classes */
    uint64_t marks;   /* packets that ports of the place marked */
    uint64_t
        /*
         * packets dropped on their way to ports of the place; packets without a route are not
         * counted
         */
        drops;
};

/*
 * Fills one row for each place. `stats` is indexed by topology->nodes[node].first_port + port and
 * not read for host ports: `host_packets` and `host_marks` are the packets that all hosts' NICs
 * sent and marked.
 */
void oche_marks_by_place(const struct oche_topology *topology,
                         const struct oche_switch_port_stats *stats, uint64_t host_packets,
                         uint64_t host_marks, struct oche_mark_row rows[OCHE_PLACES]);

#endif
