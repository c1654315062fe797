/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mechanisms that choose among equal paths: random_spray, round_robin, drill, letflow. A ToR with
 * hosts at ports 0 and 1 and four ports up, 2 to 5. Addresses 0 and 1 are its own. All four ports
 * lead to address 2, ports 2 and 3 to address 3, port 5 alone to address 4.
 */
#include "tests/unit/fabric/rig.h"

#include <string.h>

#include "fabric/ecmp.h"
#include "fabric/registry.h"
#include "fabric/switch_state.h"

#define PORTS  6
#define GROUPS 4 /* own; of address 2; of 3; of 4 */
#define GAP    (100 * OCHE_US)

struct tor {
    struct rig rig;
    const struct oche_switch_mechanism *mechanisms[1];
    const void *mechanism_params[1];
    _Alignas(16) char params[256];
    struct oche_port_set sets[3];
    uint16_t set_of_group[GROUPS], ports[7];
    struct oche_pin pins[4];
    struct oche_pins pinned;
    oche_time now;
};

static void tor_init(struct tor *tor, const char *mechanism)
{
    static const uint16_t ports[] = {2, 3, 4, 5, 2, 3, 5};

    memset(tor, 0, sizeof(*tor));
    rig_init(&tor->rig, PORTS);
    tor->mechanisms[0] = oche_switch_mechanism_find(mechanism);
    assert_non_null(tor->mechanisms[0]);
    assert_true(tor->mechanisms[0]->params->struct_bytes <= sizeof(tor->params));
    oche_param_defaults(tor->mechanisms[0]->params, tor->params);
    tor->mechanism_params[0] = tor->params;
    tor->rig.config.mechanisms = tor->mechanisms;
    tor->rig.config.mechanism_params = tor->mechanism_params;
    tor->rig.config.mechanism_count = 1;
    tor->rig.params.ecn = false;
    for (uint32_t address = 2; address < 5; address++)
        tor->rig.group_of[address] = address - 1;
    tor->set_of_group[2] = 1;
    tor->set_of_group[3] = 2;
    tor->sets[0] = (struct oche_port_set){.first = 0, .count = 4};
    tor->sets[1] = (struct oche_port_set){.first = 4, .count = 2};
    tor->sets[2] = (struct oche_port_set){.first = 6, .count = 1};
    memcpy(tor->ports, ports, sizeof(ports));
    tor->rig.config.routes.set_of_group = tor->set_of_group;
    tor->rig.config.routes.sets = tor->sets;
    tor->rig.config.routes.ports = tor->ports;
    tor->rig.config.groups = GROUPS;
}

/* Sets a parameter of the mechanism. */
static void set(struct tor *tor, const char *key, uint64_t value)
{
    const struct oche_param *param = oche_param_find(tor->mechanisms[0]->params, key);

    assert_non_null(param);
    oche_param_set(param, tor->params, (union oche_value){.u = value});
}

static void tor_make(struct tor *tor, const char *mechanism)
{
    tor_init(tor, mechanism);
    rig_make(&tor->rig);
}

/* A packet of flow `hash` to `dst`. Returns its port, at which it stays. */
static int put(struct tor *tor, uint32_t dst, uint32_t hash, uint16_t bytes)
{
    struct oche_packet *packet = rig_packet(dst, 0, bytes);

    packet->flow_hash = hash;
    packet->dest_qpn = hash;
    return oche_switch_receive(tor->rig.sw, 0, packet, tor->now);
}

/* The same, and the packet leaves at once. */
static int pass(struct tor *tor, uint32_t dst, uint32_t hash)
{
    const int port = put(tor, dst, hash, 1000);

    assert_true(port >= 0);
    assert_int_equal(rig_out(&tor->rig, (unsigned)port, ++tor->now), 1000);
    return port;
}

static uint64_t count(const struct tor *tor, const char *name)
{
    uint64_t values[OCHE_MOST_MECHANISM_COUNTERS];

    oche_switch_mechanism_counters(tor->rig.sw, 0, values);
    for (unsigned i = 0; i < tor->mechanisms[0]->counter_count; i++)
        if (strcmp(tor->mechanisms[0]->counters[i].name, name) == 0)
            return values[i];
    fail_msg("no counter %s", name);
    return 0;
}

static const char *const all[] = {"random_spray", "round_robin", "drill", "letflow"};

/* ---- what all of them have in common ---- */

