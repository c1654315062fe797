/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The IPv4 identification, which the ICRC covers (rocev2.md#icrc) and which a UDP socket does not
 * show to its reader. A CRC is affine in every field: if only the ICRC is wrong, the difference
 * tells which identification the packet must have had. That uses up 16 of the 32 bits of the check,
 * unless the identification found is an expected one:
 *   - 0 … 127: a sender with don't-fragment set and an unconnected socket sends 0, and its
 *     segmentation offload numbers up to 128 segments from there (so do we);
 *   - slightly above or below one of this peer's last ones, for senders that count, when packets
 *     are lost or reordered in between. Linux also skips up to one number for each clock tick since
 *     its last packet to that destination. A sender may have up to four counts at a time (one per
 *     socket, or per queue pair).
 *
 * An unexpected identification is believed if nothing is known of the peer. If the peer has proven
 * predictable, by 64 expected ones in a row, an unexpected one is taken for damage, which is most
 * likely. If it was not, the peer's count has jumped, and the next packet continues from there and
 * is accepted: so a jump costs one packet, which recovery resends. The peer is then no longer
 * considered predictable, and needs twice as many to prove it the next time. The same happens if a
 * second unexpected one follows, which is believed. So a sender whose count jumps often (because
 * there are several receivers at our address) loses a few packets, and a sender with any other
 * numbers loses none. If two senders share an address (NAT), one predictable and one not, the
 * latter may lose each packet once: when it is resent, with the same PSN, it is believed.
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
    uint32_t used; /* number of the peer's packet that used it last */
    uint16_t last;
    bool known;
    bool doubted; /* it began with a packet that was not believed, and has not been used since */
};

/* What is known of one peer's identifications. Initially zero. */
struct oche_ip_ids {
    struct oche_ip_count counts[OCHE_IP_COUNTS];
    oche_time when;   /* when the last one arrived */
    uint32_t packets; /* number so far */
    uint32_t run;     /* expected ones in a row, ignoring single unexpected ones */
    uint16_t last;    /* the last identification of any count */
    uint8_t relapses; /* how often it had proven predictable and then was not */
    bool surprised;   /* the last one was unexpected */
    bool from_zero;   /* the last datagram's numbers began at 0 */
    uint64_t
        doubted[OCHE_IP_DOUBTED]; /* packets that were not believed (oche_ip_id_again); 0: none */
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
 * A packet would be valid if its identification were `id`: judges that, and remembers the
 * identification in any case.
 */
enum oche_ip_id_verdict oche_ip_id_judge(struct oche_ip_ids *ids, uint16_t id, oche_time now);

/*
 * A packet was found doubtful. Returns true if it was found so before, and is therefore to be
 * believed. `number` identifies the packet, and is the same when it is resent: its queue pair and
 * PSN.
 */
bool oche_ip_id_again(struct oche_ip_ids *ids, uint64_t number);

#endif
