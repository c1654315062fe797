/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a switch of InfiniBand marks packets (InfiniBand Architecture Specification, volume 1, annex
 * A10; REFERENCE F.4): in place of RED. FECN is CE here.
 *
 * A packet is marked as it joins the queue of (port, class) if that holds more than a threshold and
 * the port is the root of the congestion: it may send, so that the queue is its own. A port that
 * waits for credits (or is paused) is a victim of what lies behind it, and marks only where
 * victim_mask has it; usually that is where hosts are, which may be slow. Packets below packet_size
 * are left alone, and of the others only some are marked if marking_rate is not 0.
 *
 * Threshold is a weight: 0 never marks, 15 most eagerly, in equal steps between. What it means in
 * bytes the specification leaves to the switch; here weight w is (16 - w) sixteenths of `buffer`.
 */
#ifndef OCHE_FABRIC_FECN_H
#define OCHE_FABRIC_FECN_H

#include "fabric/mechanism.h"

enum oche_fecn_victims { OCHE_FECN_VICTIMS_HOSTS, OCHE_FECN_VICTIMS_NONE, OCHE_FECN_VICTIMS_ALL };

struct oche_fecn_params {
    uint64_t threshold;    /* 0 … 15 */
    uint64_t marking_rate; /* eligible packets between two that are marked, in the mean */
    uint64_t packet_size;  /* bytes: smaller packets are not marked */
    uint64_t buffer_bytes;
    uint32_t victim_mask; /* enum oche_fecn_victims: ports that mark as victims, too */
};

/* The queue above which a weight marks; OCHE_NEVER: none does. */
uint64_t oche_fecn_queue(const struct oche_fecn_params *params);

enum oche_fecn_counter { OCHE_FECN_MARKED, OCHE_FECN_VICTIMS, OCHE_FECN_COUNTERS };

extern const struct oche_switch_mechanism oche_fecn;

#endif
