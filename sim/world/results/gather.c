/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the results of all ranks at rank 0, after the run. */
#include <stdlib.h>
#include <string.h>

#include "sim/network/flow_notes.h"
#include "sim/network/link_failure.h"
#include "sim/world/results/readings.h"

#define NODES 128   /* in one exchange */
#define FLOWS 16384 /* the same of flows, and of connections */

/* True if this is rank 0, which knows what it would tell. */
static bool is_first(const struct oche_world *world)
{
    return world->network.ranks->rank == 0;
}

/* ---- nodes ---- */

struct node_part {
    uint32_t node, rtts, deflections;
    oche_time timer_at;
    uint64_t hash, count, deflections_dropped;
};

struct host_part {
    struct oche_nic_stats nic_before;
    uint64_t counted_before[OCHE_MOST_COUNTERS];
    uint64_t late_before;
};

struct port_part {
    oche_time busy_until, last_down, old_until;
    struct oche_port_rate sends;
    uint64_t line_bytes, line_before, line_in_window, lost_before, cut_before, grey_before;
    uint64_t lost_packets, lost_bytes, cut_packets, cut_bytes, grey_packets;
    bool down;
};

static void put_rtts(const struct oche_world *world, uint32_t host, struct oche_rank_bytes *bytes)
{
    for (const struct oche_rtt_chunk *chunk = oche_world_rtts(world, host); chunk != NULL;
         chunk = chunk->before) {
        oche_rank_put(bytes, &chunk->count, sizeof(chunk->count));
        oche_rank_put(bytes, chunk->samples, chunk->count * sizeof(chunk->samples[0]));
    }
}

static uint32_t count_rtts(const struct oche_world *world, uint32_t host)
{
    uint32_t count = 0;

    for (const struct oche_rtt_chunk *chunk = oche_world_rtts(world, host); chunk != NULL;
         chunk = chunk->before)
        count++;
    return count;
}

static void put_host(const struct oche_world *world, uint32_t host, struct oche_rank_bytes *bytes)
{
    struct host_part part = {.nic_before = world->nic_before[host],
                             .late_before = world->late_before[host]};

    struct oche_host_reading reading;

    oche_world_read_host(world, host, &reading);
    oche_packed_put(bytes, &reading, sizeof(reading));
    memcpy(part.counted_before, &world->counted_before[host * OCHE_MOST_COUNTERS],
           sizeof(part.counted_before));
    oche_rank_put(bytes, &part, sizeof(part));
    put_rtts(world, host, bytes);
}

static void put_switch(const struct oche_world *world, uint32_t number,
                       struct oche_rank_bytes *bytes)
{
    const uint32_t node = world->topology.host_count + number;
    const struct oche_deflection_notes *notes = &world->network.nodes[node].deflections;
    struct oche_switch_reading reading;

    oche_world_read_switch(world, number, &reading);
    oche_packed_put(bytes, &reading, sizeof(reading));
    oche_rank_put(bytes, notes->notes, notes->count * sizeof(*notes->notes));
    for (uint32_t port = 0; port < world->topology.nodes[node].port_count; port++) {
        struct oche_port_reading of;

        oche_world_read_port(world, number, port, &of);
        oche_packed_put(bytes, &of, sizeof(of));
    }
}

static void put_ports(const struct oche_world *world, uint32_t node, struct oche_rank_bytes *bytes)
{
    const struct oche_node *of = &world->network.nodes[node];

    for (uint32_t i = of->first_port; i < of->first_port + of->port_count; i++) {
        const struct oche_port *port = &world->network.ports[i];
        const struct oche_port_extra *extra = &world->network.extras[i];
        struct port_part part = {.busy_until = port->busy_until,
                                 .last_down = extra->last_down,
                                 .old_until = extra->old_until,
                                 .sends = extra->sends,
                                 .line_bytes = port->line_bytes,
                                 .line_before = world->line_before[i],
                                 .line_in_window =
                                     world->arrivals.any ? world->arrivals.line[i] : 0,
                                 .lost_before = world->lost_before[i],
                                 .cut_before = world->cut_before[i],
                                 .grey_before = world->grey_before[i],
                                 .grey_packets = extra->grey_packets,
                                 .lost_packets = extra->lost_packets,
                                 .lost_bytes = extra->lost_bytes,
                                 .cut_packets = extra->cut_packets,
                                 .cut_bytes = extra->cut_bytes,
                                 .down = extra->down};

        oche_rank_put(bytes, &part, sizeof(part));
    }
}

