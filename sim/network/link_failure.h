/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links that go down and come back while the network runs, links that become slow or lose packets,
 * and routes that change as a result. Each
 * node has a list of changes, made before the run. The changes are events of that node, so the
 * result is the same for any number of shards. A link is changed at both ends at the same time,
 * each end by its own node. At equal times, a node's changes come after all its other events.
 *
 * A packet is lost if its link is down at any time from the start of the packet until it has
 * arrived whole. The receiver's node decides this when the packet would arrive. A packet whose last
 * bit arrives exactly when the link goes down has arrived.
 *
 * A new rate is that of the packets that begin after the change; one at time 0, of all packets. The
 * receiving end is told, too, as it computes when a packet began. (If the rate rises while a packet
 * is on its way, the next one may be taken for it.)
 */
#ifndef OCHE_SIM_NETWORK_LINK_FAILURE_H
#define OCHE_SIM_NETWORK_LINK_FAILURE_H

#include "sim/network/network.h"

/* Changes at the same time happen in this order. */
enum oche_change_kind {
    OCHE_CHANGE_LINK_DOWN,
    OCHE_CHANGE_LINK_UP,
    OCHE_CHANGE_ROUTES,
    OCHE_CHANGE_SENDS,    /* the port sends at another rate, and loses other packets */
    OCHE_CHANGE_RECEIVES, /* what the port receives has another rate */
};

struct oche_change {
    oche_time time;
    uint32_t node;
    uint16_t port;                    /* number within the node; ROUTES: 0 */
    uint16_t kind;                    /* enum oche_change_kind */
    const struct oche_routes *routes; /* ROUTES: the switch's routes from `time` on */
    const uint64_t *onward;           /* ROUTES: the `onward` bits that belong to these routes */
    uint64_t rate_bps;                /* SENDS, RECEIVES */
    uint64_t loss;                    /* SENDS: threshold of the port's `grey` (fabric/loss.h) */
};

/*
 * Takes `count` changes, sorted by (node, time, kind, port). They remain the caller's and must
 * outlive the network. The two ends of a link change at the same time, alternating between down and
 * up. Also creates each shard's array `hits`, which costs memory where a connection is hit. To be
 * called before oche_network_ready.
 */
void oche_network_set_changes(struct oche_network *network, const struct oche_change *changes,
                              size_t count, uint32_t connections);
/* Schedules the first change of each node. To be called after oche_network_ready. */
void oche_network_begin_changes(struct oche_network *network);

/* Carries out the changes of the node that are due, and schedules the next one. */
void oche_network_change(struct oche_shard *shard, struct oche_port *first, oche_time now);

/*
 * To be called for a packet that has reached the end of the link to `port`, which can fail. Returns
 * true if the packet was lost; the packet has then been counted and returned to the pool.
 */
bool oche_network_lost_on_wire(struct oche_shard *shard, struct oche_port *port,
                               struct oche_packet *packet, oche_time now);
/* Notes at the packet's connection that a failure has lost the packet. */
void oche_network_note_hit(struct oche_shard *shard, const struct oche_packet *packet,
                           oche_time now);
/* Returns what the shard's nodes have noted so at a connection, or NULL. */
const struct oche_hit *oche_network_hit(const struct oche_shard *shard, uint32_t connection);
/*
 * Returns the lowest number from `from` on of a connection that may be noted; UINT32_MAX if there
 * is none.
 */
uint32_t oche_network_next_hit(const struct oche_shard *shard, uint32_t from);
void oche_network_set_hit(struct oche_shard *shard, uint32_t connection,
                          const struct oche_hit *hit);
void oche_network_free_hits(struct oche_shard *shard);

#endif
