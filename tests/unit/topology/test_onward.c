/* SPDX-License-Identifier: Apache-2.0 */
/* The knowledge of misrouting switches: which way is up, and behind which ports a way continues. */
#include "tests/unit/topology/build.h"

#include <stdlib.h>

#include "sim/topology/onward.h"

static uint64_t *bits_of(const struct oche_topology_routes *routes, uint32_t number)
{
    uint64_t *bits = calloc(oche_topology_onward_words(routes, number), sizeof(*bits));

    assert_non_null(bits);
    oche_topology_onward(routes, number, bits);
    return bits;
}

static bool bit(const struct oche_topology_routes *routes, const uint64_t *bits, uint32_t port,
                uint32_t group)
{
    size_t at = (size_t)port * routes->group_count + group;

    return bits[at / 64] >> at % 64 & 1;
}

static void up(void **state)
{
    struct oche_topology t = built("fat_tree", SET({.name = "k", .u = 4}));

    (void)state;
    for (uint32_t n = 0; n < oche_topology_nodes(&t); n++)
        for (uint32_t p = 0; p < t.nodes[n].port_count; p++) {
            const struct oche_topology_port *end = oche_topology_port(&t, n, p);

            /* One end of each link is above the other, as the tiers decide. */
            assert_int_equal(oche_topology_is_up(&t, n, p),
                             !oche_topology_is_up(&t, end->peer, end->peer_port));
            assert_int_equal(oche_topology_is_up(&t, n, p),
                             t.nodes[end->peer].kind > t.nodes[n].kind);
        }
    oche_topology_free(&t);
}

/* Among equals the number decides. */
static void chain(void **state)
{
    struct oche_topology t = built("parking_lot", NO_SETTINGS);
    unsigned seen = 0;

    (void)state;
    for (uint32_t n = t.host_count; n < oche_topology_nodes(&t); n++)
        for (uint32_t p = 0; p < t.nodes[n].port_count; p++) {
            uint32_t peer = oche_topology_port(&t, n, p)->peer;

            if (peer < t.host_count)
                assert_false(oche_topology_is_up(&t, n, p));
            else
                assert_int_equal(oche_topology_is_up(&t, n, p), peer > n);
            seen += peer >= t.host_count;
        }
    assert_true(seen >= 4);
    oche_topology_free(&t);
}

/* 4 pods of 2 ToRs and 2 aggregation switches; cores have one link to a pod. */
static void fat_tree(void **state)
{
    struct oche_topology t = built("fat_tree", SET({.name = "k", .u = 4}));
    struct oche_topology_routes routes = routed(&t);

    (void)state;
    for (uint32_t i = 0; i < t.switch_count; i++) {
        uint32_t n = t.host_count + i;
        uint64_t *bits = bits_of(&routes, i);

        for (uint32_t p = 0; p < t.nodes[n].port_count; p++)
            for (uint32_t g = 0; g < routes.group_count; g++) {
                uint32_t peer = oche_topology_port(&t, n, p)->peer;
                uint32_t goal = routes.switch_of_group[g];
                bool same_pod = t.nodes[goal].pod == t.nodes[n].pod, on = true;

                if (peer < t.host_count)
                    on = false; /* hosts pass nothing on */
                else if (t.nodes[n].kind == OCHE_NODE_TOR)
                    on = goal != n; /* from above, its own hosts are only behind itself */
                else if (t.nodes[n].kind == OCHE_NODE_AGGREGATION)
                    on = t.nodes[peer].kind == OCHE_NODE_TOR || !same_pod;
                /* From a core, each pod either has another core or is the destination's own pod. */
                assert_int_equal(bit(&routes, bits, p, g), on);
            }
        free(bits);
    }
    oche_topology_routes_free(&routes);
    oche_topology_free(&t);
}

/* From a dumbbell's side there is one way, and no way around it. */
static void dumbbell(void **state)
{
    struct oche_topology t = built("dumbbell", NO_SETTINGS);
    struct oche_topology_routes routes = routed(&t);
    uint64_t *bits = bits_of(&routes, 0);

    (void)state;
    for (uint32_t p = 0; p < t.nodes[t.host_count].port_count; p++) {
        bool across = oche_topology_port(&t, t.host_count, p)->peer >= t.host_count;

        assert_false(bit(&routes, bits, p, 0));
        assert_int_equal(bit(&routes, bits, p, 1), across);
    }
    free(bits);
    oche_topology_routes_free(&routes);
    oche_topology_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(up), cmocka_unit_test(chain),
                                       cmocka_unit_test(fat_tree), cmocka_unit_test(dumbbell)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
