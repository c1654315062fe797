/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queues that a scenario watches (measure.queues): which ports they are at, and a histogram for
 * each, for as many as fit into a bounded memory.
 */
#include <stdlib.h>

#include "fabric/chips.h"
#include "params/figures.h"
#include "sim/topology/port_list.h"
#include "sim/world/internal.h"

#define MOST_QUEUES 1024
#define MOST_STEPS  (UINT32_C(1) << 22) /* in a histogram */
#define MOST_BYTES  (UINT64_C(1) << 30) /* of histograms, and of series of queues */

static void name_watch(struct oche_world *world, struct oche_world_watched *watched, uint32_t port)
{
    watched->node = oche_port_list_node(&world->topology, port);
    watched->local = port - world->topology.nodes[watched->node].first_port;
    oche_topology_port_name(&world->topology, watched->node, watched->local, watched->name,
                            sizeof(watched->name));
}

/* Returns how many steps the port's histogram has. */
static uint32_t steps_of(const struct oche_world *world, const struct oche_world_watched *watched)
{
    struct oche_switch_port_config ports[OCHE_MAX_PORTS];
    struct oche_switch_config config;

    oche_world_switch_config(world, watched->node - world->topology.host_count, &config, ports);
    uint64_t steps = oche_switch_memory(&config) / world->config->measure.queue_step_bytes + 2;
    return steps < MOST_STEPS ? (uint32_t)steps : MOST_STEPS;
}

static bool series_fit(const struct oche_world *world, uint32_t count, struct oche_error *error)
{
    const struct oche_world_config *config = world->config;
    oche_time interval = oche_measure_interval(config);

    if (interval == 0 || config->run.duration == 0)
        return true;
    uint64_t samples = (config->run.duration - config->run.warmup) / interval;

    if (samples <= MOST_BYTES / sizeof(double) / count)
        return true;
    return oche_fail(error,
                     "measure.queues: series of %s queues with %s samples take %s of memory, and "
                     "at most %s may be used; name fewer, or make measure.interval longer",
                     oche_figure_count(count).text, oche_figure_count(samples).text,
                     oche_figure_bytes(samples * count * sizeof(double)).text,
                     oche_figure_bytes(MOST_BYTES).text);
}

static bool make_histograms(struct oche_world *world, uint32_t count, struct oche_error *error)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct oche_world_watched *watched = &world->watched[i];

        watched->watch.step_bytes = world->config->measure.queue_step_bytes;
        watched->watch.steps = steps_of(world, watched);
        bytes += watched->watch.steps * sizeof(oche_time);
    }
    if (bytes > MOST_BYTES)
        return oche_fail(error,
                         "measure.queues: histograms of %s queues take %s of memory, and at most "
                         "%s may be used; name fewer, or make measure.queue_step larger",
                         oche_figure_count(count).text, oche_figure_bytes(bytes).text,
                         oche_figure_bytes(MOST_BYTES).text);
    for (; world->watched_count < count; world->watched_count++) {
        struct oche_queue_watch *watch = &world->watched[world->watched_count].watch;

        watch->time = oche_world_make(watch->steps, sizeof(oche_time));
    }
    return true;
}

bool oche_world_build_watches(struct oche_world *world, struct oche_error *error)
{
    const char *queues = world->config->measure.queues;
    struct oche_port_list list;
    struct oche_error why;

    if (queues == NULL || *queues == '\0')
        return true;
    if (!oche_port_list_find(&world->topology, queues, OCHE_PORTS_OF_SWITCHES, &list, &why))
        return oche_fail(error, "measure.queues: %s", why.text);
    uint32_t count = list.count;
    bool fine = count <= MOST_QUEUES;

    if (!fine)
        oche_fail(error, "measure.queues: names %s queues; at most %s are watched at a time",
                  oche_figure_count(count).text, oche_figure_count(MOST_QUEUES).text);
    if (fine && count > 0) {
        world->watched = oche_world_make(count, sizeof(*world->watched));
        for (uint32_t i = 0; i < count; i++)
            name_watch(world, &world->watched[i], list.ports[i]);
        fine = series_fit(world, count, error) && make_histograms(world, count, error);
    }
    oche_port_list_free(&list);
    return fine;
}
