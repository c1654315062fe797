/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The PAUSEs of a run. From time to time, between windows, adds the nodes' notes to the forest
 * of PAUSEs (sim/measure/pause_tree.h) and checks for deadlock; after the run, tells the time that
 * flows lost. The times of these checks depend only on simulated time, so the result is the same
 * for any number of threads.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/world/internal.h"
#include "sim/world/results/readings.h"

/* ---- notes ---- */

void oche_world_pauses_start(struct oche_world *world)
{
    const struct oche_pause_tree_config config = {
        .topology = &world->topology,
        .switch_response = world->config->switches.pfc_response,
        .host_response = world->config->hosts.pfc_response,
        .from = world->config->run.warmup,
    };

    world->pause_tree = oche_pause_tree_create(&config);
}

void oche_world_pauses_free(struct oche_world *world)
{
    oche_pause_tree_free(world->pause_tree);
    oche_circle_free(&world->deadlock.circle);
    free(world->notes);
}

static int compare_notes(const void *a, const void *b)
{
    const struct oche_pause_note *x = a, *y = b;

    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    return x->cls < y->cls ? -1 : x->cls > y->cls;
}

/* Appends the notes of this process's nodes. Returns true if there were any so far. */
static bool take_own_notes(struct oche_world *world)
{
    struct oche_network *network = &world->network;
    size_t count = world->note_count;
    bool any = false;

    for (uint32_t i = 0; i < network->node_count; i++) {
        any |= network->nodes[i].pauses != NULL;
        count += network->nodes[i].pauses == NULL ? 0 : network->nodes[i].pauses->count;
    }
    if (count == world->note_count)
        return any;
    world->notes = realloc(world->notes, count * sizeof(*world->notes));
    OCHE_GOT(world->notes != NULL);
    count = world->note_count;
    for (uint32_t i = 0; i < network->node_count; i++) {
        struct oche_pause_notes *of = network->nodes[i].pauses;

        if (of == NULL || of->count == 0)
            continue;
        memcpy(&world->notes[count], of->notes, of->count * sizeof(*world->notes));
        count += of->count;
        of->count = 0;
    }
    world->note_count = count;
    return any;
}

/* Gives rank 0 the notes of all others. Returns true if any rank has had any so far. */
static bool send_notes(struct oche_world *world, bool any)
{
    struct oche_ranks *ranks = world->network.ranks;
    const uint8_t flag = any;

    if (ranks == NULL)
        return any;
    for (uint32_t r = 0; r < ranks->count; r++)
        oche_rank_put(oche_ranks_to(ranks, r), &flag, sizeof(flag));
    if (ranks->rank != 0) {
        oche_rank_put(oche_ranks_to(ranks, 0), world->notes,
                      world->note_count * sizeof(*world->notes));
        world->note_count = 0;
    }
    oche_ranks_exchange(ranks);
    for (uint32_t r = 0; r < ranks->count; r++) {
        struct oche_rank_bytes *bytes = oche_ranks_from(ranks, r);
        uint8_t of;

        oche_rank_get(bytes, &of, sizeof(of));
        any = any || of != 0;
        size_t more = (bytes->count - bytes->read) / sizeof(*world->notes);

        if (more == 0)
            continue;
        world->notes = realloc(world->notes, (world->note_count + more) * sizeof(*world->notes));
        OCHE_GOT(world->notes != NULL);
        oche_rank_get(bytes, &world->notes[world->note_count], more * sizeof(*world->notes));
        world->note_count += more;
    }
    return any;
}

/* Appends the notes of all nodes, in order of time. Returns true if there were any so far. */
static bool take_notes(struct oche_world *world)
{
    const size_t sorted = world->note_count;
    const bool any = send_notes(world, take_own_notes(world));

    if (world->note_count > sorted)
        qsort(&world->notes[sorted], world->note_count - sorted, sizeof(*world->notes),
              compare_notes);
    return any;
}

