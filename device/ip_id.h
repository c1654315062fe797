/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The IPv4 identification, which the ICRC covers (REFERENCE I.6) and which a UDP socket does not
 * show to its reader. A CRC is affine in every field: if the ICRC is the only thing that does not
 * fit, the difference says which identification the packet had. That spends 16 of the 32 bits of
 * the check, unless the identification found is one that was to be expected:
 *   - 0 … 127: a sender with don't-fragment set and an unconnected socket sends 0, and its
 *     segmentation offload numbers the up to 128 segments from there (so do we);
 *   - a little after or just before one of the last from this peer: senders that count, with
 * packets lost or reordered in between. Linux also skips up to one number a clock tick that has
 *     passed since its last packet to that destination. A sender may have up to four counts at a
 *     time (one a socket, or a queue pair).
 * What is not expected is believed of a peer that nothing is known of. Of one that has proven
 * predictable, by 64 expected ones in a row, a surprise is taken for what it most likely is:
 * damage. If it was none, the peer's count has jumped, and what follows goes on from there and is
 * taken: so a jump costs one packet, which recovery brings again. The peer is not predictable then,
 * and it takes twice as many to prove the contrary the next time; the same if a second surprise
 * follows, which is believed. So a sender whose count jumps often (there are more receivers at our
 * address) loses a few packets, and one with any other numbers none. Where two senders have one
 * address (NAT), a predictable one and one that is not, the latter may lose each packet once: what
 * comes again, a packet of the same number, is believed.
 *
 * About 130 to 650 numbers are expected of a busy peer, so 22 to 25 of the 32 bits remain; of a
 * sender that counts and was silent for a minute, or of one with numbers by chance, 16. IPv6 has no
 * such field, and all 32.
 */
#ifndef OCHE_DEVICE_IP_ID_H
#define OCHE_DEVICE_IP_ID_H

#include "core/base.h"

#define OCHE_IP_COUNTS  4
#define OCHE_IP_DOUBTED 8

struct oche_ip_count {
    uint32_t used; /* by which packet of the peer's */
    uint16_t last;
    bool known;
    bool doubted; /* it began with one that was not believed, and has not been used since */
};

/* What is known of one peer's identifications. Zeroed at first. */
struct oche_ip_ids {
    struct oche_ip_count counts[OCHE_IP_COUNTS];
    oche_time when;                    /* the last one arrived */
    uint32_t packets;                  /* so far */
    uint32_t run;                      /* expected ones in a row, but for single surprises */
    uint16_t last;                     /* of all */
    uint8_t relapses;                  /* times that it was proven predictable and then was not */
    bool surprised;                    /* by the last one */
    bool from_zero;                    /* the last datagram's numbers began at 0 */
    uint64_t doubted[OCHE_IP_DOUBTED]; /* packets (oche_ip_id_again); 0: none */
};

/*
 * `difference`: the ICRC computed with a guessed identification, XOR the one that the packet
 * carries; `after`: bytes that the ICRC covers behind the field. True, and *change: the guess XOR
 * *change is the identification that explains the difference. False: none does, the packet is
 * wrong. (A guess of 0 makes *change the identification.)
 */
bool oche_ip_id_solve(uint32_t difference, uint32_t after, uint16_t *change);

/* What the next packet's is, most likely: the first of a datagram, or one behind it. */
static inline uint16_t oche_ip_id_guess(const struct oche_ip_ids *ids, bool first)
{
    return first && ids->from_zero ? 0 : (uint16_t)(ids->last + 1);
}

enum oche_ip_id_verdict {
    OCHE_IP_ID_EXPECTED,
    OCHE_IP_ID_SURPRISE, /* to be believed */
    OCHE_IP_ID_DOUBTFUL, /* not to be believed: the packet is damaged, most likely */
};

/* A packet would be right if its identification were `id`: is it? Remembers it in any case. */
enum oche_ip_id_verdict oche_ip_id_judge(struct oche_ip_ids *ids, uint16_t id, oche_time now);

/*
 * A packet was found doubtful: was it before, so that it is to be believed after all? `number`:
 * what it has in common with itself sent again, as its queue pair and PSN, and no other has.
 */
bool oche_ip_id_again(struct oche_ip_ids *ids, uint64_t number);

#endif
