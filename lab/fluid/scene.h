/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a fluid model can take from a scenario: the parameters of congestion control and of the
 * switch and, for one receiver, the link, the flows to it, and their feedback delay.
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
    double interval_s;    /* measure.interval; 0: none */
    double payload_share; /* share of payload in a full packet on the line */
    bool queue_watched;   /* the bottleneck is in measure.queues */
    bool all_flows;       /* every flow of the scenario is in `flows`, in the same order */
    char receiver[OCHE_TOPOLOGY_NAME_BYTES];
    char bottleneck[2 * OCHE_TOPOLOGY_NAME_BYTES]; /* the port that leads to it: "tor0:host3" */
    /* What the scenario has and the model lacks; "" if nothing. */
    char left_out[OCHE_FLUID_NOTE_BYTES];
};

/* Returns the model of the scenario's congestion control, or OCHE_FLUID_NAMES if it has none. */
enum oche_fluid_name oche_fluid_scene_model(const struct oche_scenario *scenario);

/*
 * Fills `model` (initialised, with nothing set yet) and `scene`. `receiver` names a host; NULL: the
 * only one that flows go to. `remedy` tells what to do if there are several ("choose with
 * --receiver"). Returns false, with one line in `error`. The flows must be released with
 * oche_fluid_flows_free.
 */
bool oche_fluid_scene_take(struct oche_fluid_scene *scene, struct oche_fluid_model *model,
                           const struct oche_scenario *scenario, const char *receiver,
                           const char *remedy, struct oche_error *error);

#endif
