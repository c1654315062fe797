/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the receiver echoes CE through delayed ACKs (RFC 8257 sec 3.2, DCTCP sec 3.1 Fig 10): the
 * ACK's ECE tells whether its segments were marked, so one ACK acknowledges either only marked or
 * only unmarked segments. When a segment differs in this from the segment before, the delayed ACK
 * leaves at once, with the ECE for the earlier segments.
 */
#ifndef OCHE_SIM_ENDPOINT_TCP_DCTCP_ECHO_H
#define OCHE_SIM_ENDPOINT_TCP_DCTCP_ECHO_H

#include <stdbool.h>

struct oche_tcp_echo {
    bool ce; /* DCTCP.CE: the mark of the last segment, which ACKs echo */
};

/*
 * To be called when a segment arrives (`ce`: with CE) while `waiting` segments have no ACK yet.
 * Returns true if the waiting segments must first be acknowledged, by an ACK whose ECE is *ece.
 */
static inline bool oche_tcp_echo_arrived(struct oche_tcp_echo *echo, bool ce, unsigned waiting,
                                         bool *ece)
{
    *ece = echo->ce;
    if (ce == echo->ce)
        return false;
    echo->ce = ce;
    return waiting > 0;
}

#endif
