/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The IPv4 identification, which the ICRC covers (rocev2.md#icrc) and which a UDP socket does not
 * show to its reader. A CRC is affine in every field: if only the ICRC is wrong, the difference
 * tells which identification the packet must have had. That uses up 16 of the 32 bits of the check,
 * unless the identification found is an expected one:
 *   - 0 … 127: a sender with don't-fragment set and an unconnected socket sends 0, and its
 *     segmentation offload numbers up to 128 segments from there (so do we);
 *   - slightly above or below the last number of one of the peer's counts: senders that count may
 *     have packets lost or reordered on the way. Linux also skips up to one number for each clock
 *     tick since its last packet to that destination. A sender may have up to four counts at a time
 *     (one per socket, or per queue pair).
 *
 * A packet with an unexpected identification is believed until its sender has proven predictable,
 * by 64 expected identifications in a row. After that, the packet is taken for damaged, which is
 * most likely. But perhaps the sender's count has jumped: then the next packet continues from there
 * and is accepted, so a jump costs one packet, which recovery resends. The sender is then no longer
 * considered predictable, and needs twice as many expected identifications to prove it again. The
 * same happens if two unexpected identifications come in a row; the second one is believed. So a
 * sender whose count jumps often (because there are several receivers at our address) loses a few
 * packets, and a sender with random numbers loses none. If two senders share an address (NAT), one
 * predictable and one not, each packet of the latter may be dropped once: when it is resent, with
 * the same PSN, it is believed.
 *
 * A busy peer has about 130 to 650 expected numbers, so 22 to 25 of the 32 bits remain; for a
 * sender that counts and was silent for a minute, or one with random numbers, 16 remain. IPv6 has
 * no such field, and all 32 remain.
 */
#ifndef OCHE_DEVICE_IP_ID_H
#define OCHE_DEVICE_IP_ID_H

#include "core/base.h"

#define OCHE_IP_COUNTS  4
#define OCHE_IP_DOUBTED 8

struct oche_ip_count {
    uint32_t used; /* number of the peer's packet that last continued this count */
    uint16_t last;
    bool known;
    /* the count began with a packet that was not believed, and no packet has continued it */
    bool doubted;
};

/* State of the prediction of one peer's identifications. Initially zero. */
struct oche_ip_ids {
    struct oche_ip_count counts[OCHE_IP_COUNTS];
    oche_time when;   /* when the peer's last packet arrived */
    uint32_t packets; /* number of packets so far */
    uint32_t run;     /* expected identifications in a row; a doubtful one does not end the run */
    uint16_t last;    /* the last identification of any count */
    uint8_t relapses; /* how often the peer was no longer predictable after it had proven to be */
    bool surprised;   /* the last identification was unexpected */
    bool from_zero;   /* the last datagram's numbers began at 0 */
    /* packets that were not believed, as their `number` + 1 (oche_ip_id_again); 0: none */
    uint64_t doubted[OCHE_IP_DOUBTED];
};

/*
 * Finds an identification. `difference`: the ICRC computed with a guessed identification, XOR the
 * one in the packet; `after`: bytes that the ICRC covers after the field. Returns true if guess XOR
 * *change is an identification that explains the difference. (With a guess of 0, *change is the
 * identification.) Returns false if none does: the packet is damaged.
 */
bool oche_ip_id_solve(uint32_t difference, uint32_t after, uint16_t *change);

/*
 * Returns the most likely identification of the next packet, which is the first of a datagram or
 * one after it.
 */
static inline uint16_t oche_ip_id_guess(const struct oche_ip_ids *ids, bool first)
{
    return first && ids->from_zero ? 0 : (uint16_t)(ids->last + 1);
}

enum oche_ip_id_verdict {
    OCHE_IP_ID_EXPECTED,
    OCHE_IP_ID_SURPRISE, /* unexpected, to be believed */
    OCHE_IP_ID_DOUBTFUL, /* not to be believed: the packet is most likely damaged */
};

/*
 * Judges a packet that is valid only if its identification was `id`. Remembers `id` whatever the
 * verdict is.
 */
enum oche_ip_id_verdict oche_ip_id_judge(struct oche_ip_ids *ids, uint16_t id, oche_time now);

/*
 * To be called for a doubtful packet. Returns true if the same packet was doubtful before, so that
 * it should be believed now. `number` is made of the packet's queue pair and PSN, which stay the
 * same when it is resent.
 */
bool oche_ip_id_again(struct oche_ip_ids *ids, uint64_t number);

#endif