/* Gives the tree the notes before `until`. */
static void give_notes(struct oche_world *world, oche_time until)
{
    size_t given = 0;

    while (given < world->note_count && world->notes[given].time < until)
        oche_pause_tree_note(world->pause_tree, &world->notes[given++]);
    world->note_count -= given;
    if (world->note_count > 0)
        memmove(world->notes, &world->notes[given], world->note_count * sizeof(*world->notes));
}

bool oche_world_pauses_check(struct oche_world *world)
{
    oche_time now = world->network.now, delay = oche_pause_tree_delay(world->pause_tree);

    if (now < world->pauses_check_at)
        return world->deadlock.found;
    world->pauses_check_at = oche_time_add(now, OCHE_DEADLOCK_PATIENCE);
    if (!take_notes(world))
        return false;
    give_notes(world, now > delay ? now - delay : 0);
    if (!world->deadlock.found)
        oche_world_deadlock_check(world);
    return world->deadlock.found;
}

void oche_world_pauses_finish(struct oche_world *world)
{
    /* The last look may have been just before this, and when it was depends on what is measured. */
    if (take_notes(world) && !world->deadlock.found)
        oche_world_deadlock_check(world);
    oche_pause_tree_end(world->pause_tree, world->network.now);
    give_notes(world, OCHE_NEVER);
    oche_pause_tree_finish(world->pause_tree);
}

/* ---- reading ---- */

const struct oche_pause_tree *oche_world_pause_tree(const struct oche_world *world)
{
    return world->pause_tree;
}

uint64_t oche_world_pauses_unnoted(const struct oche_world *world)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < world->network.node_count; i++)
        if (world->network.nodes[i].pauses != NULL)
            sum += world->network.nodes[i].pauses->dropped;
    return sum + (world->gathered == NULL ? 0 : world->gathered->pauses_unnoted);
}

const struct oche_deadlock *oche_world_deadlock(const struct oche_world *world)
{
    return world->deadlock.found ? &world->deadlock : NULL;
}

void oche_world_walk_plan(const struct oche_world *world, const struct oche_flow_plan *plan,
                          bool back, struct oche_walk *walk)
{
    oche_topology_walk(&world->topology, world->used_routes.of, world->config->seed,
                       oche_world_symmetric(world->config), back ? plan->dst : plan->src,
                       back ? plan->src : plan->dst,
                       oche_host_flow_hash(world->config->seed, plan->connection), walk);
}

void oche_world_walk(const struct oche_world *world, uint32_t flow, bool back,
                     struct oche_walk *walk)
{
    oche_world_walk_plan(world, &world->flows.plan[flow], back, walk);
}

/*
 * Returns the time at which the flow was delivered or failed; for other flows, the end of the run.
 */
static oche_time end_of(const struct oche_world *world, uint32_t flow)
{
    if (world->flows.received[flow].delivered != OCHE_NEVER)
        return world->flows.received[flow].delivered;
    if (world->flows.sent[flow].completed != OCHE_NEVER)
        return world->flows.sent[flow].completed;
    return world->network.now;
}

/*
 * Returns the time that the received part of an unfinished flow takes at the slowest link of its
 * path.
 */
static oche_time least_time(const struct oche_world *world, uint32_t flow,
                            const struct oche_walk *walk)
{
    const struct oche_topology *topology = &world->topology;
    uint64_t slowest = UINT64_MAX;

    for (uint32_t i = 0; i < walk->count; i++) {
        uint64_t rate = topology->links[topology->ports[walk->ports[i]].link].rate_bps;

        slowest = rate < slowest ? rate : slowest;
    }
    return oche_time_of_bytes(oche_world_flow_bytes(world, flow), slowest);
}

/* Returns the class of a flow's data; with several lanes, the lane in which packets start. */
static unsigned data_class(const struct oche_world *world, uint32_t flow)
{
    return world->flows.plan[flow].priority ? world->lanes : OCHE_DATA_CLASS;
}

void oche_world_flow_pause_loss(struct oche_world *world, uint32_t flow,
                                struct oche_flow_pause_loss *holds)
{
    oche_time begun = world->flows.sent[flow].started, alone;
    uint32_t nodes;
    struct oche_walk walk;

