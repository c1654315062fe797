/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main loop: windows as long as the smallest link delay, one thread per shard. Within a window
 * no shard can affect another, since every packet needs at least one link's delay; between windows,
 * packets that crossed shards are moved. A single thread runs the same windows, so stop conditions
 * are tested at the same times.
 *
 * To meet three times a window takes threads longer than a few events take one thread, so after a
 * window of few events the next one is run by the first thread alone, one shard after the other.
 */
#include <pthread.h>
#include <stdlib.h>

#include "sim/network/host.h"
#include "sim/network/link_failure.h"
#include "sim/network/network.h"
#include "sim/network/switch_node.h"

/*
 * Handles the arrival of a packet on a link that can fail. Returns false if the link lost the
 * packet.
 */
static OCHE_NOINLINE bool outlives(struct oche_shard *shard, struct oche_port *port,
                                   struct oche_packet *packet, oche_time now)
{
    struct oche_network *network = shard->network;
    uint32_t number = (uint32_t)(port - network->ports);

    if (oche_network_lost_on_wire(shard, port, packet, now))
        return false;
    if (network->extras[number].tap)
        network->tap(network->tap_context, number, packet, packet->when, false);
    return true;
}

static inline void arrival(struct oche_shard *shard, uint32_t key, struct oche_packet *packet,
                           oche_time now)
{
    struct oche_network *network = shard->network;
    const struct oche_site *site = oche_event_site(network, key);
    struct oche_port *port = &network->ports[site->first_port + oche_event_local(key)];

    if (OCHE_UNLIKELY(site->flags & OCHE_PORT_FAILS) && (port->flags & OCHE_PORT_FAILS) &&
        !outlives(shard, port, packet, now))
        return;
    if (site->flags & OCHE_PORT_HOST)
        oche_host_arrival(shard, port, packet, now);
    else
        oche_switch_node_arrival(shard, site, oche_event_local(key), packet, now);
}

static void timer(struct oche_shard *shard, struct oche_port *port, oche_time now)
{
    struct oche_node *node = &shard->network->nodes[port->node];

    if (node->timer_at == now)
        node->timer_at = OCHE_NEVER;
    if (port->flags & OCHE_PORT_HOST)
        oche_host_timer(shard, port, now);
    else
        oche_switch_node_timer(shard, port, now);
}

static void run_window(struct oche_shard *shard, oche_time end)
{
    struct oche_event event;
    uint64_t handled = 0;

    while (oche_event_pop(&shard->events, end, &event)) {
        struct oche_port *port = event.target; /* but of an arrival it is the packet */
        handled++;
        switch (oche_event_kind_of(event.key)) {
        case OCHE_EVENT_TRANSMIT_DONE:
            port->flags &= (uint8_t)~OCHE_PORT_DONE_PENDING;
            if (port->flags & OCHE_PORT_HOST)
                oche_host_transmit_done(shard, port, event.time);
            else
                oche_switch_node_transmit_done(shard, port, event.time);
            break;
        case OCHE_EVENT_ARRIVAL:
            arrival(shard, event.key, event.target, event.time);
            break;
        case OCHE_EVENT_TIMER:
            timer(shard, port, event.time);
            break;
        case OCHE_EVENT_CHANGE:
            oche_network_change(shard, port, event.time);
            break;
        }
    }
    shard->handled_events += handled;
}

/* Makes events of the packets that other shards sent to this shard during the window. */
static void collect(struct oche_shard *shard)
{
    struct oche_network *network = shard->network;

    for (uint32_t from = 0; from < network->shard_count; from++) {
        struct oche_mailbox *box = &network->shards[from].outbox[shard->index];
        for (uint32_t i = 0; i < box->count; i++) {
            uint32_t number = box->ports[i];
            struct oche_port *port = &network->ports[number];
            struct oche_port_extra *extra = &network->extras[number];
            uint32_t key = oche_event_key(port->node, OCHE_EVENT_ARRIVAL, port->local);
            for (struct oche_packet *packet = extra->staged_head; packet != NULL;
                 packet = packet->next)
                oche_event_push(&shard->events, packet->when, key, packet);
            extra->staged_head = extra->staged_tail = NULL;
        }
        box->count = 0;
    }
}

/*
 * A packet ends up in the pool of the shard that received it. If more packets go from one shard to
 * another than back, the first would make new packets for ever and the second would keep them all.
 * So the shard with the most free packets gives some to the shard with the fewest. To be called
 * between windows, when no other thread runs.
 */
