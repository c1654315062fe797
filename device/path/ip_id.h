/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The IPv4 identification. The ICRC covers it (rocev2.md#icrc), but a UDP socket does not show it.
 * A CRC is affine in every field: the difference between the computed and the received ICRC gives
 * the identification of an undamaged packet. Solving for 16 bits leaves 16 of the 32 bits of the
 * check. If the identification is an expected one, more bits remain. Expected are:
 *   - 0 … 127: a sender with don't-fragment set and an unconnected socket sends 0, and its
 *     segmentation offload numbers up to 128 segments from there (as ours does);
 *   - numbers slightly above or below the last number of one of the peer's counts: packets may be
 *     lost or reordered, and Linux skips up to one number for each clock tick since its last packet
 *     to that destination. A sender may have up to four counts at a time (one per socket, or per
 *     queue pair).
 *
 * A sender is proven predictable by 64 expected identifications in a row. Before that, packets with
 * unexpected identifications are accepted. Afterwards such a packet is most likely damaged and is
 * dropped. If the sender's count has jumped instead, the next packet continues the new count and is
 * accepted. So a jump costs one packet, which is retransmitted. The sender then counts as
 * unpredictable, and needs twice as many expected identifications for a new proof. Two unexpected
 * identifications in a row have the same effect; the second packet is accepted.
 *
 * A sender with frequent jumps (several receivers at our address) loses a few packets; one with
 * random numbers loses none. If two senders share an address (NAT) and only one is predictable,
 * each packet of the other may be dropped once: its retransmission, with the same PSN, is accepted.
 *
 * A busy peer has about 130 to 650 expected numbers, so 22 to 25 of the 32 bits of the check
 * remain. 16 bits remain for a sender with random numbers, or one that counts and was silent for a
 * minute. IPv6 has no such field, so all 32 bits remain.
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
 * Finds a packet's identification. The caller computes the packet's ICRC with a guessed
 * identification; `difference` is this ICRC XOR the one in the packet, `after` the number of bytes
 * that the ICRC covers after the identification. Returns true if some identification explains the
 * difference: the guess XOR *change. Returns false if the packet is damaged.
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
