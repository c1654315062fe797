/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main loop: windows as long as the smallest link delay. One thread runs all shards, one after
 * the other, or each shard has its own (team.h), or its own process (ranks.h). All run the same
 * windows, so stop conditions are tested at the same times.
 */
#include "sim/engine/turn.h"
#include "sim/network/ranks.h"
#include "sim/network/schedule.h"
#include "sim/network/team.h"
#include "sim/network/windows.h"

/*
 * A packet ends up in the pool of the shard that received it. If more packets go from one shard to
 * another than back, the first would make new packets for ever and the second would keep them all.
 * So the shard with the most free packets gives some to the shard with the fewest. To be called
 * between windows, when no other thread runs.
 */
void oche_network_balance(struct oche_network *network)
{
    struct oche_packet_pool *rich = &network->shards[0].pool, *poor = rich;

    for (uint32_t s = 1; s < network->shard_count; s++) {
        struct oche_packet_pool *pool = &network->shards[s].pool;
        if (oche_packet_pool_idle(pool) > oche_packet_pool_idle(rich))
            rich = pool;
        if (oche_packet_pool_idle(pool) < oche_packet_pool_idle(poor))
            poor = pool;
    }
    if (oche_packet_pool_idle(rich) > 2 * OCHE_PACKET_POOL_SHARE &&
        oche_packet_pool_idle(poor) < OCHE_PACKET_POOL_SHARE / 2)
        oche_packet_pool_give(rich, poor, OCHE_PACKET_POOL_SHARE);
}

struct soonest {
    oche_time time, others; /* time of the soonest event; of the soonest event of other shards */
    uint32_t first;         /* the shard that has the soonest event */
};

static struct soonest soonest_event(const struct oche_network *network)
{
    struct soonest soonest = {.time = OCHE_NEVER, .others = OCHE_NEVER};

    for (uint32_t s = 0; s < network->shard_count; s++) {
        oche_time next = oche_events_next_time(&network->shards[s].events);

        soonest.others = oche_time_min(soonest.others, next < soonest.time ? soonest.time : next);
        if (next < soonest.time) {
            soonest.time = next;
            soonest.first = s;
        }
    }
    return soonest;
}

struct done {
    uint64_t flows, awaited; /* completed */
    bool asked;              /* by any shard, for a check */
};

static struct done done_by_all(const struct oche_network *network)
{
    struct done done = {.flows = 0};

    for (uint32_t s = 0; s < network->shard_count; s++) {
        done.flows += network->shards[s].flows_completed;
        done.awaited += network->shards[s].awaited_completed;
        done.asked |= oche_windows_ask(&network->shards[s]);
    }
    return done;
}

/* Runs a window of all shards, or some of the one that alone has events. Returns their end. */
static oche_time run_window(struct oche_network *network, const struct soonest *soonest,
                            oche_time end, oche_time until)
{
    struct oche_shard *shards = network->shards, *first = &shards[soonest->first];

    if (soonest->others >= end && network->schedule == NULL) {
        struct done done = done_by_all(network);

        end = oche_windows_run(first, end, oche_window_limit(network, soonest->others, end, until),
                               done.flows - first->flows_completed,
                               done.awaited - first->awaited_completed);
    } else {
        for (uint32_t s = 0; s < network->shard_count; s++)
            oche_windows_run(&shards[s], end, end, 0, 0);
    }
    if (network->schedule != NULL)
        oche_schedule_window(network->schedule);
    for (uint32_t s = 0; network->shard_count > 1 && s < network->shard_count; s++)
        oche_windows_collect(&shards[s]);
    for (uint32_t s = 0; s < network->shard_count; s++)
        shards[s].crosses_from = OCHE_NEVER;
    return end;
}

/* Runs the next window, or some of them, in this thread. Returns how many. */
static uint64_t run_alone(struct oche_network *network, const struct soonest *soonest,
                          oche_time until)
{
    const uint64_t events = oche_network_events(network);
    const uint64_t windows = network->shards[soonest->first].windows;

    network->now =
        run_window(network, soonest, oche_window_end(network, soonest->time, until), until);
    if (network->shard_count > 1)
        oche_network_balance(network);
    if (network->shard_count > 1 && network->schedule == NULL)
        oche_pace_count(&network->pace, oche_network_events(network) - events, false,
                        oche_clock_ns);
    return network->shards[soonest->first].windows - windows;
}

static bool is_due(const struct oche_network *network, oche_time until, uint64_t unchecked)
{
    const struct oche_window_checks *checks = &network->checks;
    const struct done done = done_by_all(network);

    return network->now == until || done.asked ||
           (checks->windows > 0 && unchecked >= checks->windows) ||
           oche_windows_due(checks, network->now, done.flows, done.awaited);
}

void oche_network_run(struct oche_network *network, oche_time until, oche_network_check *check,
                      void *context)
{
    uint64_t unchecked = 0;
    bool stopped = false;

    OCHE_MUST(until < OCHE_TIME_LIMIT);
    if (network->ranks != NULL) {
        oche_ranks_run(network->ranks, until, check, context);
        return;
    }
    while (network->now < until && !stopped) {
        struct soonest soonest = soonest_event(network);

        if (soonest.time >= until) {
            network->now = until;
            break;
        }
        if (network->pace.together && oche_team_is_here(network)) {
            stopped = oche_team_run(network, until, check, context);
            continue;
        }
        unchecked += run_alone(network, &soonest, until);
        if (check == NULL || !is_due(network, until, unchecked))
            continue;
        unchecked = 0;
        stopped = check(context, network->now);
    }
}
