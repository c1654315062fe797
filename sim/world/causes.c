/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out why ACK timers expired: at the end of each window, when no shard runs, both ends of the
 * connection are examined. A window is no longer than the shortest link delay, so no packet that
 * was sent since the timer expired can have reached the receiver by the end of the window. Windows
 * end at the same times for any number of threads.
 */
#include "sim/world/internal.h"

/* An oche_connection_look: tells the progress of connection `number` at both ends. */
static void look(void *context, uint32_t number, struct oche_connection_progress *progress)
{
    const struct oche_world *world = context;
    const struct oche_connection *connection = &world->flows.connections[number];
    uint64_t delivered = connection->packets_delivered;
    struct oche_qp_losses sender;

    *progress = (struct oche_connection_progress){.expected = delivered};
    if (oche_host_losses(world->hosts[connection->dst], number, &progress->losses))
        progress->expected += (progress->losses.epsn - (uint32_t)delivered) & OCHE_PSN_MASK;
    if (!oche_host_losses(world->hosts[connection->src], number, &sender)) {
        progress->acknowledged = UINT64_MAX;
        return;
    }
    uint32_t ahead = ((uint32_t)progress->expected - sender.una) & OCHE_PSN_MASK;
    progress->acknowledged = progress->expected - ahead;
}

void oche_world_causes_start(struct oche_world *world)
{
    world->network.keep_mishaps = true;
    world->causes = oche_timeout_causes_create(look, world);
}

void oche_world_causes_free(struct oche_world *world)
{
    oche_timeout_causes_free(world->causes);
}

/* Records the losses before `until`. */
static void take_lost(struct oche_world *world, oche_time until)
{
    for (uint32_t s = 0; s < world->network.shard_count; s++) {
        struct oche_mishaps *mishaps = &world->network.shards[s].mishaps;
        while (mishaps->lost_taken < mishaps->lost_count &&
               mishaps->lost[mishaps->lost_taken].time < until) {
            const struct oche_lost_packet *lost = &mishaps->lost[mishaps->lost_taken++];
            uint32_t connection = oche_connection_of(lost->qpn);
            if (connection < world->flows.connection_count)
                oche_timeout_causes_lost(world->causes, connection, lost);
        }
    }
}

/*
 * Returns the earliest timeout that is left, or NULL. Timeouts at the same time are of different
 * connections.
 */
static const struct oche_timed_out *next_timed_out(struct oche_world *world)
{
    struct oche_mishaps *earliest = NULL;
    oche_time soonest = OCHE_NEVER;

    for (uint32_t s = 0; s < world->network.shard_count; s++) {
        struct oche_mishaps *mishaps = &world->network.shards[s].mishaps;
        if (mishaps->timed_out_taken == mishaps->timed_out_count ||
            mishaps->timed_out[mishaps->timed_out_taken].time >= soonest)
            continue;
        earliest = mishaps;
        soonest = mishaps->timed_out[mishaps->timed_out_taken].time;
    }
    return earliest == NULL ? NULL : &earliest->timed_out[earliest->timed_out_taken++];
}

static void judge_window(struct oche_world *world)
{
    const struct oche_timed_out *timed_out;

    for (uint32_t s = 0; s < world->network.shard_count; s++)
        oche_mishaps_sort(&world->network.shards[s].mishaps);
    while ((timed_out = next_timed_out(world)) != NULL) {
        take_lost(world, timed_out->time);
        world->timeout_causes[oche_timeout_causes_judge(
            world->causes, oche_connection_of(timed_out->qpn), timed_out)]++;
    }
    take_lost(world, OCHE_NEVER);
    oche_timeout_causes_tidy(world->causes);
    for (uint32_t s = 0; s < world->network.shard_count; s++)
        oche_mishaps_clear(&world->network.shards[s].mishaps);
}

void oche_world_causes_judge(struct oche_world *world)
{
    struct oche_network *network = &world->network;
    uint32_t any = 0;

    for (uint32_t s = 0; s < network->shard_count; s++)
        any |= network->shards[s].mishaps.lost_count | network->shards[s].mishaps.timed_out_count;
    if (any == 0)
        return;
    judge_window(world);
}