static void test_single_paths_are_left_alone(void **context)
{
    struct tor tor;

    (void)context;
    for (unsigned i = 0; i < OCHE_COUNT_OF(all); i++) {
        tor_make(&tor, all[i]);
        for (uint32_t hash = 0; hash < 50; hash++) {
            assert_int_equal(pass(&tor, 1, hash), 1);
            assert_int_equal(pass(&tor, 4, hash), 5);
        }
        assert_int_equal(count(&tor, tor.mechanisms[0]->counters[0].name), 0);
        rig_free(&tor.rig);
    }
}

static void test_only_ports_of_ecmp(void **context)
{
    struct tor tor;

    (void)context;
    for (unsigned i = 0; i < OCHE_COUNT_OF(all); i++) {
        unsigned seen = 0;

        tor_make(&tor, all[i]);
        for (uint32_t hash = 0; hash < 200; hash++) {
            const int port = put(&tor, 3, hash, 1000);

            assert_true(port == 2 || port == 3);
            seen |= 1U << port;
        }
        assert_int_equal(seen, 1U << 2 | 1U << 3);
        rig_free(&tor.rig);
    }
}

static void test_pinned_flows_keep_their_port(void **context)
{
    struct tor tor;

    (void)context;
    for (unsigned i = 0; i < OCHE_COUNT_OF(all); i++) {
        tor_init(&tor, all[i]);
        tor.pinned = (struct oche_pins){.places = tor.pins, .mask = 3};
        for (unsigned place = 0; place < 4; place++)
            tor.pins[place].port = OCHE_NO_PIN;
        *oche_pin_place(&tor.pinned, 2, 77) = (struct oche_pin){2, 77, 4};
        tor.rig.config.routes.pins = &tor.pinned;
        rig_make(&tor.rig);
        for (unsigned n = 0; n < 50; n++)
            assert_int_equal(pass(&tor, 2, 77), 4);
        rig_free(&tor.rig);
    }
}

/* Without `control` a packet without payload takes ECMP's port, and is not counted. */
static void test_control_packets_may_be_left_alone(void **context)
{
    struct tor tor;

    (void)context;
    for (unsigned i = 0; i < OCHE_COUNT_OF(all); i++) {
        tor_init(&tor, all[i]);
        set(&tor, "control", false);
        rig_make(&tor.rig);
        for (uint32_t hash = 0; hash < 50; hash++) {
            struct oche_packet packet = {.dst = 2, .flow_hash = hash};
            const int expected = oche_ecmp_route(&tor.rig.sw->routes, tor.rig.sw->salt, &packet);

            assert_int_equal(put(&tor, 2, hash, 64), expected);
        }
        assert_int_equal(count(&tor, tor.mechanisms[0]->counters[0].name), 0);
        put(&tor, 2, 1, 1000);
        assert_int_equal(count(&tor, tor.mechanisms[0]->counters[0].name), 1);
        rig_free(&tor.rig);
    }
}

/* Passes over ports that are down; if all are, the packet is dropped there. */
static void test_ports_that_are_down(void **context)
{
    struct tor tor;

    (void)context;
    for (unsigned i = 0; i < OCHE_COUNT_OF(all); i++) {
        unsigned seen = 0;

        tor_init(&tor, all[i]);
        tor.rig.config.links_fail = true;
        rig_make(&tor.rig);
        for (uint32_t hash = 0; hash < 50; hash++)
            pass(&tor, 2, hash);
        oche_switch_link_down(tor.rig.sw, 3, tor.now);
        oche_switch_link_down(tor.rig.sw, 4, tor.now);
        for (uint32_t hash = 0; hash < 100; hash++)
            seen |= 1U << put(&tor, 2, hash, 1000);
        assert_int_equal(seen, 1U << 2 | 1U << 5);
        for (unsigned port = 2; port <= 5; port += 3)
            while (rig_out(&tor.rig, port, ++tor.now) > 0)
                continue;
        oche_switch_link_down(tor.rig.sw, 2, tor.now);
        oche_switch_link_down(tor.rig.sw, 5, tor.now);
        for (uint32_t hash = 0; hash < 20; hash++) {
            struct oche_packet *packet = rig_packet(2, 0, 1000);

            packet->dest_qpn = hash;
            assert_int_equal(oche_switch_receive(tor.rig.sw, 0, packet, tor.now), -1);
            assert_int_equal(oche_switch_last_drop(tor.rig.sw), OCHE_DROP_LINK_DOWN);
            rig_discard(packet);
        }
        rig_free(&tor.rig);
    }
}

