/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which packets a link loses: at random, each packet independently (Bernoulli;
 * error-recovery.md#l2), and by a pattern, with which a test or a scenario loses exactly the
 * packets that it names. There is one object per link and direction, with its own random stream.
 * PFC frames are never lost.
 *
 * A pattern is a comma-separated list of
 *     7          the seventh packet on this link and direction
 *     10-19      the tenth to the nineteenth
 *     every 100  the hundredth, the two hundredth, …
 *     psn 5      the first packet with PSN 5 (its retransmission passes)
 *     psn 5-8    the first packet with each of these PSNs
 * With a leading "data:" the pattern counts and loses only packets with a payload, with "ack:" only
 * ACKs and NAKs, of TCP those without payload.
 */
#ifndef OCHE_FABRIC_LOSS_H
#define OCHE_FABRIC_LOSS_H

#include "core/base.h"
#include "core/error.h"
#include "core/random.h"
#include "core/wire/packet.h"

#define OCHE_LOSS_MAX_PSNS 65536 /* most PSNs in one pattern */

enum oche_loss_of { OCHE_LOSS_OF_ALL, OCHE_LOSS_OF_DATA, OCHE_LOSS_OF_ACKS };

enum oche_loss_kind { OCHE_LOSS_ORDINALS, OCHE_LOSS_EVERY, OCHE_LOSS_PSNS };

struct oche_loss_item {
    uint32_t kind;        /* enum oche_loss_kind */
    uint32_t bit;         /* PSNS: index of the bit for `first` in oche_loss.seen */
    uint64_t first, last; /* the item's range; EVERY: both are the period */
};

struct oche_loss {
    uint64_t threshold; /* a packet is lost if its random 63-bit number is below this */
    struct oche_random random;
    uint64_t dropped;
    uint64_t count; /* packets that the pattern has counted */
    uint32_t of;    /* enum oche_loss_of: the kind of packets that the pattern counts and loses */
    uint32_t item_count;
    uint8_t *seen; /* one bit per PSN of the pattern: set once a packet with the PSN was lost */
    struct oche_loss_item items[];
};

/*
 * Returns true if `pattern` is valid; NULL, no pattern, is. If not, `error` gets a line that says
 * what is wrong.
 */
bool oche_loss_check(const char *pattern, struct oche_error *error);
/* Returns the bytes of memory for oche_loss_create; `pattern` must have passed oche_loss_check. */
size_t oche_loss_bytes(const char *pattern);
/*
 * Makes the object in `memory` (aligned to 8), which stays the caller's; `pattern` is not needed
 * afterwards. `entity` names the link and direction in the random stream.
 */
struct oche_loss *oche_loss_create(void *memory, double probability, const char *pattern,
                                   uint64_t seed, uint64_t entity);

/* Counts the packet, and returns true if the pattern loses it. The slow part of oche_loss_drop. */
bool oche_loss_matches(struct oche_loss *loss, const struct oche_packet *packet);

/* True if the link loses this packet. To be called once for each packet that is put on the link. */
static inline bool oche_loss_drop(struct oche_loss *loss, const struct oche_packet *packet)
{
    bool lost;

    if (oche_packet_is_of_link(packet->kind))
        return false;
    lost = loss->threshold != 0 && oche_random_u64(&loss->random) >> 1 < loss->threshold;
    if (loss->item_count != 0 && oche_loss_matches(loss, packet))
        lost = true;
    loss->dropped += lost;
    return lost;
}

#endif
