/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings rare events about. Every other seed does: half of these walk through the events, and with
 * each through all features; the others walk through pairs of features that are even rarer.
 */
#include <stdio.h>
#include <string.h>

#include "tests/swarm/coverage.h"
#include "tests/swarm/plan.h"

/* Events, the themes under which they happen, and the network that they need. */
static const struct {
    const char *event;
    enum draft_theme theme;
    const char *topologies; /* names, separated by bars; NULL: any */
    const char *feature;    /* or NULL */
} causes[] = {
    {"saw=deadlock", STUCK, "|from_file|", NULL},
    {"saw=deadlock", STUCK, "|from_file|", NULL},
    {"saw=deadlock", DETOURED, "|leaf_spine|clos|fat_tree|", "routes.file"},
    {"saw=deadlock", LOOPED, "|dumbbell|parking_lot|", "routes.file"},
    {"saw=deflections", DEFLECTED, "|leaf_spine|clos|fat_tree|", "mechanism=iofd"},
    {"saw=deflections", ASTRAY, "|leaf_spine|clos|fat_tree|", "mechanism=iofd"},
    {"saw=deflections", DETOURED, "|leaf_spine|clos|fat_tree|", "mechanism=iofd"},
    {"saw=failed_flows", FAILING, NULL, NULL},
    {"saw=failed_flows", LOST, NULL, NULL},
    {"saw=waits_for_credit", CREDITS, NULL, "mechanism=ib_credits"},
    {"saw=cnps", MARKED, NULL, "congestion_control=dcqcn"},
    {"saw=cnps", MARKED, NULL, "congestion_control=ib_cc"},
    {"saw=cnps", MARKED, NULL, "congestion_control=dart"},
    {"saw=cnps", STUCK, "|from_file|", "congestion_control=dcqcn"},
    {"saw=every_flow_end", LOST, NULL, NULL},
};

/* Each of these is combined with all features in turn. */
static const char *const rare[] = {
    "saw=deadlock",
    "saw=deflections",
    "saw=failed_flows",
    "saw=deflections",
    "saw=cnps",
    "routes.file",
    "saw=cnps",
    "saw=deflections",
    "host.window",
    "failures.where",
    "saw=waits_for_credit",
    "saw=every_flow_end",
    "workload=background",
};

/*
 * Rare pairs of features, a third one that helps, and the theme that brings them; CALM: the theme
 * of the event, or any.
 */
static const struct {
    const char *names[3];
    enum draft_theme theme;
} pairs[] = {
    {{"congestion_control=dctcp", "saw=deadlock"}, STUCK},
    {{"congestion_control=tcp", "saw=deadlock"}, STUCK},
    {{"congestion_control=rcp", "saw=deadlock"}, LOOPED},
    {{"congestion_control=ib_cc", "saw=deadlock"}, CALM},
    {{"congestion_control=dctcp", "saw=failed_flows"}, LOST},
    {{"congestion_control=tcp", "saw=failed_flows"}, LOST},
    {{"congestion_control=rogue", "saw=failed_flows"}, LOST},
    {{"congestion_control=expresspass", "routes.file", "topology=leaf_spine"}, CROWDED},
    {{"congestion_control=dctcp", "routes.file"}, CROWDED},
    {{"routes.file", "saw=deflections"}, DEFLECTED},
    {{"saw=deflections", "saw=deadlock", "topology=leaf_spine"}, DETOURED},
    {{"saw=deflections", "saw=deadlock", "topology=fat_tree"}, DETOURED},
    {{"saw=deflections", "saw=deadlock", "topology=leaf_spine"}, DETOURED},
    {{"workload=background", "saw=deflections", "workload=incast_groups"}, DEFLECTED},
    {{"saw=deflections", "saw=failed_flows"}, ASTRAY},
    {{"saw=deflections", "switch.port_buffer", "switch.pfc"}, DEFLECTED},
    {{"saw=deflections", "switch.chip"}, DEFLECTED},
    {{"saw=deflections", "host.window"}, DEFLECTED},
    {{"saw=cnps", "saw=deadlock", "congestion_control=dcqcn"}, LOOPED},
    {{"saw=failed_flows", "saw=deadlock", ".stop_when_done"}, GIVEN_UP},
    {{"saw=every_flow_end", "saw=deadlock", ".stop_when_done"}, GIVEN_UP},
    {{"topology=clos", "saw=deadlock"}, DETOURED},
    {{"topology=fat_tree", "saw=deadlock"}, DETOURED},
    {{"topology=leaf_spine", "saw=deadlock"}, CALM},
    {{"topology=parking_lot", "saw=deadlock"}, LOOPED},
    {{"topology=dumbbell", "saw=deadlock"}, LOOPED},
    {{"workload=background", "saw=deadlock"}, STUCK},
    {{"workload=poisson_cdf", "saw=deadlock"}, STUCK},
    {{"workload=closed_cdf", "saw=deadlock"}, STUCK},
    {{"workload=from_file", "saw=deadlock"}, STUCK},
    {{"workload=long_flows", "saw=deadlock"}, STUCK},
    {{"workload=incast", "saw=deadlock"}, STUCK},
    {{"workload=incast_groups", "saw=deadlock"}, STUCK},
    {{"workload=transfers", "saw=deadlock"}, STUCK},
    {{"workload=background", "saw=every_flow_end"}, LOST},
    {{"workload=long_flows", "saw=every_flow_end"}, LOST},
    {{"workload=closed_cdf", "saw=every_flow_end"}, LOST},
    {{"workload=poisson_cdf", "saw=failed_flows"}, LOST},
    {{"failures.switch", "saw=deadlock"}, STUCK},
    {{"failures.where", "saw=deadlock"}, STUCK},
    {{"failures.random", "saw=deadlock"}, STUCK},
    {{"host.window", "saw=deadlock"}, STUCK},
    {{"switch.port_buffer", "saw=failed_flows", "switch.pfc"}, LOST},
    {{"switch.port_buffer", "failures.where"}, CUT},
    {{"switch.chip", "saw=failed_flows"}, LOST},
    {{"routes.file", "saw=cnps"}, MARKED},
    {{"congestion_control=expresspass", "saw=timeouts"}, LOST},
    {{"failures.link", "failures.until", "saw=deadlock"}, STUCK},
    {{"workload=poisson_cdf", "workload=closed_cdf"}, CALM},
    {{"workload=poisson_cdf", "workload=from_file"}, CALM},
    {{"workload=closed_cdf", "workload=from_file"}, CALM},
    {{"workload=background", "workload=from_file"}, CALM},
    {{"workload=background", "workload=closed_cdf"}, CALM},
    {{"workload=from_file", "saw=deflections", "workload=incast_groups"}, DEFLECTED},
    {{"host.priority_upto", "saw=deflections"}, DEFLECTED},
    {{"host.feedback_jitter", "saw=deflections"}, DEFLECTED},
};

