/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In-order flow deflection (Dart sec IV; fabric/iofd.h) in random Clos networks without loss:
 *
 *   ways       the reported path of a deflected message is as long as that of its packets, has all
 *              of its deflections, and changes lanes by the rule; with a `hold` a message that
 *              follows another one takes its lane
 *   order      packets reach their queue pair in the order of their PSNs, each exactly once
 *   tokens     no packet is deflected more often than it had tokens
 *   threads    the results are the same for any number of threads
 *   follow     with `order: follow`, ways, order and tokens hold if each packet is in the network
 *              for less than `linger` / 2, pauses included (D of dart.md#d18). If one is longer,
 *              every flow is delivered nevertheless, and lanes never fall. Some worlds have ACK
 *              timeouts so short that packets in flight are sent again
 *   losses     if links lose packets, all flows arrive, and all entries are released in the end
 *   deadlock   a workload that is deflected in circles under PFC deadlocks with one lane, and never
 *              with a lane for each turn
 *
 * usage: test_deflection order|follow|cycle NUMBER          that world alone
 *        test_deflection order|follow|cycle NUMBER COUNT    COUNT worlds from that one on
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "fabric/iofd.h"
#include "sim/topology/onward.h"
#include "sim/topology/walk.h"
#include "sim/world/internal.h"
#include "tests/support/seeds.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#define ORDER_WORLDS     60
#define LEAST_DEFLECTED  30 /* of these: worlds in which at least 100 packets are deflected */
#define FOLLOW_WORLDS    1000
#define LEAST_PIPELINED  300 /* of these: worlds within the bound, with followers */
#define LEAST_RELEASED   300 /* of these: worlds within the bound, with released entries */
#define LEAST_REPEATED   15  /* of these: worlds within the bound, with retransmissions */
#define LEAST_BEYOND     5   /* worlds beyond the bound in which order is lost */
#define THREAD_WORLDS    8
#define LOSS_WORLDS      10
#define CYCLE_WORLDS     30
#define LEAST_DEADLOCKED 15 /* of these: deadlocks with one lane */
#define MOST_FLOWS       4000
#define MOST_PACKETS     (1 << 17) /* entries of a table, by queue pair and PSN */

struct world {
    uint64_t number;
    struct oche_random random;
    struct small_world small;
    struct oche_iofd_params iofd;
    const struct oche_switch_mechanism *mechanisms[1];
    const void *mechanism_params[1];
    struct oche_flow_plan flows[MOST_FLOWS];
    uint32_t flow_count, hosts;
    /* Counts from the trace. */
    uint32_t *next_psn; /* by queue pair, at its receiver */
    struct deflected {
        uint64_t key; /* qpn << 24 | psn, + 1; 0: free */
        uint32_t times;
    } * deflected;
    uint64_t arrived, deflections;
    uint64_t ways; /* deflections in the paths that are read after the run */
    /* Counts from the trace of follow worlds. */
    struct sent {
        uint64_t key; /* as in struct deflected */
        oche_time left;
        uint32_t copies;
        uint8_t lane; /* lane of the last deflection */
    } * sent;
    oche_time slowest; /* the longest time of a packet in the network */
    uint64_t overtaken;
};

static uint64_t below(struct world *world, uint64_t n)
{
    return oche_random_below(&world->random, n);
}

static uint64_t between(struct world *world, uint64_t least, uint64_t most)
{
    return least + below(world, most - least + 1);
}

/* ---- reading the trace ---- */

static void note_deflection(struct world *world, uint32_t qpn, uint32_t psn)
{
    uint64_t key = ((uint64_t)qpn << 24 | psn) + 1;
    uint32_t at = (uint32_t)oche_mix64(key) & (MOST_PACKETS - 1);

    while (world->deflected[at].key != 0 && world->deflected[at].key != key)
        at = (at + 1) & (MOST_PACKETS - 1);
    world->deflected[at].key = key;
    if (++world->deflected[at].times > world->iofd.tokens)
        fail_msg("test_deflection order %llu: PSN %u of queue pair %u is deflected %u times",
                 (unsigned long long)world->number, psn, qpn, world->deflected[at].times);
    if (++world->deflections > MOST_PACKETS / 2)
        fail_msg("world %llu deflects too much for this test", (unsigned long long)world->number);
}

static void on_event(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct world *world = context;

    if (record->kind == OCHE_TRACE_DEFLECTED) {
        note_deflection(world, record->qpn, (uint32_t)record->b & OCHE_PSN_MASK);
        return;
    }
    if (record->kind != OCHE_TRACE_DATA_ARRIVED)
        return;
    uint32_t *next = &world->next_psn[record->qpn - OCHE_FIRST_QPN];

    if (record->a != *next)
        fail_msg("test_deflection order %llu: at host %u, queue pair %u gets PSN %u, not %u",
                 (unsigned long long)world->number, node, record->qpn, (uint32_t)record->a, *next);
    *next = (*next + 1) & OCHE_PSN_MASK;
    world->arrived++;
}

/* ---- worlds ---- */

/* Bursts to few receivers; messages are short or long, many on the same queue pairs. */
static void make_flows(struct world *world)
{
    uint64_t most = world->iofd.short_bytes, span = between(world, 20, 300) * OCHE_US;

    world->flow_count = (uint32_t)between(world, 200, 900);
    for (uint32_t i = 0; i < world->flow_count; i++) {
        uint32_t src = (uint32_t)below(world, world->hosts);
        uint32_t dst = (uint32_t)((src + 1 + below(world, world->hosts - 1)) % world->hosts);
        uint64_t bytes = below(world, 8) == 0 ? 1 + below(world, 100000) : 1 + below(world, most);

        world->flows[i] = small_flow(src, dst, bytes, below(world, span));
    }
}

static void make_world(struct world *world, const char *purpose, uint64_t number, const char *cc,
                       const char *recovery)
{
    memset(world, 0, sizeof(*world));
    world->number = number;
    world->random = oche_random_stream(7, purpose, number);
    world->hosts = small_world_random_network(&world->small, &world->random, cc, recovery, false);
    oche_param_defaults(&oche_iofd_params, &world->iofd);
    world->mechanisms[0] = &oche_iofd;
    world->mechanism_params[0] = &world->iofd;

    struct oche_world_config *config = &world->small.config;

    config->seed = number;
    config->mechanisms = world->mechanisms;
    config->mechanism_params = world->mechanism_params;
    config->mechanism_count = 1;
    config->run.duration = OCHE_SEC;
    config->hosts.ack_timeout = OCHE_NEVER;
    config->switches.pfc_priorities = 0;
}

/* Draws under which condition switches deflect, and how small their memory is. */
static void draw_switches(struct world *world)
{
    struct oche_world_config *config = &world->small.config;

    world->iofd.tokens = between(world, 1, 6);
    world->iofd.threshold_bytes = below(world, 2) == 0 ? between(world, 0, 3000) : 15000;
    world->iofd.entries = between(world, 1, 12);
    world->iofd.short_bytes = below(world, 2) == 0 ? 8192 : 40000;
    world->iofd.lanes = below(world, 3) == 0 ? OCHE_IOFD_ESCAPE : OCHE_IOFD_TURNS;
    if (world->iofd.lanes == OCHE_IOFD_ESCAPE) /* nothing is guaranteed: make room for all */
        config->switches.buffer_bytes = 100000000;
    else
        config->switches.buffer_bytes = 2000000 + below(world, 4000000);
    config->switches.threshold =
        below(world, 2) == 0 ? OCHE_THRESHOLD_DYNAMIC : OCHE_THRESHOLD_STATIC;
    config->switches.xoff_bytes =
        world->iofd.lanes == OCHE_IOFD_ESCAPE ? 1000000 : between(world, 4000, 50000);
    config->hosts.connections =
        below(world, 4) == 0 ? OCHE_CONNECTION_PER_FLOW : OCHE_CONNECTION_PER_PAIR;
}

static void make_order_world(struct world *world, uint64_t number)
{
    make_world(world, "deflected order", number, "none", "go_back_n");
    draw_switches(world);
    world->iofd.order = OCHE_IOFD_WAIT;
    /* Longer than any packet's time in the network, so pipelining keeps order, too. */
    world->iofd.hold = below(world, 4) == 0 ? 3 * OCHE_MS : OCHE_NEVER;
    make_flows(world);
    world->next_psn = calloc(world->flow_count, sizeof(*world->next_psn));
    world->deflected = calloc(MOST_PACKETS, sizeof(*world->deflected));
    assert_true(world->next_psn != NULL && world->deflected != NULL);
    world->small.sink = on_event;
    world->small.sink_context = world;
}

static void free_world(struct world *world)
{
    small_world_free(&world->small);
    free(world->next_psn);
    free(world->deflected);
    free(world->sent);
}

#define ASSERT_IS(world, what, value, expected)                                                    \
    do {                                                                                           \
        if ((uint64_t)(value) != (uint64_t)(expected))                                             \
            fail_msg("test_deflection %s %llu: %s is %llu, %s is %llu", what,                      \
                     (unsigned long long)(world)->number, #value, (unsigned long long)(value),     \
                     #expected, (unsigned long long)(expected));                                   \
    } while (0)

static uint64_t counter(const struct world *world, enum oche_iofd_counter which)
{
    assert_ptr_equal(oche_switch_mechanisms[0], &oche_iofd);
    return world->small.totals.mechanisms[0][which];
}

static void assert_clean(const struct world *world, const char *what)
{
    const struct oche_world_totals *totals = &world->small.totals;

    ASSERT_IS(world, what, oche_world_deadlock(world->small.world) != NULL, false);
    ASSERT_IS(world, what, totals->flows_completed, world->flow_count);
    ASSERT_IS(world, what, totals->nic.naks_sent, 0);
    ASSERT_IS(world, what, totals->nic.retransmitted_packets, 0);
    ASSERT_IS(world, what, totals->drops[OCHE_DROP_BUFFER], 0);
    ASSERT_IS(world, what, totals->live_packets, 0);
    ASSERT_IS(world, what, totals->queued_bytes, 0);
    ASSERT_IS(world, what, counter(world, OCHE_IOFD_LANES_EXCEEDED), 0);
    ASSERT_IS(world, what, counter(world, OCHE_IOFD_RETURNED), 0);
    ASSERT_IS(world, what, counter(world, OCHE_IOFD_AGED), 0);
}

/* ---- ways ---- */

/* Checks a message whose packets all arrived once. */
static void test_way(void *context, const struct oche_world_deflected_path *way)
{
    struct world *world = context;
    const struct oche_topology *topology = oche_world_topology(world->small.world);
    const struct oche_flow_path *known = &oche_world_flows(world->small.world)->paths[way->flow];
    uint32_t deflected = 0;

    ASSERT_IS(world, "ways", way->arrives, true);
    ASSERT_IS(world, "ways", way->others, 0);
    ASSERT_IS(world, "ways", (uint64_t)way->count * known->packets, known->links);
    ASSERT_IS(world, "ways", way->deflections, known->deflections);
    for (uint32_t i = 1; i < way->count; i++) {
        const struct oche_world_hop *hop = &way->hops[i], *before = hop - 1;
        const uint32_t node = oche_topology_node_of_port(topology, hop->port);
        const uint32_t in = oche_topology_far_port(topology, before->port);
        const uint32_t first = topology->nodes[node].first_port;
        const bool turns = oche_topology_is_up(topology, node, in - first) &&
                           oche_topology_is_up(topology, node, hop->port - first);

        ASSERT_IS(world, "ways", oche_topology_node_of_port(topology, in), node);
        ASSERT_IS(world, "ways", hop->tokens + hop->deflected, before->tokens);
        uint8_t lane = oche_iofd_lane(&world->iofd, before->lane, turns, hop->tokens);

        /* With a hold a message may follow an earlier one into a higher lane (dart.md#d21). */
        ASSERT_IS(world, "ways", hop->lane >= lane, true);
        if (world->iofd.hold == OCHE_NEVER || !hop->deflected)
            ASSERT_IS(world, "ways", hop->lane, lane);
        deflected += hop->deflected;
    }
    ASSERT_IS(world, "ways", deflected, way->deflections);
    world->ways += deflected;
}

/* Counts the messages that were deflected, by switch. */
static void count_one(void *context, const struct oche_world_deflection *deflection)
{
    (void)deflection;
    ++*(uint64_t *)context;
}

static void test_ways(struct world *world)
{
    uint64_t noted = 0;

    oche_world_deflections(world->small.world, count_one, &noted);
    oche_world_deflected_paths(world->small.world, test_way, world);
    /* With a hold, a message may follow an earlier message and is counted with it. */
    ASSERT_IS(world, "ways", noted >= counter(world, OCHE_IOFD_DEFLECTIONS), true);
    if (world->iofd.hold == OCHE_NEVER)
        ASSERT_IS(world, "ways", noted, counter(world, OCHE_IOFD_DEFLECTIONS));
    ASSERT_IS(world, "ways", world->ways, noted);
}

/* ---- order, tokens ---- */

static void run_order(uint64_t number, unsigned *deflected)
{
    static struct world world;

    make_order_world(&world, number);
    small_world_run(&world.small, world.flows, world.flow_count);
    assert_clean(&world, "order");
    ASSERT_IS(&world, "order", world.arrived, world.small.totals.nic.data_packets_sent);
    ASSERT_IS(&world, "order", world.deflections, counter(&world, OCHE_IOFD_PACKETS));
    test_ways(&world);
    *deflected += world.deflections >= 100;
    free_world(&world);
}

static void test_order(void **state)
{
    static const uint64_t followers[] = {101002, 301192, 301305,
                                         301489}; /* into another lane than by the rule */
    unsigned deflected = 0, unused = 0;

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(followers); i++)
        run_order(followers[i], &unused);
    for (uint64_t number = 0; number < seeds_of(ORDER_WORLDS); number++)
        run_order(number, &deflected);
    print_message("%u of %u worlds deflect a hundred packets or more\n", deflected,
                  (unsigned)seeds_of(ORDER_WORLDS));
    assert_true(deflected >= seeds_least(LEAST_DEFLECTED));
}

/* ---- follow ---- */

static struct sent *sent_at(struct world *world, uint32_t qpn, uint32_t psn)
{
    uint64_t key = ((uint64_t)qpn << 24 | psn) + 1;
    uint32_t at = (uint32_t)oche_mix64(key) & (MOST_PACKETS - 1);

    while (world->sent[at].key != 0 && world->sent[at].key != key)
        at = (at + 1) & (MOST_PACKETS - 1);
    world->sent[at].key = key;
    return &world->sent[at];
}

/* Checks the lane of a packet that was sent once. Copies cannot be told apart. */
static void note_lane(struct world *world, const struct oche_trace_record *record)
{
    struct sent *sent = sent_at(world, record->qpn, (uint32_t)record->b & OCHE_PSN_MASK);
    uint8_t lane = (uint8_t)(record->b >> 32);

    if (sent->copies > 1)
        return;
    if (lane < sent->lane)
        fail_msg("test_deflection follow %llu: PSN %u of queue pair %u goes from lane %u to %u",
                 (unsigned long long)world->number, (uint32_t)record->b & OCHE_PSN_MASK,
                 record->qpn, sent->lane, lane);
    sent->lane = lane;
    note_deflection(world, record->qpn, (uint32_t)record->b & OCHE_PSN_MASK);
}

static void on_follow_event(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct world *world = context;
    uint32_t psn = (uint32_t)record->a;

    (void)node;
    if (record->kind == OCHE_TRACE_DEFLECTED)
        note_lane(world, record);
    if (record->kind == OCHE_TRACE_DATA_SENT) {
        struct sent *sent = sent_at(world, record->qpn, psn);

        /* The time of the first copy counts until both copies have arrived. */
        sent->left = sent->copies++ == 0 ? record->time : sent->left;
    }
    if (record->kind != OCHE_TRACE_DATA_ARRIVED)
        return;
    uint32_t *next = &world->next_psn[record->qpn - OCHE_FIRST_QPN];
    oche_time took = record->time - sent_at(world, record->qpn, psn)->left;

    world->slowest = took > world->slowest ? took : world->slowest;
    world->overtaken += oche_psn_diff(psn, *next) > 0;
    *next = (*next + (psn == *next)) & OCHE_PSN_MASK;
    world->arrived++;
}

/* Bursts in waves; the gap between waves is shorter or longer than `linger`. */
static void spread_flows(struct world *world)
{
    oche_time linger = world->iofd.linger, apart = between(world, linger / 8, linger);
    uint64_t waves = between(world, 1, 4);

    for (uint32_t i = 0; i < world->flow_count; i++)
        world->flows[i].start += below(world, waves) * apart;
}

static bool sends_twice(const struct world *world)
{
    return world->number % 4 == 3;
}

/* True if ACK timeouts are so short that packets in flight are sent again. */
static bool is_impatient(const struct world *world)
{
    return world->number % 8 == 5;
}

static void make_follow_world(struct world *world, uint64_t number)
{
    static const oche_time lingers[][2] = {
        {2 * OCHE_US, 60 * OCHE_US}, {60 * OCHE_US, OCHE_MS}, {OCHE_MS, 12 * OCHE_MS}};
    const oche_time *linger;

    make_world(world, "deflected following", number, number % 8 == 2 ? "dcqcn" : "none",
               number % 4 == 3 ? "improved_go_back_n" : "go_back_n");
    draw_switches(world);
    if (world->small.config.switches.buffer_bytes < 3000000) /* nine ports have eight classes */
        world->small.config.switches.buffer_bytes += 1000000;
    linger = lingers[below(world, OCHE_COUNT_OF(lingers))];
    world->small.config.run.stop_when_done = false; /* copies may still be in flight */
    world->iofd.order = OCHE_IOFD_FOLLOW;
    world->iofd.linger = between(world, linger[0], linger[1]);
    make_flows(world);
    spread_flows(world);
    if (is_impatient(world)) {
        world->iofd.linger = between(world, OCHE_MS, 12 * OCHE_MS);
        world->small.config.hosts.ack_timeout = between(world, 15 * OCHE_US, 120 * OCHE_US);
        world->flow_count /= 4;              /* otherwise most packets are sent again and again */
        world->iofd.lanes = OCHE_IOFD_TURNS; /* an escape lane guarantees nothing under such load */
    }
    world->next_psn = calloc(world->flow_count, sizeof(*world->next_psn));
    world->deflected = calloc(MOST_PACKETS, sizeof(*world->deflected));
    world->sent = calloc(MOST_PACKETS, sizeof(*world->sent));
    assert_true(world->next_psn != NULL && world->deflected != NULL && world->sent != NULL);
    world->small.sink = on_follow_event;
    world->small.sink_context = world;
}

struct followed {
    uint64_t within, beyond;      /* worlds */
    uint64_t pipelined, disorder; /* worlds of these with followers; with overtaken packets */
    uint64_t released, repeated;  /* worlds of these with released entries; with retransmissions */
    uint64_t naks, late, refused, not_followed;
};

/* Checks the rules for every world: all flows complete, and no packet is dropped or left. */
static void assert_delivered(const struct world *world)
{
    const struct oche_world_totals *totals = &world->small.totals;

    ASSERT_IS(world, "follow", oche_world_deadlock(world->small.world) != NULL, false);
    ASSERT_IS(world, "follow", totals->flows_completed, world->flow_count);
    ASSERT_IS(world, "follow", totals->drops[OCHE_DROP_BUFFER], 0);
    ASSERT_IS(world, "follow", totals->live_packets, 0);
    ASSERT_IS(world, "follow", totals->queued_bytes, 0);
    ASSERT_IS(world, "follow", counter(world, OCHE_IOFD_LANES_EXCEEDED), 0);
    ASSERT_IS(world, "follow", counter(world, OCHE_IOFD_RETURNED), 0);
}

static void assert_in_order(struct world *world)
{
    ASSERT_IS(world, "follow", world->overtaken, 0);
    ASSERT_IS(world, "follow", world->small.totals.nic.naks_sent, 0);
    /* a retransmission may arrive after its entry was released: then no earlier packet is known */
    if (is_impatient(world))
        return;
    ASSERT_IS(world, "follow", counter(world, OCHE_IOFD_LATE), 0);
    ASSERT_IS(world, "follow", counter(world, OCHE_IOFD_NOT_FOLLOWED), 0);
    ASSERT_IS(world, "follow", counter(world, OCHE_IOFD_AGED), 0);
    if (sends_twice(world))
        return;
    ASSERT_IS(world, "follow", world->small.totals.nic.retransmitted_packets, 0);
    ASSERT_IS(world, "follow", world->arrived, world->small.totals.nic.data_packets_sent);
    ASSERT_IS(world, "follow", world->deflections, counter(world, OCHE_IOFD_PACKETS));
    test_ways(world);
}

static void run_follow(uint64_t number, struct followed *sum)
{
    static struct world world;

    make_follow_world(&world, number);
    small_world_run(&world.small, world.flows, world.flow_count);
    assert_delivered(&world);
    if (world.slowest < world.iofd.linger / 2) {
        assert_in_order(&world);
        sum->within++;
        sum->pipelined += counter(&world, OCHE_IOFD_FOLLOWERS) > 0;
        sum->released += counter(&world, OCHE_IOFD_RELEASED) > 0;
        sum->repeated += is_impatient(&world) && world.small.totals.nic.retransmitted_packets > 0;
    } else {
        sum->beyond++;
        sum->disorder += world.overtaken > 0;
        sum->naks += world.small.totals.nic.naks_sent;
        sum->late += counter(&world, OCHE_IOFD_LATE);
        sum->not_followed += counter(&world, OCHE_IOFD_NOT_FOLLOWED);
    }
    sum->refused += counter(&world, OCHE_IOFD_NO_ENTRY);
    free_world(&world);
}

static void print_followed(const struct followed *sum)
{
    print_message("%llu worlds within the bound, %llu with followers, %llu released, %llu sent "
                  "again; %llu beyond, %llu in disorder: %llu NAKs, %llu packets late, %llu not "
                  "followed\n",
                  (unsigned long long)sum->within, (unsigned long long)sum->pipelined,
                  (unsigned long long)sum->released, (unsigned long long)sum->repeated,
                  (unsigned long long)sum->beyond, (unsigned long long)sum->disorder,
                  (unsigned long long)sum->naks, (unsigned long long)sum->late,
                  (unsigned long long)sum->not_followed);
}

static void test_follow(void **state)
{
    struct followed sum = {0};

    (void)state;
    for (uint64_t number = 0; number < seeds_of(FOLLOW_WORLDS); number++)
        run_follow(number, &sum);
    print_followed(&sum);
    assert_true(sum.pipelined >= seeds_least(LEAST_PIPELINED));
    assert_true(sum.released >= seeds_least(LEAST_RELEASED));
    assert_true(sum.repeated >= seeds_least(LEAST_REPEATED));
    assert_true(sum.disorder >= seeds_least(LEAST_BEYOND));
}

/* The result is the same for any number of threads. */
static void test_threads(void **state)
{
    static struct world world;

    (void)state;
    for (uint64_t number = 0; number < seeds_of(THREAD_WORLDS); number++) {
        uint64_t hash = 0, deflections = 0;

        if (number % 2 == 0)
            make_order_world(&world, number);
        else
            make_follow_world(&world, number);
        world.small.sink = NULL; /* a sink requires one thread */
        for (uint32_t threads = 1; threads <= 3; threads++) {
            world.small.config.threads = threads;
            small_world_run(&world.small, world.flows, world.flow_count);
            if (threads == 1) {
                hash = world.small.totals.hash;
                deflections = counter(&world, OCHE_IOFD_DEFLECTIONS);
            }
            ASSERT_IS(&world, "order", world.small.totals.hash, hash);
            ASSERT_IS(&world, "order", counter(&world, OCHE_IOFD_DEFLECTIONS), deflections);
            small_world_end(&world.small);
        }
        free_world(&world);
    }
}

/* START, END or a packet between them is lost; then entries stay, and must age out. */
static void test_losses(void **state)
{
    static struct world world;
    uint64_t aged = 0, deflections = 0;

    (void)state;
    for (uint64_t number = 0; number < seeds_of(LOSS_WORLDS); number++) {
        make_order_world(&world, number);
        world.small.sink = NULL;
        world.iofd.ageing = 200 * OCHE_US;
        world.iofd.lanes = OCHE_IOFD_TURNS;
        if (number % 2 == 1) {
            world.iofd.order = OCHE_IOFD_FOLLOW;
            world.iofd.hold = OCHE_NEVER;
        }
        world.small.config.loss.probability = 0.01;
        world.small.config.hosts.ack_timeout = OCHE_MS;
        small_world_run(&world.small, world.flows, world.flow_count);
        ASSERT_IS(&world, "order", world.small.totals.flows_completed, world.flow_count);
        ASSERT_IS(&world, "order", world.small.totals.live_packets, 0);
        ASSERT_IS(&world, "order", world.small.totals.queued_bytes, 0);
        ASSERT_IS(&world, "order", counter(&world, OCHE_IOFD_LANES_EXCEEDED), 0);
        aged += counter(&world, OCHE_IOFD_AGED);
        deflections += counter(&world, OCHE_IOFD_DEFLECTIONS);
        free_world(&world);
    }
    print_message("%llu deflections, %llu entries aged\n", (unsigned long long)deflections,
                  (unsigned long long)aged);
    assert_true(aged > 0 && deflections > seeds_least(300));
}

/* ---- deadlock ---- */

/* All send to all at line rate. A packet that meets a queue is deflected, up again if necessary. */
static void make_cycle_world(struct world *world, uint64_t number)
{
    struct oche_world_config *config = &world->small.config;

    make_world(world, "deflected in a circle", number, "none", "go_back_n");
    world->iofd.order = OCHE_IOFD_WAIT;
    world->iofd.tokens = 6;
    world->iofd.threshold_bytes = 2000;
    world->iofd.entries = 64;
    world->iofd.short_bytes = 100000;
    config->switches.buffer_bytes = 3000000;
    config->switches.threshold = OCHE_THRESHOLD_STATIC;
    config->switches.xoff_bytes = between(world, 3000, 9000);
    world->flow_count = 40 * world->hosts;
    for (uint32_t i = 0; i < world->flow_count; i++) {
        uint32_t src = i % world->hosts;
        uint32_t dst = (uint32_t)((src + 1 + below(world, world->hosts - 1)) % world->hosts);

        world->flows[i] = small_flow(src, dst, between(world, 1000, 100000), below(world, OCHE_US));
    }
}

/* The ports of the deadlock still hold each other 20 ms later. */
static void assert_for_ever(const struct world *world)
{
    struct oche_world *w = world->small.world;
    const struct oche_deadlock before = w->deadlock;

    ASSERT_IS(world, "cycle", before.circle.count >= 2, true);
    ASSERT_IS(world, "cycle", before.stuck_bytes > 0, true);
    for (uint32_t i = 0; i < before.circle.count; i++)
        ASSERT_IS(world, "cycle", w->topology.ports[before.circle.ports[i]].peer,
                  oche_topology_node_of_port(&w->topology,
                                             before.circle.ports[(i + 1) % before.circle.count]));
    oche_circle_free(&w->deadlock.circle);
    w->deadlock = (struct oche_deadlock){.found = false};
    oche_network_run(&w->network, w->network.now + 20 * OCHE_MS, NULL, NULL);
    oche_world_deadlock_check(w);
    ASSERT_IS(world, "cycle", w->deadlock.found, true);
    ASSERT_IS(world, "cycle", w->deadlock.stuck_bytes >= before.stuck_bytes, true);
    ASSERT_IS(world, "cycle", w->deadlock.stuck_ports >= before.stuck_ports, true);
}

/* True if it deadlocks with these lanes; if it does not, all flows end. */
static bool deadlocks(struct world *world, enum oche_iofd_lanes lanes)
{
    bool found;

    world->iofd.lanes = lanes;
    small_world_run(&world->small, world->flows, world->flow_count);
    found = oche_world_deadlock(world->small.world) != NULL;
    if (found)
        assert_for_ever(world);
    else if (world->iofd.order == OCHE_IOFD_FOLLOW)
        assert_delivered(world);
    else
        assert_clean(world, "cycle");
    assert_true(world->small.totals.pauses_sent > 0);
    small_world_end(&world->small);
    return found;
}

struct deadlocks {
    unsigned one, escape;
};

static void run_cycle(uint64_t number, struct deadlocks *sum)
{
    static struct world world;

    make_cycle_world(&world, number);
    sum->one += deadlocks(&world, OCHE_IOFD_ONE);
    sum->escape += deadlocks(&world, OCHE_IOFD_ESCAPE);
    ASSERT_IS(&world, "cycle", deadlocks(&world, OCHE_IOFD_TURNS), false);
    world.iofd.order = OCHE_IOFD_FOLLOW;
    ASSERT_IS(&world, "cycle", deadlocks(&world, OCHE_IOFD_TURNS), false);
    free_world(&world);
}

static void test_cycle(void **state)
{
    struct deadlocks sum = {0};

    (void)state;
    for (uint64_t number = 0; number < seeds_of(CYCLE_WORLDS); number++)
        run_cycle(number, &sum);
    print_message("of %u worlds %u deadlock with one lane, %u with an escape lane, none with a "
                  "lane for each turn\n",
                  (unsigned)seeds_of(CYCLE_WORLDS), sum.one, sum.escape);
    assert_true(sum.one >= seeds_least(LEAST_DEADLOCKED));
}

/* Runs the worlds that the command line names. */
static void run_named(const char *what, uint64_t from, uint64_t count)
{
    struct deadlocks sum = {0};
    struct followed followed = {0};
    unsigned deflected = 0;

    for (uint64_t number = from; number < from + count; number++) {
        if (strcmp(what, "order") == 0)
            run_order(number, &deflected);
        else if (strcmp(what, "follow") == 0)
            run_follow(number, &followed);
        else
            run_cycle(number, &sum);
    }
    printf("deadlocks: one lane %u, escape lane %u\n", sum.one, sum.escape);
    print_followed(&followed);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_order), cmocka_unit_test(test_follow),
                                       cmocka_unit_test(test_threads),
                                       cmocka_unit_test(test_losses), cmocka_unit_test(test_cycle)};

    if (argc < 3)
        return cmocka_run_group_tests(tests, NULL, NULL);
    run_named(argv[1], strtoull(argv[2], NULL, 10), argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
    return 0;
}
