/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out why ACK timers expired: at the end of each window, when no shard runs, both ends of the
 * connection are examined. A window is no longer than the shortest link delay, so no packet that
 * was sent since the timer expired can have reached the receiver by the end of the window. Windows
 * end at the same times for any number of threads.
 */
#include <stdlib.h>

#include "sim/world/results/readings.h"

/* The state of both ends of a connection. */
struct ends {
    uint64_t delivered; /* packets; told by the receiver's end, like the next two */
    struct oche_qp_losses receiver;
    bool has_receiver, has_sender;
    uint32_t una;
};

/* With ranks: the state of the connections that are being judged, as reported by all ranks. */
struct oche_world_ends {
    uint32_t *connections; /* in rising order */
    struct ends *ends;
    size_t count, capacity;
};

/* True if the flows of a connection are READs. All ranks know that of all connections. */
static bool is_of_reads(const struct oche_world *world, uint32_t connection)
{
    const struct oche_flows *flows = &world->flows;

    if (OCHE_LIKELY(!flows->reads))
        return false;
    const struct oche_flow_source *source = oche_flows_source_of_connection(flows, connection);

    return source != NULL ? source->flow.verb == OCHE_VERB_READ
                          : flows->connections[connection].reads;
}

/* Reads the ends that this process has. */
static struct ends read_ends(const struct oche_world *world, uint32_t number)
{
    const struct oche_connection *connection = &world->flows.connections[number];
    struct ends ends = {.has_receiver = false};
    struct oche_qp_losses sender;

    if (oche_world_has(world, connection->dst)) {
        ends.delivered = connection->packets_delivered;
        ends.has_receiver = oche_host_losses(world->hosts[connection->dst], number, &ends.receiver);
    }
    if (oche_world_has(world, connection->src) &&
        oche_host_losses(world->hosts[connection->src], number, &sender)) {
        ends.has_sender = true;
        ends.una = sender.una;
    }
    return ends;
}

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static struct ends ends_of(const struct oche_world *world, uint32_t number)
{
    const struct oche_world_ends *all = world->ends;

    if (all == NULL)
        return read_ends(world, number);
    const uint32_t *at =
        bsearch(&number, all->connections, all->count, sizeof(number), compare_numbers);

    OCHE_MUST(at != NULL);
    return all->ends[at - all->connections];
}

/* An oche_connection_reader: tells the progress of connection `number` at both ends. */
static void read_progress(void *context, uint32_t number, struct oche_connection_progress *progress)
{
    const struct ends ends = ends_of(context, number);

    *progress = (struct oche_connection_progress){.expected = ends.delivered};
    if (ends.has_receiver) {
        progress->losses = ends.receiver;
        progress->expected += (ends.receiver.epsn - (uint32_t)ends.delivered) & OCHE_PSN_MASK;
    }
    if (!ends.has_sender) {
        progress->acknowledged = UINT64_MAX;
        return;
    }
    uint32_t ahead = ((uint32_t)progress->expected - ends.una) & OCHE_PSN_MASK;
    progress->acknowledged = progress->expected - ahead;
}

/* ---- with ranks ---- */

/* Gives all ranks the losses and timeouts of each. */
static void share_mishaps(struct oche_world *world)
{
    struct oche_ranks *ranks = world->network.ranks;
    const struct oche_mishaps *own = &world->network.shards[ranks->rank].mishaps;
    struct oche_rank_bytes *bytes = oche_ranks_to(ranks, 0);

    oche_rank_put(bytes, &own->lost_count, sizeof(own->lost_count));
    oche_rank_put(bytes, &own->timed_out_count, sizeof(own->timed_out_count));
    oche_rank_put(bytes, own->lost, own->lost_count * sizeof(*own->lost));
    oche_rank_put(bytes, own->timed_out, own->timed_out_count * sizeof(*own->timed_out));
    oche_ranks_share(ranks);
    for (uint32_t r = 0; r < ranks->count; r++) {
        struct oche_mishaps *mishaps = &world->network.shards[r].mishaps;
        uint32_t lost, timed_out;

        if (r == ranks->rank)
            continue;
        bytes = oche_ranks_from(ranks, r);
        oche_rank_get(bytes, &lost, sizeof(lost));
        oche_rank_get(bytes, &timed_out, sizeof(timed_out));
        oche_mishaps_make_room(mishaps, lost, timed_out);
        oche_rank_get(bytes, mishaps->lost, lost * sizeof(*mishaps->lost));
        oche_rank_get(bytes, mishaps->timed_out, timed_out * sizeof(*mishaps->timed_out));
        mishaps->lost_count = lost;
        mishaps->timed_out_count = timed_out;
    }
}

