/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links that become slow or lose packets, as the scenario's list `failures` says. Each direction of
 * a link is a port that sends. Where entries overlap, the lowest speed applies, and a packet must
 * survive each loss. Switches go on as before: no route changes, and thresholds that depend on a
 * port's rate stay as they are.
 */
#include <stdlib.h>

#include "params/error.h"
#include "sim/world/run/failures.h"

/* A port that is slow or lossy at from <= t < until. */
struct spell {
    uint32_t node, port;
    oche_time from, until;
    double speed, loss;
};

/* ---- spells ---- */

static size_t most_spells(const struct oche_world *world)
{
    size_t count = 0;

    for (uint32_t i = 0; i < world->config->failure_count; i++)
        if (oche_failure_degrades(&world->config->failures[i]))
            count += 2 * (size_t)world->failures->entries[i].count;
    return count;
}

size_t oche_world_degraded_most(const struct oche_world *world)
{
    return 4 * most_spells(world); /* of both ends, at the beginning and at the end */
}

static int compare(const void *a, const void *b)
{
    const struct spell *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->port < y->port ? -1 : x->port > y->port;
}

/* Lists the spells of an entry. Returns how many. */
static size_t add_entry(const struct oche_world *world, uint32_t number, struct spell *spells)
{
    const struct oche_failure_params *params = &world->config->failures[number];
    const struct oche_world_failure *entry = &world->failures->entries[number];
    size_t count = 0;

    for (uint32_t i = 0; i < entry->count; i++) {
        const struct oche_topology_link *link = &world->topology.links[entry->links[i]];

        for (unsigned b = 0; b < 2; b++) {
            const bool out = (b == 1) == entry->from_b[i];

            if (params->direction == (out ? OCHE_FAILURE_IN : OCHE_FAILURE_OUT))
                continue;
            spells[count++] = (struct spell){.node = b ? link->b : link->a,
                                             .port = b ? link->port_b : link->port_a,
                                             .from = entry->from,
                                             .until = entry->until,
                                             .speed = params->speed > 0 ? params->speed : 1,
                                             .loss = params->loss};
        }
    }
    return count;
}

/* ---- changes ---- */

/* Gives the port an object that decides which packets it loses. */
static void make_lossy(struct oche_world *world, const struct spell *of)
{
    struct oche_world_failures *failures = world->failures;
    const uint32_t number = world->network.nodes[of->node].first_port + of->port;
    struct oche_loss *loss = malloc(oche_loss_bytes(NULL));

    OCHE_GOT(loss != NULL);
    /* another stream than that of the section `loss` */
    world->network.extras[number].grey =
        oche_loss_create(loss, 0, NULL, world->config->seed, UINT64_C(1) << 32 | number);
    failures->losses[failures->loss_count++] = loss;
}

/* The port is at `time` as its spells say. */
static void add_state(struct oche_world *world, const struct spell *spells, size_t count,
                      oche_time time)
{
    const struct oche_topology_port *at =
        oche_topology_port(&world->topology, spells->node, spells->port);
    double speed = 1, survives = 1;

    for (size_t i = 0; i < count; i++) {
        if (time < spells[i].from || time >= spells[i].until)
            continue;
        speed = spells[i].speed < speed ? spells[i].speed : speed;
        survives *= 1 - spells[i].loss;
    }

    const double bps = (double)world->topology.links[at->link].rate_bps * speed;
    const uint64_t rate_bps = bps < 1 ? 1 : (uint64_t)bps;
    struct oche_change *change =
        oche_world_add_change(world, spells->node, spells->port, time, OCHE_CHANGE_SENDS);

    change->rate_bps = rate_bps;
    change->loss = (uint64_t)((1 - survives) * 0x1p63);
    oche_world_add_change(world, at->peer, at->peer_port, time, OCHE_CHANGE_RECEIVES)->rate_bps =
        rate_bps;
}

/* Adds the changes of one port. */
static void add_port(struct oche_world *world, const struct spell *spells, size_t count)
{
    bool lossy = false;

    for (size_t i = 0; i < count; i++) {
        const oche_time times[] = {spells[i].from, spells[i].until};

        lossy = lossy || spells[i].loss > 0;
        for (unsigned k = 0; k < 2; k++) {
            bool is_new = true; /* no spell before has a change at this time */

            for (size_t j = 0; j < i; j++)
                is_new = is_new && spells[j].from != times[k] && spells[j].until != times[k];
            if (is_new)
                add_state(world, spells, count, times[k]);
        }
    }
    if (lossy)
        make_lossy(world, spells);
}

void oche_world_degraded_build(struct oche_world *world)
{
    struct spell *spells = oche_world_make(most_spells(world), sizeof(*spells));
    size_t count = 0, next;

    for (uint32_t i = 0; i < world->config->failure_count; i++)
        if (oche_failure_degrades(&world->config->failures[i]))
            count += add_entry(world, i, spells + count);
    if (count > 0)
        qsort(spells, count, sizeof(*spells), compare);
    world->failures->losses = oche_world_make(count, sizeof(struct oche_loss *));
    for (size_t i = 0; i < count; i = next) {
        for (next = i; next < count && compare(&spells[i], &spells[next]) == 0;)
            next++;
        add_port(world, &spells[i], next - i);
    }
    free(spells);
}
