/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice of a scheme about its parameters, beyond their ranges and the hook `check`: which values
 * suit a network, and which value `auto` stands for. All hooks are optional, and none is called for
 * a packet.
 */
#ifndef OCHE_CORE_CC_CC_ADVICE_H
#define OCHE_CORE_CC_CC_ADVICE_H

#include "core/cc/cc.h"

OCHE_C_BEGIN

/* The network that parameters are fitted to: the input of oche_cc_scheme.fit. */
struct oche_cc_network {
    uint64_t line_rate_bps;
    /* A device: the least that was measured to the farthest peer; 0: none yet. The simulator: the
     * longest where nothing waits. */
    oche_time round_trip;
    bool trims; /* switches trim (fabric/trimming.c) */
};

struct oche_cc_advice {
    /*
     * Like oche_cc_scheme.check, for parameters that name hosts. The simulator calls it; its hosts
     * have the numbers 0 to hosts - 1.
     */
    const char *(*check_hosts)(const void *params, uint32_t hosts);
    /*
     * Returns a remark for the user if the parameters are valid but do not suit the network, else
     * NULL. `empty_rtt` is the longest round trip of a packet and its ACK in the empty network,
     * without the packet's serialisation at the sender; `line_bps` the rate of the hosts' links.
     * The text follows "a round trip takes up to 61us: ".
     */
    const char *(*remark)(const void *params, oche_time empty_rtt, uint64_t line_bps);
    /*
     * Returns a remark if the parameters are those of far slower links than `line_bps`, else NULL.
     * The text follows "the hosts' links carry 100Gbps: ".
     */
    const char *(*rate_remark)(const void *params, uint64_t line_bps);
    /*
     * Finds what the parameter of the scheme's table is on a line of `line_bps` if its value stands
     * for another one. Returns false if the value is what it says. Required if the table has a
     * value `auto`.
     */
    bool (*derived)(const void *params, const struct oche_param *param, uint64_t line_bps,
                    struct oche_derived *derived);
    /*
     * Sets the parameters that the user did not choose to values that suit the network, and notes
     * the facts from which `auto` is derived. `free`: if bit i is set, row i of the table may be
     * changed. The simulator calls it with 0, since a scenario has chosen all parameters. On a
     * device it may be called again, also between events, when more is known of the network; the
     * parameters are valid after each call.
     */
    void (*fit)(void *params, uint64_t free, const struct oche_cc_network *network);
};

OCHE_C_END

#endif
