/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A topology: nodes, links, ports. Hosts are nodes 0 … H-1 (a host's node number is its address),
 * switches H … H+S-1. A host has one link, which leads to a switch. A port's number is the position
 * of its link among the node's links, so at a ToR that a type in this folder makes, hosts come
 * first and uplinks follow.
 *
 * A type (star, clos, …) is one file with its parameter table and one line in the registry. A
 * topology is built once, before the run. Its memory comes from malloc; oche_topology_free frees
 * it.
 */
#ifndef OCHE_SIM_TOPOLOGY_TOPOLOGY_H
#define OCHE_SIM_TOPOLOGY_TOPOLOGY_H

#include "core/base.h"
#include "core/param.h"
#include "fabric/switch.h"
#include "params/error.h"

#define OCHE_TOPOLOGY_NAME_BYTES 32 /* room for a node's name and the terminating 0 */
/* room for the name of a port: "tor3:agg1/2" */
#define OCHE_PORT_NAME_BYTES    (2 * OCHE_TOPOLOGY_NAME_BYTES + 8)
#define OCHE_TOPOLOGY_MAX_NODES (UINT32_C(1) << 20)
#define OCHE_TOPOLOGY_MAX_LINKS (UINT32_C(1) << 24)
#define OCHE_TOPOLOGY_MAX_PORTS UINT32_C(1024) /* per node; event identities hold the port */
#define OCHE_NO_POD             UINT32_MAX

enum oche_node_kind {
    OCHE_NODE_HOST,
    OCHE_NODE_TOR, /* has hosts */
    OCHE_NODE_AGGREGATION,
    OCHE_NODE_CORE, /* the top tier: cores of a Clos, spines of a leaf-spine */
    OCHE_NODE_KINDS
};

struct oche_topology_node {
    char name[OCHE_TOPOLOGY_NAME_BYTES]; /* "host12", "tor3", "agg2", "spine0", "core1" */
    uint32_t kind;                       /* enum oche_node_kind */
    uint32_t pod;                        /* the node's pod, or OCHE_NO_POD */
    uint32_t first_port;                 /* index into the topology's `ports` */
    uint32_t port_count;
};

struct oche_topology_link {
    uint32_t a, b; /* nodes */
    uint32_t port_a, port_b;
    uint64_t rate_bps; /* in each direction; bits per second */
    oche_time delay;   /* one way; never 0 */
};

struct oche_topology_port {
    uint32_t link;
    uint32_t peer, peer_port; /* the node and port at the other end */
};

struct oche_topology {
    uint32_t host_count, switch_count, link_count;
    struct oche_topology_node *nodes; /* hosts, then switches */
    struct oche_topology_link *links;
    struct oche_topology_port *ports; /* index: nodes[n].first_port + port */
    /*
     * by_name: the nodes in the order of their names, hosts first. After these, for each node, its
     * place in this order. NULL: nodes are numbered in this order, as in all types but from_file
     * (and there in fat trees of htsim).
     */
    uint32_t *by_name;
    /*
     * True if a list of flows numbers hosts as their names do: 7 is host7, whatever its place. It
     * is so in ns-3's files if switches have numbers below those of hosts.
     */
    bool numbered_by_name;
    char summary[256]; /* one line for users: counts and oversubscription */
    char remark[200];  /* what of a file has no counterpart here, or ""; without a full stop */
};

/*
 * A type of topology. `params` is a struct described by `table`. Errors are one line without a
 * newline: from check, "PARAMETER: what is wrong; what would be right"; from build, if it reads a
 * file, "FILE:LINE: …".
 */
struct oche_topology_type {
    const char *name;
    const char *help;
    const struct oche_param_table *table;
    /* The name of each kind of switch as a tier in scenarios ("leaf"); NULL: there is no such kind.
     */
    const char *tiers[OCHE_NODE_KINDS];
    /*
     * True if all shortest paths go up and then down, or there is only one path. Then shortest
     * paths never make ports wait for each other in a cycle (sim/topology/dependency.h).
     */
    bool up_down;
    /*
     * True if the parameters fit together; each is within its range. NULL: they always fit.
     */
    bool (*check)(const void *params, struct oche_error *error);
    /*
     * Optional: returns what the automatic parameter `name` is where it is `auto`, or 0 if there is
     * no such parameter. `check` has accepted `params`.
     */
    uint64_t (*derived)(const void *params, const char *name);
    /* Required: builds what `check` accepted. On failure nothing needs to be freed. */
    bool (*build)(const void *params, struct oche_topology *topology, struct oche_error *error);
};

extern const struct oche_topology_type *const oche_topology_types[];        /* ends with NULL */
const struct oche_topology_type *oche_topology_type_find(const char *name); /* NULL: none */

void oche_topology_free(struct oche_topology *topology);

static inline uint32_t oche_topology_nodes(const struct oche_topology *topology)
{
    return topology->host_count + topology->switch_count;
}

/*
 * Returns the node at `place` in the order of names, and the place of a node: hosts have places
 * 0 … H-1, switches H … H+S-1. What is drawn at random for a node is drawn for its place, so that
 * it does not depend on the order of lines in a file.
 */
static inline uint32_t oche_topology_at_place(const struct oche_topology *topology, uint32_t place)
{
    return topology->by_name == NULL ? place : topology->by_name[place];
}

static inline uint32_t oche_topology_place_of(const struct oche_topology *topology, uint32_t node)
{
    return topology->by_name == NULL ? node
                                     : topology->by_name[oche_topology_nodes(topology) + node];
}

static inline const struct oche_topology_port *
oche_topology_port(const struct oche_topology *topology, uint32_t node, uint32_t port)
{
    return &topology->ports[topology->nodes[node].first_port + port];
}

/* Returns the link of a port. */
static inline const struct oche_topology_link *
oche_topology_port_link(const struct oche_topology *topology, uint32_t node, uint32_t port)
{
    return &topology->links[oche_topology_port(topology, node, port)->link];
}

/*
 * Returns a port's place in the network, by the kinds of its node and of the node that the port
 * leads to. Used by struct oche_switch_port_config and by measures per place.
 */
enum oche_port_place oche_topology_place(const struct oche_topology *topology, uint32_t node,
                                         uint32_t port);
/* Returns "host NIC", "ToR to host", …, for tables and results. */
const char *oche_port_place_name(enum oche_port_place place);

/*
 * Returns by port (nodes[n].first_port + port) its number if nodes were numbered in the order of
 * their names, to name random streams by; malloc'd, NULL without memory.
 */
uint32_t *oche_topology_ports_by_name(const struct oche_topology *topology);

/* Returns the node called `name`, or UINT32_MAX. */
uint32_t oche_topology_find(const struct oche_topology *topology, const char *name);

/*
 * Finds the port that `text` names: "tor3:host12" (the port of tor3 that leads to host12),
 * "tor3:agg1/2" (the second of its parallel links to agg1), "tor3:5" (port 5 of tor3), "tor3:up1"
 * (its second port that leads to a higher tier; down1: to a lower one), or "host3" (the only port
 * of host3). Returns false, with an error of one line, if there is no such port, or if there are
 * several, as parallel links have one name together.
 */
bool oche_topology_find_port(const struct oche_topology *topology, const char *text, uint32_t *node,
                             uint32_t *port, struct oche_error *error);
/*
 * Like oche_topology_find_port. If `text` is the common name of parallel links, finds the first
 * port, and sets `count` to their number.
 */
bool oche_topology_find_ports(const struct oche_topology *topology, const char *text,
                              uint32_t *node, uint32_t *port, uint32_t *count,
                              struct oche_error *error);
/* Returns the node's next port that leads to the same node as `port`, or UINT32_MAX. */
uint32_t oche_topology_next_parallel(const struct oche_topology *topology, uint32_t node,
                                     uint32_t port);
/*
 * Returns how many ports of the node lead to the same node as `port`, itself included. Sets
 * `number` to its own number among them, from 1.
 */
uint32_t oche_topology_parallel(const struct oche_topology *topology, uint32_t node, uint32_t port,
                                uint32_t *number);
/* Writes "tor3:host12" or, of parallel links, "tor3:agg1/1", "tor3:agg1/2", …. */
void oche_topology_port_name(const struct oche_topology *topology, uint32_t node, uint32_t port,
                             char *text, size_t text_bytes);

/*
 * Writes the port's name by direction: "up1", the second port of its node that leads to a higher
 * tier, or "down1". Returns false if it leads to a node of the same tier.
 */
bool oche_topology_direction_name(const struct oche_topology *topology, uint32_t node,
                                  uint32_t port, char *text, size_t text_bytes);

/*
 * Returns the smallest link delay, which is the width of the engine's parallel windows; OCHE_NEVER
 * if there are no links.
 */
oche_time oche_topology_smallest_delay(const struct oche_topology *topology);

#endif
