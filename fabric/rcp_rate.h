/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switches' part of RCP (Dukkipati, "Rate Control Protocol", thesis 2008; rcp.md#switch;
 * compared with in Dart sec VI-D): each egress port has one rate R for all its flows, which it
 * recomputes every T. Data packets carry a requested rate; the port lowers it to R if it is higher.
 * Senders and receivers are in core/cc/rcp.c.
 *
 *   R <- R * [1 + T/d0 * (alpha * (C - y) - beta * q/d0) / C],  within [minimum_rate, C]
 *
 *   C   the port's line rate
 *   y   what arrived for the port in the last T
 *   q   what waits at the port at the end of that time
 *   d0  the mean round trip of the flows, from the packets' trailers (core/wire/extension.h); each
 *       interval's mean gets the weight T/d0. Until a packet has reported a round trip, d0 is `rtt`
 *
 * Rates and sizes count bytes on the line, of all classes, with gaps; so flows that share the line
 * may pace at R. T is `period`, but at most d0.
 *
 * Differences, and choices where the sources are silent:
 *   - y counts the packets that the switch has admitted, not those that it drops.
 *   - A port computes nothing while no packet arrives or waits there and its R no longer changes.
 *     The next interval then begins with the next packet.
 *   - Round trips come from hosts, which may report anything: they are limited to 1 us … 1 s.
 *   - All values are integers, so that every machine computes the same; alpha and beta are in units
 *     of 2^-16.
 */
#ifndef OCHE_FABRIC_RCP_RATE_H
#define OCHE_FABRIC_RCP_RATE_H

#include "fabric/mechanism.h"

struct oche_rcp_rate_params {
    double alpha, beta;
    oche_time period;    /* T; 0: the mean round trip */
    double initial_rate; /* fraction of the line rate */
    uint64_t minimum_bps;
    oche_time rtt;
};

/* The inputs of R. */
struct oche_rcp_interval {
    uint64_t rate_bps;      /* R of the previous interval */
    uint64_t capacity_bps;  /* C, at most 2^43 */
    uint64_t minimum_bps;   /* at most C */
    uint32_t alpha, beta;   /* in units of 2^-16, at most 16 */
    oche_time period, rtt;  /* T and d0: 1 us to 1 s */
    uint64_t arrived_bytes; /* bytes that arrived in T: y * T */
    uint64_t queued_bytes;  /* q; at most 2^33 */
};

/* Returns the new R in bits per second, rounded towards the old R. */
uint64_t oche_rcp_next_rate(const struct oche_rcp_interval *interval);

/* Returns the current R of a port, given the mechanism's state in its switch. */
uint64_t oche_rcp_rate_of(const void *state, unsigned port);

extern const struct oche_param_table oche_rcp_rate_params;
extern const struct oche_switch_mechanism oche_rcp_rate;

#endif
