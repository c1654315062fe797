/* SPDX-License-Identifier: Apache-2.0 */
/* Packets that cross from one rank to another, as bytes of a message. */
#ifndef OCHE_SIM_NETWORK_RANK_PACKETS_H
#define OCHE_SIM_NETWORK_RANK_PACKETS_H

#include "sim/network/flow.h"
#include "sim/network/network.h"
#include "sim/network/rank_mail.h"

/* Puts the packets of a mailbox into a message, empties it, and keeps the packets for others. */
void oche_rank_packets_put(struct oche_shard *shard, struct oche_mailbox *box,
                           const struct oche_flows *flows, struct oche_rank_bytes *bytes);
/* Takes `count` packets out of a message, and makes their arrivals events of the shard. */
void oche_rank_packets_get(struct oche_shard *shard, const struct oche_flows *flows,
                           struct oche_rank_bytes *bytes, uint32_t count);

#endif
