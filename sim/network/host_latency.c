/* SPDX-License-Identifier: Apache-2.0 */
/* Latencies between program, NIC and memory; see the header. */
#include "sim/network/host_latency.h"

#include "sim/network/host_state.h"

void oche_host_latency_start(struct oche_host *host)
{
    const struct oche_host_params *params = host->shared->params;

    if (host->endpoint->deferred == NULL ||
        (params->doorbell_latency | params->dma_latency | params->completion_latency) == 0)
        return;
    host->latency = oche_arena_take(&host->shard->arena, sizeof(*host->latency));
    *host->latency = (struct oche_host_latency){.doorbell = params->doorbell_latency,
                                                .dma = params->dma_latency,
                                                .completion = params->completion_latency};
    host->defers |= OCHE_HOST_DEFERS_WORK;
    if (params->dma_latency > 0)
        host->notes |= OCHE_HOST_NOTES_MEMORY;
}

void oche_host_defer(struct oche_host *host, const struct oche_deferred *entry)
{
    oche_deferred_add(&host->latency->heap, &host->shard->arena, entry);
}

bool oche_host_latency_holds(struct oche_host *host, struct oche_packet *packet, oche_time now)
{
    if (!host->endpoint->reads_memory(oche_host_endpoint_state(host), packet))
        return false;
    oche_host_defer(host, &(struct oche_deferred){.until = now + host->latency->dma,
                                                  .object = packet,
                                                  .kind = OCHE_DEFERRED_REQUEST});
    return true;
}

void oche_host_latency_release(struct oche_host *host, oche_time now)
{
    void *state = oche_host_endpoint_state(host);
    struct oche_deferred due;

    while (oche_deferred_take(&host->latency->heap, now, &due))
        switch ((enum oche_deferred_kind)due.kind) {
        case OCHE_DEFERRED_DELIVERY:
            host->shard->pending_deliveries--;
            oche_host_flow_in_memory(host, due.number, now);
            break;
        case OCHE_DEFERRED_REQUEST:
            host->endpoint->receive(state, due.object, now);
            oche_packet_return(&host->shard->pool, due.object);
            break;
        case OCHE_DEFERRED_POST:
        case OCHE_DEFERRED_COMPLETION:
            host->endpoint->deferred(state, &due, now);
            break;
        }
}
