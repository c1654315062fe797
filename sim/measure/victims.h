/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time that a flow loses to PAUSEs, and the hot spot that caused them. A flow waits when a port
 * on its path is held. Each hold has a root, a hot spot (sim/measure/pause_tree.h). If the root is
 * on the flow's path too, the flow contributes to the congestion. If not, the flow is a victim of
 * congestion in which it has no part.
 *
 * Three times are measured at the port of the flow's path that was held longest during the flow's
 * life, because a flow is as fast as its slowest port:
 *
 *     held      time that this port was held, for whatever reason
 *     own       time that it would have been held if only roots on the flow's path held ports
 *     foreign   held - own: the part that roots elsewhere caused
 *
 * The time that the flow lost to foreign roots cannot exceed `foreign` (the flow may not have had a
 * packet waiting all the time), nor the flow's completion time minus its time alone in the network.
 * The smaller of the two is taken as the time lost.
 */
#ifndef OCHE_SIM_MEASURE_VICTIMS_H
#define OCHE_SIM_MEASURE_VICTIMS_H

#include "sim/measure/pause_tree.h"

struct oche_flow_pause_loss {
    oche_time life;
    oche_time held, own, foreign;
    oche_time lost; /* time lost to foreign roots */
    uint32_t root; /* node of the foreign root that held this port longest, or OCHE_NO_PAUSE_NODE */
};

/*
 * Computes the holds of a flow of class `cls` that took the path `walk`, from `begun` until
 * `ended`. `alone` is the time that the flow would have taken without other traffic.
 */
void oche_flow_pause_loss_of(const struct oche_pause_tree *tree, const struct oche_walk *walk,
                             unsigned cls, oche_time begun, oche_time ended, oche_time alone,
                             struct oche_flow_pause_loss *holds);

/* True if the flow lost at least this share of its life to foreign roots. */
bool oche_flow_is_victim(const struct oche_flow_pause_loss *holds, double share);

#endif
