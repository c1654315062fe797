/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switches' part of RCP (Dukkipati, "Rate Control Protocol", thesis 2008; REFERENCE F.2;
 * compared with in Dart sec VI-D): each egress port has one rate R for all its flows, computed
 * anew every T, and lowers the rate that passing data packets ask for to it. Senders and receivers
 * are core/cc/rcp.c.
 *
 *   R <- R * [1 + T/d0 * (alpha * (C - y) - beta * q/d0) / C],  within [minimum_rate, C]
 *
 *   C   the port's line rate
 *   y   what came for the port in the last T
 *   q   what waits at the port at the end of it
 *   d0  the mean round trip of the flows, from the packets' trailers (core/wire/extension.h): each
 *       interval's mean counts as far as T/d0 goes; until some packet has told one, `rtt`
 *
 * All count bytes on the line, of all classes, with gaps: then R is what flows that share the line
 * may pace at. T is `period`, and at most d0.
 *
 * Where it differs, or where the sources are silent:
 *   - y is what the switch has admitted; what it drops is not counted.
 *   - A port at which nothing comes or waits, and whose R does not change any more, computes
 *     nothing until the next packet; the interval then begins with that.
 *   - Round trips come from hosts, which may tell anything: they count as 1 us to 1 s.
 *   - Integers throughout, so that every machine finds the same: alpha and beta in units of 2^-16.
 */
#ifndef OCHE_FABRIC_RCP_RATE_H
#define OCHE_FABRIC_RCP_RATE_H

#include "fabric/mechanism.h"

struct oche_rcp_rate_params {
    double alpha, beta;
    oche_time period;    /* 0: the mean round trip */
    double initial_rate; /* fraction of the line */
    uint64_t minimum_bps;
    oche_time rtt;
};

/* What R depends on. */
struct oche_rcp_interval {
    uint64_t rate_bps;      /* R so far */
    uint64_t capacity_bps;  /* C, at most 2^43 */
    uint64_t minimum_bps;   /* at most C */
    uint32_t alpha, beta;   /* in units of 2^-16, at most 16 */
    oche_time period, rtt;  /* T and d0: 1 us to 1 s */
    uint64_t arrived_bytes; /* in T: y * T */
    uint64_t queued_bytes;  /* q; at most 2^33 */
};

/* R in bits per second, rounded towards what it was. */
uint64_t oche_rcp_next_rate(const struct oche_rcp_interval *interval);

/* R of a port of a switch whose state this is, now. */
uint64_t oche_rcp_rate_of(const void *state, unsigned port);

extern const struct oche_param_table oche_rcp_rate_params;
extern const struct oche_switch_mechanism oche_rcp_rate;

#endif
