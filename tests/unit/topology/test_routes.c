/* SPDX-License-Identifier: Apache-2.0 */
/* Routes: every packet arrives by a shortest path, and ECMP sets have the right size. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/topology/build.h"

/* Follows routes from `src`, choosing among candidates by `random`; returns links crossed. */
static uint32_t walk(const struct oche_topology_routes *r, uint32_t src, uint32_t dst,
                     struct oche_random *random)
{
    const struct oche_topology *t = r->topology;
    uint32_t node = oche_topology_port(t, src, 0)->peer, links = 1;

    while (node != dst && links <= OCHE_PATH_LINKS) {
        const struct oche_routes *of = &r->of[node - t->host_count];
        uint32_t group = of->group_of[dst], port;

        assert_true(dst < of->addresses);
        if (group == of->own_group) {
            port = of->port_of_address[dst];
        } else {
            struct oche_port_set set = of->sets[of->set_of_group[group]];

            assert_true(set.count > 0);
            port = of->ports[set.first + oche_random_below(random, set.count)];
        }
        assert_true(port < t->nodes[node].port_count);
        node = oche_topology_port(t, node, port)->peer;
        links++;
    }
    assert_int_equal(node, dst);
    return links;
}

static void assert_reachable(const struct oche_topology_routes *r, uint32_t stride)
{
    struct oche_random random = oche_random_stream(7, "walk", 0);

    for (uint32_t src = 0; src < r->topology->host_count; src += stride)
        for (uint32_t dst = 0; dst < r->topology->host_count; dst++)
            if (src != dst)
                assert_int_equal(walk(r, src, dst, &random), oche_topology_hops(r, src, dst));
}

static uint32_t candidates(const struct oche_topology_routes *r, const char *name, uint32_t dst)
{
    const struct oche_routes *of =
        &r->of[oche_topology_find(r->topology, name) - r->topology->host_count];

    return of->sets[of->set_of_group[of->group_of[dst]]].count;
}

static void assert_same_sets(const struct oche_topology_routes *a,
                             const struct oche_topology_routes *b)
{
    for (uint32_t s = 0; s < a->topology->switch_count; s++)
        for (uint32_t g = 0; g < a->group_count; g++) {
            const struct oche_routes *x = &a->of[s], *y = &b->of[s];

            if (x->own_group == g)
                continue;
            struct oche_port_set p = x->sets[x->set_of_group[g]];
            struct oche_port_set q = y->sets[y->set_of_group[g]];

            assert_int_equal(p.count, q.count);
            assert_memory_equal(&x->ports[p.first], &y->ports[q.first], p.count * sizeof(uint16_t));
        }
}

/* In a complete network, up and down is the shortest. */
static void test_up_down(void **state)
{
    static const char *const types[] = {"star",       "dumbbell", "parking_lot",
                                        "leaf_spine", "clos",     "fat_tree"};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(types); i++) {
        struct oche_topology t = built(types[i], NO_SETTINGS);
        struct oche_topology_routes shortest = routed(&t), other;
        struct oche_error error;

        assert_true(oche_topology_route_around(&t, NULL, true, &other, &error));
        assert_same_sets(&shortest, &other);
        oche_topology_routes_free(&other);
        oche_topology_routes_free(&shortest);
        oche_topology_free(&t);
    }
}

static void kill(const struct oche_topology *t, bool *dead, const char *name)
{
    struct oche_error error;
    uint32_t node, port;

    assert_true(oche_topology_find_port(t, name, &node, &port, &error));
    dead[oche_topology_port(t, node, port)->link] = true;
}

/*
 * leaf0 and leaf1 have no common spine. They meet only through leaf2, where the path goes up again.
 */
static void test_around(void **state)
{
    struct oche_topology t =
        built("leaf_spine", SET({.name = "leaves", .u = 3}, {.name = "spines", .u = 3},
                                {.name = "hosts_per_leaf", .u = 1}));
    bool *dead = calloc(t.link_count, sizeof(*dead));
    struct oche_error error;
    struct oche_topology_routes r;

    (void)state;
    assert_non_null(dead);
    kill(&t, dead, "leaf0:spine0");
    assert_true(oche_topology_route_around(&t, dead, true, &r, &error));
    assert_int_equal(candidates(&r, "leaf0", 1), 2);
    assert_int_equal(candidates(&r, "leaf1", 0), 2);
    assert_int_equal(candidates(&r, "leaf1", 2), 3);
    assert_int_equal(candidates(&r, "spine0", 0), 0);
    oche_topology_routes_free(&r);
    kill(&t, dead, "leaf1:spine1");
    kill(&t, dead, "leaf1:spine2");
    assert_true(oche_topology_route_around(&t, dead, true, &r, &error));
    assert_int_equal(candidates(&r, "leaf0", 1), 0);
    assert_int_equal(candidates(&r, "leaf0", 2), 2);
    assert_int_equal(candidates(&r, "leaf1", 2), 1);
    oche_topology_routes_free(&r);
    assert_true(oche_topology_route_around(&t, dead, false, &r, &error));
    assert_int_equal(candidates(&r, "leaf0", 1), 2);
    assert_int_equal(candidates(&r, "spine0", 0), 1);
    oche_topology_routes_free(&r);
    oche_topology_free(&t);
    free(dead);
}

static void test_every_type_reaches(void **state)
{
    static const char *const types[] = {"star", "dumbbell", "parking_lot", "leaf_spine"};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(types); i++) {
        struct oche_topology t = built(types[i], NO_SETTINGS);
        struct oche_topology_routes r = routed(&t);

        assert_reachable(&r, 1);
        oche_topology_routes_free(&r);
        oche_topology_free(&t);
    }
}

