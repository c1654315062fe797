/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One direction of a link with faults: loss, delay, jitter, reordering, duplicates, corruption,
 * outages, and paths that packets are sprayed over. The driver says when a packet's last bit has
 * left the port (link_port.h); the link says if and when it arrives. No clock, no I/O: the same
 * packets at the same times with the same seed have the same fate.
 *
 * Each kind of fault draws from a random stream of its own, so that one more fault changes nothing
 * in the others. Packets keep their order, however much their delays differ, unless `reorder` or
 * `spray` say otherwise.
 */
#ifndef OCHE_FABRIC_LINK_H
#define OCHE_FABRIC_LINK_H

#include "core/base.h"
#include "core/param.h"
#include "core/random.h"

#define OCHE_LINK_PATHS 64 /* most paths of `spray` */

enum oche_link_jitter {
    OCHE_LINK_UNIFORM,    /* from delay - jitter to delay + jitter */
    OCHE_LINK_NORMAL,     /* jitter is the standard deviation */
    OCHE_LINK_EXPONENTIAL /* above delay; jitter is the mean */
};

enum oche_link_unit { OCHE_LINK_PER_PACKET, OCHE_LINK_PER_BIT };

/* The parameters of a link; oche_link_params is their table. */
struct oche_link_params {
    double loss;
    double burst_loss;        /* share of packets that are lost in bursts */
    double burst_loss_length; /* mean length of a burst, in packets */
    oche_time delay, jitter;
    uint32_t jitter_shape; /* enum oche_link_jitter */
    uint64_t rate_bps;     /* 0: no port, so no queue and no marks */
    uint64_t queue_bytes;
    uint64_t ecn_min_bytes, ecn_max_bytes; /* Kmin and Kmax; OCHE_NEVER: no marks */
    double ecn_pmax;
    double reorder;
    oche_time reorder_by;
    double duplicate;
    double corrupt;
    uint32_t corrupt_per; /* enum oche_link_unit */
    oche_time flap_up, flap_down;
    uint64_t spray; /* number of paths; 1: none */
    oche_time spray_by;
    uint64_t seed; /* 0: the driver chooses */
};
extern const struct oche_param_table oche_link_params;

/* Returns what is wrong with parameters that are each in their range, or NULL. */
const char *oche_link_check(const struct oche_link_params *params);

enum oche_link_loss {
    OCHE_LINK_LOST, /* `loss` */
    OCHE_LINK_LOST_BURST,
    OCHE_LINK_LOST_DOWN,  /* the link was down */
    OCHE_LINK_LOST_QUEUE, /* no room; counted by the driver */
    OCHE_LINK_LOSSES
};

struct oche_link {
    struct oche_link_params params;
    uint64_t loss, burst_begins, burst_ends, duplicate, reorder, corrupt; /* in units of 2^-63 */
    struct oche_random loss_random, burst_random, jitter_random, reorder_random, spray_random,
        duplicate_random, corrupt_random;
    bool in_burst;
    oche_time since;                   /* when the parameters came into force */
    oche_time latest[OCHE_LINK_PATHS]; /* last arrival on each path */
    uint64_t lost[OCHE_LINK_LOSSES];
    uint64_t arrived, reordered, duplicated, corrupted, marked;
};

/* What happens to a packet. */
struct oche_link_fate {
    unsigned copies; /* 0: lost; 2: duplicated */
    oche_time arrives[2];
    bool corrupt; /* one bit is inverted: */
    uint32_t bit; /* its number, below 8 * the packet's bytes */
};

/* `entity` names the link and direction in the random streams. */
void oche_link_init(struct oche_link *link, const struct oche_link_params *params, uint64_t entity,
                    oche_time now);
/* Changes the parameters; the streams go on, with another seed or without. */
void oche_link_change(struct oche_link *link, const struct oche_link_params *params, oche_time now);

/* Packets from now on may overtake those before them: after a change that made these late. */
void oche_link_forget_order(struct oche_link *link);

/*
 * Decides on a packet of `bytes` bytes, of which each bit may be inverted, and whose last bit has
 * left at `left`. To be called once for each packet, in the order in which they leave.
 */
void oche_link_cross(struct oche_link *link, oche_time left, uint32_t bytes,
                     struct oche_link_fate *fate);

#endif
