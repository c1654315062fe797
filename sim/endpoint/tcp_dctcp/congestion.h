/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The congestion window: New Reno (RFC 5681, 6582), and DCTCP's estimate of how much is marked
 * (RFC 8257 sec 3.3; DCTCP sec 3.1, REFERENCE F.1). Bytes; alpha and g in units of 2^-30, so that
 * every machine computes the same.
 *
 * Where the RFCs leave a choice: an ACK adds at most two segments in slow start (RFC 3465 with
 * L = 2, so that delayed ACKs do not slow it down); the window grows only if it was what held the
 * sender back, in slow start if half of it was in flight (as in Linux); after a cut by marks it
 * does not grow for a round trip (as Linux, which is then in its state CWR).
 */
#ifndef OCHE_SIM_ENDPOINT_TCP_DCTCP_CONGESTION_H
#define OCHE_SIM_ENDPOINT_TCP_DCTCP_CONGESTION_H

#include "sim/endpoint/tcp_dctcp/params.h"

#define OCHE_TCP_ONE (UINT64_C(1) << 30) /* alpha and g: 1 */

struct oche_tcp_congestion {
    uint64_t cwnd, ssthresh;
    uint64_t counted; /* bytes acknowledged towards the next segment of congestion avoidance */
    uint64_t mss, initial, least; /* bytes */
    /* DCTCP: */
    bool dctcp;
    bool reduced; /* by a mark, and `cut_end` is not acknowledged yet */
    uint64_t alpha, g;
    uint64_t acked, marked; /* bytes of this observation window */
    uint64_t window_end;    /* of it: the stream's next byte when it began */
    uint64_t cut_end;
};

/* An ACK for new data. */
struct oche_tcp_acked {
    uint64_t bytes;
    uint64_t una, next;     /* after it; highest byte sent */
    uint64_t flight_before; /* bytes that were not acknowledged */
    bool ece;
    bool in_recovery; /* marks are counted, the window is recovery's */
};

void oche_tcp_congestion_init(struct oche_tcp_congestion *c, const struct oche_tcp_params *params,
                              bool dctcp);
/* Counts, cuts or grows. True: it cut the window. */
bool oche_tcp_congestion_acked(struct oche_tcp_congestion *c, const struct oche_tcp_acked *acked);

/* Fast retransmit: three duplicate ACKs came (RFC 6582 sec 3.2 step 2). */
void oche_tcp_congestion_enter(struct oche_tcp_congestion *c, uint64_t flight);
/* In fast recovery: one more duplicate ACK (RFC 5681 sec 3.2 step 4). */
void oche_tcp_congestion_inflate(struct oche_tcp_congestion *c);
/* In fast recovery: an ACK for `bytes`, but not for all (RFC 6582 sec 3.2 step 3). */
void oche_tcp_congestion_partial(struct oche_tcp_congestion *c, uint64_t bytes);
/* All is acknowledged that had been sent when recovery began. */
void oche_tcp_congestion_leave(struct oche_tcp_congestion *c, uint64_t flight);
/* `again`: the same data timed out before (RFC 5681 sec 3.1: ssthresh stays). */
void oche_tcp_congestion_timeout(struct oche_tcp_congestion *c, uint64_t flight, bool again);
/* Nothing was sent for longer than a timeout (RFC 5681 sec 4.1). */
void oche_tcp_congestion_idle(struct oche_tcp_congestion *c);

#endif
