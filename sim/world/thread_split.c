/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many threads, or ranks, run a world, and which nodes each has: by the packets that its flows
 * are expected to send through each node. Neither shows in the results.
 */
#include <stdlib.h>

#include "core/wire/packet.h"
#include "sim/network/rank_mail.h"
#include "sim/world/internal.h"

#define MOST_WALKED  65536               /* flows whose paths are followed */
#define MOST_DRAWN   4000000             /* flows that are drawn to find these */
#define MOST_BYTES   (UINT64_C(1) << 40) /* of a flow, so that sums do not overflow */
#define EVENTS_EACH  1500                /* a thread should have so many in a window */
#define LEAST_EVENTS 1000000             /* a run of fewer is over before threads gain anything */
#define MOST_THREADS 64                  /* that are chosen */

/* About what it takes to handle a packet at a host, which runs the transport, and at a switch. */
#define HOST_WORK   2
#define SWITCH_WORK 1

/* Adds the packets of a flow, and as many answers, to the nodes that they pass. */
static void add_flow(const struct oche_world *world, const struct oche_flow_plan *plan,
                     uint64_t packets, uint64_t *work)
{
    struct oche_walk walk;

    oche_world_walk_plan(world, plan, false, &walk);
    work[plan->dst] += HOST_WORK * packets;
    for (uint32_t i = 0; i < walk.count; i++) {
        uint32_t node = oche_topology_node_of_port(&world->topology, walk.ports[i]);

        work[node] += (node < world->topology.host_count ? HOST_WORK : SWITCH_WORK) * packets;
    }
}

/* Expectations about a run, made before it. */
struct expected {
    double events;
    oche_time time; /* in which they are, at the least */
};

/*
 * Fills `work`, by node. Returns about how many events there will be, and in how much time. That is
 * the time for which the busiest host sends or receives, or the time until the last start by the
 * clock.
 */
static struct expected expect(const struct oche_world *world, uint64_t *work)
{
    const uint32_t hosts = world->topology.host_count;
    const uint32_t payload = oche_world_packets(world->config).payload_bytes;
    const oche_time duration = world->config->run.duration;
    const uint64_t every = world->flows.count / MOST_WALKED + 1;
    struct oche_flow_walk flows = oche_flow_walk(&world->flows);
    uint64_t *sent = oche_world_make(hosts, sizeof(*sent)), seen = 0;
    uint64_t *received = oche_world_make(hosts, sizeof(*received));
    struct expected expected = {.events = oche_world_estimate_work(world).hops};
    const struct oche_flow_plan *plan;

    while (seen < MOST_DRAWN && (plan = oche_flow_walk_next(&flows)) != NULL) {
        uint64_t bytes = plan->bytes < MOST_BYTES ? plan->bytes : MOST_BYTES;

        sent[plan->src] += bytes;
        received[plan->dst] += bytes;
        if (plan->start != OCHE_NEVER)
            expected.time = oche_time_max(expected.time, plan->start);
        if (seen++ % every == 0)
            add_flow(world, plan, bytes / payload + 1, work);
    }
    for (uint32_t host = 0; host < hosts; host++) {
        uint64_t most = sent[host] > received[host] ? sent[host] : received[host];

        expected.time = oche_time_max(
            expected.time,
            oche_time_of_bytes(most, oche_topology_port_link(&world->topology, host, 0)->rate_bps));
    }
    if (duration > 0)
        expected.time = oche_time_min(expected.time, duration);
    free(sent);
    free(received);
    return expected;
}

static oche_time shortest_delay(const struct oche_topology *topology)
{
    oche_time shortest = OCHE_NEVER;

    for (uint32_t i = 0; i < topology->link_count; i++)
        shortest = oche_time_min(shortest, topology->links[i].delay);
    return shortest;
}

/* Chooses the number of threads by what a window is expected to hold. */
static uint32_t choose(const struct oche_world *world, const struct expected *expected)
{
    const struct oche_world_config *config = world->config;
    double most = world->thread_split.events_a_window / EVENTS_EACH;

    /* A capture needs one thread, and so does an event log. */
    if (config->tap_port_count > 0 || config->events != NULL || expected->events < LEAST_EVENTS)
        return 1;
    if (most > config->processors)
        most = config->processors;
    return most < 2 ? 1 : most > MOST_THREADS ? MOST_THREADS : (uint32_t)most;
}

uint32_t oche_world_split_nodes(struct oche_world *world, uint16_t *part)
{
    const struct oche_world_config *config = world->config;
    struct oche_world_thread_split *split = &world->thread_split;
    uint32_t nodes = oche_topology_nodes(&world->topology), threads = config->threads;

    if (config->mail != NULL)
        threads = config->mail->count;
    if (threads == 1 || (threads == 0 && config->processors < 2)) {
        split->threads = 1;
        return oche_topology_partition(&world->topology, 1, NULL, part);
    }
    uint64_t *work = oche_world_make(nodes, sizeof(*work));
    struct expected expected = expect(world, work);

    if (expected.time > 0)
        split->events_a_window =
            expected.events / (double)expected.time * (double)shortest_delay(&world->topology);
    if (threads == 0)
        threads = choose(world, &expected);
    /* A node without expected packets has some work, too: timers, and what is not expected. */
    for (uint32_t n = 0; n < nodes; n++)
        work[n] = 64 * work[n] + (uint64_t)world->topology.nodes[n].port_count;
    split->threads = oche_topology_partition(&world->topology, threads, work, part);
    split->parts = oche_world_make(split->threads, sizeof(*split->parts));
    for (uint32_t n = 0; n < nodes; n++) {
        split->parts[part[n]].work += work[n];
        split->parts[part[n]].hosts += n < world->topology.host_count;
        split->parts[part[n]].switches += n >= world->topology.host_count;
    }
    for (uint32_t i = 0; i < world->topology.link_count; i++)
        split->cut_links += part[world->topology.links[i].a] != part[world->topology.links[i].b];
    free(work);
    /* A rank without a part of its own has no work. */
    return config->mail != NULL ? config->mail->count : split->threads;
}

const struct oche_world_thread_split *oche_world_thread_split(const struct oche_world *world)
{
    return &world->thread_split;
}
