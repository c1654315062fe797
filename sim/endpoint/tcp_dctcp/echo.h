/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the receiver echoes CE through delayed ACKs (RFC 8257 sec 3.2, DCTCP sec 3.1 Fig 10): all
 * segments that one ACK acknowledges carried the same mark, and the ACK's ECE tells which. So when
 * the mark changes, the delayed ACK leaves at once, with the old mark.
 */
#ifndef OCHE_SIM_ENDPOINT_TCP_DCTCP_ECHO_H
#define OCHE_SIM_ENDPOINT_TCP_DCTCP_ECHO_H

#include <stdbool.h>

struct oche_tcp_echo {
    bool ce; /* DCTCP.CE: the mark of the last segment, which ACKs echo */
};

/*
 * To be called when a segment arrives (`ce`: with CE) while `waiting` segments have no ACK yet.
 * Returns true if those must first be acknowledged, by an ACK whose ECE is *ece.
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
