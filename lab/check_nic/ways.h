/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which answers belong to which data. A way is what goes in one direction to one queue pair, data
 * and answers (ACKs, NACKs, CNPs, READ requests) apart. An answer names the queue pair that it is
 * for, and data names the one at the other end. So a way of answers belongs to one way of data in
 * the other direction: one whose PSNs fit, or are near; of several the one with the same UDP source
 * port, then with the same queue pair number, else the first.
 */
#ifndef OCHE_LAB_CHECK_NIC_WAYS_H
#define OCHE_LAB_CHECK_NIC_WAYS_H

#include "core/wire/packet.h"
#include "lab/check_nic/trace.h"

#define OCHE_MOST_WAYS 4096
#define OCHE_NO_WAY    UINT32_MAX

struct oche_way {
    uint32_t src, dst, dest_qpn;
    uint16_t udp_source_port;
    bool data, responses; /* responses: data of READs */
    bool requests;        /* answers: has READ requests */
    bool any;             /* has PSNs */
    bool taken;           /* data that has its answers */
    uint32_t first, end;  /* PSNs: the lowest, and the one behind the highest */
    uint32_t stream;      /* after oche_ways_match: number of the data's stream, or OCHE_NO_WAY */
};

struct oche_ways {
    struct oche_way list[OCHE_MOST_WAYS];
    uint32_t table[4 * OCHE_MOST_WAYS]; /* numbers of ways plus one; 0: free */
    uint32_t count;
    uint32_t streams; /* after oche_ways_match */
};

/*
 * Returns the number of the packet's way, with the packet's PSN in it; OCHE_NO_WAY if there are too
 * many.
 */
uint32_t oche_ways_add(struct oche_ways *ways, const struct oche_packet *packet,
                       enum oche_seen_kind kind);
/* Numbers the streams of data in the order in which they were first seen, and finds answers. */
void oche_ways_match(struct oche_ways *ways);

#endif
