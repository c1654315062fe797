/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random worlds, small enough that hundreds run in seconds. A pure function turns a number into a
 * topology, parameters of switches and hosts, and a workload in which several senders meet at one
 * receiver. Buffers have just enough for the headroom and a little to share, so that most of these
 * worlds pause.
 */
#ifndef OCHE_TESTS_PROPERTY_RANDOM_SCENARIO_H
#define OCHE_TESTS_PROPERTY_RANDOM_SCENARIO_H

#include "sim/network/flow.h"
#include "sim/topology/topology.h"

#define RANDOM_SCENARIO_CLASSES 2 /* data and control, as hosts use them; both are lossless */

struct random_scenario {
    uint64_t number; /* the number it was made from; also the run's seed */
    const struct oche_topology_type *topology_type;
    void *topology_params;
    struct oche_topology topology; /* topology that is built for tests that read it */
    struct oche_switch_params switches;
    uint64_t
        shared_bytes; /* least shared bytes of each switch's buffer, beside headroom and reserve */
    /* Hosts. */
    uint64_t mtu_bytes, ack_every_packets, window_packets;
    oche_time host_pfc_response;
    bool per_pair;    /* one connection for each ordered pair of hosts, not for each flow */
    bool mixed_verbs; /* flows are WRITEs, SENDs and READs in turn; false: WRITEs */
    const char *congestion_control;
    oche_time feedback_jitter;
    struct oche_flow_plan *flows;
    uint32_t flow_count;
    uint64_t flow_bytes; /* bytes of all flows */
    char text[1024];     /* a description in one line, for messages */
};

void random_scenario_make(struct random_scenario *scenario, uint64_t number);
void random_scenario_free(struct random_scenario *scenario);

/*
 * Scales the headroom, and changes the buffer by the same number of bytes. So the shared part, and
 * with it every threshold, stays. 1 is the scale of new scenarios.
 */
void random_scenario_scale_headroom(struct random_scenario *scenario, double scale);

/* Returns the configuration of switch `number` (0 …) as the world will build it. */
void random_scenario_switch(const struct random_scenario *scenario, uint32_t number,
                            struct oche_switch_port_config *ports,
                            struct oche_switch_config *config);

#endif
