/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switches and hosts whose links have InfiniBand's credit-based flow control (fabric/ib_link.h), in
 * place of PFC. In a switch, the buffer of a VL at a port holds the packets that came in by that
 * port and VL and have not left. A queue sends its first packet only if the far end has room for
 * the packet; meanwhile other queues may send. So the switch behaves as if each input buffer had a
 * queue for each output: no packet waits behind a packet that leaves by another port.
 *
 * The hosts' part is in sim/network/host_credits.c: they consume every packet as soon as it
 * arrives.
 */
#ifndef OCHE_FABRIC_IB_CREDITS_H
#define OCHE_FABRIC_IB_CREDITS_H

#include "fabric/ib_link.h"
#include "fabric/mechanism.h"

struct oche_ib_credits_params {
    uint64_t buffer_bytes; /* buffer of one VL at the receiving end of every link */
    uint64_t update_bytes; /* an FCP is sent once this many bytes have become free; 0: a quarter of
                              the buffer */
    oche_time interval; /* the longest time between two FCPs of a VL; 0 means 65,536 symbol times */
};

/* Returns the time within which a link must send at least one FCP for each VL. */
oche_time oche_ib_credits_interval(const struct oche_ib_credits_params *params, uint64_t rate_bps);

enum oche_ib_credits_counter {
    OCHE_IB_CREDITS_FCPS,
    OCHE_IB_CREDITS_WAITS,
    OCHE_IB_CREDITS_PEAK,
    OCHE_IB_CREDITS_COUNTERS
};

extern const struct oche_switch_mechanism oche_ib_credits;

#endif
