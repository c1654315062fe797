/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two runs of one random world. */
#include "tests/property/same_world.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

static const char *who; /* name of the other run, for messages */

#define ASSERT_SAME(one, left, right)                                                              \
    do {                                                                                           \
        if ((uint64_t)(left) != (uint64_t)(right))                                                 \
            fail_msg("scenario %llu: " #left " is %llx in one process, %llx on %s; %s",            \
                     (unsigned long long)(one)->scenario->number, (unsigned long long)(left),      \
                     (unsigned long long)(right), who, (one)->scenario->text);                     \
    } while (0)

static void assert_same_flows(const struct random_world *one, const struct random_world *many)
{
    const struct oche_flows *a = oche_world_flows(one->world), *b = oche_world_flows(many->world);

    ASSERT_SAME(one, a->count, b->count);
    ASSERT_SAME(one, oche_flows_made(a), oche_flows_made(b));
    for (OCHE_EACH_MADE_FLOW(f, a)) {
        ASSERT_SAME(one, a->sent[f].started, b->sent[f].started);
        ASSERT_SAME(one, a->sent[f].completed, b->sent[f].completed);
        ASSERT_SAME(one, a->sent[f].retransmitted_packets, b->sent[f].retransmitted_packets);
        ASSERT_SAME(one, a->received[f].delivered, b->received[f].delivered);
        ASSERT_SAME(one, oche_world_flow_bytes(one->world, f),
                    oche_world_flow_bytes(many->world, f));
    }
}

static void assert_same_ports(const struct random_world *one, const struct random_world *many)
{
    uint32_t count = oche_world_network(one->world)->port_count;
    struct oche_switch_port_stats *a = calloc(count, sizeof(*a)), *b = calloc(count, sizeof(*b));

    assert_true(a != NULL && b != NULL);
    oche_world_port_stats(one->world, a);
    oche_world_port_stats(many->world, b);
    for (uint32_t port = 0; port < count; port++) {
        ASSERT_SAME(one, oche_world_line_bytes(one->world, port),
                    oche_world_line_bytes(many->world, port));
        ASSERT_SAME(one, oche_world_lost_packets(one->world, port),
                    oche_world_lost_packets(many->world, port));
        ASSERT_SAME(one, a[port].queueing_time, b[port].queueing_time);
        ASSERT_SAME(one, memcmp(&a[port], &b[port], sizeof(a[port])), 0);
    }
    free(a);
    free(b);
}

static void assert_same_queues(const struct random_world *one, const struct random_world *many)
{
    ASSERT_SAME(one, oche_world_watch_count(one->world), oche_world_watch_count(many->world));
    for (uint32_t i = 0; i < oche_world_watch_count(one->world); i++) {
        const char *name;
        const struct oche_queue_watch *a = oche_world_watch(one->world, i, &name);
        const struct oche_queue_watch *b = oche_world_watch(many->world, i, &name);

        ASSERT_SAME(one, a->max_bytes, b->max_bytes);
        ASSERT_SAME(one, a->byte_time == b->byte_time && a->square_time == b->square_time, true);
        ASSERT_SAME(one, memcmp(a->time, b->time, a->steps * sizeof(*a->time)), 0);
    }
}

static void assert_same_longest(const struct random_world *one, const struct random_world *many)
{
    ASSERT_SAME(one, oche_world_longest_count(one->world), oche_world_longest_count(many->world));
    for (uint32_t i = 0; i < oche_world_longest_count(one->world); i++) {
        struct oche_world_longest_series a = oche_world_longest_series(one->world, i);
        struct oche_world_longest_series b = oche_world_longest_series(many->world, i);

        ASSERT_SAME(one, a.port, b.port);
        ASSERT_SAME(one, a.span, b.span);
        ASSERT_SAME(one, a.count, b.count);
        ASSERT_SAME(one, memcmp(a.bytes, b.bytes, a.count * sizeof(*a.bytes)), 0);
    }
}

/* Ranks do not record single flows. */
static void assert_same_slowest(const struct random_world *one, const struct random_world *many)
{
    const bool ranks = oche_world_network(many->world)->ranks != NULL;

    ASSERT_SAME(one, ranks ? 0 : oche_world_slowest_count(one->world),
                oche_world_slowest_count(many->world));
    for (uint32_t i = 0; i < oche_world_slowest_count(many->world); i++) {
        struct oche_world_slowest_series a = oche_world_slowest_series(one->world, i);
        struct oche_world_slowest_series b = oche_world_slowest_series(many->world, i);

        ASSERT_SAME(one, a.flow, b.flow);
        ASSERT_SAME(one, a.first, b.first);
        ASSERT_SAME(one, a.count, b.count);
        ASSERT_SAME(one, a.span, b.span);
        ASSERT_SAME(one, memcmp(&a.slowdown, &b.slowdown, sizeof(a.slowdown)), 0);
        ASSERT_SAME(one, memcmp(a.bytes, b.bytes, a.count * sizeof(*a.bytes)), 0);
    }
}

static void assert_same_series(const struct random_world *one, const struct random_world *many)
{
    size_t a, b;
    const struct oche_world_paused_port *holds = oche_world_paused_ports(one->world, &a);
    const struct oche_world_paused_port *others = oche_world_paused_ports(many->world, &b);

    ASSERT_SAME(one, oche_world_series_count(one->world), oche_world_series_count(many->world));
    ASSERT_SAME(one, oche_world_interval(one->world), oche_world_interval(many->world));
    for (uint32_t i = 0; i < oche_world_series_count(one->world); i++) {
        struct oche_world_series x = oche_world_series(one->world, i);
        struct oche_world_series y = oche_world_series(many->world, i);

        ASSERT_SAME(one, x.count, y.count);
        ASSERT_SAME(one, memcmp(x.values, y.values, x.count * sizeof(*x.values)), 0);
    }
    ASSERT_SAME(one, a, b);
    for (size_t i = 0; i < a; i++) {
        ASSERT_SAME(one, holds[i].row, others[i].row);
        ASSERT_SAME(one, holds[i].node, others[i].node);
        ASSERT_SAME(one, holds[i].port, others[i].port);
        ASSERT_SAME(one, holds[i].held, others[i].held);
    }
}

void assert_same_world(const struct random_world *one, const struct random_world *many,
                       const char *name)
{
    uint32_t pauses, others;

    who = name;

    ASSERT_SAME(one, one->totals.hash, many->totals.hash);
    ASSERT_SAME(one, oche_world_ended(one->world), oche_world_ended(many->world));
    ASSERT_SAME(one, oche_world_network(one->world)->now, oche_world_network(many->world)->now);
    ASSERT_SAME(one, one->totals.events, many->totals.events);
    ASSERT_SAME(one, one->totals.nic.timeouts, many->totals.nic.timeouts);
    ASSERT_SAME(one, memcmp(&one->totals, &many->totals, sizeof(one->totals)), 0);
    oche_pause_tree_nodes(oche_world_pause_tree(one->world), &pauses);
    oche_pause_tree_nodes(oche_world_pause_tree(many->world), &others);
    ASSERT_SAME(one, pauses, others);
    assert_same_flows(one, many);
    assert_same_ports(one, many);
    assert_same_queues(one, many);
    assert_same_longest(one, many);
    assert_same_slowest(one, many);
    assert_same_series(one, many);
}
