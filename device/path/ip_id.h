/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The IPv4 identification, which the ICRC covers (rocev2.md#icrc) and which a UDP socket does not
 * show to its reader. A CRC is affine in every field: the difference between the computed ICRC and
 * the packet's ICRC tells which identification the packet must have had, if it is not damaged.
 * Finding 16 bits in this way leaves 16 of the 32 bits of the check. If the identification found is
 * an expected one, more bits remain. Expected are:
 *   - 0 … 127: a sender with don't-fragment set and an unconnected socket sends 0, and its
 *     segmentation offload numbers up to 128 segments from there (so do we);
 *   - numbers slightly above or below the last number of one of the peer's counts: packets of a
 *     sender that counts may be lost or reordered on the way, and Linux skips up to one number for
 *     each clock tick since its last packet to that destination. A sender may have up to four
 *     counts at a time (one per socket, or per queue pair).
 *
 * A sender is proven predictable by 64 expected identifications in a row. Until then its packets
 * with unexpected identifications are believed. After that, such a packet is taken for damaged,
 * which is most likely, and dropped. But perhaps the sender's count has jumped: then the next
 * packet continues the new count and is believed, so a jump costs one packet, which recovery
 * resends. The sender then no longer counts as predictable, and needs twice as many expected
 * identifications to prove it again. The same happens if two unexpected identifications come in a
 * row; the second one is believed. So a sender whose count jumps often (because there are several
 * receivers at our address) loses a few packets, and a sender with random numbers loses none. If
 * two senders share an address (NAT) and only one of them is predictable, each packet of the other
 * one may be dropped once: when it is resent, with the same PSN, it is believed.
 *
 * A busy peer has about 130 to 650 expected numbers, so 22 to 25 of the 32 bits of the check
 * remain. For a sender that counts and was silent for a minute, or a sender with random numbers, 16
 * bits remain. IPv6 has no such field, so all 32 bits remain.
 */
#ifndef OCHE_DEVICE_PATH_IP_ID_H
#define OCHE_DEVICE_PATH_IP_ID_H

#include "core/base.h"

#define OCHE_IP_COUNTS  4
#define OCHE_IP_DOUBTED 8

struct oche_ip_count {
    uint32_t used; /* number of the peer's packet that last continued this count */
    uint16_t last;
    bool known;
    /*
     * true if the count began with a packet that was not believed, and no packet has continued it
     * yet
     */
    bool doubted;
};

/* State of the prediction of one peer's identifications. Initially zero. */
struct oche_ip_ids {
    struct oche_ip_count counts[OCHE_IP_COUNTS];
    oche_time when;   /* when the peer's last packet arrived */
    uint32_t packets; /* number of packets so far */
    uint32_t run;     /* expected identifications in a row; a doubtful one does not end the row */
    uint16_t last;    /* the last identification of any count */
    uint8_t relapses; /* how often the peer was proven predictable and then was not */
    bool surprised;   /* the last identification was unexpected */
    bool from_zero;   /* the last datagram's numbers began at 0 */
    /* numbers + 1 of packets that were not believed (oche_ip_id_again); 0: none */
    uint64_t doubted[OCHE_IP_DOUBTED];
};

/*
 * Finds the identification that a packet must have had. The caller computes the packet's ICRC with
 * a guessed identification; `difference` is this ICRC XOR the one in the packet, `after` the number
 * of bytes that the ICRC covers after the identification. If an identification explains the
 * difference, returns true; the identification is then the guess XOR *change. Returns false if none
 * does: the packet is damaged.
 */
bool oche_ip_id_solve(uint32_t difference, uint32_t after, uint16_t *change);

/*
 * Returns the most likely identification of the next packet. `first`: this packet is the first of
 * its datagram.
 */
static inline uint16_t oche_ip_id_guess(const struct oche_ip_ids *ids, bool first)
{
    return first && ids->from_zero ? 0 : (uint16_t)(ids->last + 1);
}

enum oche_ip_id_verdict {
    OCHE_IP_ID_EXPECTED,
    OCHE_IP_ID_SURPRISE, /* unexpected, to be believed */
    OCHE_IP_ID_DOUBTFUL, /* do not believe it: the packet is most likely damaged */
};

/*
 * Judges a packet that is valid only if its identification was `id`. Remembers `id`, whatever the
 * verdict.
 */
enum oche_ip_id_verdict oche_ip_id_judge(struct oche_ip_ids *ids, uint16_t id, oche_time now);

/*
 * To be called for a doubtful packet. Returns true if the same packet was doubtful before, so that
 * it should be believed now. `number` is made of the packet's queue pair and PSN, which do not
 * change when the packet is resent.
 */
bool oche_ip_id_again(struct oche_ip_ids *ids, uint64_t number);

#endif