/* Puts a node of this rank. */
static void put_node(const struct oche_world *world, uint32_t node, struct oche_rank_bytes *bytes)
{
    const struct oche_node *of = &world->network.nodes[node];
    const bool is_host = node < world->topology.host_count;

    if (!oche_world_has(world, node))
        return;
    struct node_part part = {.node = node,
                             .rtts = is_host ? count_rtts(world, node) : 0,
                             .deflections = of->deflections.count,
                             .timer_at = of->timer_at,
                             .hash = of->trace.hash,
                             .count = of->trace.count,
                             .deflections_dropped = of->deflections.dropped};

    oche_rank_put(bytes, &part, sizeof(part));
    if (is_host)
        put_host(world, node, bytes);
    else
        put_switch(world, node - world->topology.host_count, bytes);
    put_ports(world, node, bytes);
}

/* The chunks come in order of age, the newest first, and keep this order. */
static void get_rtts(struct oche_world_gathered *gathered, uint32_t host, uint32_t count,
                     struct oche_rank_bytes *bytes)
{
    struct oche_rtt_chunk **last = &gathered->rtts[host];

    for (uint32_t i = 0; i < count; i++) {
        struct oche_rtt_chunk *chunk = oche_arena_take(&gathered->arena, sizeof(*chunk));

        oche_rank_get(bytes, &chunk->count, sizeof(chunk->count));
        oche_rank_get(bytes, chunk->samples, chunk->count * sizeof(chunk->samples[0]));
        chunk->before = NULL;
        *last = chunk;
        last = &chunk->before;
    }
}

static void get_host(struct oche_world *world, const struct node_part *node,
                     struct oche_rank_bytes *bytes)
{
    struct oche_world_gathered *gathered = world->gathered;
    struct host_part part;

    gathered->hosts[node->node] =
        oche_packed_get(&gathered->store, bytes, sizeof(struct oche_host_reading));
    oche_rank_get(bytes, &part, sizeof(part));
    world->nic_before[node->node] = part.nic_before;
    world->late_before[node->node] = part.late_before;
    memcpy(&world->counted_before[node->node * OCHE_MOST_COUNTERS], part.counted_before,
           sizeof(part.counted_before));
    get_rtts(gathered, node->node, node->rtts, bytes);
}

static void get_switch(struct oche_world *world, const struct node_part *node,
                       struct oche_rank_bytes *bytes)
{
    struct oche_deflection_notes *notes = &world->network.nodes[node->node].deflections;
    const struct oche_topology_node *at = &world->topology.nodes[node->node];
    struct oche_world_gathered *gathered = world->gathered;

    gathered->switches[node->node - world->topology.host_count] =
        oche_packed_get(&gathered->store, bytes, sizeof(struct oche_switch_reading));
    for (uint32_t i = 0; i < node->deflections; i++) {
        struct oche_deflection_note note;

        oche_rank_get(bytes, &note, sizeof(note));
        if (!oche_world_has(world, node->node))
            oche_deflection_notes_add(notes, &note);
    }
    notes->dropped = node->deflections_dropped;
    for (uint32_t port = 0; port < at->port_count; port++)
        gathered->ports[at->first_port + port] =
            oche_packed_get(&gathered->store, bytes, sizeof(struct oche_port_reading));
}

static void get_ports(struct oche_world *world, uint32_t node, struct oche_rank_bytes *bytes)
{
    const struct oche_node *of = &world->network.nodes[node];

    for (uint32_t i = of->first_port; i < of->first_port + of->port_count; i++) {
        struct oche_port_extra *extra = &world->network.extras[i];
        struct port_part part;

        oche_rank_get(bytes, &part, sizeof(part));
        world->network.ports[i].busy_until = part.busy_until;
        world->network.ports[i].line_bytes = part.line_bytes;
        world->line_before[i] = part.line_before;
        if (world->arrivals.any)
            world->arrivals.line[i] = part.line_in_window;
        world->lost_before[i] = part.lost_before;
        world->cut_before[i] = part.cut_before;
        world->grey_before[i] = part.grey_before;
        extra->grey_packets = part.grey_packets;
        extra->last_down = part.last_down;
        extra->old_until = part.old_until;
        extra->sends = part.sends;
        extra->lost_packets = part.lost_packets;
        extra->lost_bytes = part.lost_bytes;
        extra->cut_packets = part.cut_packets;
        extra->cut_bytes = part.cut_bytes;
        extra->down = part.down;
    }
}

