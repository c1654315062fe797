/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Links and switches fail and come back at random, or links become slow or lossy. The networks are
 * random, with PFC or credits, with every recovery scheme that retransmits, with and without
 * deflection:
 *
 *   books      every packet that was sent was received, dropped for a cause, or lost with its link;
 *              in the end nothing is left, no port is paused or pauses another, and there was no
 *              deadlock
 *   flows      every flow whose ends are connected in the end is delivered once; no sender stays in
 *              a receiver's set; with few retries a flow may fail, and reports it
 *   order      with deflection, packets arrive in the order in which they were sent, some never, up
 *              to a retransmission. Packets after a retransmission (by a NAK, a timeout or a late
 *              ACK) may take another path than earlier ones that are still in flight: whether a
 *              message's first packet is deflected depends on the queues of that moment. So either
 *              may come first
 *   threads    the results are the same for any number of threads
 *
 * usage: test_failures books|order NUMBER     that world alone
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "fabric/ib_credits.h"
#include "fabric/iofd.h"
#include "sim/world/internal.h"
#include "tests/support/seeds.h"
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#define BOOK_WORLDS   160
#define LEAST_HIT     120 /* of these: worlds in which a flow loses a packet to a failure */
#define ORDER_WORLDS  40
#define THREAD_WORLDS 12
#define MOST_FLOWS    200
#define MOST_FAILURES 6
#define MOST_HOSTS    64
#define LEAST_BUFFER  2500000 /* of switches that deflect */
#define NAME_BYTES    OCHE_PORT_NAME_BYTES

#define MOST_PSNS (1 << 17) /* that a queue pair requires */

/* PSNs that a queue pair has sent, in rising order, up to a retransmission. */
struct pass {
    uint32_t *psns;
    uint32_t count, capacity;
    uint32_t next; /* packets below this one have arrived */
};

/* The PSNs that a queue pair has sent, and those that have arrived. */
struct sent {
    struct pass *passes;
    bool *has_arrived; /* MOST_PSNS */
    uint32_t count, capacity;
};

struct world {
    uint64_t number;
    struct oche_random random;
    struct small_world small;
    struct oche_iofd_params iofd;
    struct oche_ib_credits_params ib_credits;
    const struct oche_switch_mechanism *mechanisms[1];
    const void *mechanism_params[1];
    bool deflects, credits, tcp;
    struct oche_failure_params failures[MOST_FAILURES];
    char names[MOST_FAILURES][NAME_BYTES];
    struct oche_flow_plan flows[MOST_FLOWS];
    uint32_t flow_count, hosts;
    struct sent sent[MOST_FLOWS];
    uint64_t senders[MOST_HOSTS]; /* in the receiver's set, by the last event in its host's trace */
};

static uint64_t below(struct world *world, uint64_t n)
{
    return oche_random_below(&world->random, n);
}

static uint64_t between(struct world *world, uint64_t least, uint64_t most)
{
    return least + below(world, most - least + 1);
}

static bool coin(struct world *world)
{
    return below(world, 2) == 0;
}

