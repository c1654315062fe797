/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks for schemes that count the senders of a port. They report the NIC's own count, and take in
 * the counts of the port's other NICs.
 */
#ifndef OCHE_CORE_CC_CC_COUNTING_H
#define OCHE_CORE_CC_CC_COUNTING_H

#include "core/cc/cc_nic.h"

OCHE_C_BEGIN

/* How many senders this NIC counts, for display. */
struct oche_cc_senders {
    uint32_t counted; /* senders that are active now */
    uint32_t told;    /* the n that the senders are told: each may use 1/n of the line */
};

/*
 * Counts of the other NICs at the same port, for schemes that count senders. A simulated NIC has
 * its port to itself. On the wire the processes of one address tell each other.
 */
struct oche_cc_elsewhere {
    uint32_t senders;             /* active there, and not here */
    uint64_t received_line_bytes; /* as oche_cc_nic.received_line_bytes */
};

/* All hooks are required. */
struct oche_cc_counting {
    /* Returns what a NIC with this state (oche_cc_nic.state) counts now. */
    struct oche_cc_senders (*counts)(const void *nic_state);
    /*
     * Writes the addresses of up to `most` of the senders that are active, and returns how many it
     * has written. `*version` changes when the senders do.
     */
    uint32_t (*senders)(const void *nic_state, uint32_t *addresses, uint32_t most,
                        uint32_t *version);
    /* Other NICs of the port have this now. */
    void (*elsewhere)(struct oche_cc_nic *nic, oche_time now,
                      const struct oche_cc_elsewhere *elsewhere);
};

OCHE_C_END

#endif
