/* SPDX-License-Identifier: Apache-2.0 */
/*
 * InfiniBand's credits, computed from the packets of a link. As soon as `update` blocks of a lane
 * are free, the receiver must report them to the sender before it sends anything else. The rule
 * does not apply where links fail, as that empties queues, nor with lanes of deflection, as these
 * change a packet's class.
 */
#include <stdlib.h>

#include "core/wire/opcode.h"
#include "fabric/ib_credits.h"
#include "fabric/switch_state.h"
#include "sim/world/internal.h"
#include "tests/swarm/watch.h"

#define BLOCK    64
#define COUNTER  0xfff
#define U(value) ((unsigned long long)(value))

struct lane {
    uint32_t owed;    /* free blocks that have not been reported */
    uint32_t arrived; /* blocks, as counted by the link's counter */
    oche_time since;  /* when they became enough for a report */
};

struct credits {
    struct swarm_run *run;
    struct lane *lanes; /* by port of the network and class */
    uint32_t update, lane_count;
    uint64_t frame_bytes;
    /* The packet that has just arrived at a switch; it may still be dropped. */
    bool waits;
    uint32_t port, blocks;
    unsigned cls;
};

static uint32_t blocks_of(const struct oche_packet *packet)
{
    return (packet->frame_bytes + BLOCK - 1U) / BLOCK;
}

static unsigned class_of(const struct credits *credits, const struct oche_packet *packet)
{
    return packet->traffic_class < credits->lane_count ? packet->traffic_class : 0;
}

static void owe(struct credits *credits, uint32_t port, unsigned cls, uint32_t blocks,
                oche_time now)
{
    struct lane *lane = &credits->lanes[port * OCHE_CLASSES + cls];

    if (lane->owed < credits->update && lane->owed + blocks >= credits->update)
        lane->since = now;
    lane->owed += blocks;
}

static void check(struct credits *credits, uint32_t port, unsigned cls, oche_time now)
{
    const struct lane *lane = &credits->lanes[port * OCHE_CLASSES + cls];

    if (lane->owed >= credits->update)
        swarm_breaks(credits->run, "update",
                     "port %u owes %u blocks of lane %u since %llu ps, and has not told of them at "
                     "%llu; %u are enough",
                     port, lane->owed, cls, U(lane->since), U(now), credits->update);
}

/* A frame of the link leaves: it reports its blocks. */
static void told(struct credits *credits, uint32_t port, const struct oche_packet *frame,
                 oche_time now)
{
    oche_time longest = oche_time_of_bytes(credits->frame_bytes,
                                           credits->run->world->network.extras[port].rate_bps);
    bool all = true;

    for (unsigned cls = 0; cls < credits->lane_count; cls++)
        all &= oche_fcp_has(frame, cls);
    for (unsigned cls = 0; cls < credits->lane_count; cls++) {
        struct lane *lane = &credits->lanes[port * OCHE_CLASSES + cls];

        if (!oche_fcp_has(frame, cls) || now > oche_time_add(lane->since, longest))
            check(credits, port, cls, now);
        if (!oche_fcp_has(frame, cls))
            continue;
        if (!all && lane->owed < credits->update)
            swarm_breaks(credits->run, "update", "port %u tells of %u blocks of lane %u at %llu ps",
                         port, lane->owed, cls, U(now));
        lane->owed = 0;
    }
}

static void credit_sent(void *context, uint32_t port, const struct oche_packet *packet,
                        oche_time now)
{
    struct credits *credits = context;
    const struct oche_network *network = &credits->run->world->network;
    uint32_t first = port - network->ports[port].local;

    credits->waits = false;
    if (packet->kind == OCHE_PACKET_FCP) {
        told(credits, port, packet, now);
        return;
    }
    for (unsigned cls = 0; cls < credits->lane_count; cls++)
        check(credits, port, cls, now);
    if (!(network->ports[port].flags & OCHE_PORT_HOST))
        owe(credits, first + packet->ingress_port, class_of(credits, packet), blocks_of(packet),
            now);
}

static void credit_arrived(void *context, uint32_t port, const struct oche_packet *packet,
                           oche_time now)
{
    struct credits *credits = context;
    unsigned cls = class_of(credits, packet);
    struct lane *lane = &credits->lanes[port * OCHE_CLASSES + cls];

    credits->waits = false;
    for (unsigned i = 0; packet->kind == OCHE_PACKET_FCP && i < credits->lane_count; i++) {
        lane = &credits->lanes[port * OCHE_CLASSES + i];
        uint32_t lost = (packet->fcp.lane[i].fctbs - lane->arrived) & COUNTER;

        if (!oche_fcp_has(packet, i))
            continue;
        lane->arrived = packet->fcp.lane[i].fctbs;
        owe(credits, port, i, lost <= OCHE_IB_MOST_BLOCKS ? lost : 0, now);
    }
    if (oche_packet_is_of_link(packet->kind))
        return;
    lane->arrived = (lane->arrived + blocks_of(packet)) & COUNTER;
    if (credits->run->world->network.ports[port].flags & OCHE_PORT_HOST) {
        owe(credits, port, cls, blocks_of(packet), now);
        return;
    }
    credits->waits = true;
    credits->port = port;
    credits->cls = cls;
    credits->blocks = blocks_of(packet);
}

static void credit_event(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct credits *credits = context;

    (void)node;
    if (credits->waits && record->kind == OCHE_TRACE_DROPPED && record->a < UINT32_MAX)
        owe(credits, credits->port, credits->cls, credits->blocks, record->time);
    credits->waits = false;
}

static void *make_credits(struct swarm_run *run)
{
    const struct oche_world *world = run->world;
    const struct oche_ib_credits_params *params =
        oche_world_mechanism(world->config, &oche_ib_credits);

    if (params == NULL || world->config->failure_count > 0 || world->topology.switch_count == 0 ||
        world->switches[0]->lanes != 0)
        return NULL;
    struct credits *credits = calloc(1, sizeof(*credits));

    OCHE_MUST(credits != NULL);
    credits->run = run;
    credits->lane_count = world->class_count;
    credits->update = (uint32_t)(params->update_bytes / BLOCK);
    if (params->update_bytes == 0)
        credits->update = (uint32_t)(params->buffer_bytes / BLOCK / 4);
    if (credits->update == 0)
        credits->update = 1;
    credits->frame_bytes = oche_world_packets(world->config).frame_bytes + world->network.gap_bytes;
    credits->lanes =
        calloc((size_t)world->network.port_count * OCHE_CLASSES, sizeof(*credits->lanes));
    OCHE_MUST(credits->lanes != NULL);
    return credits;
}

static void free_credits(void *context)
{
    struct credits *credits = context;

    free(credits->lanes);
    free(credits);
}

const struct swarm_rule swarm_credit_rule = {.make = make_credits,
                                             .event = credit_event,
                                             .sent = credit_sent,
                                             .arrived = credit_arrived,
                                             .free = free_credits};
