/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host holds ACKs back (`feedback_jitter`) and takes them when their delay is over. The delays
 * are drawn a second time from the same random stream.
 */
#include <stdlib.h>

#include "sim/network/rnic.h"
#include "sim/world/internal.h"
#include "tests/swarm/watch.h"

#define MOST_HELD 2048 /* of one host; if there are more, the oldest are forgotten */
#define U(value)  ((unsigned long long)(value))

struct held {
    uint32_t qpn, psn, aeth;
    oche_time until; /* 0: the entry is free */
};

struct host {
    struct oche_random random;
    struct held held[MOST_HELD];
    uint32_t next;
};

struct feedback {
    struct swarm_run *run;
    struct host *hosts;
    oche_time jitter;
};

static void feedback_arrived(void *context, uint32_t port, const struct oche_packet *packet,
                             oche_time now)
{
    struct feedback *feedback = context;
    const struct oche_world *world = feedback->run->world;
    uint32_t node = world->network.ports[port].node;

    if (node >= world->topology.host_count || oche_packet_is_of_link(packet->kind) ||
        !oche_rnic_is_feedback(packet))
        return;
    struct host *host = &feedback->hosts[node];

    host->held[host->next++ % MOST_HELD] =
        (struct held){.qpn = packet->dest_qpn,
                      .psn = packet->psn,
                      .aeth = packet->aeth,
                      .until = now + oche_random_below(&host->random, feedback->jitter + 1)};
}

static void feedback_event(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct feedback *feedback = context;
    oche_time until = 0;

    if (record->kind != OCHE_TRACE_ACK_ARRIVED || node >= feedback->run->world->topology.host_count)
        return;
    struct host *host = &feedback->hosts[node];

    for (uint32_t i = 0; i < MOST_HELD && i < host->next; i++) {
        struct held *held = &host->held[i];

        if (held->until == 0 || held->qpn != record->qpn || held->psn != record->a ||
            held->aeth != record->b)
            continue;
        until = held->until;
        if (until != record->time)
            continue;
        held->until = 0;
        return;
    }
    if (until != 0)
        swarm_breaks(feedback->run, "feedback",
                     "host %u, queue pair %u hears the ACK of %llu at %llu ps, due at %llu", node,
                     record->qpn, U(record->a), U(record->time), U(until));
}

static void *make_feedback(struct swarm_run *run)
{
    const struct oche_world_config *config = run->world->config;
    uint32_t count = run->world->topology.host_count;

    if (config->endpoint != NULL || config->hosts.feedback_jitter == 0)
        return NULL;
    struct feedback *feedback = calloc(1, sizeof(*feedback));

    OCHE_MUST(feedback != NULL);
    *feedback = (struct feedback){.run = run,
                                  .jitter = config->hosts.feedback_jitter,
                                  .hosts = calloc(count, sizeof(*feedback->hosts))};
    OCHE_MUST(feedback->hosts != NULL);
    for (uint32_t i = 0; i < count; i++)
        feedback->hosts[i].random = oche_random_stream(
            config->seed, "feedback jitter", oche_topology_place_of(&run->world->topology, i));
    return feedback;
}

static void free_feedback(void *context)
{
    struct feedback *feedback = context;

    free(feedback->hosts);
    free(feedback);
}

const struct swarm_rule swarm_feedback_rule = {.make = make_feedback,
                                               .event = feedback_event,
                                               .arrived = feedback_arrived,
                                               .free = free_feedback};
