/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The retransmission timeout (RFC 6298): smoothed round trip and its deviation, RTO = SRTT + 4
 * RTTVAR within bounds, doubled by every timeout until a round trip is measured. The sender
 * measures only segments that it has sent once (Karn). Times are picoseconds, so the RFC's clock
 * granularity has no effect.
 */
#ifndef OCHE_SIM_ENDPOINT_TCP_DCTCP_RTT_H
#define OCHE_SIM_ENDPOINT_TCP_DCTCP_RTT_H

#include "core/base.h"

struct oche_tcp_rtt {
    oche_time smoothed, deviation; /* smoothed == 0: no sample yet */
    oche_time initial, least, most;
    unsigned backoff; /* timeouts since the last measurement */
};

static inline void oche_tcp_rtt_init(struct oche_tcp_rtt *rtt, oche_time initial, oche_time least,
                                     oche_time most)
{
    *rtt = (struct oche_tcp_rtt){.initial = initial, .least = least, .most = most};
}

/*
 * Adds a measured round trip (RFC 6298 sec 2.2, 2.3: alpha 1/8, beta 1/4). Only this takes back
 * what timeouts have doubled (sec 5.7, its last note).
 */
static inline void oche_tcp_rtt_sample(struct oche_tcp_rtt *rtt, oche_time sample)
{
    rtt->backoff = 0;
    if (rtt->smoothed == 0) {
        rtt->smoothed = sample;
        rtt->deviation = sample / 2;
        return;
    }
    oche_time error = sample > rtt->smoothed ? sample - rtt->smoothed : rtt->smoothed - sample;
    rtt->deviation = rtt->deviation - rtt->deviation / 4 + error / 4;
    rtt->smoothed = rtt->smoothed - rtt->smoothed / 8 + sample / 8;
}

/*
 * Called where data begins after a SYN that had to be sent again, which gives no measurement: the
 * timeout is 3 s where it was 1 s at first (RFC 6298 sec 5.7).
 */
static inline void oche_tcp_rtt_after_handshake(struct oche_tcp_rtt *rtt)
{
    rtt->backoff = 0;
    rtt->initial *= 3;
}

static inline oche_time oche_tcp_rto(const struct oche_tcp_rtt *rtt)
{
    oche_time rto = rtt->initial;

    if (rtt->smoothed > 0)
        rto = rtt->smoothed + 4 * rtt->deviation;
    if (rto < rtt->least)
        rto = rtt->least;
    for (unsigned i = 0; i < rtt->backoff && rto < rtt->most; i++)
        rto *= 2;
    return oche_time_min(rto, rtt->most);
}

#endif
