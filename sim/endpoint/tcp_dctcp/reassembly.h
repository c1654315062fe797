/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has arrived after a gap: disjoint ranges of the stream, in order. There is room for more
 * gaps than connections usually have; a segment that would add another one is dropped, and will be
 * resent.
 */
#ifndef OCHE_SIM_ENDPOINT_TCP_DCTCP_REASSEMBLY_H
#define OCHE_SIM_ENDPOINT_TCP_DCTCP_REASSEMBLY_H

#include "core/base.h"

#define OCHE_TCP_RANGES 256

struct oche_tcp_range {
    uint64_t from, to; /* bytes of the stream; `to` is exclusive */
};

struct oche_tcp_ranges {
    uint32_t count;
    struct oche_tcp_range range[OCHE_TCP_RANGES];
};

/* Adds [from, to), from < to. Returns false, and changes nothing, if there is no room. */
bool oche_tcp_ranges_add(struct oche_tcp_ranges *ranges, uint64_t from, uint64_t to);
/*
 * Everything up to `next` has arrived. Returns how far the stream continues without a gap, and
 * forgets that part.
 */
uint64_t oche_tcp_ranges_take(struct oche_tcp_ranges *ranges, uint64_t next);

#endif
