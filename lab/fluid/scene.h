/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input of a fluid model, made from a scenario: the parameters of congestion control and of the
 * switch and, for one receiver, its link, the flows to it, and their feedback delay.
 */
#ifndef OCHE_LAB_FLUID_SCENE_H
#define OCHE_LAB_FLUID_SCENE_H

#include "lab/fluid/flows.h"
#include "lab/fluid/model.h"
#include "params/error.h"
#include "sim/scenario/scenario.h"

#define OCHE_FLUID_NOTE_BYTES 512

struct oche_fluid_scene {
    struct oche_fluid_flow_list flows;
    double duration_s, warmup_s;
    double interval_s;    /* measure.interval; 0: not set */
    double payload_share; /* payload / length on the line, for a full packet */
    bool queue_watched;   /* the bottleneck is in measure.queues */
    bool all_flows;       /* every flow of the scenario is in `flows`, in the same order */
    char receiver[OCHE_TOPOLOGY_NAME_BYTES];
    /* the port that leads to the receiver: "tor0:host3" */
    char bottleneck[OCHE_PORT_NAME_BYTES];
    /* Features of the scenario that the model lacks, as a text; "" if there are none. */
    char left_out[OCHE_FLUID_NOTE_BYTES];
};

/* Returns the fluid model of the scenario's congestion control; OCHE_FLUID_NAMES: it has none. */
enum oche_fluid_name oche_fluid_scene_model(const struct oche_scenario *scenario);

/*
 * Fills `scene` and `model`, which must be initialised and not changed since. `receiver` names a
 * host; NULL: the only host that receives flows. If there are several such hosts, the error ends
 * with `remedy` ("choose with --receiver"). Returns false, with one line in `error`, on failure.
 * The caller frees the flows with oche_fluid_flows_free.
 */
bool oche_fluid_scene_take(struct oche_fluid_scene *scene, struct oche_fluid_model *model,
                           const struct oche_scenario *scenario, const char *receiver,
                           const char *remedy, struct oche_error *error);

#endif
