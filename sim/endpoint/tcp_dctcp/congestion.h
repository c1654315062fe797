/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The congestion window: New Reno (RFC 5681, 6582), and DCTCP's estimate of the marked share (RFC
 * 8257 sec 3.3; DCTCP sec 3.1; dctcp.md#algorithm). Windows are in bytes; alpha and g are in units
 * of 2^-30, so that every machine computes the same.
 *
 * Where the RFCs leave a choice: an ACK adds at most two segments in slow start (RFC 3465 with L =
 * 2, so that delayed ACKs do not slow it down). The window grows only if it has limited the sender;
 * in slow start it is enough that half of the window was in flight (as in Linux). After a cut by
 * marks the window does not grow for one round trip (as in Linux's state CWR).
 */
#ifndef OCHE_SIM_ENDPOINT_TCP_DCTCP_CONGESTION_H
#define OCHE_SIM_ENDPOINT_TCP_DCTCP_CONGESTION_H

#include "sim/endpoint/tcp_dctcp/params.h"

#define OCHE_TCP_ONE (UINT64_C(1) << 30) /* the value 1 of alpha and g */

struct oche_tcp_congestion {
    uint64_t cwnd, ssthresh;
    uint64_t counted; /* bytes acknowledged towards the next segment of congestion avoidance */
    uint64_t mss, initial, least; /* bytes */
    /* DCTCP: */
    bool dctcp;
    bool reduced; /* cwnd was cut for a mark: it stays until una passes cut_end */
    uint64_t alpha, g;
    uint64_t acked, marked; /* in this observation window: bytes acknowledged; of them, marked */
    uint64_t window_end;    /* end of the observation window: the stream's next byte when the window
                               began */
    uint64_t cut_end;
};

/* Facts about an ACK that acknowledges new data. */
struct oche_tcp_acked {
    uint64_t bytes;
    uint64_t una, next;     /* una after the ACK; the stream's next byte to send */
    uint64_t flight_before; /* bytes in flight before the ACK */
    bool ece;
    bool in_recovery; /* marks are counted, but recovery controls the window */
};

void oche_tcp_congestion_init(struct oche_tcp_congestion *c, const struct oche_tcp_params *params,
                              bool dctcp);
/* Counts the ACK and cuts or grows the window. Returns true if it cut the window. */
bool oche_tcp_congestion_acked(struct oche_tcp_congestion *c, const struct oche_tcp_acked *acked);

/* Enters fast recovery: three duplicate ACKs have arrived (RFC 6582 sec 3.2 step 2). */
void oche_tcp_congestion_enter(struct oche_tcp_congestion *c, uint64_t flight);
/* Handles another duplicate ACK in fast recovery (RFC 5681 sec 3.2 step 4). */
void oche_tcp_congestion_inflate(struct oche_tcp_congestion *c);
/* Handles a partial ACK, for `bytes` bytes, in fast recovery (RFC 6582 sec 3.2 step 3). */
void oche_tcp_congestion_partial(struct oche_tcp_congestion *c, uint64_t bytes);
/* Leaves fast recovery, when all data sent before recovery began is acknowledged. */
void oche_tcp_congestion_leave(struct oche_tcp_congestion *c, uint64_t flight);
/*
 * Reacts to a timeout. `again`: the same data timed out before (RFC 5681 sec 3.1: ssthresh stays).
 */
void oche_tcp_congestion_timeout(struct oche_tcp_congestion *c, uint64_t flight, bool again);
/* Shrinks the window after an idle time longer than a timeout (RFC 5681 sec 4.1). */
void oche_tcp_congestion_idle(struct oche_tcp_congestion *c);

#endif
