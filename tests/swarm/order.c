/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Data packets of a connection arrive in the order in which they were sent, some of them never. The
 * reasons: links are FIFOs, a connection keeps one path and one class, and deflection keeps
 * messages apart. One exception: if a packet was sent twice, one copy may arrive late, after the
 * other copy was acknowledged.
 *
 * The rule does not apply where routes change during the run; where deflection does not wait
 * (`follow`, `hold`); with deflection, after the first loss or retransmission, as a retransmission
 * may take another path; where packets are late, or scripted, or balanced over several paths; and
 * to RoGUE, which renews its queue pairs.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/iofd.h"
#include "sim/network/host.h"
#include "tests/swarm/watch.h"

struct sent {
    struct {
        uint64_t number; /* a PSN or sequence number */
        bool arrived;
    } * packets;
    uint32_t count, capacity, next; /* next: one more than the last that arrived */
};

struct order {
    struct swarm_run *run;
    struct sent *sent; /* by connection */
    uint32_t count;
    bool deflects, over; /* over: the rule applies no longer */
};

/* True if a packet with that number has been sent. */
static bool was_sent(const struct sent *sent, uint64_t number)
{
    for (uint32_t i = sent->count; i-- > 0;)
        if (sent->packets[i].number == number)
            return true;
    return false;
}

static void note_sent(struct order *order, struct sent *sent, uint64_t number)
{
    order->over |= order->deflects && was_sent(sent, number);
    if (sent->count == sent->capacity) {
        sent->capacity = sent->capacity == 0 ? 64 : 2 * sent->capacity;
        sent->packets = realloc(sent->packets, sent->capacity * sizeof(*sent->packets));
        OCHE_MUST(sent->packets != NULL);
    }
    sent->packets[sent->count].number = number;
    sent->packets[sent->count++].arrived = false;
}

static bool has_arrived(const struct sent *sent, uint64_t number)
{
    for (uint32_t i = sent->next; i-- > 0;)
        if (sent->packets[i].number == number && sent->packets[i].arrived)
            return true;
    return false;
}

static void note_arrived(struct order *order, uint32_t connection, uint64_t number, oche_time now)
{
    struct sent *sent = &order->sent[connection];
    uint32_t at = sent->next;

    while (at < sent->count && sent->packets[at].number != number)
        at++;
    if (at < sent->count) {
        sent->packets[at].arrived = true;
        sent->next = at + 1;
    } else if (!order->over && !has_arrived(sent, number)) {
        swarm_breaks(order->run, "order",
                     "connection %u gets number %llu at %llu ps, behind what was sent later",
                     connection, (unsigned long long)number, (unsigned long long)now);
    }
}

static void order_event(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct order *order = context;
    uint32_t connection = swarm_connection(record, order->count);

    order->over |= order->deflects && record->kind == OCHE_TRACE_DROPPED;
    if (connection == UINT32_MAX)
        return;
    const struct oche_connection *of =
        &oche_world_flows(order->run->world)->connections[connection];

    /* a READ's request travels the other way, and its number counts as data */
    if (record->kind == OCHE_TRACE_DATA_SENT && node == of->src)
        note_sent(order, &order->sent[connection], record->a);
    else if (record->kind == OCHE_TRACE_DATA_ARRIVED && node == of->dst)
        note_arrived(order, connection, record->a, record->time);
}

/* True if routes have a loop: a packet may pass the same switch twice. */
static bool goes_round(const struct oche_world *world)
{
    struct oche_route_faults faults;

    oche_world_find_route_faults(world, &faults);
    oche_route_faults_free(&faults);
    return faults.lost_flows > 0;
}

static bool is_promised(const struct oche_world *world)
{
    const struct oche_world_config *config = oche_world_config(world);
    const struct oche_iofd_params *iofd = oche_world_mechanism(config, &oche_iofd);

    if (iofd != NULL && (oche_iofd_pipelines(iofd) || goes_round(world)))
        return false;
    if (config->failure_count > 0 && config->routes.reroute != OCHE_NEVER)
        return false;
    for (uint32_t i = 0; i < config->mechanism_count; i++)
        if (config->mechanisms[i]->balances)
            return false;
    if (oche_world_spreads(config))
        return false;
    if (config->loss.late > 0 || config->scripted.file != NULL)
        return false;
    return config->endpoint == NULL || strcmp(config->endpoint->name, "rogue") != 0;
}

static void *make_order(struct swarm_run *run)
{
    if (!is_promised(run->world))
        return NULL;
    struct order *order = calloc(1, sizeof(*order));

    OCHE_MUST(order != NULL);
    order->run = run;
    order->deflects = oche_world_mechanism(oche_world_config(run->world), &oche_iofd) != NULL;
    order->count = oche_world_flows(run->world)->connection_count;
    order->sent = calloc(order->count + 1, sizeof(*order->sent));
    OCHE_MUST(order->sent != NULL);
    return order;
}

static void free_order(void *context)
{
    struct order *order = context;

    for (uint32_t i = 0; i < order->count; i++)
        free(order->sent[i].packets);
    free(order->sent);
    free(order);
}

const struct swarm_rule swarm_order_rule = {
    .make = make_order, .event = order_event, .free = free_order};
