/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters of the TCP endpoint. Two schemes have them: `tcp`, which is New Reno, and `dctcp`,
 * which is New Reno with DCTCP's reaction to ECN and two parameters more.
 */
#ifndef OCHE_SIM_ENDPOINT_TCP_DCTCP_PARAMS_H
#define OCHE_SIM_ENDPOINT_TCP_DCTCP_PARAMS_H

#include "core/param.h"

struct oche_tcp_params {
    uint64_t mss_bytes;
    uint64_t initial_window; /* segments */
    uint64_t least_window;   /* segments: no mark makes cwnd smaller */
    uint64_t receive_window; /* bytes */
    oche_time os_overhead;   /* from the application's send to the first segment */
    oche_time rto_min, rto_initial, rto_max;
    uint64_t retries;   /* timeouts without progress before the connection fails */
    uint64_t ack_every; /* segments in order */
    oche_time ack_delay;
    bool ack_priority;    /* ACKs in the control class */
    bool lossless;        /* PFC, where there is any, applies */
    bool handshake;       /* SYN, SYN-ACK before the first byte */
    uint64_t port_buffer; /* bytes of a switch port's queues; 0: as the switch section says */
    /* DCTCP only: */
    double g;
    double initial_alpha;
    uint64_t k_bytes; /* switches mark above; 0: as the switch section says */
};

extern const struct oche_param_table oche_tcp_table, oche_dctcp_table;

/* NULL, or what is wrong and what would be right. `params` is a struct oche_tcp_params. */
const char *oche_tcp_check(const void *params);

#endif
