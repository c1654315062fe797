/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks for schemes that look at messages: which messages arrive, to which groups they belong, and
 * whether a queue pair has more to send.
 */
#ifndef OCHE_CORE_CC_CC_MESSAGES_H
#define OCHE_CORE_CC_CC_MESSAGES_H

#include "core/cc/cc.h"

OCHE_C_BEGIN

struct oche_cc_messages {
    /*
     * Required: a message begins to arrive, or has arrived: each is called exactly once per
     * message, whatever is lost or duplicated. A SEND or WRITE begins when its first packet, and
     * ends when its last packet, is accepted in order; a message that recovery restarts does not
     * begin again; on UC a message also ends when the rest of it will not come. A READ, whose data
     * the requester receives, begins when it is issued and ends when its last response is accepted.
     * SENDs and WRITEs come one at a time; several READs may be in progress beside them.
     */
    void (*begins)(struct oche_cc_flow *flow, oche_time now);
    void (*ends)(struct oche_cc_flow *flow, oche_time now);
    /*
     * Optional: flow->more has changed, as a packet has left or nothing was left to leave; after
     * `sent`. It is not called where `idle` says as much: by then flow->more is false.
     */
    void (*more)(struct oche_cc_flow *flow, oche_time now);
    /* Optional: true if `start` sets names_groups under these parameters. */
    bool (*names_groups)(const void *params);
    /*
     * Required with `names_groups`: the message's first packet names the group that the message is
     * part of (oche_group_get; the peer may have written anything there). If `begins` is true, the
     * hook of that name has just been called for the message. If false, the packet is kept behind a
     * gap; when its message begins later, the hook is called again, with a list of 0 senders.
     * Called only if the peer's `start` has set names_groups.
     */
    void (*group)(struct oche_cc_flow *flow, oche_time now, const struct oche_packet *packet,
                  bool begins);
};

OCHE_C_END

#endif