static void add_connection(void *context, uint32_t number)
{
    struct oche_world_ends *ends = context;

    if (ends->count == ends->capacity) {
        ends->capacity = ends->capacity == 0 ? 256 : ends->capacity * 2;
        ends->connections = realloc(ends->connections, ends->capacity * sizeof(*ends->connections));
        OCHE_GOT(ends->connections != NULL);
    }
    ends->connections[ends->count++] = number;
}

/* Lists the connections at which judge_window will look. They are the same at all ranks. */
static void list_connections(const struct oche_world *world, struct oche_world_ends *ends)
{
    uint32_t mishaps = 0;
    size_t kept = 0;

    for (uint32_t s = 0; s < world->network.shard_count; s++) {
        const struct oche_mishaps *of = &world->network.shards[s].mishaps;

        for (uint32_t i = 0; i < of->lost_count; i++)
            if (oche_connection_of(of->lost[i].qpn) < world->flows.connection_count)
                add_connection(ends, oche_connection_of(of->lost[i].qpn));
        for (uint32_t i = 0; i < of->timed_out_count; i++)
            add_connection(ends, oche_connection_of(of->timed_out[i].qpn));
        mishaps += of->lost_count + of->timed_out_count;
    }
    oche_timeout_causes_each(world->causes, mishaps, add_connection, ends);
    if (ends->count > 0)
        qsort(ends->connections, ends->count, sizeof(*ends->connections), compare_numbers);
    for (size_t i = 0; i < ends->count; i++)
        if (i == 0 || ends->connections[i] != ends->connections[i - 1])
            ends->connections[kept++] = ends->connections[i];
    ends->count = kept;
}

/* Adds what another rank has told of an end. */
static void merge(struct ends *to, const struct ends *from)
{
    if (from->delivered > 0)
        to->delivered = from->delivered;
    if (from->has_receiver) {
        to->has_receiver = true;
        to->receiver = from->receiver;
    }
    if (from->has_sender) {
        to->has_sender = true;
        to->una = from->una;
    }
}

static void share_ends(struct oche_world *world, struct oche_world_ends *ends)
{
    struct oche_ranks *ranks = world->network.ranks;

    list_connections(world, ends);
    ends->ends = oche_world_make(ends->count, sizeof(*ends->ends));
    for (size_t i = 0; i < ends->count; i++)
        ends->ends[i] = read_ends(world, ends->connections[i]);
    oche_rank_put(oche_ranks_to(ranks, 0), ends->ends, ends->count * sizeof(*ends->ends));
    oche_ranks_share(ranks);
    for (uint32_t r = 0; r < ranks->count; r++)
        for (size_t i = 0; r != ranks->rank && i < ends->count; i++) {
            struct ends of;

            oche_rank_get(oche_ranks_from(ranks, r), &of, sizeof(of));
            merge(&ends->ends[i], &of);
        }
}

void oche_world_causes_start(struct oche_world *world)
{
    world->network.keep_mishaps = true;
    world->causes = oche_timeout_causes_create(read_progress, world);
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
            if (connection < world->flows.connection_count && !is_of_reads(world, connection))
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
        const uint32_t connection = oche_connection_of(timed_out->qpn);

        take_lost(world, timed_out->time);
        if (is_of_reads(world, connection))
            world->timeout_causes[OCHE_TIMEOUT_OTHER]++;
        else
            world
                ->timeout_causes[oche_timeout_causes_judge(world->causes, connection, timed_out)]++;
    }
    take_lost(world, OCHE_NEVER);
    oche_timeout_causes_tidy(world->causes);
    for (uint32_t s = 0; s < world->network.shard_count; s++)
        oche_mishaps_clear(&world->network.shards[s].mishaps);
}

/* Judges the same with ranks: each rank comes to the same result. */
static void judge_of_all(struct oche_world *world)
{
    struct oche_world_ends ends = {.count = 0};

    if (!oche_ranks_have_mishaps(world->network.ranks))
        return;
    share_mishaps(world);
    share_ends(world, &ends);
    world->ends = &ends;
    judge_window(world);
    world->ends = NULL;
    free(ends.connections);
    free(ends.ends);
}

void oche_world_causes_judge(struct oche_world *world)
{
    struct oche_network *network = &world->network;
    uint32_t any = 0;

    if (network->ranks != NULL) {
        judge_of_all(world);
        return;
    }
    for (uint32_t s = 0; s < network->shard_count; s++)
        any |= network->shards[s].mishaps.lost_count | network->shards[s].mishaps.timed_out_count;
    if (any == 0)
        return;
    judge_window(world);
}
