/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a switch divides its buffer, and up to which queue ECN is sure to act before PFC, in the
 * worst case of DCQCN sec 4 (REFERENCE A.8): one ingress port feeds all others, all priorities hold
 * data. With the static threshold and with the dynamic one, whichever the switch uses.
 */
#ifndef OCHE_SIM_MEASURE_THRESHOLDS_H
#define OCHE_SIM_MEASURE_THRESHOLDS_H

#include "fabric/switch.h"

/* In bytes. */
struct oche_thresholds {
    double headroom;                /* of the port that needs most, and of a priority */
    double headroom_all;            /* of all ports and priorities */
    double shared;                  /* what is left */
    double static_pfc, dynamic_pfc; /* t_PFC; the dynamic one of an empty switch */
    double static_ecn, dynamic_ecn; /* t_ECN must be below */
    double resume;                  /* so far below t_PFC a class resumes */
    double frame;                   /* the largest frame */
};

/* Of a switch that can be made. False: without PFC, or with nothing left to share, none. */
bool oche_thresholds(const struct oche_switch_config *config, struct oche_thresholds *thresholds);

#endif
