/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an InfiniBand switch marks packets (InfiniBand Architecture Specification, volume 1, annex
 * A10; ib-cc.md#marking), in place of RED. FECN is CE here.
 *
 * A packet is marked when it joins the queue of (port, class), if that queue is longer than a
 * threshold and the port is the root of the congestion, which means that the port is able to send.
 * A port that waits for credits (or is paused) is a victim of congestion further on. It marks only
 * if victim_mask includes it; usually the mask includes the ports to hosts, because hosts may be
 * slow. Packets smaller than packet_size are not marked. Of the others all are marked, or, if
 * marking_rate is not 0, only some.
 *
 * The threshold is a weight: 0 never marks, 15 marks most eagerly, with equal steps in between. The
 * specification lets the switch choose how many bytes a weight stands for; here weight w stands for
 * (16 - w) sixteenths of `buffer`. What is `auto` goes with the port's rate: ib-cc.md#deployed.
 */
#ifndef OCHE_FABRIC_FECN_H
#define OCHE_FABRIC_FECN_H

#include "fabric/ib_credits.h"
#include "fabric/mechanism.h"

enum oche_fecn_victims { OCHE_FECN_VICTIMS_HOSTS, OCHE_FECN_VICTIMS_NONE, OCHE_FECN_VICTIMS_ALL };

struct oche_fecn_params {
    uint32_t preset;       /* enum oche_preset */
    uint64_t threshold;    /* weight, 0 … 15 */
    uint64_t marking_rate; /* mean number of eligible packets between two marked ones, or
                              OCHE_NEVER: by the port's rate (oche_fecn_rate) */
    uint64_t packet_size;  /* in bytes; smaller packets are not marked */
    uint64_t buffer_bytes; /* OCHE_NEVER: oche_fecn_buffer */
    uint32_t victim_mask;  /* enum oche_fecn_victims: ports that mark although they are victims */
};

/*
 * Returns the queue length in bytes above which a port of `rate_bps` marks packets; OCHE_NEVER if
 * no packet is marked. `credits`: the parameters of the links' credits, or NULL.
 */
uint64_t oche_fecn_queue(const struct oche_fecn_params *params,
                         const struct oche_ib_credits_params *credits, uint64_t rate_bps);
/* Return what buffer and marking_rate are at a port of `rate_bps`. */
uint64_t oche_fecn_buffer(const struct oche_fecn_params *params,
                          const struct oche_ib_credits_params *credits, uint64_t rate_bps);
uint64_t oche_fecn_rate(const struct oche_fecn_params *params, uint64_t rate_bps);

enum oche_fecn_counter { OCHE_FECN_MARKED, OCHE_FECN_VICTIMS, OCHE_FECN_COUNTERS };

extern const struct oche_switch_mechanism oche_fecn;

#endif
