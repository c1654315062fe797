/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where congestion sits: at the senders' own NICs, at the last links (ToR to host), or inside the
 * network, and there in which direction. Of each, the marks set there, the time that packets
 * waited there, and the time that PAUSE held it. A finer division than enum oche_port_place, which
 * does not tell an aggregation switch's links up from those down.
 */
#ifndef OCHE_SIM_MEASURE_CONGESTION_H
#define OCHE_SIM_MEASURE_CONGESTION_H

#include "core/qp/nic.h"
#include "sim/topology/topology.h"

enum oche_where {
    OCHE_WHERE_HOST_NIC,         /* a host's own port: what it wants to send exceeds its line */
    OCHE_WHERE_TOR_UP,           /* ToR to aggregation; where there is none, to the top */
    OCHE_WHERE_AGGREGATION_UP,   /* aggregation to core */
    OCHE_WHERE_CORE_DOWN,        /* core to aggregation, or to ToR */
    OCHE_WHERE_AGGREGATION_DOWN, /* aggregation to ToR */
    OCHE_WHERE_LEVEL,            /* between switches of a tier */
    OCHE_WHERE_TO_HOST,          /* ToR to host */
    OCHE_WHERE_LINKS,            /* those above are kinds of links; the next are sums of them */
    OCHE_WHERE_INSIDE = OCHE_WHERE_LINKS, /* all from switch to switch */
    OCHE_WHERE_ALL,
    OCHE_WHERES
};

/* Of which kind a port's link is: below OCHE_WHERE_LINKS. */
enum oche_where oche_where_of(const struct oche_topology *topology, uint32_t node, uint32_t port);
/* "host NIC", "ToR up", …, "inside", "all"; and as part of a name: "host_nic", "tor_up", … */
const char *oche_where_name(enum oche_where where);
const char *oche_where_key(enum oche_where where);

struct oche_congestion_row {
    uint32_t ports;
    uint64_t packets;     /* that left; at host NICs: those with data */
    uint64_t marks;       /* of these, marked there */
    oche_time queueing;   /* from when they could have left until they began to, over all packets */
    double queueing_mean; /* of a packet, ps; NAN: none left */
    double queueing_worst; /* the same of the port where it is longest, ps; NAN: none left */
    uint64_t queue_most;   /* bytes, the longest queue at one port; not known of host NICs */
    oche_time paused;      /* that ports were held, over ports and classes */
    uint32_t node, port;   /* where queueing_worst is */
};

/*
 * Fills a row for each. `stats` is by topology->nodes[node].first_port + port; of a host's port
 * packets, marks, queueing_time and paused_time are filled.
 */
void oche_congestion(const struct oche_topology *topology,
                     const struct oche_switch_port_stats *stats,
                     struct oche_congestion_row rows[OCHE_WHERES]);

#endif