static void get_node(struct oche_world *world, uint32_t from, struct oche_rank_bytes *bytes)
{
    struct node_part part;

    (void)from;
    oche_rank_get(bytes, &part, sizeof(part));
    OCHE_MUST(part.node < world->network.node_count);
    struct oche_node *node = &world->network.nodes[part.node];

    node->timer_at = part.timer_at;
    node->trace.hash = part.hash;
    node->trace.count = part.count;
    if (part.node < world->topology.host_count)
        get_host(world, &part, bytes);
    else
        get_switch(world, &part, bytes);
    get_ports(world, part.node, bytes);
}

/* ---- flows ---- */

struct connection_part {
    uint32_t number, order; /* order: entries of flows->order that follow, from the source */
    uint32_t posted, timeouts, completed, delivered;
    uint64_t retransmitted, packets_delivered;
    bool from_poster, from_destination;
};

struct flow_part {
    uint32_t number;
    bool from_poster, from_destination;
    struct oche_flow_sent sent;
    struct oche_flow_received received;
    struct oche_flow_path way, way_before;
    uint64_t bytes_before, arrived;
};

static void put_connection(const struct oche_world *world, uint32_t number,
                           struct oche_rank_bytes *bytes)
{
    const struct oche_connection *of = &world->flows.connections[number];
    struct connection_part part = {.number = number,
                                   .from_poster = oche_world_has(world, oche_connection_poster(of)),
                                   .from_destination = oche_world_has(world, of->dst),
                                   .posted = of->posted,
                                   .timeouts = of->timeouts,
                                   .completed = of->completed,
                                   .delivered = of->delivered,
                                   .retransmitted = of->retransmitted,
                                   .packets_delivered = of->packets_delivered};

    if (is_first(world) || of->count == 0 ||
        (!part.from_poster && (of->queued == 0 || !part.from_destination)))
        return;
    part.order = part.from_poster ? of->queued : 0;
    oche_rank_put(bytes, &part, sizeof(part));
    oche_rank_put(bytes, &world->flows.order[of->first], part.order * sizeof(uint32_t));
}

static void get_connection(struct oche_world *world, uint32_t from, struct oche_rank_bytes *bytes)
{
    struct connection_part part;

    (void)from;
    oche_rank_get(bytes, &part, sizeof(part));
    OCHE_MUST(part.number < world->flows.connection_count);
    struct oche_connection *of = &world->flows.connections[part.number];

    if (part.from_poster) {
        OCHE_MUST(part.order <= of->count);
        oche_rank_get(bytes, &world->flows.order[of->first], part.order * sizeof(uint32_t));
        of->queued = part.order;
        of->posted = part.posted;
        of->timeouts = part.timeouts;
        of->completed = part.completed;
        of->retransmitted = part.retransmitted;
        of->delivered = part.delivered;
    }
    if (part.from_destination)
        of->packets_delivered = part.packets_delivered;
    /* The poster hears of a flow when it is in memory, and the destination when it arrives. */
    if (part.from_destination && world->config->hosts.dma_latency > 0)
        of->delivered = part.delivered > of->delivered ? part.delivered : of->delivered;
}

static void put_flow(const struct oche_world *world, uint32_t number, struct oche_rank_bytes *bytes)
{
    const struct oche_flows *flows = &world->flows;
    const struct oche_flow_plan *plan = &flows->plan[number];
    struct flow_part part = {.number = number,
                             .from_poster = oche_world_has(world, oche_flow_poster(plan)),
                             .from_destination = oche_world_has(world, plan->dst),
                             .sent = flows->sent[number],
                             .received = flows->received[number]};

    if (!part.from_poster && (part.sent.started == OCHE_NEVER || !part.from_destination))
        return;
    if (part.from_destination && flows->paths != NULL) {
        part.way = flows->paths[number];
        part.way_before = world->paths_before[number];
    }
    if (part.from_destination) {
        part.bytes_before = world->flow_before == NULL ? 0 : world->flow_before[number];
        part.arrived =
            part.received.delivered == OCHE_NEVER ? oche_world_read_arrived(world, number) : 0;
    }
    oche_rank_put(bytes, &part, sizeof(part));
}

