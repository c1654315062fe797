/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the effects of PFC on a network. */
#include "lab/measures/pathologies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/figures.h"

#define HOT_SPOTS 3  /* most hot spots that are shown */
#define LINES     12 /* most lines for one hot spot, including the hot spot's own */

/* The forest of PAUSEs in the order in which it is shown: each node before those below it. */
struct forest {
    const struct oche_pause_node *nodes;
    uint32_t *order; /* node at each position */
    uint32_t *place; /* position of each node */
    bool *shown;     /* whether the node at each position is shown */
    uint32_t *senders;
    uint32_t count;
};

static const struct oche_pause_node *node_at(const struct forest *forest, uint32_t position)
{
    return &forest->nodes[forest->order[position]];
}

/* Returns the position after the last node below the node at `position`. */
static uint32_t end_of_branch(const struct forest *forest, uint32_t position)
{
    uint32_t end = position + 1;

    while (end < forest->count && node_at(forest, end)->depth > node_at(forest, position)->depth)
        end++;
    return end;
}

/*
 * Chooses the lines that are shown for a hot spot. Each further line is the branch that was held
 * longest among the branches whose parent is shown already.
 */
static void choose(struct forest *forest, uint32_t root)
{
    uint32_t end = end_of_branch(forest, root);

    forest->shown[root] = true;
    for (unsigned line = 1; line < LINES; line++) {
        uint32_t best = end;

        for (uint32_t i = root + 1; i < end; i++) {
            if (forest->shown[i] || !forest->shown[forest->place[node_at(forest, i)->parent]])
                continue;
            if (best == end || node_at(forest, i)->held > node_at(forest, best)->held)
                best = i;
        }
        if (best == end)
            return;
        forest->shown[best] = true;
    }
}

static uint32_t hidden_below(const struct forest *forest, uint32_t position)
{
    uint32_t end = end_of_branch(forest, position), hidden = 0;

    for (uint32_t i = position + 1; i < end; i++)
        hidden += node_at(forest, i)->parent == forest->order[position] && !forest->shown[i];
    return hidden;
}

static void add_line(struct oche_pathologies *pathologies, const struct forest *forest,
                     uint32_t position, const struct oche_topology *topology)
{
    const struct oche_pause_node *node = node_at(forest, position);
    struct oche_pause_line *line = &pathologies->lines[pathologies->line_count++];

    *line = (struct oche_pause_line){
        .depth = node->depth,
        .cls = node->cls,
        .senders = node->depth == 0 ? forest->senders[forest->order[position]] : 0,
        .hidden = hidden_below(forest, position),
        .returns = node->returns,
        .pauses = node->pauses,
        .held = node->held,
        .first = node->first,
        .last = node->last,
    };
    if (node->port != OCHE_NO_PORT)
        oche_topology_global_name(topology, node->port, line->port, sizeof(line->port));
}

static void take_lines(struct oche_pathologies *pathologies, const struct oche_world *world)
{
    const struct oche_pause_tree *tree = oche_world_pause_tree(world);
    struct forest forest;
    uint32_t all;

    forest.nodes = oche_pause_tree_nodes(tree, &all);
    forest.order = calloc(all + 1, sizeof(*forest.order));
    forest.place = calloc(all + 1, sizeof(*forest.place));
    forest.shown = calloc(all + 1, sizeof(*forest.shown));
    forest.senders = calloc(all + 1, sizeof(*forest.senders));
    OCHE_GOT(forest.order != NULL && forest.place != NULL && forest.shown != NULL &&
             forest.senders != NULL);
    forest.count = oche_pause_tree_order(tree, forest.order);
    if (forest.count > 0)
        oche_world_pause_senders(world, forest.senders);
    for (uint32_t i = 0; i < forest.count; i++)
        forest.place[forest.order[i]] = i;
    for (uint32_t i = 0; i < forest.count; i++) {
        if (node_at(&forest, i)->depth > 0)
            continue;
        if (pathologies->hot_spots++ < HOT_SPOTS)
            choose(&forest, i);
    }
    pathologies->hot_spots_shown =
        pathologies->hot_spots < HOT_SPOTS ? pathologies->hot_spots : HOT_SPOTS;
    pathologies->lines = calloc(HOT_SPOTS * LINES, sizeof(*pathologies->lines));
    OCHE_GOT(pathologies->lines != NULL);
    for (uint32_t i = 0; i < forest.count; i++)
        if (forest.shown[i])
            add_line(pathologies, &forest, i, oche_world_topology(world));
    free(forest.order);
    free(forest.place);
    free(forest.shown);
    free(forest.senders);
}

