/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How evenly switches spread traffic over their uplinks, which are the equal paths that ECMP
 * chooses from: for each switch, the load of the busiest uplink divided by the mean load of its
 * uplinks. 1 is even; n means that one of n uplinks has all traffic. Uplinks count by their
 * utilisation, so a faster one may carry more. Switches with less than two uplinks have no choice
 * and are left out.
 */
#ifndef OCHE_SIM_MEASURE_IMBALANCE_H
#define OCHE_SIM_MEASURE_IMBALANCE_H

#include "sim/measure/congestion.h"

struct oche_imbalance_row {
    /*
     * The busiest uplinks of all switches together over the mean ones together, so that a switch
     * that sends little counts little; NAN: there are no such switches, or they sent nothing.
     */
    double mean;
    /*
     * The largest quotient of one switch, of those that sent at least a tenth of what a switch sent
     * on average; NAN as above.
     */
    double largest;
    uint32_t node; /* that switch; the first one if several are equal */
};

/*
 * Fills one row for each of enum oche_where; all but OCHE_WHERE_TOR_UP and
 * OCHE_WHERE_AGGREGATION_UP are NAN. `line_bytes` has the bytes that each port sent, indexed by
 * topology->nodes[node].first_port + port.
 */
void oche_imbalance(const struct oche_topology *topology, const uint64_t *line_bytes,
                    struct oche_imbalance_row rows[OCHE_WHERES]);

#endif
