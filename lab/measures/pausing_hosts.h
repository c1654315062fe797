/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hosts that sent PAUSEs themselves: slow receivers, and NICs in a storm. They are listed by
 * name, because a tree of PAUSEs may have another root although such a host makes it last.
 */
#ifndef OCHE_LAB_MEASURES_PAUSING_HOSTS_H
#define OCHE_LAB_MEASURES_PAUSING_HOSTS_H

#include "sim/world/world.h"

#define OCHE_PAUSING_HOSTS 4 /* maximum number of listed hosts */

struct oche_pausing_host {
    char name[OCHE_TOPOLOGY_NAME_BYTES];
    char port[OCHE_PORT_NAME_BYTES]; /* the switch's port that it held */
    bool slow;                       /* a slow receiver; else in a storm */
    uint64_t pauses;
    oche_time held; /* the class that was held longest */
};

struct oche_pausing_hosts {
    /* the hosts that held ports longest, the longest first */
    struct oche_pausing_host listed[OCHE_PAUSING_HOSTS];
    uint32_t listed_count;
    uint32_t count; /* of all */
};

/* `stats`: of every port, as oche_world_port_stats fills it. */
void oche_pausing_hosts_take(struct oche_pausing_hosts *hosts, const struct oche_world *world,
                             const struct oche_switch_port_stats *stats);

#endif