static void note_worst(struct oche_pathologies *pathologies, const struct oche_world *world,
                       uint32_t flow, const struct oche_flow_pause_loss *holds)
{
    const struct oche_topology *topology = oche_world_topology(world);
    const struct oche_flow_plan *plan = &oche_world_flows(world)->plan[flow];
    uint32_t count;
    const struct oche_pause_node *nodes =
        oche_pause_tree_nodes(oche_world_pause_tree(world), &count);

    pathologies->worst_share = (double)holds->lost / (double)holds->life;
    pathologies->worst_lost = holds->lost;
    pathologies->worst_life = holds->life;
    snprintf(pathologies->worst_flow, sizeof(pathologies->worst_flow), "%s to %s",
             topology->nodes[plan->src].name, topology->nodes[plan->dst].name);
    oche_topology_global_name(topology, nodes[holds->root].port, pathologies->worst_root,
                              sizeof(pathologies->worst_root));
}

static void take_victims(struct oche_pathologies *pathologies, struct oche_world *world)
{
    const struct oche_world_config *config = oche_world_config(world);
    const struct oche_flows *flows = oche_world_flows(world);
    uint64_t measured = 0;

    pathologies->share_limit = config->measure.victim_share;
    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        struct oche_flow_pause_loss holds;

        if (flows->sent[i].started == OCHE_NEVER || flows->sent[i].started < config->run.warmup)
            continue;
        measured++;
        oche_world_flow_pause_loss(world, i, &holds);
        pathologies->victims += oche_flow_is_victim(&holds, pathologies->share_limit);
        if (holds.lost > 0 && (double)holds.lost / (double)holds.life > pathologies->worst_share)
            note_worst(pathologies, world, i, &holds);
    }
    if (measured > 0)
        pathologies->victim_share = (double)pathologies->victims / (double)measured;
}

static void take_stops(struct oche_pathologies *pathologies, const struct oche_world *world)
{
    const struct oche_deadlock *deadlock = oche_world_deadlock(world);
    struct oche_route_faults faults;

    if (deadlock != NULL) {
        pathologies->deadlock = oche_deadlock_text(world, deadlock);
        pathologies->deadlock_since = deadlock->since;
        pathologies->deadlock_noticed = deadlock->noticed;
        pathologies->stuck_ports = deadlock->stuck_ports;
        pathologies->stuck_bytes = deadlock->stuck_bytes;
    }
    pathologies->waiting = oche_world_waiting_text(world);
    pathologies->at_bound = oche_world_ended(world) == OCHE_END_BOUND;
    if (!oche_world_find_route_faults(world, &faults))
        return;
    pathologies->circle = oche_route_faults_circle_text(world, &faults);
    pathologies->lost_flows = oche_route_faults_lost_text(world, &faults);
    oche_route_faults_free(&faults);
}

void oche_pathologies_take(struct oche_pathologies *pathologies, struct oche_world *world)
{
    *pathologies = (struct oche_pathologies){.unnoted = oche_world_pauses_unnoted(world)};
    take_lines(pathologies, world);
    take_victims(pathologies, world);
    take_stops(pathologies, world);
}

void oche_pathologies_free(struct oche_pathologies *pathologies)
{
    free(pathologies->lines);
    free(pathologies->deadlock);
    free(pathologies->waiting);
    free(pathologies->circle);
    free(pathologies->lost_flows);
    *pathologies = (struct oche_pathologies){.lines = NULL};
}

/* Returns the line on a deadlock (malloc'd); NULL if there is none. */
static char *deadlock_line(const struct oche_pathologies *pathologies)
{
    char *line = NULL;

    if (pathologies->deadlock == NULL)
        return NULL;
    OCHE_GOT(asprintf(&line,
                      "deadlock since %s, noticed at %s: %s; each port waits for the next; %u "
                      "ports of switches, with %s, can never send again",
                      oche_figure_time(pathologies->deadlock_since).text,
                      oche_figure_time(pathologies->deadlock_noticed).text, pathologies->deadlock,
                      pathologies->stuck_ports,
                      oche_figure_bytes(pathologies->stuck_bytes).text) >= 0);
    return line;
}

char *oche_pathologies_stop_line(const struct oche_pathologies *pathologies)
{
    char *line = deadlock_line(pathologies);

    if (line == NULL && pathologies->waiting != NULL) {
        line = strdup(pathologies->waiting);
        OCHE_GOT(line != NULL);
    }
    return line;
}
