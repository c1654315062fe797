/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has arrived after a gap: disjoint ranges of the stream, in order. The number of ranges is
 * limited, but connections usually have fewer. A segment that would exceed the limit is dropped,
 * and the sender resends it.
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
 * To be called when all bytes before `next` have arrived. Returns the end of the gapless stream,
 * and removes the ranges before it.
 */
uint64_t oche_tcp_ranges_take(struct oche_tcp_ranges *ranges, uint64_t next);

#endif