/* dart.md#topology: mean hops 6 - 2*(63+15)/1023 = 5.85 over all pairs of different hosts. */
static void test_clos_hops(void **state)
{
    struct oche_topology t = built("clos", NO_SETTINGS);
    struct oche_topology_routes r = routed(&t);
    uint64_t sum = 0;

    (void)state;
    assert_reachable(&r, 97);
    for (uint32_t src = 0; src < 1024; src++)
        for (uint32_t dst = 0; dst < 1024; dst++)
            sum += oche_topology_hops(&r, src, dst);
    assert_int_equal(sum, 1024 * (6 * 1023 - 2 * (63 + 15)));
    assert_int_equal(oche_topology_hops(&r, 0, 0), 0);
    assert_int_equal(oche_topology_hops(&r, 0, 15), 2);
    assert_int_equal(oche_topology_hops(&r, 0, 16), 4);
    assert_int_equal(oche_topology_hops(&r, 0, 64), 6);
    oche_topology_routes_free(&r);
    oche_topology_free(&t);
}

static void test_ecmp_sets(void **state)
{
    struct oche_topology t = built("clos", NO_SETTINGS);
    struct oche_topology_routes r = routed(&t);

    (void)state;
    assert_int_equal(r.group_count, 64);
    assert_int_equal(candidates(&r, "tor0", 16), 4);   /* up, within the pod */
    assert_int_equal(candidates(&r, "tor0", 1023), 4); /* up */
    assert_int_equal(candidates(&r, "agg0", 16), 1);   /* down */
    assert_int_equal(candidates(&r, "agg0", 1023), 4); /* up */
    assert_int_equal(candidates(&r, "core0", 1023), 1);
    /* One table for all ToRs, one for all cores, one for the aggregation of each pod. */
    assert_int_equal(r.table_count, 1 + 1 + 16);
    assert_ptr_equal(r.of[0].set_of_group, r.of[63].set_of_group);
    oche_topology_routes_free(&r);
    oche_topology_free(&t);
}

/* A square of switches with a double link on one side, and a diagonal that is not shortest. */
static void test_uneven_paths(void **state)
{
    char path[] = "/tmp/oche-routes-XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    struct oche_topology t;
    struct oche_topology_routes r;
    struct oche_path p;

    (void)state;
    assert_non_null(file);
    fputs("host a\nhost b\nswitch s\nswitch t\nswitch u\nswitch v\nswitch w\n"
          "link a s 10Gbps 1us\nlink b v 10Gbps 1us\n"
          "link s t 10Gbps 1us\nlink s t 40Gbps 9us\nlink s u 20Gbps 5us\n"
          "link t v 10Gbps 1us\nlink u v 20Gbps 2us\n"
          "link s w 100Gbps 1ns\nlink w t 100Gbps 1ns\n",
          file);
    fclose(file);
    t = built("from_file", SET({.name = "file", .text = path}));
    unlink(path);
    r = routed(&t);
    assert_reachable(&r, 1);
    assert_int_equal(oche_topology_hops(&r, 0, 1), 4);
    assert_int_equal(candidates(&r, "s", 1), 3); /* both links to t, and u; not w */
    assert_int_equal(candidates(&r, "w", 1), 1); /* by t */
    oche_topology_path(&r, 0, 1, &p);
    assert_int_equal(p.links, 4);
    assert_int_equal(p.rate_bps[1], 40 * OCHE_GBPS);
    assert_int_equal(p.delay[1], OCHE_US);
    assert_int_equal(p.rate_bps[2], 20 * OCHE_GBPS);
    assert_int_equal(p.delay[2], OCHE_US);
    oche_topology_routes_free(&r);
    oche_topology_free(&t);
}

static void test_too_long(void **state)
{
    char path[] = "/tmp/oche-routes-XXXXXX";
    struct oche_error error;
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "w");
    struct oche_topology t;
    struct oche_topology_routes r;

    (void)state;
    assert_non_null(file);
    fputs("host a\nhost b\nswitch s0\nlink a s0 1Gbps 1us\n", file);
    for (int s = 1; s < 70; s++)
        fprintf(file, "switch s%d\nlink s%d s%d 1Gbps 1us\n", s, s - 1, s);
    fputs("link b s69 1Gbps 1us\n", file);
    fclose(file);
    t = built("from_file", SET({.name = "file", .text = path}));
    unlink(path);
    assert_false(oche_topology_route(&t, &r, &error));
    assert_string_equal(error.text, "hosts of s0 and s69 are 71 links apart; at most 64");
    oche_topology_free(&t);
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* 8192 hosts: the time is printed. Shared tables keep them in the cache. */
static void test_large(void **state)
{
    double start = seconds(), half;
    struct oche_topology t = built("fat_tree", SET({"k", 32}));
    struct oche_topology_routes r;

    (void)state;
    half = seconds();
    r = routed(&t);
    print_message("8192 hosts: built in %.3f s, routed in %.3f s\n", half - start,
                  seconds() - half);
    assert_int_equal(t.host_count, 8192);
    assert_int_equal(r.group_count, 512);
    assert_int_equal(r.table_count, 1 + 1 + 32);
    assert_int_equal(candidates(&r, "tor0", 8191), 16);
    assert_int_equal(candidates(&r, "agg0", 8191), 16);
    assert_reachable(&r, 4099);
    oche_topology_routes_free(&r);
    oche_topology_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_up_down),
        cmocka_unit_test(test_around),
        cmocka_unit_test(test_every_type_reaches),
        cmocka_unit_test(test_clos_hops),
        cmocka_unit_test(test_ecmp_sets),
        cmocka_unit_test(test_uneven_paths),
        cmocka_unit_test(test_too_long),
        cmocka_unit_test(test_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
