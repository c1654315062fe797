/* SPDX-License-Identifier: Apache-2.0 */
/* A host's end of a link with credits; see the header. */
#include "sim/network/host_credits.h"

#include "fabric/ib_credits.h"
#include "sim/network/fcp_trace.h"
#include "sim/network/host_state.h"

struct oche_host_credits {
    struct oche_ib_link link;
    oche_time interval, next;
    uint16_t blocks; /* size of the largest packet, in credit blocks */
};

static unsigned class_of(const struct oche_host *host, const struct oche_packet *packet)
{
    return packet->traffic_class < host->credits->link.vl_count ? packet->traffic_class : 0;
}

/* True if the host's link is down. Packets sent then are lost and need no credit. */
static bool is_down(const struct oche_host *host)
{
    const struct oche_network *network = host->shard->network;

    return network->extras[host->port - network->ports].down;
}

static void set_classes(struct oche_host *host)
{
    const struct oche_host_credits *credits = host->credits;

    host->classes = is_down(host) ? UINT8_MAX : 0;
    for (unsigned cls = 0; cls < credits->link.vl_count; cls++)
        if (oche_ib_credit(&credits->link, cls) >= credits->blocks)
            host->classes |= (uint8_t)(1U << cls);
}

void oche_host_credits_start(struct oche_host *host)
{
    const struct oche_host_shared *shared = host->shared;
    const struct oche_network *network = host->shard->network;
    uint64_t rate_bps = network->extras[host->port - network->ports].rate_bps;

    host->credits = oche_arena_take(&host->shard->arena, sizeof(*host->credits));
    oche_ib_link_init(&host->credits->link, shared->control_class + 1U,
                      shared->credits->buffer_bytes, shared->credits->update_bytes);
    host->credits->interval = oche_ib_credits_interval(shared->credits, rate_bps);
    host->credits->blocks = oche_ib_blocks(shared->frame_bytes);
    host->notes |= OCHE_HOST_NOTES_CREDITS;
    host->credits->next = host->credits->interval;
    set_classes(host);
}

void oche_host_credits_arrived(struct oche_host *host, const struct oche_packet *packet)
{
    oche_ib_passed(&host->credits->link, class_of(host, packet),
                   oche_ib_blocks(packet->frame_bytes));
}

void oche_host_credits_sent(struct oche_host *host, const struct oche_packet *packet)
{
    if (OCHE_UNLIKELY(is_down(host)))
        return;
    oche_ib_sent(&host->credits->link, class_of(host, packet), oche_ib_blocks(packet->frame_bytes));
    set_classes(host);
}

void oche_host_credits_take(struct oche_host *host, const struct oche_packet *frame)
{
    oche_ib_take(&host->credits->link, frame);
    set_classes(host);
}

void oche_host_credits_link_changed(struct oche_host *host)
{
    set_classes(host);
}

bool oche_host_credits_send(struct oche_host *host, oche_time now)
{
    struct oche_shard *shard = host->shard;
    struct oche_packet *frame;

    if (host->credits->link.due == 0)
        return false;
    frame = oche_packet_take(&shard->pool);
    oche_ib_fill(&host->credits->link, frame, now);
    oche_fcp_trace(oche_host_trace(host), OCHE_TRACE_FCP_SENT, 0, frame, now);
    oche_network_send(shard, host->port, frame, now);
    return true;
}

oche_time oche_host_credits_next(struct oche_host *host)
{
    if (host->credits->link.due != 0)
        oche_network_want_done(host->shard, host->port);
    return host->credits->next;
}

void oche_host_credits_expire(struct oche_host *host, oche_time now)
{
    struct oche_host_credits *credits = host->credits;

    if (credits->next > now)
        return;
    credits->next = credits->link.told + credits->interval;
    if (credits->next > now)
        return;
    oche_ib_tell_all(&credits->link);
    credits->next = now + credits->interval;
}
