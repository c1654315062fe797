/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How busy links were: bytes on the line (frames, preambles and gaps, including PFC frames) divided
 * by what the line could have carried in the measured time, for each direction.
 */
#ifndef OCHE_SIM_MEASURE_UTILISATION_H
#define OCHE_SIM_MEASURE_UTILISATION_H

#include "sim/topology/topology.h"

/* Returns the utilisation of one port's transmitter: 0 … 1; 0 if `measured` is 0. */
double oche_utilisation(uint64_t line_bytes, uint64_t rate_bps, oche_time measured);

/* The ports of one place. */
struct oche_utilisation_row {
    uint64_t ports;
    double mean, largest; /* utilisation: mean over all ports; utilisation of the busiest port */
    uint32_t node, port;  /* the busiest port; the first one if several are equal */
};

/*
 * Fills one row for each place (enum oche_port_place). `line_bytes` has the bytes that each port
 * sent in the time `measured`, indexed by topology->nodes[node].first_port + port.
 */
void oche_utilisation_by_place(const struct oche_topology *topology, const uint64_t *line_bytes,
                               oche_time measured, struct oche_utilisation_row rows[OCHE_PLACES]);

#endif
