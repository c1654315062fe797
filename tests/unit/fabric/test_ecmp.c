/* SPDX-License-Identifier: Apache-2.0 */
/* Routing: groups, ECMP's spread and independence, what cannot be routed, loops. */
#include "tests/unit/fabric/rig.h"

#include <stdlib.h>

#include "core/random.h"
#include "fabric/ecmp.h"

/* Two groups of two addresses and an unreachable third; own group 0 at ports 0 and 1. */
static const uint32_t group_of[] = {0, 0, 1, 1, 2};
static const uint16_t set_of_group[] = {0, 1, 2};
static const uint16_t candidates[] = {7, 6, 5, 4, 3};
static const struct oche_port_set sets[] = {{0, 1}, {1, 4}, {0, 0}};
static const uint16_t port_of_address[] = {0, 1, 0, 1, 0};
static const struct oche_routes routes = {
    group_of, set_of_group, sets, candidates, port_of_address, 0, 5};

static int route(uint64_t salt, uint32_t dst, uint32_t hash)
{
    struct oche_packet packet = {.dst = dst, .flow_hash = hash};

    return oche_ecmp_route(&routes, salt, &packet);
}

static void destinations(void **state)
{
    (void)state;
    assert_int_equal(route(1, 0, 9), 0);
    assert_int_equal(route(1, 1, 9), 1);
    assert_int_equal(route(1, 4, 9), -1);
    assert_int_equal(route(1, 5, 9), -1);
    assert_int_equal(route(1, UINT32_MAX, 9), -1);
    for (uint32_t hash = 0; hash < 100; hash++)
        assert_in_range(route(1, 2, hash), 3, 6);
}

static void spread(void **state)
{
    uint64_t salt = oche_ecmp_salt(1, 2), other = oche_ecmp_salt(1, 3);
    unsigned counts[8] = {0}, both[8] = {0};

    (void)state;
    assert_true(salt != other);
    assert_true(oche_ecmp_salt(2, 2) != salt);
    assert_true(oche_ecmp_salt(1, 2) == salt);
    for (uint32_t flow = 0; flow < 100000; flow++) {
        int port = route(salt, 2, flow);

        assert_int_equal(route(salt, 3, flow), port); /* by hash, not by destination */
        counts[port]++;
        if (port == 3)
            both[route(other, 2, flow)]++;
    }
    /* A quarter each, within five standard deviations (137 and 68). */
    for (unsigned port = 3; port <= 6; port++)
        assert_in_range(counts[port], 25000 - 690, 25000 + 690);
    /* The next switch spreads the flows of one port again: no polarisation. */
    for (unsigned port = 3; port <= 6; port++)
        assert_in_range(both[port], 6250 - 350, 6250 + 350);
}

static void dropped_and_counted(void **state)
{
    struct rig rig;
    struct oche_packet *packet;

    (void)state;
    rig_init(&rig, 4);
    rig_make(&rig);
    packet = rig_packet(4, 0, 1000); /* no such address */
    assert_int_equal(oche_switch_receive(rig.sw, 2, packet, 0), -1);
    packet->dst = 1;
    packet->hops = OCHE_HOP_LIMIT - 1;
    assert_int_equal(oche_switch_receive(rig.sw, 2, packet, 0), 1);
    assert_int_equal(packet->hops, OCHE_HOP_LIMIT);
    assert_ptr_equal(oche_switch_transmit(rig.sw, 1, 0), packet);
    assert_int_equal(oche_switch_receive(rig.sw, 3, packet, 0), -1);
    assert_int_equal(rig_stats(&rig, 2, 0).drops[OCHE_DROP_NO_ROUTE], 1);
    assert_int_equal(rig_stats(&rig, 2, 0).drops[OCHE_DROP_TTL], 0);
    assert_int_equal(rig_stats(&rig, 3, 0).drops[OCHE_DROP_TTL], 1);
    assert_int_equal(oche_switch_occupied_bytes(rig.sw), 0);
    rig_discard(packet);
    expect_assert_failure(oche_switch_receive(rig.sw, 4, NULL, 0));
    rig_free(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(destinations),
        cmocka_unit_test(spread),
        cmocka_unit_test(dropped_and_counted),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
