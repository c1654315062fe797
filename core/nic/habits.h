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

struct oche_nic_habits {
    /* How ACK timeouts follow one another. */
    struct oche_timeouts timeouts;
    /*
     * enum oche_timer_restart. AT_PACKETS: the timer expires only after the queue pair has sent
     * nothing for that long, first time or again: a peer that answers NAKs for ever is never given
     * up.
     */
    uint32_t timer_restart;
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

OCHE_C_END

#endif
