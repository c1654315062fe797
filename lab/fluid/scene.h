/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a fluid model can take from a scenario: the parameters of congestion control and of the
 * switch, and of one receiver the link, the flows that go there and how late they hear.
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
    double interval_s;    /* of measure; 0: none */
    double payload_share; /* of what a full packet is on the line */
    bool queue_watched;   /* the bottleneck is in measure.queues */
    bool all_flows;       /* every flow of the scenario is in `flows`, in the same order */
    char receiver[OCHE_TOPOLOGY_NAME_BYTES];
    char bottleneck[2 * OCHE_TOPOLOGY_NAME_BYTES]; /* the port that leads there: "tor0:host3" */
    /* What the scenario says and the model does not have; "" if there is nothing. */
    char left_out[OCHE_FLUID_NOTE_BYTES];
};

/* The model that the scenario's congestion control has, or OCHE_FLUID_NAMES. */
enum oche_fluid_name oche_fluid_scene_model(const struct oche_scenario *scenario);

/*
 * Fills `model` (initialised, with nothing set yet) and `scene`. `receiver` names a host, NULL:
 * the only one that flows go to; `remedy` says what to do if there are several ("choose with
 * --receiver"). False and one line in `error`. The flows are freed by oche_fluid_flows_free.
 */
bool oche_fluid_scene_take(struct oche_fluid_scene *scene, struct oche_fluid_model *model,
                           const struct oche_scenario *scenario, const char *receiver,
                           const char *remedy, struct oche_error *error);

#endif
