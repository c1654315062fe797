/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What PAUSEs cost a flow, and which hot spot caused that. A flow waits when a port on its path is
 * held. If the hot spot at the root of the hold (sim/measure/pause_tree.h) is itself on the flow's
 * path, the flow is one of those that cause it; if not, the flow is a victim of congestion that it
 * has no part in.
 *
 * During a flow's life, at the port of its path that was held longest (a flow is as fast as the
 * slowest port):
 *
 *     held      time that this port was held, for whatever reason
 *     own       the same if only the roots on the flow's path had held anything
 *     foreign   held - own: the part of it that roots elsewhere caused
 *
 * `foreign` is an upper bound of what the flow lost, as it need not have had a packet at that port
 * all the time; so is the time it took beyond its time alone. The smaller of the two is what it
 * lost to foreign roots.
 */
#ifndef OCHE_SIM_MEASURE_VICTIMS_H
#define OCHE_SIM_MEASURE_VICTIMS_H

#include "sim/measure/pause_tree.h"

struct oche_flow_holds {
    oche_time life;
    oche_time held, own, foreign;
    oche_time lost; /* time lost to foreign roots */
    uint32_t root;  /* the foreign root that held it longest, as a node; or OCHE_NO_PAUSE_NODE */
};

/*
 * Computes the holds of a flow whose packets of class `cls` were sent by these ports, from `begun`
 * until `ended`, and that would have taken `alone` without other traffic.
 */
void oche_flow_holds_of(const struct oche_pause_tree *tree, const struct oche_walk *walk,
                        unsigned cls, oche_time begun, oche_time ended, oche_time alone,
                        struct oche_flow_holds *holds);

/* True if the flow lost at least this share of its life to foreign roots. */
bool oche_flow_is_victim(const struct oche_flow_holds *holds, double share);

#endif
