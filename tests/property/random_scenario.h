/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random worlds, small enough that hundreds run in seconds: a pure function from a number to a
 * topology, switch and host parameters and a workload in which several senders meet at one
 * receiver. Buffers are just what the headroom needs and a little to share, so that most of these
 * worlds pause.
 */
#ifndef OCHE_TESTS_PROPERTY_RANDOM_SCENARIO_H
#define OCHE_TESTS_PROPERTY_RANDOM_SCENARIO_H

#include "sim/network/flow.h"
#include "sim/topology/topology.h"

#define RANDOM_SCENARIO_CLASSES 2 /* data and control, as hosts use; both lossless */

struct random_scenario {
    uint64_t number; /* what it was made from; also the run's seed */
    const struct oche_topology_type *topology_type;
    void *topology_params;
    struct oche_topology topology; /* built, for whoever wants to look */
    struct oche_switch_params switches;
    uint64_t shared_bytes; /* of each switch's buffer, beside headroom and reserve, at least */
    /* Hosts. */
    uint64_t mtu_bytes, ack_every_packets, window_packets;
    oche_time host_pfc_response;
    bool per_pair;    /* one connection an ordered pair of hosts, not one a flow */
    bool mixed_verbs; /* flows are WRITEs, SENDs and READs in turn; false: WRITEs */
    const char *congestion_control;
    oche_time feedback_jitter;
    struct oche_flow_plan *flows;
    uint32_t flow_count;
    uint64_t flow_bytes; /* of all flows */
    char text[1024];     /* what all this is, in one line, for a message */
};

void random_scenario_make(struct random_scenario *scenario, uint64_t number);
void random_scenario_free(struct random_scenario *scenario);

/*
 * Scales the headroom, and makes the buffer smaller or larger by the same, so that what is shared,
 * and with it every threshold, stays as it was. 1 is how scenarios are made.
 */
void random_scenario_scale_headroom(struct random_scenario *scenario, double scale);

/* The configuration of switch `number` (0 …), as the world will make it. */
void random_scenario_switch(const struct random_scenario *scenario, uint32_t number,
                            struct oche_switch_port_config *ports,
                            struct oche_switch_config *config);

#endif
