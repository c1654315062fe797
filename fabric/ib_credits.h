/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Switches and hosts whose links have InfiniBand's credit-based flow control (fabric/ib_link.h), in
 * place of PFC. At a switch: what has come in by a port in a VL and has not left is what that VL's
 * buffer holds; a queue sends its first packet only if the far end has room for it, and whoever
 * waits for that holds up nobody of another queue. So the switch is as if each input buffer had a
 * queue for each output: no packet waits behind one that goes elsewhere.
 *
 * Hosts' part is sim/network/host_credits.c: they take what arrives at once.
 */
#ifndef OCHE_FABRIC_IB_CREDITS_H
#define OCHE_FABRIC_IB_CREDITS_H

#include "fabric/ib_link.h"
#include "fabric/mechanism.h"

struct oche_ib_credits_params {
    uint64_t buffer_bytes; /* of a VL at the receiving end of every link */
    uint64_t update_bytes; /* that are worth an FCP; 0: a quarter of it */
    oche_time interval;    /* of FCPs, at most; 0: 65,536 symbol times */
};

/* For a link: at least an FCP of each VL in such a time. */
oche_time oche_ib_credits_interval(const struct oche_ib_credits_params *params, uint64_t rate_bps);

enum oche_ib_credits_counter {
    OCHE_IB_CREDITS_FCPS,
    OCHE_IB_CREDITS_WAITS,
    OCHE_IB_CREDITS_PEAK,
    OCHE_IB_CREDITS_COUNTERS
};

extern const struct oche_switch_mechanism oche_ib_credits;

#endif
