/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The invariants of sim/network/invariants.h hold wherever a run is stopped; each of them is broken
 * on purpose once, so that none can be a statement that never fails.
 */
#include "tests/support/small_world.h"
#include "tests/support/test.h"

#include "fabric/switch_state.h"
#include "sim/network/host_state.h"
#include "sim/network/invariants.h"
#include "sim/world/internal.h"

#define HOSTS 16

/* An incast with PAUSEs, and feedback that is held, up to `end`. */
static void stop_at(struct small_world *small, oche_time end, uint32_t threads)
{
    static struct oche_flow_plan flows[HOSTS];

    for (uint32_t i = 1; i < HOSTS; i++)
        flows[i - 1] = small_flow(i, 0, 200000, i < HOSTS - 1 ? i * OCHE_NS : OCHE_SEC);
    small_world_init(small, "fat_tree", "dcqcn", "go_back_n");
    small_world_topology(small, "k", 4);
    small->config.switches.buffer_bytes = 1500000;
    small->config.hosts.feedback_jitter = 20 * OCHE_US;
    small->config.run.duration = end;
    small->config.run.stop_when_done = false;
    small->config.threads = threads;
    small_world_run(small, flows, HOSTS - 1);
}

static struct oche_network *network_of(struct small_world *small)
{
    return &small->world->network;
}

static void test_they_hold(void **state)
{
    const oche_time ends[] = {OCHE_US, 10 * OCHE_US, 30 * OCHE_US, 77 * OCHE_US, 150 * OCHE_US};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(ends); i++)
        for (uint32_t threads = 1; threads <= 2; threads++) {
            struct small_world small;
            uint32_t node;

            stop_at(&small, ends[i], threads);
            const char *broken = oche_network_broken(network_of(&small), &node);
            if (broken != NULL)
                fail_msg("at %llu ps, node %u: %s", (unsigned long long)ends[i], node, broken);
            small_world_free(&small);
        }
}

/* ---- each can break ---- */

static struct oche_host *receiver(struct oche_network *network)
{
    return network->ports[0].device;
}

/* Returns a host with held feedback: two packets or more. */
static struct oche_host *holder(struct oche_network *network)
{
    for (uint32_t i = 0; i < network->host_count; i++) {
        struct oche_host *host = network->ports[network->nodes[i].first_port].device;

        if (host->feedback.held.count > 1)
            return host;
    }
    fail_msg("no host holds feedback");
    return NULL;
}

/* Returns a port that waits for a transmit-done event. */
static struct oche_port *waiting(struct oche_network *network)
{
    for (uint32_t i = 0; i < network->port_count; i++)
        if (network->ports[i].flags & OCHE_PORT_DONE_PENDING)
            return &network->ports[i];
    fail_msg("no port waits");
    return NULL;
}

static struct oche_port *idle(struct oche_network *network)
{
    for (uint32_t i = 0; i < network->port_count; i++)
        if (!(network->ports[i].flags & OCHE_PORT_DONE_PENDING))
            return &network->ports[i];
    fail_msg("all ports wait");
    return NULL;
}

static void event_of_nobody(struct oche_network *network)
{
    oche_event_push(&network->shards[0].events, OCHE_SEC / 2,
                    oche_event_key(0, OCHE_EVENT_ARRIVAL, 7), NULL);
}

static void event_in_the_past(struct oche_network *network)
{
    network->now = OCHE_SEC;
}

static void done_is_not_waited_for(struct oche_network *network)
{
    waiting(network)->flags &= (uint8_t)~OCHE_PORT_DONE_PENDING;
}

static void done_is_forgotten(struct oche_network *network)
{
    idle(network)->flags |= OCHE_PORT_DONE_PENDING;
}

static void timer_is_forgotten(struct oche_network *network)
{
    network->nodes[HOSTS - 1].timer_at -= 1;
}

static void start_is_missed(struct oche_network *network)
{
    receiver(network)->next_start = network->now;
    if (network->nodes[0].timer_at <= network->now)
        receiver(network)->next_start = 0;
}

static void paused_class_may_send(struct oche_network *network)
{
    receiver(network)->classes = UINT8_MAX;
    receiver(network)->pause.mask = 1;
}

static void heap_is_swapped(struct oche_network *network)
{
    struct oche_host *host = holder(network);

    host->feedback.held.heap[1].until = host->feedback.held.heap[0].until - 1;
}

static void feedback_is_held_for_long(struct oche_network *network)
{
    struct oche_host *host = holder(network);

    host->feedback.held.heap[host->feedback.held.count - 1].until = network->now + OCHE_MS;
}

static void switch_is_called_too_late(struct oche_network *network)
{
    struct oche_switch *sw = network->ports[network->nodes[HOSTS].first_port].device;

    sw->next = 0;
}

static void ready_port_is_forgotten(struct oche_network *network)
{
    const struct oche_node *node = &network->nodes[HOSTS];

    for (uint32_t i = node->first_port; i < node->first_port + node->port_count; i++)
        if (!(network->ports[i].flags & OCHE_PORT_DONE_PENDING)) {
            oche_switch_egress(network->ports[i].device, network->ports[i].local)->flags |=
                OCHE_EGRESS_PFC_WAITS;
            return;
        }
    fail_msg("all ports of the switch wait");
}

static const struct {
    const char *words;
    void (*breaks)(struct oche_network *network);
} faults[] = {
    {"a shard's events are of its nodes and their ports", event_of_nobody},
    {"no event is in the past", event_in_the_past},
    {"a transmit-done event is of a port that waits for it", done_is_not_waited_for},
    {"a port that waits for a transmit-done event has one", done_is_forgotten},
    {"a node that is to be woken has a timer event then", timer_is_forgotten},
    {"a host is woken in time", start_is_missed},
    {"a host does not send what is paused", paused_class_may_send},
    {"held feedback is a heap", heap_is_swapped},
    {"feedback is held no longer than the jitter", feedback_is_held_for_long},
    {"a switch is woken in time", switch_is_called_too_late},
    {"a port with a packet that may leave waits for an event", ready_port_is_forgotten},
};

static void test_each_can_break(void **state)
{
    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(faults); i++) {
        struct small_world small;
        uint32_t node;

        stop_at(&small, 30 * OCHE_US, 1);
        assert_null(oche_network_broken(network_of(&small), &node));
        faults[i].breaks(network_of(&small));
        const char *broken = oche_network_broken(network_of(&small), &node);
        if (broken == NULL)
            fail_msg("it seems to hold that %s", faults[i].words);
        assert_string_equal(broken, faults[i].words);
        small_world_free(&small);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_they_hold),
        cmocka_unit_test(test_each_can_break),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
