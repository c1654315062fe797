/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links that go down and come back while the network runs, and routes that follow. What happens is
 * a list of changes for each node, made before the run; a node's changes are events of that node,
 * so the result is the same for any number of shards. A link is changed at both ends at the same
 * time, each end by its own node. At one time a node's changes come after all else.
 *
 * A packet is lost if its link is down at any time from the start of the packet until it has
 * arrived whole. Its receiver finds that out when it would arrive. A packet whose last bit arrives
 * at the very time at which the link goes down has arrived.
 */
#ifndef OCHE_SIM_NETWORK_LINK_FAILURE_H
#define OCHE_SIM_NETWORK_LINK_FAILURE_H

#include "sim/network/network.h"

/* At one time in this order. */
enum oche_change_kind { OCHE_CHANGE_LINK_DOWN, OCHE_CHANGE_LINK_UP, OCHE_CHANGE_ROUTES };

struct oche_change {
    oche_time time;
    uint32_t node;
    uint16_t port;                    /* of the node; ROUTES: 0 */
    uint16_t kind;                    /* enum oche_change_kind */
    const struct oche_routes *routes; /* ROUTES: of this switch from then on, */
    const uint64_t *onward;           /* and this with them */
};

/*
 * `changes` by (node, time, kind, port), `count` of them; they stay the caller's and must outlive
 * the network. A link's ends change together, and alternate between down and up. For each shard
 * `hits`, by connection, all zero. To be called before oche_network_ready.
 */
void oche_network_set_changes(struct oche_network *network, const struct oche_change *changes,
                              size_t count, uint32_t connections);
/* Makes the first change of each node an event; after oche_network_ready. */
void oche_network_begin_changes(struct oche_network *network);

/* The node's changes that are due; asks for the next. */
void oche_network_change(struct oche_shard *shard, struct oche_port *first, oche_time now);

/* A packet has come to the end of the link to `port`, which may fail: whether it was lost. If so it
 * has been counted, and is in the pool again. */
bool oche_network_lost_on_wire(struct oche_shard *shard, struct oche_port *port,
                               struct oche_packet *packet, oche_time now);
/* A packet is lost because of a failure: whose it was. */
void oche_network_note_hit(struct oche_shard *shard, const struct oche_packet *packet,
                           oche_time now);

#endif