    *holds = (struct oche_flow_pause_loss){.root = OCHE_NO_PAUSE_NODE};
    oche_pause_tree_nodes(world->pause_tree, &nodes);
    if (begun == OCHE_NEVER)
        return;
    holds->life = end_of(world, flow) - begun;
    if (nodes == 0)
        return; /* there was no PAUSE */
    oche_world_walk(world, flow, false, &walk);
    alone = world->flows.received[flow].delivered != OCHE_NEVER ? oche_world_ideal_time(world, flow)
                                                                : least_time(world, flow, &walk);
    oche_flow_pause_loss_of(world->pause_tree, &walk, data_class(world, flow), begun,
                            end_of(world, flow), alone, holds);
}

/* ---- which hosts send to the hot spots ---- */

struct senders {
    const struct oche_world *world;
    const struct oche_pause_node *nodes;
    uint32_t *root_at; /* by port and class: the root there, or OCHE_NO_PAUSE_NODE */
    uint64_t *pairs;   /* each: root << 32 | host that sent through the root's port */
    size_t count, capacity;
};

static void add_senders(struct senders *senders, uint32_t flow, unsigned cls, uint32_t host)
{
    const struct oche_world *world = senders->world;
    oche_time begun = world->flows.sent[flow].started, ended = end_of(world, flow);
    struct oche_walk walk;

    oche_world_walk(world, flow, cls + 1U == world->class_count, &walk);
    for (uint32_t i = 0; i < walk.count; i++) {
        uint32_t node = senders->root_at[walk.ports[i] * OCHE_CLASSES + cls];

        if (node == OCHE_NO_PAUSE_NODE || ended <= senders->nodes[node].first ||
            begun >= senders->nodes[node].last)
            continue;
        if (senders->count == senders->capacity) {
            senders->capacity = senders->capacity == 0 ? 1024 : senders->capacity * 2;
            senders->pairs = realloc(senders->pairs, senders->capacity * sizeof(*senders->pairs));
            OCHE_GOT(senders->pairs != NULL);
        }
        senders->pairs[senders->count++] = (uint64_t)node << 32 | host;
    }
}

static int compare_pairs(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

void oche_world_pause_senders(const struct oche_world *world, uint32_t *count_of)
{
    struct senders senders = {.world = world};
    size_t places = (size_t)world->network.port_count * OCHE_CLASSES;
    bool any[OCHE_CLASSES] = {false};
    uint32_t nodes;

    senders.nodes = oche_pause_tree_nodes(world->pause_tree, &nodes);
    senders.root_at = oche_world_make(places, sizeof(*senders.root_at));
    memset(senders.root_at, 0xff, places * sizeof(*senders.root_at));
    memset(count_of, 0, nodes * sizeof(*count_of));
    for (uint32_t i = 0; i < nodes; i++) {
        const struct oche_pause_node *node = &senders.nodes[i];

        if (node->depth > 0 || node->port == OCHE_NO_PORT || node->cls >= world->class_count)
            continue;
        senders.root_at[node->port * OCHE_CLASSES + node->cls] = i;
        any[node->cls] = true;
    }
    for (OCHE_EACH_MADE_FLOW(flow, &world->flows)) {
        if (world->flows.sent[flow].started == OCHE_NEVER)
            continue;
        for (unsigned cls = 0; cls < world->class_count; cls++)
            if (any[cls] && oche_world_travels_in(world, flow, cls))
                add_senders(&senders, flow, cls,
                            cls + 1U < world->class_count ? world->flows.plan[flow].src
                                                          : world->flows.plan[flow].dst);
    }
    if (senders.count > 0)
        qsort(senders.pairs, senders.count, sizeof(*senders.pairs), compare_pairs);
    for (size_t i = 0; i < senders.count; i++)
        if (i == 0 || senders.pairs[i] != senders.pairs[i - 1])
            count_of[senders.pairs[i] >> 32]++;
    free(senders.pairs);
    free(senders.root_at);
}