/* The switch's own stream decides: the same switch does the same again, another one does not. */
static void test_another_switch_chooses_otherwise(void **context)
{
    (void)context;
    for (unsigned i = 0; i < OCHE_COUNT_OF(all); i++) {
        struct tor tor;
        int ports[3][40];
        bool differ = false;

        for (unsigned run = 0; run < 3; run++) {
            tor_init(&tor, all[i]);
            tor.rig.config.node = run < 2 ? 3 : 9;
            rig_make(&tor.rig);
            for (unsigned n = 0; n < 40; n++)
                ports[run][n] = put(&tor, 2, n, 1000);
            rig_free(&tor.rig);
        }
        for (unsigned n = 0; n < 40; n++) {
            assert_int_equal(ports[0][n], ports[1][n]);
            differ |= ports[0][n] != ports[2][n];
        }
        assert_true(differ);
    }
}

/* ---- one by one ---- */

/*
 * 4,000 packets of one flow, four ports: each gets 1,000 in the mean, with a standard deviation of
 * 27. Consecutive packets take the same port in a quarter of all cases.
 */
static void test_random_is_even(void **context)
{
    unsigned of[PORTS] = {0}, same = 0;
    struct tor tor;
    int last = -1;

    (void)context;
    tor_make(&tor, "random_spray");
    for (unsigned n = 0; n < 4000; n++) {
        const int port = pass(&tor, 2, 7);

        of[port]++;
        same += port == last;
        last = port;
    }
    for (unsigned port = 2; port < PORTS; port++)
        assert_in_range(of[port], 880, 1120);
    assert_in_range(same, 880, 1120);
    assert_int_equal(count(&tor, "packets"), 4000);
    rig_free(&tor.rig);
}

/* Exactly in turn, for each group of destinations by itself. */
static void test_round_robin_is_exact(void **context)
{
    struct tor tor;

    (void)context;
    tor_make(&tor, "round_robin");
    const int first = pass(&tor, 2, 1), pair = pass(&tor, 3, 1);

    for (int n = 1; n < 1000; n++) {
        assert_int_equal(pass(&tor, 2, (uint32_t)n), 2 + (first - 2 + n) % 4);
        assert_int_equal(pass(&tor, 3, (uint32_t)n), 2 + (pair - 2 + n) % 2);
    }
    assert_int_equal(count(&tor, "packets"), 2000);
    rig_free(&tor.rig);
}

/* By host: packets to another host of the same group take no turn of the first one's. */
static void test_round_robin_by_host(void **context)
{
    struct tor tor;

    (void)context;
    tor_init(&tor, "round_robin");
    tor.rig.group_of[5] = 1; /* as address 2 */
    set(&tor, "turns", 1);
    rig_make(&tor.rig);
    const int first = pass(&tor, 2, 1), other = pass(&tor, 5, 1);

    for (int n = 1; n < 1000; n++) {
        assert_int_equal(pass(&tor, 2, (uint32_t)n), 2 + (first - 2 + n) % 4);
        if (n % 3 == 0)
            assert_int_equal(pass(&tor, 5, (uint32_t)n), 2 + (other - 2 + n / 3) % 4);
    }
    rig_free(&tor.rig);
}

/* With as many samples as ports DRILL always finds the port where the least waits. */
static void test_drill_takes_the_emptiest(void **context)
{
    struct tor tor;

    (void)context;
    tor_init(&tor, "drill");
    set(&tor, "samples", 4);
    rig_make(&tor.rig);
    for (unsigned n = 0; n < 400; n++) {
        uint64_t least = UINT64_MAX, before[PORTS];

        for (unsigned port = 2; port < PORTS; port++) {
            before[port] = oche_switch_queue_bytes(tor.rig.sw, port);
            least = before[port] < least ? before[port] : least;
        }
        const int port = put(&tor, 2, n, (uint16_t)(100 + n * 37 % 1000));

        assert_true(before[port] == least);
    }
    rig_free(&tor.rig);
}

/*
 * Two samples of four ports, one of which is empty: it is found as soon as it is drawn, and then
 * remembered until it is no better than a sample. Without memory it is found in half of all cases.
 */
static void test_drill_remembers(void **context)
{
    (void)context;
    for (unsigned memory = 0; memory < 2; memory++) {
        unsigned found = 0;
        struct tor tor;

        tor_init(&tor, "drill");
        set(&tor, "memory", memory);
        rig_make(&tor.rig);
        for (unsigned n = 0; n < 30; n++) /* port 5 leads to address 4, the only one */
            put(&tor, 3, n, 1500);
        for (unsigned n = 0; n < 15; n++)
            put(&tor, 4, n, 1500);
        for (unsigned n = 0; n < 1000; n++) {
            const int port = put(&tor, 2, n, 64);

            found += port == 4;
            if (port == 4) /* it is the empty one again */
                assert_int_equal(rig_out(&tor.rig, 4, ++tor.now), 64);
        }
        if (memory > 0)
            assert_true(found > 990);
        else
            assert_in_range(found, 430, 570);
        assert_int_equal(count(&tor, "packets"), 1030);
        assert_true(memory > 0 || count(&tor, "kept") < 600);
        rig_free(&tor.rig);
    }
}

