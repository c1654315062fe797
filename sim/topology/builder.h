/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The builder, for the files that make a topology: begin with the number of nodes, name each node,
 * add links (their order decides port numbers), finish. Also the parameters that most types have.
 */
#ifndef OCHE_SIM_TOPOLOGY_BUILDER_H
#define OCHE_SIM_TOPOLOGY_BUILDER_H

#include "params/error.h"
#include "sim/topology/topology.h"

/*
 * Allocates a topology. `links` is how many will be added. Returns false, with an error, if there
 * is no memory.
 */
bool oche_topology_begin(struct oche_topology *topology, uint64_t hosts, uint64_t switches,
                         uint64_t links, struct oche_error *error);
/* Names a node `prefix` and `number`: "tor3". */
void oche_topology_name(struct oche_topology *topology, uint32_t node, enum oche_node_kind kind,
                        uint32_t pod, const char *prefix, uint32_t number);
/* Links the next free ports of both nodes. */
void oche_topology_link(struct oche_topology *topology, uint32_t a, uint32_t b, uint64_t rate_bps,
                        oche_time delay);
/* Names hosts first … first+count-1 and links them to `tor`, in that order. */
void oche_topology_hosts(struct oche_topology *topology, uint32_t tor, uint32_t first,
                         uint32_t count, uint32_t pod, uint64_t rate_bps, oche_time delay);
/* Makes the port lists. All announced links must have been added. */
bool oche_topology_finish(struct oche_topology *topology, struct oche_error *error);

/*
 * Returns a ratio a : b in its lowest terms, such as "4:1" or "5:2". `text` has at least 48 bytes.
 */
const char *oche_topology_ratio(uint64_t a, uint64_t b, char *text, size_t text_bytes);
/*
 * Likewise, the ratio of the rate from below to the rate upwards; "none (2:5)" if there is more
 * upwards. `text` has at least 64 bytes.
 */
const char *oche_topology_oversubscription(uint64_t down, uint64_t up, char *text,
                                           size_t text_bytes);

/* Returns a rate as a scenario writes it: "40Gbps". `text` has at least 32 bytes. */
const char *oche_topology_rate(uint64_t bps, char *text, size_t text_bytes);

/*
 * True if the number of hosts, switches, links, and ports at one node are within the limits; else
 * there is an error about `param`.
 */
bool oche_topology_fits(uint64_t hosts, uint64_t switches, uint64_t links, uint64_t ports,
                        const char *param, struct oche_error *error);

/* A link's rate: from 1 Mbit/s to 8 Tbit/s, where a byte lasts one picosecond. */
#define OCHE_IS_LINK_RATE(preset) OCHE_IS_BPS(preset, OCHE_MBPS, 8000 * OCHE_GBPS)
/* Its delay, never 0: the engine's parallel windows are as wide as the smallest link delay. */
#define OCHE_IS_LINK_DELAY(preset) OCHE_IS_TIME(preset, OCHE_NS, OCHE_SEC)

#endif
