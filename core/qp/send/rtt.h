/* SPDX-License-Identifier: Apache-2.0 */
/* Data by which a queue pair measures round trips. */
#ifndef OCHE_CORE_QP_SEND_RTT_H
#define OCHE_CORE_QP_SEND_RTT_H

#include "core/base.h"

#define RTT_SAMPLES 1024 /* a power of two */

/* The time at which a packet that asks for an ACK left. */
struct rtt_sample {
    oche_time sent; /* OCHE_NEVER: nothing can be told of it any more */
    uint32_t psn;
};

/* The packets that asked for an ACK and wait for it, and what they tell of the path. */
struct rtt_log {
    struct rtt_sample samples[RTT_SAMPLES];
    /* With window_grows (nic.h): */
    oche_time since; /* una was since_una then */
    uint32_t since_una;
    uint32_t least_window, most_window; /* packets; most_window 0: the window does not grow */
};

#endif
