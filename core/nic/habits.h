/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The habits of RDMA adapters: what they do otherwise than the ideal RNIC of core/qp. One struct
 * and one parameter table, so that profiles (profile.h), scenarios and `oche exec --nic` set the
 * same keys. All defaults are those of the ideal RNIC.
 */
#ifndef OCHE_CORE_NIC_HABITS_H
#define OCHE_CORE_NIC_HABITS_H

#include "core/nic/timeouts.h"
#include "core/nic/vendor_errors.h"
#include "core/param.h"

OCHE_C_BEGIN

/* When the ACK timer begins anew: with progress, or also with each packet that leaves. */
enum oche_timer_restart { OCHE_TIMER_RESTARTS_AT_PROGRESS, OCHE_TIMER_RESTARTS_AT_PACKETS };

/* For which CNPs together the least time between two holds. */
enum oche_cnp_scope {
    OCHE_CNP_SCOPE_QUEUE_PAIR,
    OCHE_CNP_SCOPE_DESTINATION, /* all queue pairs that a peer's address has with us */
    OCHE_CNP_SCOPE_PORT,        /* all that the port sends */
};

struct oche_nic_habits {
    /* How ACK timeouts follow one another. */
    struct oche_timeouts timeouts;
    /*
     * enum oche_timer_restart. AT_PACKETS: the timer expires only after the queue pair has sent
     * nothing for that long, first time or again: a peer that answers NAKs for ever is never given
     * up.
     */
    uint32_t timer_restart;
    /* From a gap that the responder sees to its NAK, and from the NAK's arrival to the repeat. */
    oche_time nak_delay, nak_reaction;
    oche_time read_nak_delay; /* from a gap in READ responses to the repeated request */
    bool nak_brings_cnp;      /* a NAK for a gap brings a CNP, paced as others */
    /* An ACK timeout lowers the sender's rate as a CNP does; NVIDIA counts it as a CNP. */
    bool slow_restart;
    /*
     * A WRITE's packets are checked against the memory region one by one, so that the packets
     * before the region's end are written; false: the first packet is refused if the WRITE does not
     * fit.
     */
    bool checks_each_packet;
    /*
     * Least time between two CNPs, in place of the congestion control's cnp_interval if it has such
     * a parameter; OCHE_NEVER: the congestion control's. With a scope above the queue pair CNPs
     * that come too early are left out.
     */
    oche_time cnp_interval;
    uint32_t cnp_scope;  /* enum oche_cnp_scope */
    oche_time cnp_delay; /* from the wish for a CNP to the CNP */
    bool ect_always; /* data has ECT(0), though the congestion control does not react to marks */
    /*
     * The receive path, in the simulator: packets wait in a buffer until they have been moved to
     * memory at the drain rate. 0 bytes or 0 bit/s: nothing waits. Packets that come while more
     * than ingress_mark_bytes wait are marked CE, so that the adapter asks for less itself.
     */
    uint64_t ingress_buffer_bytes, drain_bps, ingress_mark_bytes;
    /* A new rate limit takes effect after the queue pair has sent this many more bytes. */
    uint64_t limiter_lag_bytes;
    /* Retransmitted messages leave one at a time, each after the ACK of the one before. */
    bool resend_one_verb_at_a_time;
    /* enum oche_vendor_errors; on the wire, where programs see it */
    uint32_t vendor_errors;
};

extern const struct oche_param_table oche_nic_habits_table;

/*
 * Returns NULL if the habits fit together, else a message that begins with the key that is wrong.
 */
const char *oche_nic_habits_check(const struct oche_nic_habits *habits);

/*
 * Sets the parameters of a congestion-control scheme, `params`, that the habits replace; `check` is
 * the scheme's, or NULL. Returns true if it has changed one. A cnp_interval that is left to the
 * scheme becomes the scheme's.
 */
bool oche_nic_habits_fit(struct oche_nic_habits *habits, const struct oche_param_table *table,
                         void *params, const char *(*check)(const void *params));

OCHE_C_END

#endif
