/* SPDX-License-Identifier: Apache-2.0 */
/* Computes when threads would be done, window after window. */
#include "sim/network/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "sim/network/network.h"

const double oche_schedule_costs[OCHE_SCHEDULE_COSTS] = {0, 5, 100};

struct way {
    uint32_t threads;
    uint64_t neighbours[OCHE_SCHEDULE_MOST]; /* by thread: a bit for each thread it has links to */
    double all, most;
    double work[OCHE_SCHEDULE_MOST];                      /* by thread, so far */
    double done[OCHE_SCHEDULE_COSTS][OCHE_SCHEDULE_MOST]; /* when it has run the last window */
    uint64_t crossing;
};

struct oche_schedule {
    const struct oche_network *network;
    uint64_t windows;
    uint64_t before[OCHE_SCHEDULE_MOST]; /* events of each shard until the last window */
    struct way ways[OCHE_SCHEDULE_WAYS];
    unsigned way_count;
};

/* Returns the thread that runs a shard. */
static uint32_t thread_of(const struct oche_schedule *schedule, const struct way *way,
                          uint32_t shard)
{
    return (uint32_t)((uint64_t)shard * way->threads / schedule->network->shard_count);
}

static void add_link(struct oche_schedule *schedule, uint32_t one, uint32_t other)
{
    for (unsigned w = 0; w < schedule->way_count; w++) {
        struct way *way = &schedule->ways[w];
        uint32_t from = thread_of(schedule, way, one), to = thread_of(schedule, way, other);

        if (from != to)
            way->neighbours[from] |= UINT64_C(1) << to;
    }
}

struct oche_schedule *oche_schedule_create(const struct oche_network *network)
{
    struct oche_schedule *schedule = calloc(1, sizeof(*schedule));

    OCHE_GOT(schedule != NULL);
    OCHE_MUST(network->shard_count <= OCHE_SCHEDULE_MOST);
    schedule->network = network;
    for (uint32_t threads = 2; threads <= network->shard_count; threads *= 2)
        schedule->ways[schedule->way_count++].threads = threads;
    for (uint32_t i = 0; i < network->port_count; i++) {
        const struct oche_port *port = &network->ports[i];

        if (port->peer != UINT32_MAX)
            add_link(schedule, network->nodes[port->node].shard,
                     network->nodes[network->ports[port->peer].node].shard);
    }
    return schedule;
}

void oche_schedule_free(struct oche_schedule *schedule)
{
    free(schedule);
}

/* Returns when thread `at` begins a window, if telling others of the one before costs `cost`. */
static double begins(const struct way *way, const double *done, uint32_t at, double cost)
{
    double begins = done[at];

    for (uint64_t rest = way->neighbours[at]; rest != 0; rest &= rest - 1) {
        double told = done[__builtin_ctzll(rest)] + cost;

        begins = told > begins ? told : begins;
    }
    return begins;
}

static void add_window(struct way *way, const double *work)
{
    double most = 0;

    for (uint32_t t = 0; t < way->threads; t++) {
        way->work[t] += work[t];
        way->all += work[t];
        most = work[t] > most ? work[t] : most;
    }
    way->most += most;
    for (unsigned c = 0; c < OCHE_SCHEDULE_COSTS; c++) {
        double before[OCHE_SCHEDULE_MOST];

        memcpy(before, way->done[c], sizeof(before));
        for (uint32_t t = 0; t < way->threads; t++)
            way->done[c][t] = begins(way, before, t, oche_schedule_costs[c]) + work[t];
    }
}

/* Adds the packets that crossed between threads in the window. */
static void add_crossing(const struct oche_schedule *schedule, struct way *way)
{
    const struct oche_network *network = schedule->network;

    for (uint32_t from = 0; from < network->shard_count; from++)
        for (uint32_t to = 0; to < network->shard_count; to++)
            if (thread_of(schedule, way, from) != thread_of(schedule, way, to))
                way->crossing += network->shards[from]
                                     .outbox[network->shards[from].side * network->shard_count + to]
                                     .count;
}

void oche_schedule_window(struct oche_schedule *schedule)
{
    const struct oche_network *network = schedule->network;

    schedule->windows++;
    for (unsigned w = 0; w < schedule->way_count; w++) {
        double work[OCHE_SCHEDULE_MOST] = {0};

        for (uint32_t s = 0; s < network->shard_count; s++)
            work[thread_of(schedule, &schedule->ways[w], s)] +=
                (double)(network->shards[s].handled_events - schedule->before[s]);
        add_window(&schedule->ways[w], work);
        add_crossing(schedule, &schedule->ways[w]);
    }
    for (uint32_t s = 0; s < network->shard_count; s++)
        schedule->before[s] = network->shards[s].handled_events;
}

uint64_t oche_schedule_windows(const struct oche_schedule *schedule)
{
    return schedule->windows;
}

static double longest(const double *values, uint32_t count)
{
    double most = 0;

    for (uint32_t i = 0; i < count; i++)
        most = values[i] > most ? values[i] : most;
    return most;
}

unsigned oche_schedule_ways(const struct oche_schedule *schedule,
                            struct oche_schedule_way ways[OCHE_SCHEDULE_WAYS])
{
    for (unsigned w = 0; w < schedule->way_count; w++) {
        const struct way *way = &schedule->ways[w];
        struct oche_schedule_way *out = &ways[w];

        *out = (struct oche_schedule_way){.threads = way->threads,
                                          .all = way->all,
                                          .most = way->most,
                                          .busiest = longest(way->work, way->threads),
                                          .crossing = way->crossing};
        for (uint32_t t = 0; t < way->threads; t++)
            out->links += (double)__builtin_popcountll(way->neighbours[t]) / way->threads;
        for (unsigned c = 0; way->all > 0 && c < OCHE_SCHEDULE_COSTS; c++) {
            double told = oche_schedule_costs[c] * (double)schedule->windows;

            out->barrier[c] = way->all / (way->most + told);
            out->neighbours[c] = way->all / longest(way->done[c], way->threads);
        }
    }
    return schedule->way_count;
}
