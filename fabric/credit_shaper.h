/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ExpressPass wants of switches (Cho et al., SIGCOMM 2017, sec 3.1; REFERENCE F.3): credits
 * travel in a class of their own, the highest, with a queue of a few credits at every port and a
 * token bucket before the line. What the queue has no room for is dropped; receivers count that as
 * congestion. The share of the link is that of the frames: 84 of 84 + 1538 bytes on the line with
 * full Ethernet frames, so that data never comes faster than the link carries it.
 *
 * It is there when hosts end in ExpressPass, and only then. That data takes the way of its credits
 * backwards is routing's part: struct oche_switch_config, tier.
 */
#ifndef OCHE_FABRIC_CREDIT_SHAPER_H
#define OCHE_FABRIC_CREDIT_SHAPER_H

#include "fabric/mechanism.h"

/* Of switch ports; hosts' own ports have the same. */
struct oche_credit_shaper_params {
    uint64_t queue; /* credits */
    uint64_t burst; /* credits that a full bucket holds */
};

enum oche_credit_shaper_counter {
    OCHE_CREDIT_SHAPER_CREDITS,
    OCHE_CREDIT_SHAPER_DROPPED,
    OCHE_CREDIT_SHAPER_QUEUE_PEAK,
    OCHE_CREDIT_SHAPER_COUNTERS
};

extern const struct oche_switch_mechanism oche_credit_shaper;

#endif