static const char *required_topology(const struct draw *draw)
{
    for (uint32_t i = 0; i < draw->required_count; i++)
        if (strcmp(draw->required[i].section->name, "topology") == 0)
            return draw->required[i].section->variants[draw->required[i].variant].name;
    return NULL;
}

static bool requires_workload(const struct draw *draw)
{
    for (uint32_t i = 0; i < draw->required_count; i++)
        if (strcmp(draw->required[i].section->name, "workload") == 0)
            return true;
    return false;
}

/* Chooses a theme and network for the event; they must fit a required topology. */
static void bring_about(struct draw *draw, const char *event, bool with_theme)
{
    const char *topology = required_topology(draw);
    size_t taken = OCHE_COUNT_OF(causes);
    uint64_t fit = 0;
    char name[40];

    snprintf(name, sizeof(name), "|%s|", topology != NULL ? topology : "");
    for (size_t i = 0; i < OCHE_COUNT_OF(causes); i++)
        if (strcmp(causes[i].event, event) == 0 && (with_theme || causes[i].theme == draw->theme) &&
            (causes[i].topologies == NULL || topology == NULL ||
             strstr(causes[i].topologies, name) != NULL) &&
            draw_one_in(draw, ++fit))
            taken = i;
    if (taken == OCHE_COUNT_OF(causes))
        return;
    draw->theme = causes[taken].theme;
    if (causes[taken].feature != NULL)
        draft_require(draw, causes[taken].feature);
    /* A permutation makes the ring wait; another workload is added. */
    if (strcmp(event, "saw=deadlock") == 0 && requires_workload(draw))
        draft_require(draw, "workload=permutation");
}

static void require_pair(struct draw *draw, size_t number)
{
    bool with_theme = pairs[number].theme == CALM;

    if (!with_theme)
        draw->theme = pairs[number].theme;
    for (size_t i = 0; i < 3 && pairs[number].names[i] != NULL; i++)
        draft_require(draw, pairs[number].names[i]);
    for (size_t i = 0; i < 3 && pairs[number].names[i] != NULL; i++)
        if (strncmp(pairs[number].names[i], "saw=", 4) == 0)
            bring_about(draw, pairs[number].names[i], with_theme);
}

/* Returns the next feature from `number` on that can occur together with `name`. */
static void require_other(struct draw *draw, const char *name, uint64_t number)
{
    char other[64];

    while (draft_name_number(draw, number, other, sizeof(other)),
           coverage_impossible(name, other) != NULL)
        number++;
    draft_require_number(draw, number);
}

void draft_rare_event(struct draw *draw, uint64_t number)
{
    draw->theme = (unsigned)draw_below(draw, BY_TURN);
    if (number % 2 == 0) {
        require_pair(draw, number / 2 % OCHE_COUNT_OF(pairs));
        return;
    }
    const char *name = rare[number / 2 % OCHE_COUNT_OF(rare)];

    require_other(draw, name, number / 2 / OCHE_COUNT_OF(rare));
    if (!draft_require(draw, name))
        bring_about(draw, name, true);
}

bool draft_rare_pair(size_t number, const char *names[2])
{
    if (number >= OCHE_COUNT_OF(pairs))
        return false;
    names[0] = pairs[number].names[0];
    names[1] = pairs[number].names[1];
    return true;
}
