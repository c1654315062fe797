/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Thresholds that the queues of a switch cannot reach, and buffers that consist only of headroom.
 */
#include "lab/measures/unfit.h"

#include <stdio.h>

#include "params/figures.h"

#define SECTION_BYTES 32

/* Each remark names one switch, the first that it applies to. */
struct said {
    bool kmin, kmax, raised, xoff, headroom;
};

static bool reacts_to_marks(const struct oche_world_config *config)
{
    const uint32_t needs = config->endpoint != NULL ? config->endpoint->needs : config->cc->needs;

    return (needs & OCHE_CC_NEEDS_ECN) != 0;
}

/* Writes the section that has the parameters of a kind of switch: "switch", or "switch.leaf". */
static void name_section(const struct oche_world_config *config, unsigned kind, char *text)
{
    if (config->tiers[kind] != NULL)
        snprintf(text, SECTION_BYTES, "switch.%s", config->topology->tiers[kind]);
    else
        snprintf(text, SECTION_BYTES, "switch");
}

/* True if kmin is given, can be reached, and is above what kmax would be by itself. */
static bool raises_kmax(const struct oche_switch_params *params,
                        const struct oche_buffer_limits *limits)
{
    return limits->kmin < limits->queue && params->kmin_bytes != OCHE_NEVER &&
           params->kmax_bytes == OCHE_NEVER && limits->kmax == limits->kmin;
}

static void judge_marks(struct oche_unfit *unfit, const struct oche_switch_params *params,
                        const struct oche_buffer_limits *limits, const char *section,
                        const char *name, struct said *said)
{
    if (limits->kmin >= limits->queue && !said->kmin) {
        said->kmin = true;
        oche_unfit_say(unfit,
                       "%s.kmin: nothing is ever marked: marks begin above a queue of %s, and at "
                       "%s a queue has room for %s",
                       section, oche_figure_bytes(limits->kmin).text, name,
                       oche_figure_bytes(limits->queue).text);
    } else if (limits->kmin < limits->queue && limits->kmax >= limits->queue && !said->kmax) {
        said->kmax = true;
        oche_unfit_say(unfit,
                       "%s.kmax: at most %s of the packets are marked: all would be above a queue "
                       "of %s, and at %s a queue has room for %s",
                       section, oche_figure_share(limits->most_marked).text,
                       oche_figure_bytes(limits->kmax).text, name,
                       oche_figure_bytes(limits->queue).text);
    } else if (raises_kmax(params, limits) && !said->raised) {
        said->raised = true;
        oche_unfit_say(unfit,
                       "%s.kmax: auto is less than kmin, so it is raised to kmin, %s: every packet "
                       "above that queue is marked; set kmax, too",
                       section, oche_figure_bytes(limits->kmin).text);
    }
}

/* Judges when PAUSEs begin. */
static void judge_pauses(struct oche_unfit *unfit, const struct oche_buffer_limits *limits,
                         const char *section, const char *name, struct said *said)
{
    if (limits->shared < limits->frame && !said->headroom) {
        said->headroom = true;
        oche_unfit_say(unfit,
                       "%s.buffer: PAUSEs begin with the first packets: of %s at %s, %s are "
                       "headroom, and %s of the rest are there to share",
                       section, oche_figure_bytes(limits->memory).text, name,
                       oche_figure_bytes(limits->headroom).text,
                       oche_figure_bytes(limits->shared).text);
    } else if (limits->shared >= limits->frame && limits->xoff > limits->shared && !said->xoff) {
        said->xoff = true;
        oche_unfit_say(unfit,
                       "%s.xoff: PAUSEs begin only where nothing is free: they would at %s of a "
                       "port, and the ports of %s share %s",
                       section, oche_figure_bytes(limits->xoff).text, name,
                       oche_figure_bytes(limits->shared).text);
    }
}

void oche_unfit_judge_buffers(struct oche_unfit *unfit, const struct oche_world *world)
{
    const struct oche_topology *topology = oche_world_topology(world);
    const struct oche_world_config *config = oche_world_config(world);
    const bool marks = reacts_to_marks(config);
    struct said said = {.kmin = false};

    for (uint32_t i = 0; i < topology->switch_count; i++) {
        const uint32_t number = oche_topology_at_place(topology, topology->host_count + i);
        const struct oche_topology_node *node = &topology->nodes[number];
        const struct oche_buffer_limits limits =
            oche_world_buffer_limits(world, number - topology->host_count);
        const struct oche_switch_params *params = oche_world_of_tier(config, node->kind);
        char section[SECTION_BYTES];

        name_section(config, node->kind, section);
        if (marks && params->ecn)
            judge_marks(unfit, params, &limits, section, node->name, &said);
        if (limits.lossless)
            judge_pauses(unfit, &limits, section, node->name, &said);
    }
}