#define ASSERT_IS(world, what, value, expected)                                                    \
    do {                                                                                           \
        if ((uint64_t)(value) != (uint64_t)(expected))                                             \
            fail_msg("test_failures %s %llu: %s is %llu, %s is %llu", what,                        \
                     (unsigned long long)(world)->number, #value, (unsigned long long)(value),     \
                     #expected, (unsigned long long)(expected));                                   \
    } while (0)

/* ---- worlds ---- */

static void make_flows(struct world *world)
{
    uint64_t span = between(world, 20, 600) * OCHE_US;

    world->flow_count = (uint32_t)between(world, 40, MOST_FLOWS);
    for (uint32_t i = 0; i < world->flow_count; i++) {
        uint32_t src = (uint32_t)below(world, world->hosts);
        uint32_t dst = (uint32_t)((src + 1 + below(world, world->hosts - 1)) % world->hosts);
        uint64_t bytes = 1 + below(world, coin(world) ? 8192 : 200000);

        world->flows[i] = small_flow(src, dst, bytes, below(world, span));
    }
}

/* Draws any port of any node, by its name. */
static void name_link(struct world *world, char *name)
{
    struct oche_topology topology;
    struct oche_error error;
    const struct oche_world_config *config = &world->small.config;

    assert_true(config->topology->build(config->topology_params, &topology, &error));
    ASSERT_IS(world, "books", topology.host_count, world->hosts);
    const struct oche_topology_link *link = &topology.links[below(world, topology.link_count)];

    oche_topology_port_name(&topology, link->a, link->port_a, name, NAME_BYTES);
    oche_topology_free(&topology);
}

static void name_switch(struct world *world, char *name)
{
    struct oche_topology topology;
    struct oche_error error;
    const struct oche_world_config *config = &world->small.config;

    assert_true(config->topology->build(config->topology_params, &topology, &error));
    snprintf(name, NAME_BYTES, "%s",
             topology.nodes[topology.host_count + below(world, topology.switch_count)].name);
    oche_topology_free(&topology);
}

/* The links become slow or lossy, or both, and perhaps one way only. */
static void degrade(struct world *world, struct oche_failure_params *failure)
{
    failure->direction = (uint32_t)below(world, 3);
    if (coin(world))
        failure->loss = 0.2;
    if (failure->loss == 0 || coin(world))
        failure->speed = coin(world) ? 0.1 : 0.5;
}

/* Some come back after microseconds, some after milliseconds, and with `for_ever` some never. */
static void make_failures(struct world *world, bool for_ever)
{
    struct oche_world_config *config = &world->small.config;

    config->failures = world->failures;
    config->failure_count = (uint32_t)between(world, 1, MOST_FAILURES);
    for (uint32_t i = 0; i < config->failure_count; i++) {
        struct oche_failure_params *failure = &world->failures[i];

        oche_param_defaults(&oche_failure_params, failure);
        failure->at = below(world, 800 * OCHE_US);
        failure->until = failure->at + between(world, 1, 400) * OCHE_US;
        if (below(world, 4) == 0)
            failure->until = failure->at + between(world, 1, 20) * OCHE_MS;
        if (for_ever && below(world, 4) == 0)
            failure->until = OCHE_NEVER;
        if (below(world, 5) == 0)
            degrade(world, failure);
        switch (below(world, 4)) {
        case 0:
            name_switch(world, world->names[i]);
            failure->switches = world->names[i];
            break;
        case 1:
            failure->random = 1;
            failure->where = coin(world) ? OCHE_FAILURE_ALL_LINKS : OCHE_FAILURE_TOR_LINKS;
            break;
        default:
            name_link(world, world->names[i]);
            failure->link = world->names[i];
        }
    }
}

static void add_deflection(struct world *world)
{
    struct oche_world_config *config = &world->small.config;

    world->deflects = true;
    oche_param_defaults(&oche_iofd_params, &world->iofd);
    world->iofd.threshold_bytes = coin(world) ? between(world, 0, 3000) : 15000;
    world->iofd.tokens = between(world, 1, 5);
    world->iofd.entries = between(world, 1, 12);
    world->iofd.short_bytes = coin(world) ? 8192 : 40000;
    world->iofd.ageing = between(world, 1, 20) * OCHE_MS;
    world->iofd.order = world->number % 4 < 2 ? OCHE_IOFD_FOLLOW : OCHE_IOFD_WAIT;
    if (config->switches.buffer_bytes < LEAST_BUFFER) /* bytes for the headroom of seven lanes */
        config->switches.buffer_bytes = LEAST_BUFFER;
    world->mechanisms[0] = &oche_iofd;
    world->mechanism_params[0] = &world->iofd;
    config->mechanisms = world->mechanisms;
    config->mechanism_params = world->mechanism_params;
    config->mechanism_count = 1;
}

/* Links with credits instead of PFC. */
static void add_credits(struct world *world)
{
    struct oche_world_config *config = &world->small.config;

    world->credits = true;
    oche_param_defaults(oche_ib_credits.params, &world->ib_credits);
    world->ib_credits.buffer_bytes = between(world, 4096, 60000);
    world->mechanisms[0] = &oche_ib_credits;
    world->mechanism_params[0] = &world->ib_credits;
    config->mechanisms = world->mechanisms;
    config->mechanism_params = world->mechanism_params;
    config->mechanism_count = 1;
    config->switches.buffer_bytes = 10000000;
}

static void on_event(void *context, uint32_t node, const struct oche_trace_record *record);

/* `chain`: some networks are chains, in which every path is the only one. */
static void make_world(struct world *world, const char *cc, const char *recovery, bool chain)
{
    world->hosts = small_world_random_network(&world->small, &world->random, cc, recovery, chain);
    world->tcp = world->small.config.endpoint != NULL;
    struct oche_world_config *config = &world->small.config;

    config->seed = world->number;
    config->run.duration = 400 * OCHE_MS;
    config->run.stop_when_done = false;
    config->hosts.ack_timeout = between(world, 1, 4) * OCHE_MS;
    config->switches.buffer_bytes = 2000000 + below(world, 4000000);
    config->switches.threshold = coin(world) ? OCHE_THRESHOLD_DYNAMIC : OCHE_THRESHOLD_STATIC;
    config->switches.xoff_bytes = between(world, 4000, 50000);
    config->switches.pfc_priorities = 0;
    config->hosts.connections = coin(world) ? OCHE_CONNECTION_PER_FLOW : OCHE_CONNECTION_PER_PAIR;
    world->small.sink = on_event;
    world->small.sink_context = world;
}

static void begin(struct world *world, const char *purpose, uint64_t number)
{
    memset(world, 0, sizeof(*world));
    world->number = number;
    world->random = oche_random_stream(11, purpose, number);
}

static void make_book_world(struct world *world, uint64_t number)
{
    static const char *const ccs[] = {"none", "dcqcn", "dart", "rcp", "timely", "ib_cc", "dctcp"};
    static const char *const recoveries[] = {"go_back_n", "selective_repeat", "go_back_n",
                                             "selective_repeat", "improved_go_back_n"};
    static const oche_time reroutes[] = {0, 20 * OCHE_US, 300 * OCHE_US, 2 * OCHE_MS, OCHE_NEVER};

    begin(world, "failing links", number);
    make_world(world, ccs[number % 7], recoveries[below(world, 5)], true);
    struct oche_world_config *config = &world->small.config;

    config->routes.reroute = reroutes[below(world, 5)];
    if (!world->tcp && config->mechanism_count == 0 && coin(world))
        add_deflection(world);
    else if (!world->tcp && config->mechanism_count == 0 && coin(world))
        add_credits(world);
    make_flows(world);
    make_failures(world, config->routes.reroute != OCHE_NEVER);
}

static void end_world(struct world *world)
{
    small_world_free(&world->small);
    for (uint32_t i = 0; i < MOST_FLOWS; i++) {
        for (uint32_t pass = 0; pass < world->sent[i].count; pass++)
            free(world->sent[i].passes[pass].psns);
        free(world->sent[i].passes);
        free(world->sent[i].has_arrived);
    }
}

/* ---- reading the trace ---- */

/* Makes room for one more entry. */
static void *with_room(void *list, uint32_t count, uint32_t *capacity, size_t bytes)
{
    if (count < *capacity)
        return list;
    *capacity = *capacity == 0 ? 64 : 2 * *capacity;
    list = realloc(list, *capacity * bytes);
    assert_non_null(list);
    return list;
}

static void note_sent(struct sent *sent, uint32_t psn)
{
    struct pass *pass = sent->count > 0 ? &sent->passes[sent->count - 1] : NULL;

    if (pass == NULL || pass->psns[pass->count - 1] >= psn) {
        sent->passes = with_room(sent->passes, sent->count, &sent->capacity, sizeof(*sent->passes));
        pass = &sent->passes[sent->count++];
        *pass = (struct pass){.count = 0};
    }
    pass->psns = with_room(pass->psns, pass->count, &pass->capacity, sizeof(*pass->psns));
    pass->psns[pass->count++] = psn;
}

/* True if the PSN may belong to this pass: all that arrived of it was sent earlier. */
static bool fits(struct pass *pass, uint32_t psn)
{
    uint32_t at = pass->next;

    while (at < pass->count && pass->psns[at] < psn)
        at++;
    if (at == pass->count || pass->psns[at] != psn)
        return false;
    pass->next = at + 1;
    return true;
}

/*
 * Packets that arrive for the first time come from one of the passes, in its order. If several
 * passes fit, the first is assumed.
 */
static void note_arrived(struct world *world, uint32_t qpn, uint32_t psn)
{
    struct sent *sent = &world->sent[qpn - OCHE_FIRST_QPN];
    uint32_t pass = 0;

    if (sent->has_arrived == NULL)
        sent->has_arrived = calloc(MOST_PSNS, sizeof(*sent->has_arrived));
    assert_non_null(sent->has_arrived);
    assert_in_range(psn, 0, MOST_PSNS - 1);
    if (sent->has_arrived[psn])
        return;
    sent->has_arrived[psn] = true;
    while (pass < sent->count && !fits(&sent->passes[pass], psn))
        pass++;
    if (pass == sent->count)
        fail_msg("test_failures order %llu: queue pair %u gets PSN %u behind what was sent later",
                 (unsigned long long)world->number, qpn, psn);
}

static void on_event(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct world *world = context;

    if (record->kind == OCHE_TRACE_SENDERS && node < MOST_HOSTS)
        world->senders[node] = record->a;
}

static void on_order_event(void *context, uint32_t node, const struct oche_trace_record *record)
{
    struct world *world = context;

    (void)node;
    if (record->kind == OCHE_TRACE_DATA_SENT)
        note_sent(&world->sent[record->qpn - OCHE_FIRST_QPN], (uint32_t)record->a);
    else if (record->kind == OCHE_TRACE_DATA_ARRIVED)
        note_arrived(world, record->qpn, (uint32_t)record->a);
}

/* ---- books ---- */

static void assert_switches_empty(const struct world *world, const char *what)
{
    const struct oche_world *w = world->small.world;

    for (uint32_t s = 0; s < w->topology.switch_count; s++) {
        const struct oche_switch *sw = w->switches[s];

        ASSERT_IS(world, what, oche_switch_occupied_bytes(sw), 0);
        for (uint32_t p = 0; p < w->topology.nodes[w->topology.host_count + s].port_count; p++) {
            ASSERT_IS(world, what, oche_switch_queue_bytes(sw, p), 0);
            for (unsigned cls = 0; cls < w->class_count; cls++) {
                ASSERT_IS(world, what, oche_switch_ingress_bytes(sw, p, cls), 0);
                ASSERT_IS(world, what, oche_switch_is_pausing(sw, p, cls), false);
                ASSERT_IS(world, what, oche_switch_is_paused(sw, p, cls), false);
            }
        }
    }
}

static void assert_books(const struct world *world, const char *what)
{
    const struct oche_world_totals *totals = &world->small.totals;
    const struct oche_nic_stats *nic = &totals->nic;
    uint64_t sent = nic->data_packets_sent + nic->acks_sent + nic->naks_sent + nic->cnps_sent +
                    nic->cc_packets_sent;
    uint64_t received = nic->data_packets_received + nic->acks_received + nic->naks_received +
                        nic->cnps_received + nic->cc_packets_received + totals->late_packets;
    uint64_t gone = totals->lost_packets;

    for (unsigned cause = 0; cause < OCHE_DROP_CAUSES; cause++)
        gone += totals->drops[cause];
    ASSERT_IS(world, what, totals->rejected_packets, 0);
    ASSERT_IS(world, what, totals->drops[OCHE_DROP_TTL], 0);
    if (!world->credits)
        ASSERT_IS(world, what, sent, received + gone + totals->live_packets);
    else /* flow control packets never stop */
        ASSERT_IS(world, what, sent - received - gone <= totals->live_packets, true);
}

/* Checks that follow the end of all flows. */
static void assert_dry(const struct world *world, const char *what)
{
    ASSERT_IS(world, what, world->small.totals.any_port_paused, false);
    if (!world->credits)
        ASSERT_IS(world, what, world->small.totals.live_packets, 0);
    assert_switches_empty(world, what);
}

/* ---- flows ---- */

/* Links that never come back. */
static void find_dead(const struct oche_world *w, bool *dead)
{
    for (uint32_t i = 0; i < oche_world_failure_count(w); i++) {
        struct oche_world_failure failure = oche_world_failure(w, i);

        for (uint32_t k = 0; failure.until == OCHE_NEVER && k < failure.count; k++)
            dead[failure.links[k]] = true;
    }
}

static bool has_way(const struct oche_world *w, const struct oche_topology_routes *routes,
                    const bool *dead, uint32_t src, uint32_t dst)
{
    struct oche_walk walk;

    oche_topology_walk(&w->topology, routes->of, 1, false, src, dst, 0, &walk);
    for (uint32_t i = 0; i < walk.count; i++)
        if (dead[w->topology.ports[walk.ports[i]].link])
            return false;
    return walk.end == OCHE_WALK_ARRIVES;
}

/* Returns how many flows stay cut off in at least one direction. */
static uint32_t assert_flows(const struct world *world, const char *what)
{
    const struct oche_world *w = world->small.world;
    struct oche_topology_routes routes;
    struct oche_error error;
    bool *dead = calloc(w->topology.link_count, sizeof(*dead));
    uint32_t cut_off = 0;

    assert_non_null(dead);
    find_dead(w, dead);
    assert_true(oche_topology_route_around(&w->topology, dead, true, &routes, &error));
    for (OCHE_EACH_MADE_FLOW(i, &w->flows)) {
        const struct oche_flow_plan *plan = &w->flows.plan[i];

        if (!has_way(w, &routes, dead, plan->src, plan->dst) ||
            !has_way(w, &routes, dead, plan->dst, plan->src)) {
            cut_off++;
            continue;
        }
        if (w->flows.received[i].delivered == OCHE_NEVER ||
            w->flows.sent[i].completed == OCHE_NEVER || w->flows.sent[i].failed != 0)
            fail_msg("test_failures %s %llu: flow %u of %u bytes, host%u to host%u, has a way "
                     "and is not done",
                     what, (unsigned long long)world->number, i, (unsigned)plan->bytes, plan->src,
                     plan->dst);
    }
    oche_topology_routes_free(&routes);
    free(dead);
    return cut_off;
}

static bool any_hit(const struct oche_world *w)
{
    for (uint32_t i = 0; i < w->flows.connection_count; i++)
        if (oche_world_hit(w, i).packets > 0)
            return true;
    return false;
}

struct sums {
    unsigned worlds, hit, cut_off, paused, deflecting, credits;
    uint64_t link_down, no_route, buffer, wire;
};

static void add_up(const struct world *world, uint32_t cut_off, struct sums *sums)
{
    const struct oche_world_totals *totals = &world->small.totals;

    sums->worlds++;
    sums->hit += any_hit(world->small.world);
    sums->cut_off += cut_off > 0;
    sums->credits += world->credits;
    sums->paused += totals->pauses_sent > 0;
    sums->link_down += totals->drops[OCHE_DROP_LINK_DOWN];
    sums->no_route += totals->drops[OCHE_DROP_NO_ROUTE];
    sums->buffer += totals->drops[OCHE_DROP_BUFFER];
    sums->wire += totals->cut_packets;
    sums->deflecting += world->deflects && totals->mechanisms[0][OCHE_IOFD_DEFLECTIONS] > 0;
}

static void run_books(uint64_t number, struct sums *sums)
{
    static struct world world;

    make_book_world(&world, number);
    small_world_run(&world.small, world.flows, world.flow_count);
    uint32_t cut_off = assert_flows(&world, "books");

    if (!world.tcp)
        assert_books(&world, "books");
    if (cut_off == 0) {
        assert_dry(&world, "books");
        for (uint32_t host = 0; host < MOST_HOSTS; host++)
            ASSERT_IS(&world, "books", world.senders[host], 0);
    }
    ASSERT_IS(&world, "books", oche_world_deadlock(world.small.world) != NULL, false);
    add_up(&world, cut_off, sums);
    end_world(&world);
}

static void test_books(void **state)
{
    struct sums sums = {0};

    (void)state;
    for (uint64_t number = 0; number < seeds_of(BOOK_WORLDS); number++)
        run_books(number, &sums);
    print_message("of %u worlds %u lose something, %u cut a flow off for good, %u pause, %u "
                  "deflect, %u have credits; dropped: %llu by ports that are down, %llu without a "
                  "route, %llu for "
                  "want of buffer; %llu lost on links\n",
                  sums.worlds, sums.hit, sums.cut_off, sums.paused, sums.deflecting, sums.credits,
                  (unsigned long long)sums.link_down, (unsigned long long)sums.no_route,
                  (unsigned long long)sums.buffer, (unsigned long long)sums.wire);
    if (!seeds_show_all()) /* a thirtieth of the worlds loses no packet for want of a route */
        return;
    assert_true(sums.hit >= seeds_least(LEAST_HIT) && sums.cut_off > 0 && sums.paused > 0);
    assert_true(sums.deflecting > 0 && sums.no_route > 0);
}

/* With few retries a flow is delivered or fails. It fails only if a failure has hit it. */
static void test_retries(void **state)
{
    static struct world world;
    uint64_t failed = 0;

    (void)state;
    for (uint64_t number = 0; number < seeds_of(30); number++) {
        if (number % 7 == 6)
            continue; /* TCP does not give up */
        make_book_world(&world, number);
        world.small.config.hosts.retry_count = 2;
        world.small.config.hosts.connections = OCHE_CONNECTION_PER_FLOW;
        small_world_run(&world.small, world.flows, world.flow_count);
        const struct oche_world *w = world.small.world;

        for (OCHE_EACH_MADE_FLOW(i, &w->flows)) {
            bool hit = oche_world_hit(w, w->flows.plan[i].connection).packets > 0;

            if (!hit)
                continue;
            ASSERT_IS(&world, "books", w->flows.sent[i].completed != OCHE_NEVER, true);
            failed += w->flows.sent[i].failed != 0;
        }
        assert_dry(&world, "books");
        end_world(&world);
    }
    print_message("%llu flows fail after 2 retries\n", (unsigned long long)failed);
    assert_true(failed > 0);
}

/* ---- order ---- */

/* Routes are constant, so that only deflection changes paths; nothing waits for long. */
static void run_order(uint64_t number, struct sums *sums)
{
    static struct world world;

    begin(&world, "failing links, deflected", number);
    make_world(&world, "none", number % 2 == 0 ? "go_back_n" : "selective_repeat", false);
    world.small.config.routes.reroute = OCHE_NEVER;
    world.small.config.hosts.ack_timeout = 8 * OCHE_MS;
    world.small.sink = on_order_event;
    add_deflection(&world);
    make_flows(&world);
    make_failures(&world, false);
    small_world_run(&world.small, world.flows, world.flow_count);
    ASSERT_IS(&world, "order", assert_flows(&world, "order"), 0);
    assert_books(&world, "order");
    assert_dry(&world, "order");
    ASSERT_IS(&world, "order", oche_world_deadlock(world.small.world) != NULL, false);
    ASSERT_IS(&world, "order", world.small.totals.mechanisms[0][OCHE_IOFD_LANES_EXCEEDED], 0);
    add_up(&world, 0, sums);
    end_world(&world);
}

static void test_order(void **state)
{
    /*
     * Retransmissions: by a timer; before a late ACK; after a NAK, with the rest still in flight.
     */
    static const uint64_t repeats[] = {200007, 200076, 910242};
    struct sums sums = {0}, unused = {0};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(repeats); i++)
        run_order(repeats[i], &unused);
    for (uint64_t number = 0; number < seeds_of(ORDER_WORLDS); number++)
        run_order(number, &sums);
    print_message("of %u worlds %u lose something, %u deflect\n", sums.worlds, sums.hit,
                  sums.deflecting);
    assert_true(sums.hit > seeds_least(ORDER_WORLDS / 2) &&
                sums.deflecting > seeds_least(ORDER_WORLDS / 2));
}

