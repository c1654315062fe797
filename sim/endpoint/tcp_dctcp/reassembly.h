/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has arrived behind a gap: disjoint ranges of the stream, in order. There is room for a
 * number of gaps that few connections ever have; a segment that would make one more is not kept,
 * and comes again.
 */
#ifndef OCHE_SIM_ENDPOINT_TCP_DCTCP_REASSEMBLY_H
#define OCHE_SIM_ENDPOINT_TCP_DCTCP_REASSEMBLY_H

#include "core/base.h"

#define OCHE_TCP_RANGES 256

struct oche_tcp_range {
    uint64_t from, to; /* bytes of the stream, `to` is not in it */
};

struct oche_tcp_ranges {
    uint32_t count;
    struct oche_tcp_range range[OCHE_TCP_RANGES];
};

/* Adds [from, to), from < to. False: no room, nothing is changed. */
bool oche_tcp_ranges_add(struct oche_tcp_ranges *ranges, uint64_t from, uint64_t to);
/* All up to `next` has arrived: returns how far it goes on without a gap, and forgets that. */
uint64_t oche_tcp_ranges_take(struct oche_tcp_ranges *ranges, uint64_t next);

#endif
