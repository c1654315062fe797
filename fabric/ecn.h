/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RED marking by the present length of the egress queue of (port, class) (DCQCN sec 3.1, Fig 5;
 * dcqcn.md#roles). Up to Kmin no packet is marked; from there the probability rises linearly to
 * Pmax at Kmax; above Kmax every packet is marked. Kmin = Kmax = K, Pmax = 1 is DCTCP's marking.
 *
 * The paper's text marks on arrival; switch chips mark at departure, and that is the default
 * (dcqcn.md#marking-instant, #a6). The packet itself does not count: at dequeue the queue is what
 * it leaves behind, at enqueue what it finds. Only ECT packets are marked; control packets are not
 * ECT. Probabilities are integers, in units of 2^-63.
 */
#ifndef OCHE_FABRIC_ECN_H
#define OCHE_FABRIC_ECN_H

#include "core/base.h"
#include "core/random.h"
#include "core/wire/packet.h"
#include "fabric/switch.h"

/* A port's thresholds. */
struct oche_red_ramp {
    uint64_t kmin, kmax; /* bytes */
    uint64_t slope;      /* probability per byte above kmin */
};

/*
 * Returns the thresholds of a port of `rate_bps`. `auto` is the same delay at every rate:
 * kmin_time and kmax_time of the line, but not less than a few packets (dcqcn.md#deployed); the one
 * that is `auto` gives way to the one that is not.
 */
struct oche_red_ramp oche_red_ramp(const struct oche_switch_params *params, uint64_t rate_bps);

/* Returns the probability of a mark at `queue` bytes, in units of 2^-63: 0 … 2^63. */
static inline uint64_t oche_red_probability(const struct oche_red_ramp *ramp, uint64_t queue)
{
    if (queue <= ramp->kmin)
        return 0;
    if (queue > ramp->kmax)
        return UINT64_C(1) << 63;
    return (queue - ramp->kmin) * ramp->slope;
}

/* True if the packet may be marked: it is ECT and not marked yet. */
static inline bool oche_ecn_capable(const struct oche_packet *packet)
{
    return packet->ecn == OCHE_ECN_ECT0 || packet->ecn == OCHE_ECN_ECT1;
}

/*
 * Draws a random number for a packet that may be marked. Returns true, with the probability for
 * `queue` bytes, which are above kmin, if the packet is to be marked (oche_switch_mark).
 */
bool oche_red_chooses(const struct oche_red_ramp *ramp, struct oche_random *random,
                      const struct oche_packet *packet, uint64_t queue);

#endif