static void get_flow(struct oche_world *world, uint32_t from, struct oche_rank_bytes *bytes)
{
    struct oche_flows *flows = &world->flows;
    struct flow_part part;

    (void)from;
    oche_rank_get(bytes, &part, sizeof(part));
    OCHE_MUST(part.number < flows->count);
    const bool arrived = flows->received[part.number].arrived || part.received.arrived;

    if (part.from_poster) {
        flows->sent[part.number] = part.sent;
        flows->received[part.number] = part.received;
    }
    flows->received[part.number].arrived = arrived; /* only the destination knows */
    if (!part.from_destination)
        return;
    if (flows->paths != NULL) {
        flows->paths[part.number] = part.way;
        world->paths_before[part.number] = part.way_before;
    }
    if (world->flow_before != NULL && part.bytes_before > 0)
        world->flow_before[part.number] = part.bytes_before;
    if (part.arrived > 0)
        world->gathered->arrived[part.number] = part.arrived;
}

/* Moves flows that are over out of memory, whenever that was done last. */
static void move_over(struct oche_world *world)
{
    oche_flows_move_over(&world->flows, oche_flows_next_move(&world->flows));
}

/* Makes the flows that the ranks of their senders have made. */
static void tell_made(struct oche_world *world)
{
    struct oche_flow_sources *sources = &world->flows.sources;
    uint64_t *made = oche_world_make(sources->count, sizeof(*made)), since = 0;

    for (uint32_t i = 0; i < sources->count; i++)
        if (sources->list[i].at == NULL &&
            oche_world_has(world, oche_flow_poster(&sources->list[i].flow)))
            made[i] = sources->list[i].made;
    oche_ranks_sum(world->network.ranks, made, sources->count);
    for (uint32_t i = 0; world->network.ranks->rank == 0 && i < sources->count; i++) {
        if (made[i] == 0)
            continue;
        oche_flows_make(&world->flows, &world->network,
                        sources->list[i].first + (uint32_t)made[i] - 1);
        since += (uint32_t)made[i];
        if (since < FLOWS)
            continue;
        move_over(world);
        since = 0;
    }
    free(made);
    for (uint32_t i = 0; i < sources->count; i++)
        if (sources->list[i].at != NULL)
            oche_world_tell_made_places(world, i);
}

/* ---- the rest ---- */

static const struct oche_shard *own_shard(const struct oche_world *world)
{
    return &world->network.shards[world->network.ranks->rank];
}

struct hit_part {
    uint32_t connection, unused;
    struct oche_hit hit;
};

static void put_hit(const struct oche_world *world, uint32_t connection,
                    struct oche_rank_bytes *bytes)
{
    const struct oche_hit *hit = oche_network_hit(own_shard(world), connection);

    if (is_first(world) || hit == NULL)
        return;
    struct hit_part part = {.connection = connection, .hit = *hit};

    oche_rank_put(bytes, &part, sizeof(part));
}

static void get_hit(struct oche_world *world, uint32_t from, struct oche_rank_bytes *bytes)
{
    struct hit_part part;

    oche_rank_get(bytes, &part, sizeof(part));
    OCHE_MUST(part.connection < world->network.connections);
    oche_network_set_hit(&world->network.shards[from], part.connection, &part.hit);
}

static void put_watch(const struct oche_world *world, uint32_t number,
                      struct oche_rank_bytes *bytes)
{
    const struct oche_world_watched *watched = &world->watched[number];

    if (is_first(world) || !oche_world_has(world, watched->node))
        return;
    oche_rank_put(bytes, &number, sizeof(number));
    oche_rank_put(bytes, &watched->watch, sizeof(watched->watch));
    oche_rank_put(bytes, watched->watch.time, watched->watch.steps * sizeof(oche_time));
}

