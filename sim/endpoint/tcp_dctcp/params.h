/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parameters of the TCP endpoint. Two schemes use them: `tcp`, which is New Reno, and `dctcp`,
 * which is New Reno with DCTCP's reaction to ECN and has more parameters.
 */
#ifndef OCHE_SIM_ENDPOINT_TCP_DCTCP_PARAMS_H
#define OCHE_SIM_ENDPOINT_TCP_DCTCP_PARAMS_H

#include "core/param.h"

struct oche_tcp_params {
    uint32_t preset; /* enum oche_preset */
    uint64_t mss_bytes;
    uint64_t initial_window; /* segments */
    uint64_t least_window;   /* in segments; marks never cut cwnd below this */
    uint64_t receive_window; /* bytes */
    oche_time os_overhead;   /* from the application's send to the first segment */
    oche_time rto_min;
    oche_time rto_initial; /* 0, auto: the network's, oche_tcp_fit */
    oche_time rto_max;
    uint64_t retries;   /* timeouts without progress before the connection fails */
    uint64_t ack_every; /* in-order segments per ACK */
    oche_time ack_delay;
    bool ack_priority;    /* ACKs travel in the control class */
    bool lossless;        /* PFC, if used, applies to TCP data */
    bool handshake;       /* SYN and SYN-ACK before the first byte */
    uint64_t port_buffer; /* bytes of a switch port's buffer; 0: as the switch section says */
    /* DCTCP only: */
    double g;
    double initial_alpha;
    uint64_t k_bytes; /* switches mark above this queue; 0: as the switch section says */
};

extern const struct oche_param_table oche_tcp_table, oche_dctcp_table;

/* Returns an error message, or NULL if all is well. `params` is a struct oche_tcp_params. */
const char *oche_tcp_check(const void *params);
/* See struct oche_endpoint. */
void oche_tcp_fit(void *values, oche_time longest_round_trip);
const char *oche_tcp_unfit(const void *values, oche_time longest_round_trip);

#endif
