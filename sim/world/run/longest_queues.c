/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ports with the longest queues, over time, without anybody having named them. Which ones they
 * are is known only at the end, so the longest queue of each port is kept for each of some hundred
 * spans of time. Switches note it anyway (oche_switch_take_peak): packets cost nothing more. When
 * there are too many spans, each two become one. In a large network the spans are fewer, so the
 * memory is bounded: 128 bytes for a port, or 32 MiB for all if that is more. A port that has had
 * no packet costs four bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/engine/sparse_memory.h"
#include "sim/world/internal.h"
#include "sim/world/results/readings.h"

#define MOST_SPANS  256
#define LEAST_SPANS 32
#define MOST_VALUES (UINT32_C(1) << 23) /* of all ports, unless that leaves LEAST_SPANS */

static uint32_t spans_for(uint32_t ports)
{
    uint32_t spans = MOST_SPANS;

    while (spans > LEAST_SPANS && (uint64_t)spans * ports > MOST_VALUES)
        spans /= 2;
    return spans;
}

void oche_world_longest_queues_start(struct oche_world *world)
{
    struct oche_world_longest *longest = &world->longest;
    const uint32_t ports = world->network.port_count;

    if (world->interval == 0 || !world->config->auto_series)
        return;
    longest->span = world->interval;
    longest->most_spans = spans_for(ports);
    longest->most = oche_world_make(ports, sizeof(*longest->most));
    longest->spans_of =
        oche_world_make_sparse((size_t)ports * longest->most_spans, sizeof(*longest->spans_of));
}

static uint32_t *spans_of(const struct oche_world *world, uint32_t port)
{
    return &world->longest.spans_of[(size_t)port * world->longest.most_spans];
}

/* Makes one span of each two. Memory of a port that never had a packet is not touched. */
static void join(struct oche_world *world)
{
    struct oche_world_longest *longest = &world->longest;

    OCHE_MUST(longest->spans % 2 == 0);
    for (uint32_t port = 0; port < world->network.port_count; port++) {
        uint32_t *spans = spans_of(world, port);

        if (longest->most[port] == 0)
            continue;
        for (uint32_t i = 0; i < longest->spans / 2; i++)
            spans[i] = spans[2 * i] > spans[2 * i + 1] ? spans[2 * i] : spans[2 * i + 1];
        memset(&spans[longest->spans / 2], 0, longest->spans / 2 * sizeof(*spans));
    }
    longest->spans /= 2;
    longest->span *= 2;
    oche_world_slowest_join(world);
}

static void sample(struct oche_world *world)
{
    const struct oche_topology *topology = &world->topology;
    struct oche_world_longest *longest = &world->longest;

    for (uint32_t i = 0; i < topology->switch_count; i++) {
        const struct oche_topology_node *node = &topology->nodes[topology->host_count + i];

        if (!oche_world_has_switch(world, i))
            continue;
        for (uint32_t local = 0; local < node->port_count; local++) {
            const uint32_t peak = oche_switch_take_peak(world->switches[i], local);
            const uint32_t port = node->first_port + local;

            if (peak == 0)
                continue;
            spans_of(world, port)[longest->spans] = peak;
            if (peak > longest->most[port])
                longest->most[port] = peak;
        }
    }
    oche_world_slowest_sample(world, longest->spans);
    longest->spans++;
}

void oche_world_longest_sample(struct oche_world *world)
{
    struct oche_world_longest *longest = &world->longest;

    if (longest->span == 0)
        return;
    if ((world->network.now - world->measured_from) % longest->span == 0)
        sample(world);
    /* Series may double their interval earlier than spans do; then samples come less often. */
    while (longest->spans == longest->most_spans || longest->span < world->interval)
        join(world);
}

static bool is_watched(const struct oche_world *world, uint32_t port)
{
    for (uint32_t i = 0; i < world->watched_count; i++) {
        const struct oche_world_watched *watched = &world->watched[i];

        if (world->topology.nodes[watched->node].first_port + watched->local == port)
            return true;
    }
    return false;
}

/* True if `one` comes before `other`: it is longer or, of two alike, has the lower port. */
static bool comes_before(const struct oche_world_long_queue *one,
                         const struct oche_world_long_queue *other)
{
    return one->most != other->most ? one->most > other->most : one->port < other->port;
}

bool oche_world_longest_add(struct oche_world *world, const struct oche_world_long_queue *queue)
{
    struct oche_world_longest *longest = &world->longest;
    uint32_t at = longest->count;

    while (at > 0 && comes_before(queue, &longest->queues[at - 1]))
        at--;
    if (at == OCHE_WORLD_LONGEST_QUEUES)
        return false;
    if (longest->count < OCHE_WORLD_LONGEST_QUEUES)
        longest->count++;
    memmove(&longest->queues[at + 1], &longest->queues[at],
            (longest->count - 1 - at) * sizeof(*queue));
    longest->queues[at] = *queue;
    return true;
}

void oche_world_longest_finish(struct oche_world *world)
{
    struct oche_world_longest *longest = &world->longest;

    if (longest->spans == 0)
        return;
    for (uint32_t port = 0; port < world->network.port_count; port++) {
        struct oche_world_long_queue queue = {.port = port, .most = longest->most[port]};

        if (queue.most == 0 || is_watched(world, port))
            continue;
        queue.spans = spans_of(world, port);
        oche_world_longest_add(world, &queue);
    }
}

void oche_world_longest_free(struct oche_world *world)
{
    free(world->longest.most);
    oche_sparse_free(world->longest.spans_of);
}

uint32_t oche_world_longest_count(const struct oche_world *world)
{
    return world->longest.count;
}

struct oche_world_longest_series oche_world_longest_series(const struct oche_world *world,
                                                           uint32_t number)
{
    const struct oche_world_longest *longest = &world->longest;

    OCHE_MUST(number < longest->count);
    return (struct oche_world_longest_series){.port = longest->queues[number].port,
                                              .bytes = longest->queues[number].spans,
                                              .count = longest->spans,
                                              .span = longest->span};
}