static void get_watch(struct oche_world *world, uint32_t from, struct oche_rank_bytes *bytes)
{
    uint32_t number;

    (void)from;
    oche_rank_get(bytes, &number, sizeof(number));
    OCHE_MUST(number < world->watched_count);
    struct oche_queue_watch *watch = &world->watched[number].watch;
    oche_time *time = watch->time;

    oche_rank_get(bytes, watch, sizeof(*watch));
    watch->time = time;
    oche_rank_get(bytes, time, watch->steps * sizeof(*time));
}

static void put_longest(const struct oche_world *world, uint32_t number,
                        struct oche_rank_bytes *bytes)
{
    const struct oche_world_longest *longest = &world->longest;

    if (is_first(world) || number >= longest->count)
        return;
    const struct oche_world_long_queue *queue = &longest->queues[number];

    oche_rank_put(bytes, &queue->port, sizeof(queue->port));
    oche_rank_put(bytes, &queue->most, sizeof(queue->most));
    oche_rank_put(bytes, queue->spans, longest->spans * sizeof(*queue->spans));
}

static void get_longest(struct oche_world *world, uint32_t from, struct oche_rank_bytes *bytes)
{
    struct oche_world_longest *longest = &world->longest;
    struct oche_world_long_queue queue;
    uint32_t *spans;

    (void)from;
    oche_rank_get(bytes, &queue.port, sizeof(queue.port));
    oche_rank_get(bytes, &queue.most, sizeof(queue.most));
    OCHE_MUST(queue.port < world->network.port_count);
    /* Its place among this rank's own, which has none of the port. */
    spans = &longest->spans_of[(size_t)queue.port * longest->most_spans];
    oche_rank_get(bytes, spans, longest->spans * sizeof(*spans));
    queue.spans = spans;
    oche_world_longest_add(world, &queue);
}

static int compare_paused(const void *a, const void *b)
{
    const struct oche_world_paused_port *x = a, *y = b;

    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->port < y->port ? -1 : x->port > y->port;
}

static void put_paused(const struct oche_world *world, uint32_t number,
                       struct oche_rank_bytes *bytes)
{
    if (!is_first(world) && number < world->paused_count)
        oche_rank_put(bytes, &world->paused_ports[number], sizeof(*world->paused_ports));
}

static void get_paused(struct oche_world *world, uint32_t from, struct oche_rank_bytes *bytes)
{
    (void)from;
    if (world->paused_count == world->paused_capacity) {
        world->paused_capacity = world->paused_capacity == 0 ? 1024 : world->paused_capacity * 2;
        world->paused_ports =
            realloc(world->paused_ports, world->paused_capacity * sizeof(*world->paused_ports));
        OCHE_GOT(world->paused_ports != NULL);
    }
    oche_rank_get(bytes, &world->paused_ports[world->paused_count++], sizeof(*world->paused_ports));
}

/* ---- exchanges ---- */

/* Puts what this rank has to tell of number `number` into its message to rank 0: nothing, perhaps.
 */
typedef void put_one(const struct oche_world *world, uint32_t number,
                     struct oche_rank_bytes *bytes);
/* Takes what rank `from` has put of one number out of its message. */
typedef void get_one(struct oche_world *world, uint32_t from, struct oche_rank_bytes *bytes);

/* Returns the lowest number from `from` on about which this rank may have something to report. */
typedef uint64_t next_one(const struct oche_world *world, uint32_t from);

static uint64_t each(const struct oche_world *world, uint32_t from)
{
    (void)world;
    return from;
}

static uint64_t next_connection(const struct oche_world *world, uint32_t from)
{
    return oche_flows_next_connection(&world->flows, from);
}

static uint64_t next_hit(const struct oche_world *world, uint32_t from)
{
    return oche_network_next_hit(own_shard(world), from);
}

static uint64_t next_flow(const struct oche_world *world, uint32_t from)
{
    return oche_flows_next_made(&world->flows, from);
}

