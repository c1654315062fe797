/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where congestion occurs: at the senders' own NICs, at the last links (ToR to host), or inside the
 * network, by tier and direction. For each kind of link: the marks set, the time that packets
 * waited, and the time that PAUSE held the ports. The division is finer than enum oche_port_place,
 * which does not distinguish an aggregation switch's links up from its links down.
 */
#ifndef OCHE_SIM_MEASURE_CONGESTION_H
#define OCHE_SIM_MEASURE_CONGESTION_H

#include "core/qp/nic.h"
#include "sim/topology/topology.h"

enum oche_where {
    OCHE_WHERE_HOST_NIC, /* a host's own port, where congestion means that the host wants to send
                            more than its line carries */
    OCHE_WHERE_TOR_UP,   /* from a ToR to aggregation or, if there is no aggregation, to the top */
    OCHE_WHERE_AGGREGATION_UP,   /* aggregation to core */
    OCHE_WHERE_CORE_DOWN,        /* core to aggregation, or to ToR */
    OCHE_WHERE_AGGREGATION_DOWN, /* aggregation to ToR */
    OCHE_WHERE_LEVEL,            /* between switches of the same tier */
    OCHE_WHERE_TO_HOST,          /* ToR to host */
    OCHE_WHERE_LINKS,            /* number of kinds of links; the values from here on are sums */
    OCHE_WHERE_INSIDE = OCHE_WHERE_LINKS, /* all links between switches */
    OCHE_WHERE_ALL,
    OCHE_WHERES
};

/* Returns the kind of a port's link, never one of the sums. */
enum oche_where oche_where_of(const struct oche_topology *topology, uint32_t node, uint32_t port);
/*
 * The first function returns a text for tables ("host NIC", "ToR up", …, "inside", "all"), the
 * second a word for names of metrics ("host_nic", "tor_up", …).
 */
const char *oche_where_name(enum oche_where where);
const char *oche_where_key(enum oche_where where);

struct oche_congestion_row {
    uint32_t ports;
    uint64_t packets;      /* packets that left; at host NICs only those with data */
    uint64_t marks;        /* packets that these ports marked */
    oche_time queueing;    /* waiting time before transmission, summed over packets */
    double queueing_mean;  /* mean per packet, ps; NAN: no packet left */
    double queueing_worst; /* the largest mean of one port, ps; NAN: no packet left */
    uint64_t queue_most;   /* bytes: the longest queue at one port; unknown for host NICs */
    oche_time paused;      /* time held by PAUSE, summed over ports and classes */
    uint32_t node, port;   /* the port of queueing_worst */
};

/*
 * Fills one row for each of enum oche_where. `stats` is indexed by topology->nodes[node].first_port
 * + port; for a host's port, packets, marks, queueing_time and paused_time are filled.
 */
void oche_congestion(const struct oche_topology *topology,
                     const struct oche_switch_port_stats *stats,
                     struct oche_congestion_row rows[OCHE_WHERES]);

#endif
