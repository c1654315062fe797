/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a switch divides its buffer, and the largest ECN threshold with which ECN is sure to act
 * before PFC. This is for the worst case of DCQCN sec 4 (dcqcn.md#buffers): one ingress port feeds
 * all others, and all priorities hold data. Both the static and the dynamic PFC threshold are
 * computed, whichever the switch uses.
 */
#ifndef OCHE_SIM_MEASURE_THRESHOLDS_H
#define OCHE_SIM_MEASURE_THRESHOLDS_H

#include "fabric/switch.h"

/* All in bytes. */
struct oche_thresholds {
    double headroom;     /* for one priority, at the port that needs most */
    double headroom_all; /* for all ports and priorities */
    double shared;       /* the part of the buffer that is shared */
    /* t_PFC; for the dynamic kind, its value while the switch is empty */
    double static_pfc, dynamic_pfc;
    double static_ecn, dynamic_ecn; /* t_ECN must be below this */
    double resume;                  /* a class resumes when it is this far below t_PFC */
    double frame;                   /* the largest frame */
};

/*
 * Computes the thresholds of a valid switch configuration. Returns false if the switch has no PFC,
 * or headroom takes the whole buffer.
 */
bool oche_thresholds(const struct oche_switch_config *config, struct oche_thresholds *thresholds);

#endif
