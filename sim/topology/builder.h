/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The builder, for the files that make a topology. The steps are: begin with the number of nodes,
 * name each node, add links (their order determines the port numbers), finish. Here are also the
 * parameters that most types have.
 */
#ifndef OCHE_SIM_TOPOLOGY_BUILDER_H
#define OCHE_SIM_TOPOLOGY_BUILDER_H

#include "params/error.h"
#include "sim/topology/topology.h"

/*
 * Allocates a topology with room for `links` links, which the caller adds. Returns false, with an
 * error, if memory runs out.
 */
bool oche_topology_begin(struct oche_topology *topology, uint64_t hosts, uint64_t switches,
                         uint64_t links, struct oche_error *error);
/* Names a node `prefix` and `number`: "tor3". */
void oche_topology_name(struct oche_topology *topology, uint32_t node, enum oche_node_kind kind,
                        uint32_t pod, const char *prefix, uint32_t number);
/* Adds a link between nodes `a` and `b`, at the next free port of each. */
void oche_topology_link(struct oche_topology *topology, uint32_t a, uint32_t b, uint64_t rate_bps,
                        oche_time delay);
/* Names hosts first … first+count-1 and links them to `tor`, in the order of their numbers. */
void oche_topology_hosts(struct oche_topology *topology, uint32_t tor, uint32_t first,
                         uint32_t count, uint32_t pod, uint64_t rate_bps, oche_time delay);
/* Fills the nodes' port lists, after the last link. Returns false, with an error, on failure. */
bool oche_topology_finish(struct oche_topology *topology, struct oche_error *error);

/*
 * Finds the order of nodes by name (struct oche_topology.by_name). For types whose node numbers do
 * not follow the names; to be called when all nodes have names. Returns false, with an error, if
 * memory runs out.
 */
bool oche_topology_order(struct oche_topology *topology, struct oche_error *error);
/*
 * Compares two names as strcmp does, but numbers within them as numbers: "host9" is before
 * "host10".
 */
int oche_topology_compare_names(const char *first, const char *second);

/*
 * Returns a ratio a : b in its lowest terms, such as "4:1" or "5:2". `text` has at least 48 bytes.
 */
const char *oche_topology_ratio(uint64_t a, uint64_t b, char *text, size_t text_bytes);
/*
 * Returns the oversubscription of a switch, which is the ratio of its downward to its upward rate:
 * "4:1". If `up` is larger than `down`: "none (2:5)". `text` has at least 64 bytes.
 */
const char *oche_topology_oversubscription(uint64_t down, uint64_t up, char *text,
                                           size_t text_bytes);

/* Returns a rate as a scenario writes it: "40Gbps". `text` has at least 32 bytes. */
const char *oche_topology_rate(uint64_t bps, char *text, size_t text_bytes);

/*
 * Returns the rate of each of `uplinks` uplinks of a switch with `hosts` hosts. That is the rate of
 * the hosts' links if the uplinks can then carry all that the hosts send. If not, it is the lowest
 * Ethernet rate at which they can; if there is none, the highest.
 */
uint64_t oche_topology_uplink_rate(uint64_t hosts, uint64_t host_bps, uint64_t uplinks);
/* True if Ethernet has links of this rate. */
bool oche_topology_is_ethernet(uint64_t bps);

/* The automatic value of a link's rate, which follows from the rate of the hosts' links. */
#define OCHE_RATE_AUTO OCHE_NEVER

/*
 * True if the numbers of hosts, switches, links, and ports of one node are within the limits; if
 * not, writes an error that names `param`.
 */
bool oche_topology_fits(uint64_t hosts, uint64_t switches, uint64_t links, uint64_t ports,
                        const char *param, struct oche_error *error);

/* A link's rate: from 1 Mbit/s to 8 Tbit/s; at 8 Tbit/s a byte lasts one picosecond. */
#define OCHE_IS_LINK_RATE(preset) OCHE_IS_BPS(preset, OCHE_MBPS, 8000 * OCHE_GBPS)
/* As OCHE_IS_LINK_RATE, with the value OCHE_RATE_AUTO. */
#define OCHE_IS_FABRIC_RATE(preset) OCHE_IS_LINK_RATE(preset), .automatic = true
/* A link's delay, never 0: the engine's parallel windows are as wide as the smallest link delay. */
#define OCHE_IS_LINK_DELAY(preset) OCHE_IS_TIME(preset, OCHE_NS, OCHE_SEC)

#endif