static void balance_pools(struct oche_network *network)
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

/*
 * Returns the end of the next window; no event is earlier than `soonest`. A window never crosses a
 * multiple of the window length, so its end does not depend on the steps in which the run is made.
 */
static oche_time next_window_end(const struct oche_network *network, oche_time soonest,
                                 oche_time until)
{
    oche_time end = (soonest / network->window + 1) * network->window;

    return oche_time_min(end, until);
}

static oche_time soonest_event(const struct oche_network *network)
{
    oche_time soonest = OCHE_NEVER;

    for (uint32_t s = 0; s < network->shard_count; s++)
        soonest = oche_time_min(soonest, oche_events_next_time(&network->shards[s].events));
    return soonest;
}

/* State shared by all threads; the first thread writes it between two barriers. */
struct team {
    struct oche_network *network;
    struct member *members; /* NULL: no thread was needed so far */
    pthread_t *threads;
    pthread_barrier_t barrier;
    oche_time end;
    bool over;
};

struct member {
    struct team *team;
    uint32_t shard;
};

static void *member_run(void *argument)
{
    struct member *member = argument;
    struct team *team = member->team;
    struct oche_shard *shard = &team->network->shards[member->shard];

    for (;;) {
        pthread_barrier_wait(&team->barrier); /* wait until the next window is set */
        if (team->over)
            return NULL;
        run_window(shard, team->end);
        pthread_barrier_wait(&team->barrier); /* wait until all shards have run the window */
        collect(shard);
        pthread_barrier_wait(&team->barrier); /* wait until all shards have collected */
    }
}

static void gather(struct team *team)
{
    uint32_t count = team->network->shard_count;

    team->members = calloc(count, sizeof(*team->members));
    team->threads = calloc(count, sizeof(*team->threads));
    if (team->members == NULL || team->threads == NULL ||
        pthread_barrier_init(&team->barrier, NULL, count) != 0)
        oche_panic(__FILE__, __LINE__, OCHE_OUT_OF_MEMORY ", or of threads");
    for (uint32_t s = 1; s < count; s++) {
        team->members[s] = (struct member){.team = team, .shard = s};
        if (pthread_create(&team->threads[s], NULL, member_run, &team->members[s]) != 0)
            oche_panic(__FILE__, __LINE__, OCHE_OUT_OF_MEMORY ", or of threads");
    }
}

static void dismiss(struct team *team)
{
    if (team->members == NULL)
        return;
    team->over = true;
    pthread_barrier_wait(&team->barrier);
    for (uint32_t s = 1; s < team->network->shard_count; s++)
        pthread_join(team->threads[s], NULL);
    pthread_barrier_destroy(&team->barrier);
    free(team->members);
    free(team->threads);
}

static void run_together(struct team *team)
{
    struct oche_network *network = team->network;

    if (team->members == NULL)
        gather(team);
    network->windows_together++;
    pthread_barrier_wait(&team->barrier);
    run_window(&network->shards[0], team->end);
    pthread_barrier_wait(&team->barrier);
    collect(&network->shards[0]);
    pthread_barrier_wait(&team->barrier);
}

static void run_alone(struct team *team)
{
    struct oche_network *network = team->network;

    for (uint32_t s = 0; s < network->shard_count; s++)
        run_window(&network->shards[s], team->end);
    for (uint32_t s = 0; network->shard_count > 1 && s < network->shard_count; s++)
        collect(&network->shards[s]);
}

void oche_network_run(struct oche_network *network, oche_time until,
                      bool (*stop)(void *context, oche_time now), void *context)
{
    struct team team = {.network = network};

    OCHE_MUST(until < OCHE_TIME_LIMIT);
    while (network->now < until) {
        oche_time soonest = soonest_event(network);
        uint64_t before = oche_network_events(network);

        if (soonest >= until) {
            network->now = until;
            break;
        }
        team.end = next_window_end(network, soonest, until);
        if (network->shard_count > 1 && network->last_events >= OCHE_NETWORK_FEW_EVENTS)
            run_together(&team);
        else
            run_alone(&team);
        if (network->shard_count > 1)
            balance_pools(network);
        network->last_events = oche_network_events(network) - before;
        network->now = team.end;
        if (stop != NULL && stop(context, team.end))
            break;
    }
    dismiss(&team);
}
