/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random networks in which every link may be different, and random traffic on them. A pure function
 * turns a number into the text of a topology file and of a scenario. The lines of the file can be
 * written in another order.
 */
#ifndef OCHE_TESTS_PROPERTY_UNEVEN_NETWORK_H
#define OCHE_TESTS_PROPERTY_UNEVEN_NETWORK_H

#include <stdbool.h>
#include <stdint.h>

#include "core/random.h"

#define UNEVEN_TEXT_BYTES 4096

/* The parts of the file that are reordered. */
enum uneven_order {
    UNEVEN_AS_MADE,
    UNEVEN_NODES_SHUFFLED, /* lines of hosts and of switches */
    UNEVEN_ALL_SHUFFLED,   /* lines of links, too, and the two ends of each link */
};

struct uneven_link {
    char ends[2][32];
    char values[48]; /* rate and delay */
};

struct uneven_network {
    uint64_t number;
    struct oche_random random;
    char (*hosts)[32], (*switches)[48]; /* names; a switch's name includes its tier */
    struct uneven_link *links;
    uint32_t host_count, switch_count, link_count;
    uint64_t mean_bps;            /* range of the hosts' links */
    const char *workload;         /* the type of its workload */
    char text[UNEVEN_TEXT_BYTES]; /* the scenario, with %s for the path of the topology file */
};

void uneven_network_make(struct uneven_network *network, uint64_t number);
void uneven_network_free(struct uneven_network *network);
/* Writes the topology to a new file; `path` has room for 64 bytes. */
void uneven_network_write(struct uneven_network *network, enum uneven_order order, char *path);

#endif
