/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Congestion control of a whole NIC: state for each peer, tables, a timer, and decisions for queue
 * pairs other than the one whose event it is.
 */
#ifndef OCHE_CORE_CC_CC_NIC_H
#define OCHE_CORE_CC_CC_NIC_H

#include "core/cc/cc.h"

OCHE_C_BEGIN

/*
 * Things that a scheme can ask for, on behalf of its own queue pair or another one of the NIC. An
 * extra ACK acknowledges nothing new but is stamped again. At most one request of each kind is
 * pending for a queue pair.
 */
enum oche_cc_wants {
    /* the flow's decisions have changed; the NIC must carry them out */
    OCHE_CC_WANTS_LOOK = 1 << 0,
    /* to send a packet `own_opcode` at control priority, if `extended` */
    OCHE_CC_WANTS_OWN = 1 << 1,
};

/* The NIC's side of a scheme that has state beyond that of queue pairs. There is one per NIC. */
struct oche_cc_nic {
    /* Decisions. */
    struct oche_cc_flow **wanting; /* flows whose `wants` is not 0, to be examined after the hook */
    uint32_t wanting_count;
    /*
     * true: `wanting` or `timer` has changed; set by oche_cc_want and oche_cc_nic_timer. The NIC
     * looks at those two only if it is set.
     */
    bool *touched;
    oche_time timer; /* when to call the hook `timer`; 0: at once; OCHE_NEVER: no call */

    /* Facts. */
    uint32_t address;
    uint32_t shared_addresses; /* addresses below this one mean the same host at all NICs */
    uint32_t max_peers;        /* most peers that have queue pairs at one time */
    /*
     * Returns the state of the peer at `address` (oche_cc_flow.peer_state), or NULL if no queue
     * pair goes there.
     */
    void *(*peer_state)(const struct oche_cc_nic *nic, uint32_t address);
    uint64_t line_rate_bps;
    /*
     * Bytes on the line, with gaps, of all RoCEv2 packets that have arrived. A packet is counted
     * before `arrived` is called for it.
     */
    const uint64_t *received_line_bytes;
    const void *params;
    void *state;  /* the same as oche_cc_flow.nic_state */
    void *tables; /* oche_cc_nic_hooks.tables_bytes, aligned to a cache line */
    struct oche_trace *trace;
};

/* Asks the NIC to do something for `flow`; `wants`: bits of enum oche_cc_wants. */
static inline void oche_cc_want(struct oche_cc_nic *nic, struct oche_cc_flow *flow, uint8_t wants)
{
    if (flow->wants == 0) {
        nic->wanting[nic->wanting_count++] = flow;
        *nic->touched = true;
    }
    flow->wants |= wants;
}

/* Sets the NIC's timer. */
static inline void oche_cc_nic_timer(struct oche_cc_nic *nic, oche_time when)
{
    nic->timer = when;
    *nic->touched = true;
}

/* How a NIC's receiver half treats the marks that arrive in its present state. */
enum oche_cc_marks {
    OCHE_CC_MARKS_ANSWERED,
    OCHE_CC_MARKS_UNDECIDED,  /* not answered: it is not known yet what they stand for */
    OCHE_CC_MARKS_SUPPRESSED, /* not answered: the scheme has a better answer to the congestion */
};

struct oche_cc_nic_hooks {
    /*
     * Optional: the NIC was created; its state is zeroed. The hook keeps `nic`, for oche_cc_want
     * and the NIC's timer.
     */
    void (*start)(struct oche_cc_nic *nic);
    /* Required with a timer: oche_cc_nic.timer is due. Before this call it has been set to
     * OCHE_NEVER. */
    void (*timer)(struct oche_cc_nic *nic, oche_time now);

    /*
     * Optional: returns the bytes of state that each peer has (oche_cc_flow.peer_state); the NIC
     * allocates them, zeroed. NULL: none.
     */
    size_t (*peer_bytes)(const void *params);
    /*
     * Optional: returns the bytes that a NIC of this configuration needs, in addition to its state,
     * for tables that few packets use. The tables are kept apart from the memory that every packet
     * uses, and are not zeroed.
     */
    size_t (*tables_bytes)(const void *params, uint32_t max_peers);
    /*
     * Optional, for measurements: what the receiver half does about marks now. Asked after the hook
     * `arrived` of a marked packet. NULL: it answers all.
     */
    enum oche_cc_marks (*marks)(const void *nic_state);
    /*
     * Two cache lines of a flow's state, as offsets: the line used for most packets that are sent,
     * and the line used for most packets that arrive.
     */
    uint16_t sender_line, receiver_line;
};

OCHE_C_END

#endif
