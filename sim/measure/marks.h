/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ECN marks by place: which links are congested. A packet counts at every place it leaves from; it
 * is marked at most once, at the first place that marks it.
 */
#ifndef OCHE_SIM_MEASURE_MARKS_H
#define OCHE_SIM_MEASURE_MARKS_H

#include "sim/topology/topology.h"

struct oche_mark_row {
    uint64_t packets; /* that left ports of the place, all classes */
    uint64_t marks;   /* of these, marked there */
    uint64_t drops;   /* meant for these ports, dropped before them */
};

/*
 * Fills a row for each place. `stats` is by topology->nodes[node].first_port + port; of host ports
 * it is not read: `host_packets` and `host_marks` are sums of what the hosts' NICs sent and marked.
 */
void oche_marks_by_place(const struct oche_topology *topology,
                         const struct oche_switch_port_stats *stats, uint64_t host_packets,
                         uint64_t host_marks, struct oche_mark_row rows[OCHE_PLACES]);

/* The share of all marks that were set at `place`; 0 without marks. */
double oche_mark_share(const struct oche_mark_row rows[OCHE_PLACES], enum oche_port_place place);

#endif
