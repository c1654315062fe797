/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In-order flow deflection (Dart sec IV; REFERENCE C.3, D16 to D22): a short message that would
 * have to wait at a switch is sent by another port, chosen at random, and all its packets are.
 *
 * START (the first packet of a message) decides: if more than `threshold` bytes wait at the port
 * that it is to leave by, it has a token left and the table of deflected flows has room, it takes
 * one of the candidates. The packets behind it find the entry and follow; END, the last packet,
 * frees it. Each misroute takes one token of each packet; tokens are in the three lowest bits of
 * the reserved bits of BTH byte 4, stamped by the sender (core/qp) on short messages only. A
 * packet that is a whole message needs no entry (D20), unless senders pipeline (`hold`).
 *
 * Candidates (D17) are ports to other switches, but not the one by which the packet came, nor the
 * one by which it would leave, nor one with more than `threshold` bytes waiting, nor one behind
 * which the only way on comes back here: what was deflected never leaves by the port it came by.
 * So what waits for a host's own port is not deflected: its only way leads there, and flows that
 * collide at the receiver are left to the senders (sec I).
 *
 * Lanes against deadlock, `lanes`:
 *   turns    D21: a packet's lane is the number of times that it went down and then up again, which
 *            a deflection can make it do once; so tokens + 1 lanes do. Within a lane all go up and
 *            then down, and lanes only rise, so that no ports can wait for each other in a circle.
 *            "Up" is by tier, and by number where tiers are equal. It is assumed that the ordinary
 *            routes go up and then down, as in a Clos; turns beyond the last lane are counted.
 *   escape   the paper's letter: packets without tokens go by a second lane and stay there; that
 *            lane is never deflected. Decided at START for the whole message (D22). Packets that
 *            wait in a circle of the first lane spend no tokens, so it proves nothing.
 *   one      none, to see what that leads to
 *
 * Failures (sec IV-C): a message whose entry leads to a port that is down is not rerouted; its
 * packets are dropped until END frees the entry, or ageing does: a packet that is dropped does not
 * use the entry. The sender sends it again, and then it may go any way. A port that is down is no
 * candidate. Where links may fail, a packet that would need one lane more than there are, because
 * routes have changed while it was on its way, is dropped, so that lanes keep what they promise.
 */
#ifndef OCHE_FABRIC_IOFD_H
#define OCHE_FABRIC_IOFD_H

#include "fabric/mechanism.h"
#include "fabric/switch.h"

enum oche_iofd_lanes { OCHE_IOFD_TURNS, OCHE_IOFD_ESCAPE, OCHE_IOFD_ONE };

struct oche_iofd_params {
    uint64_t entries;         /* of the table of deflected flows */
    uint64_t threshold_bytes; /* ahead in the queue */
    uint32_t lanes;           /* enum oche_iofd_lanes */
    oche_time ageing;         /* of entries that nothing uses; OCHE_NEVER: none */
    /* What senders do. */
    uint64_t tokens;      /* of a short message's packets */
    uint64_t short_bytes; /* a message of at most so much is short */
    oche_time hold;       /* see struct oche_deflection in core/qp/nic.h */
};

enum oche_iofd_counter {
    OCHE_IOFD_DEFLECTIONS,
    OCHE_IOFD_PACKETS,
    OCHE_IOFD_NO_TOKEN,
    OCHE_IOFD_NO_ENTRY,
    OCHE_IOFD_NO_CANDIDATE,
    OCHE_IOFD_LAST_HOP,
    OCHE_IOFD_AGED,
    OCHE_IOFD_ENTRIES_PEAK,
    OCHE_IOFD_RETURNED,
    OCHE_IOFD_LANES_EXCEEDED,
    OCHE_IOFD_COUNTERS
};

/*
 * For whoever follows a packet's way: by which port it leaves if it came by the one that the routes
 * say, another of the ports that are equally near, always the same for the flow; -1: there is none.
 */
int oche_iofd_other_port(const struct oche_routes *routes, uint64_t salt, unsigned in_port,
                         const struct oche_packet *packet);
/* The lane in which it leaves with so many tokens; `turns`: it came from above and goes up. */
uint8_t oche_iofd_lane(const struct oche_iofd_params *params, uint8_t lane, bool turns,
                       unsigned tokens_left);

extern const struct oche_param_table oche_iofd_params;
extern const struct oche_switch_mechanism oche_iofd;

#endif
