/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of ExpressPass in switches (Cho et al., SIGCOMM 2017, sec 3.1; expresspass.md#credits):
 * credits travel in a class of their own, the highest, with a queue of a few credits at every port
 * and a token bucket before the line. Credits that find the queue full are dropped; receivers take
 * the loss as a sign of congestion. With full Ethernet frames a credit is 84 bytes on the line and
 * the data that it asks for 1538, so credits get 84 / (84 + 1538) of the link. Then data never
 * arrives faster than the link can carry it.
 *
 * Switches have it if and only if the hosts' endpoint is ExpressPass. Routing makes data take the
 * path of its credits in reverse: struct oche_switch_config, tier.
 */
#ifndef OCHE_FABRIC_CREDIT_SHAPER_H
#define OCHE_FABRIC_CREDIT_SHAPER_H

#include "fabric/mechanism.h"

/* Parameters of every switch port and of every host's own port. */
struct oche_credit_shaper_params {
    uint64_t queue; /* most credits that wait at a port */
    uint64_t burst; /* number of credits in a full bucket */
};

enum oche_credit_shaper_counter {
    OCHE_CREDIT_SHAPER_CREDITS,
    OCHE_CREDIT_SHAPER_DROPPED,
    OCHE_CREDIT_SHAPER_QUEUE_PEAK,
    OCHE_CREDIT_SHAPER_COUNTERS
};

extern const struct oche_switch_mechanism oche_credit_shaper;

#endif