/* Tells rank 0 of numbers 0 to count - 1, of so many in one exchange. */
static void gather(struct oche_world *world, uint64_t count, uint32_t step, next_one *next,
                   put_one *put, get_one *get)
{
    struct oche_ranks *ranks = world->network.ranks;

    for (uint64_t first = 0, i = 0; first < count; first += step) {
        const uint64_t end = first + step < count ? first + step : count;

        for (; i < end && (i = next(world, (uint32_t)i)) < end; i++)
            put(world, (uint32_t)i, oche_ranks_to(ranks, 0));
        oche_ranks_exchange(ranks);
        for (uint32_t r = 0; is_first(world) && r < ranks->count; r++)
            while (oche_rank_has_more(oche_ranks_from(ranks, r)))
                get(world, r, oche_ranks_from(ranks, r));
        if (is_first(world) && put == put_flow && count > 4 * FLOWS)
            move_over(world); /* not all of these flows were in memory at a time in the run */
    }
}

/* Returns the largest number of holds that a rank has. */
static uint64_t most_paused(const struct oche_world *world)
{
    struct oche_ranks *ranks = world->network.ranks;
    uint64_t *counts = oche_world_make(ranks->count, sizeof(*counts)), most = 0;

    counts[ranks->rank] = world->paused_count;
    oche_ranks_sum(ranks, counts, ranks->count);
    for (uint32_t r = 0; r < ranks->count; r++)
        most = counts[r] > most ? counts[r] : most;
    free(counts);
    return most;
}

static void tell_pauses(struct oche_world *world)
{
    uint64_t unnoted = oche_world_pauses_unnoted(world);

    gather(world, most_paused(world), FLOWS, each, put_paused, get_paused);
    if (world->paused_count > 0)
        qsort(world->paused_ports, world->paused_count, sizeof(*world->paused_ports),
              compare_paused);
    oche_ranks_sum(world->network.ranks, &unnoted, 1);
    world->gathered->pauses_unnoted = unnoted;
}

static struct oche_world_gathered *make_gathered(const struct oche_world *world)
{
    struct oche_world_gathered *gathered = calloc(1, sizeof(*gathered));
    const struct oche_topology *topology = &world->topology;

    OCHE_GOT(gathered != NULL);
    oche_arena_init(&gathered->arena);
    gathered->hosts = oche_world_make(topology->host_count, sizeof(*gathered->hosts));
    gathered->rtts = oche_world_make(topology->host_count, sizeof(*gathered->rtts));
    gathered->ports = oche_world_make(world->network.port_count, sizeof(*gathered->ports));
    gathered->switches = oche_world_make(topology->switch_count, sizeof(*gathered->switches));
    gathered->arrived = oche_world_make_sparse(world->flows.count, sizeof(*gathered->arrived));
    return gathered;
}

/* Gives back the memory of what has been gathered. */
static void release_devices(struct oche_world *world)
{
    struct oche_network *network = &world->network;
    struct oche_shard *shard = &network->shards[network->ranks->rank];
    const int64_t taken = shard->pool.taken;

    for (uint32_t n = 0; n < network->node_count; n++) {
        if (network->nodes[n].pauses != NULL)
            oche_pause_notes_free(network->nodes[n].pauses);
        network->nodes[n].pauses = NULL;
    }
    memset(world->hosts, 0, world->topology.host_count * sizeof(*world->hosts));
    memset(world->switches, 0, world->topology.switch_count * sizeof(*world->switches));
    oche_events_free(&shard->events);
    oche_packet_pool_free(&shard->pool);
    shard->pool.taken = taken; /* the packets that are left at the end */
    oche_arena_free(&shard->arena);
    oche_arena_free(&shard->tables);
}

void oche_world_gather(struct oche_world *world)
{
    if (world->network.ranks == NULL)
        return;
    oche_ranks_sum_counts(world->network.ranks); /* without what follows */
    oche_ranks_sum(world->network.ranks, &world->arrivals.delivered_bytes, 1);
    world->gathered = make_gathered(world);
    tell_made(world);
    oche_world_tell_jobs(world);
    gather(world, world->flows.connection_count, FLOWS, next_connection, put_connection,
           get_connection);
    gather(world, world->flows.count, FLOWS, next_flow, put_flow, get_flow);
    gather(world, world->network.node_count, NODES, each, put_node, get_node);
    gather(world, world->network.connections, FLOWS, next_hit, put_hit, get_hit);
    gather(world, world->watched_count, NODES, each, put_watch, get_watch);
    gather(world, OCHE_WORLD_LONGEST_QUEUES, NODES, each, put_longest, get_longest);
    tell_pauses(world);
    world->gathered->all = true;
    release_devices(world);
}
