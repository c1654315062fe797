/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a switch divides its buffer, and up to which ECN threshold ECN is sure to act before PFC, in
 * the worst case of DCQCN sec 4 (dcqcn.md#buffers): one ingress port feeds all others, all
 * priorities hold data. Computed for both the static and the dynamic threshold, whichever the
 * switch uses.
 */
#ifndef OCHE_SIM_MEASURE_THRESHOLDS_H
#define OCHE_SIM_MEASURE_THRESHOLDS_H

#include "fabric/switch.h"

/* All in bytes. */
struct oche_thresholds {
    double headroom;                /* per port (the one that needs most) and priority */
    double headroom_all;            /* for all ports and priorities */
    double shared;                  /* what is left to share */
    double static_pfc, dynamic_pfc; /* t_PFC; the dynamic one for an empty switch */
    double static_ecn, dynamic_ecn; /* the bound below which t_ECN must be */
    double resume;                  /* a class resumes this far below t_PFC */
    double frame;                   /* the largest frame */
};

/*
 * Computes the thresholds of a valid switch configuration. Returns false if there are none: without
 * PFC, or with nothing left to share.
 */
bool oche_thresholds(const struct oche_switch_config *config, struct oche_thresholds *thresholds);

#endif
