/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What PAUSEs cost a flow, and whose fault that is. A flow waits when a port on its way is held.
 * If the hot spot at the root of that (sim/measure/pause_tree.h) is itself on the flow's way, the
 * flow is one of those that made it; if not, it is a victim of congestion that it has no part in.
 *
 * Of a flow's life, by the port of its way that was held longest (a flow is as fast as the slowest
 * of them):
 *
 *     held      time that this port was held, for whatever reason
 *     own       the same if only the roots on the flow's way had held anything
 *     foreign   held - own: what it would not have waited but for roots elsewhere
 *
 * `foreign` is an upper bound of what it lost, as the flow need not have had a packet at that port
 * all the time; so is the time that it took longer than it would have alone. The lesser of both is
 * what it lost to foreign roots.
 */
#ifndef OCHE_SIM_MEASURE_VICTIMS_H
#define OCHE_SIM_MEASURE_VICTIMS_H

#include "sim/measure/pause_tree.h"

struct oche_flow_holds {
    oche_time life;
    oche_time held, own, foreign;
    oche_time lost; /* to foreign roots */
    uint32_t root;  /* the foreign root that held it longest: a node; or OCHE_NO_PAUSE_NODE */
};

/*
 * For a flow whose packets of class `cls` were sent by these ports, from `begun` until `ended`, and
 * that would have taken `alone` without any other traffic.
 */
void oche_flow_holds_of(const struct oche_pause_tree *tree, const struct oche_walk *walk,
                        unsigned cls, oche_time begun, oche_time ended, oche_time alone,
                        struct oche_flow_holds *holds);

/* Whether it lost at least this share of its life to foreign roots. */
bool oche_flow_is_victim(const struct oche_flow_holds *holds, double share);

#endif