/* A flow stays where it is until it pauses for longer than the gap. */
static void test_letflow_moves_after_a_gap(void **context)
{
    unsigned moved = 0;
    struct tor tor;

    (void)context;
    tor_make(&tor, "letflow");
    int port = pass(&tor, 2, 1);

    for (unsigned n = 0; n < 500; n++) {
        tor.now += GAP - 2;
        assert_int_equal(pass(&tor, 2, 1), port);
    }
    assert_int_equal(count(&tor, "flowlets"), 1);
    for (unsigned n = 0; n < 400; n++) {
        tor.now += GAP;
        const int next = pass(&tor, 2, 1);

        moved += next != port;
        port = next;
    }
    assert_in_range(moved, 260, 340); /* three quarters: 300, and a standard deviation of 9 */
    assert_int_equal(count(&tor, "flowlets"), 401);
    assert_int_equal(count(&tor, "moved"), moved);
    rig_free(&tor.rig);
}

/*
 * A table of four: the fifth flow takes ECMP's port while the four are active, and the place of the
 * one that rested longest when that has rested for longer than the gap.
 */
static void test_letflow_table(void **context)
{
    struct tor tor;

    (void)context;
    tor_init(&tor, "letflow");
    set(&tor, "entries", 4);
    rig_make(&tor.rig);
    for (uint32_t flow = 1; flow <= 4; flow++)
        pass(&tor, 2, flow);
    struct oche_packet fifth = {.dst = 2, .flow_hash = 5};

    assert_int_equal(pass(&tor, 2, 5),
                     oche_ecmp_route(&tor.rig.sw->routes, tor.rig.sw->salt, &fifth));
    assert_int_equal(count(&tor, "refused_no_entry"), 1);
    tor.now += GAP / 2;
    for (uint32_t flow = 2; flow <= 4; flow++)
        pass(&tor, 2, flow);
    tor.now += GAP / 2 + 10;
    pass(&tor, 2, 5);
    assert_int_equal(count(&tor, "refused_no_entry"), 1);
    assert_int_equal(count(&tor, "flowlets"), 5);
    for (uint32_t flow = 2; flow <= 5; flow++)
        pass(&tor, 2, flow);
    assert_int_equal(count(&tor, "flowlets"), 5);
    pass(&tor, 2, 1);
    assert_int_equal(count(&tor, "refused_no_entry"), 2);
    rig_free(&tor.rig);
}

/* The port that a flow had is not among those of the new routes. */
static void test_routes_change(void **context)
{
    (void)context;
    for (unsigned i = 0; i < OCHE_COUNT_OF(all); i++) {
        struct tor tor;
        struct oche_routes routes;

        tor_init(&tor, all[i]);
        tor.rig.config.links_fail = true;
        rig_make(&tor.rig);
        for (uint32_t hash = 0; hash < 40; hash++)
            pass(&tor, 2, hash);
        routes = tor.rig.config.routes;
        tor.sets[0] = (struct oche_port_set){.first = 2, .count = 2};
        oche_switch_reroute(tor.rig.sw, &routes, NULL);
        for (uint32_t hash = 0; hash < 40; hash++)
            assert_in_range(pass(&tor, 2, hash), 4, 5);
        rig_free(&tor.rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_paths_are_left_alone),
        cmocka_unit_test(test_only_ports_of_ecmp),
        cmocka_unit_test(test_pinned_flows_keep_their_port),
        cmocka_unit_test(test_control_packets_may_be_left_alone),
        cmocka_unit_test(test_ports_that_are_down),
        cmocka_unit_test(test_another_switch_chooses_otherwise),
        cmocka_unit_test(test_random_is_even),
        cmocka_unit_test(test_round_robin_is_exact),
        cmocka_unit_test(test_round_robin_by_host),
        cmocka_unit_test(test_drill_takes_the_emptiest),
        cmocka_unit_test(test_drill_remembers),
        cmocka_unit_test(test_letflow_moves_after_a_gap),
        cmocka_unit_test(test_letflow_table),
        cmocka_unit_test(test_routes_change),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