/* ---- threads ---- */

static void test_threads(void **state)
{
    static struct world world;

    (void)state;
    for (uint64_t number = 0; number < seeds_of(THREAD_WORLDS); number++) {
        uint64_t hash = 0, hits = 0;

        make_book_world(&world, number);
        world.small.sink = NULL; /* a sink requires one thread */
        world.small.config.run.duration = 30 * OCHE_MS;
        for (uint32_t threads = 1; threads <= 3; threads++) {
            uint64_t sum = 0;

            world.small.config.threads = threads;
            small_world_run(&world.small, world.flows, world.flow_count);
            for (uint32_t i = 0; i < world.small.world->flows.connection_count; i++) {
                const struct oche_hit hit = oche_world_hit(world.small.world, i);

                sum = oche_mix64(sum ^ hit.packets);
                sum = oche_mix64(sum ^ hit.first);
                sum = oche_mix64(sum ^ hit.last);
            }
            if (threads == 1) {
                hash = world.small.totals.hash;
                hits = sum;
            }
            ASSERT_IS(&world, "books", world.small.totals.hash, hash);
            ASSERT_IS(&world, "books", sum, hits);
            small_world_end(&world.small);
        }
        end_world(&world);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_books), cmocka_unit_test(test_retries),
                                       cmocka_unit_test(test_order),
                                       cmocka_unit_test(test_threads)};

    if (argc == 3) {
        struct sums sums = {0};
        uint64_t number = strtoull(argv[2], NULL, 10);

        if (strcmp(argv[1], "order") == 0)
            run_order(number, &sums);
        else
            run_books(number, &sums);
        printf("lost: %llu by ports that are down, %llu without a route, %llu on links\n",
               (unsigned long long)sums.link_down, (unsigned long long)sums.no_route,
               (unsigned long long)sums.wire);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
