/* SPDX-License-Identifier: Apache-2.0 */
/* The use of hosts' ports: see the header. The time of each frame is rounded up. */
#include "tests/swarm/port_use.h"

#include <stdlib.h>

#include "fabric/ib_credits.h"

#define MOST_HEADERS 240 /* bytes of a frame beside its payload */

struct port_use {
    const struct oche_topology *topology;
    oche_time *free_at; /* by node: when its last frame has left */
    bool *paused;       /* by node: at least one PAUSE has arrived */
};

struct port_use *port_use_make(const struct swarm_run *run)
{
    const struct oche_world_config *config = oche_world_config(run->world);

    if (config->endpoint != NULL || config->cc->headers != NULL ||
        oche_world_mechanism(config, &oche_ib_credits) != NULL)
        return NULL;
    for (uint32_t i = 0; i < config->failure_count; i++)
        if (config->failures[i].speed > 0)
            return NULL;
    struct port_use *use = calloc(1, sizeof(*use));

    OCHE_MUST(use != NULL);
    use->topology = oche_world_topology(run->world);
    use->free_at = calloc(use->topology->host_count, sizeof(*use->free_at));
    use->paused = calloc(use->topology->host_count, sizeof(*use->paused));
    OCHE_MUST(use->free_at != NULL && use->paused != NULL);
    return use;
}

void port_use_free(struct port_use *use)
{
    if (use == NULL)
        return;
    free(use->free_at);
    free(use->paused);
    free(use);
}

void port_use_event(struct port_use *use, uint32_t node, const struct oche_trace_record *record)
{
    uint64_t bytes = MOST_HEADERS;

    if (node >= use->topology->host_count)
        return;
    switch (record->kind) {
    case OCHE_TRACE_PAUSE_ARRIVED:
        use->paused[node] = true;
        return;
    case OCHE_TRACE_DATA_SENT:
        bytes += record->b & UINT32_MAX;
        break;
    case OCHE_TRACE_ACK_SENT:
    case OCHE_TRACE_CNP_SENT:
    case OCHE_TRACE_PAUSE_SENT: /* by a slow receiver, or in a storm */
        break;
    default:
        return;
    }
    use->free_at[node] = oche_time_add(
        record->time,
        oche_time_of_bytes(bytes, oche_topology_port_link(use->topology, node, 0)->rate_bps));
}

bool port_was_free(const struct port_use *use, uint32_t node, oche_time since, oche_time now)
{
    return !use->paused[node] && now > since && now > use->free_at[node];
}
