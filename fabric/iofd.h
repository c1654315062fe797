/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In-order flow deflection (Dart sec IV; dart.md#iofd, #d16 to #d22): a short message that would
 * have to wait at a switch leaves by another port, chosen at random, and so do all its packets.
 *
 * START, the first packet of a message, decides for the message. It is deflected to one of the
 * candidate ports if more than `threshold` bytes wait at its ordinary port, it has a token left,
 * and the table of deflected flows has room for an entry. The packets that follow find the entry
 * and take the same port; END, the last packet, frees the entry. Each deflection costs each packet
 * one token. Tokens are in the three lowest reserved bits of BTH byte 4; the sender (core/qp) puts
 * them on short messages, and on what follows them. A packet that is a whole message needs no entry
 * (dart.md#d20), unless senders pipeline (`order: follow`, or a `hold`).
 *
 * Order (dart.md#d18). With `order: wait` senders keep short messages apart. With `order: follow`
 * they do not: packets with OCHE_BTH_FOLLOWS use an entry that exists, and never make one. The one
 * packet with tokens and without this bit, the leader, has nothing of its queue pair ahead of it;
 * so it decides afresh, whatever entry an earlier message has left. Entries stay for `linger` after
 * their last packet; only an END with OCHE_BTH_RELEASE frees its entry, as nothing follows it.
 *
 * A packet uses an entry only if the entry's lane is at least the one that the packet itself would
 * move to, and its port is not the one that the packet came by. Otherwise the packet takes its
 * ordinary way; START decides anew, if it may.
 *
 * Candidates (dart.md#d17) are ports to other switches, except the port by which the packet came
 * in, its ordinary port, ports with more than `threshold` bytes waiting (with `candidates: any`
 * these too), ports whose link is down, and ports behind which the only path leads back to this
 * switch. Packets whose ordinary port leads to a host are not deflected, because that port is their
 * only path; flows that collide at the receiver are left to the senders (sec I).
 *
 * Lanes against deadlock, `lanes`:
 *   turns    dart.md#d21: a packet's lane is the number of times that it went down and then up
 *            again. Each deflection can cause one such turn, so tokens + 1 lanes suffice. Within a
 *            lane all packets go up and then down, and a packet's lane number only rises, so ports
 *            cannot wait for each other in a cycle. Of two switches the one of the higher tier is
 *            above, or with equal tiers the one with the higher number. This assumes that the
 *            ordinary routes go up and then down, as in a Clos; turns beyond the last lane are
 *            counted.
 *   escape   the paper to the letter: packets without tokens move to a second lane and stay there;
 *            packets of that lane are never deflected. START decides for the whole message
 *            (dart.md#d22). This does not prevent deadlock: packets that wait for each other in the
 *            first lane spend no tokens, so they never reach the second.
 *   one      a single lane, to see what happens without protection
 *
 * Failures (sec IV-C): if a message's entry leads to a port that is down, the message is not
 * rerouted. Its packets are dropped until END or ageing frees the entry (a dropped packet does not
 * count as a use of the entry). The sender resends the message, which may then take any path. If
 * routes change while a packet is on its way, it may need one lane more than there are. If links
 * may fail, such a packet is dropped, so that the lanes still prevent deadlock.
 */
#ifndef OCHE_FABRIC_IOFD_H
#define OCHE_FABRIC_IOFD_H

#include "fabric/mechanism.h"
#include "fabric/switch.h"

enum oche_iofd_candidates { OCHE_IOFD_BELOW_THRESHOLD, OCHE_IOFD_ANY };
enum oche_iofd_order { OCHE_IOFD_FOLLOW, OCHE_IOFD_WAIT };
enum oche_iofd_lanes { OCHE_IOFD_TURNS, OCHE_IOFD_ESCAPE, OCHE_IOFD_ONE };

struct oche_iofd_params {
    uint64_t entries;         /* size of the table of deflected flows */
    uint64_t threshold_bytes; /* a packet is deflected only if more bytes wait ahead of it */
    uint32_t candidates;      /* enum oche_iofd_candidates */
    uint32_t lanes;           /* enum oche_iofd_lanes */
    oche_time ageing;         /* entries unused for this long are freed; OCHE_NEVER: none */
    /* Parameters of the senders, too: see struct oche_deflection in core/qp/nic.h. */
    uint32_t order;       /* enum oche_iofd_order */
    oche_time linger;     /* order: follow: how long an entry stays after the last packet */
    uint64_t tokens;      /* tokens that each packet of a short message gets */
    uint64_t short_bytes; /* largest size of a short message */
    oche_time hold;       /* order: wait */
};

/* True if an entry outlives END, so that messages of a queue pair may follow each other closely. */
static inline bool oche_iofd_pipelines(const struct oche_iofd_params *params)
{
    return params->order == OCHE_IOFD_FOLLOW || params->hold != OCHE_NEVER;
}

enum oche_iofd_counter {
    OCHE_IOFD_DEFLECTIONS,
    OCHE_IOFD_PACKETS,
    OCHE_IOFD_NO_TOKEN,
    OCHE_IOFD_NO_ENTRY,
    OCHE_IOFD_NO_CANDIDATE,
    OCHE_IOFD_LAST_HOP,
    OCHE_IOFD_FOLLOWERS,
    OCHE_IOFD_RELEASED,
    OCHE_IOFD_AGED,
    OCHE_IOFD_LATE,
    OCHE_IOFD_NOT_FOLLOWED,
    OCHE_IOFD_ENTRIES_PEAK,
    OCHE_IOFD_RETURNED,
    OCHE_IOFD_LANES_EXCEEDED,
    OCHE_IOFD_COUNTERS
};

/*
 * For tracing a packet's path. If the routes choose the port by which the packet came in, it leaves
 * by another of the equally near ports: returns that port, which is always the same for a flow, or
 * -1 if there is no other.
 */
int oche_iofd_other_port(const struct oche_routes *routes, uint64_t salt, unsigned in_port,
                         const struct oche_packet *packet);
/*
 * Returns the lane in which a packet leaves. `lane` is the packet's present lane, `tokens_left` the
 * number of tokens with which it leaves; `turns` is true if it came from above and goes up again.
 */
uint8_t oche_iofd_lane(const struct oche_iofd_params *params, uint8_t lane, bool turns,
                       unsigned tokens_left);

extern const struct oche_param_table oche_iofd_params;
extern const struct oche_switch_mechanism oche_iofd;

#endif
