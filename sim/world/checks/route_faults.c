/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what is wrong with routes before the run: loops, dead ends, cyclic dependencies. */
#include <stdio.h>
#include <stdlib.h>

#include "fabric/iofd.h"
#include "params/text_stream.h"
#include "sim/world/internal.h"

/* Notes a flow whose path is a loop or a dead end. */
static void note_walk(struct oche_route_faults *faults, uint32_t flow, bool back,
                      const struct oche_walk *walk)
{
    if (walk->end == OCHE_WALK_ARRIVES)
        return;
    if (faults->lost_flows++ > 0)
        return;
    faults->lost = *walk;
    faults->lost_flow = flow;
    faults->lost_back = back;
}

bool oche_world_find_route_faults(const struct oche_world *world, struct oche_route_faults *faults)
{
    struct oche_dependencies *of[2]; /* [0]: of the class of data; [1]: of the answers' */
    struct oche_flow_walk all = oche_flow_walk(&world->flows);
    const struct oche_flow_plan *plan;
    struct oche_walk walk;

    *faults = (struct oche_route_faults){.lost = {.end = OCHE_WALK_ARRIVES}};
    if (world->config->topology->up_down && !oche_world_has_static_routes(world->config))
        return false;
    for (unsigned back = 0; back < 2; back++)
        of[back] = oche_dependencies_create(&world->topology);
    while ((plan = oche_flow_walk_next(&all)) != NULL) {
        bool arrives = true;

        for (unsigned back = 0; arrives && back < 2; back++) {
            oche_world_walk_plan(world, plan, back != 0, &walk);
            oche_dependencies_add(of[back], &walk);
            /* the request of a READ goes back in the same class as data */
            if (back != 0 && (!world->config->hosts.ack_priority || plan->verb == OCHE_VERB_READ))
                oche_dependencies_add(of[0], &walk);
            arrives = walk.end == OCHE_WALK_ARRIVES;
            note_walk(faults, all.number, back != 0, &walk);
        }
    }
    for (unsigned back = 0; back < 2; back++) {
        if (world->config->switches.pfc && faults->circle.count == 0) {
            faults->circle = oche_dependencies_circle(of[back]);
            faults->circle_cls = back != 0 ? world->class_count - 1U : OCHE_DATA_CLASS;
        }
        oche_dependencies_free(of[back]);
    }
    return faults->lost_flows > 0 || faults->circle.count > 0;
}

void oche_route_faults_free(struct oche_route_faults *faults)
{
    oche_circle_free(&faults->circle);
}

/*
 * True if deflection may lead the flow out of its loop. When its packets pass a switch for the
 * second time, they are deflected; packets of the same message that pass for the first time then
 * overtake them.
 */
static bool may_be_deflected(const struct oche_world *world, const struct oche_route_faults *faults)
{
    return faults->lost.end == OCHE_WALK_LOOPS && !faults->lost_back &&
           oche_world_mechanism(world->config, &oche_iofd) != NULL;
}

/* Prints "flow 3, host0 to host5, never arrives: its packets go round: a:b → b:a → a:b". */
static void print_lost(const struct oche_world *world, const struct oche_route_faults *faults,
                       FILE *out)
{
    const struct oche_topology *topology = &world->topology;
    const struct oche_flow_plan plan = oche_flows_plan(&world->flows, faults->lost_flow);
    const struct oche_walk *walk = &faults->lost;
    char name[OCHE_PORT_NAME_BYTES];

    fprintf(out, "flow %u, %s to %s, can %s: ", faults->lost_flow, topology->nodes[plan.src].name,
            topology->nodes[plan.dst].name,
            may_be_deflected(world, faults) ? "arrive only if it is deflected, and out of order"
            : faults->lost_back             ? "never be acknowledged"
                                            : "never arrive");
    if (walk->end == OCHE_WALK_NO_ROUTE) {
        uint32_t last = walk->ports[walk->count - 1];

        fprintf(out, "%s has no route to %s", topology->nodes[topology->ports[last].peer].name,
                topology->nodes[faults->lost_back ? plan.src : plan.dst].name);
        return;
    }
    if (walk->end == OCHE_WALK_TOO_FAR) {
        fprintf(out, "its way has more than %u links", OCHE_HOP_LIMIT);
        return;
    }
    fputs("its packets go round in a loop, ", out);
    for (uint32_t i = walk->loop - 1; i < walk->count; i++) {
        oche_topology_global_name(topology, walk->ports[i], name, sizeof(name));
        fprintf(out, "%s%s", i >= walk->loop ? " → " : "", name);
    }
}

char *oche_route_faults_lost_text(const struct oche_world *world,
                                  const struct oche_route_faults *faults)
{
    char *text = NULL;
    size_t bytes;

    if (faults->lost_flows == 0)
        return NULL;
    FILE *out = oche_text_stream_open(&text, &bytes);

    print_lost(world, faults, out);
    if (faults->lost_flows > 1)
        fprintf(out,
                may_be_deflected(world, faults) ? "; %u other%s likewise" : "; nor can %u other%s",
                faults->lost_flows - 1, faults->lost_flows > 2 ? "s" : "");
    oche_text_stream_close(out);
    return text;
}

char *oche_route_faults_circle_text(const struct oche_world *world,
                                    const struct oche_route_faults *faults)
{
    char *circle, *text = NULL;

    if (faults->circle.count == 0)
        return NULL;
    circle = oche_circle_text(&world->topology, &faults->circle);
    OCHE_GOT(asprintf(&text, "%s, class %u", circle, faults->circle_cls) >= 0);
    free(circle);
    return text;
}
