/* SPDX-License-Identifier: Apache-2.0 */
/* Cyclic buffer dependencies: found where one exists, and nowhere else. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/topology/dependency.h"
#include "sim/topology/static_routes.h"
#include "tests/unit/topology/build.h"

/* Adds the ways from every host to every other, with several hashes. */
static struct oche_circle circle_of_all(const struct oche_topology *topology,
                                        const struct oche_routes *of, uint32_t hashes)
{
    struct oche_dependencies *dependencies = oche_dependencies_create(topology);
    struct oche_walk walk;

    for (uint32_t src = 0; src < topology->host_count; src++)
        for (uint32_t dst = 0; dst < topology->host_count; dst++)
            for (uint32_t hash = 0; src != dst && hash < hashes; hash++) {
                oche_topology_walk(topology, of, 1, false, src, dst, hash * 0x9e3779b9u, &walk);
                oche_dependencies_add(dependencies, &walk);
            }
    struct oche_circle circle = oche_dependencies_circle(dependencies);

    oche_dependencies_free(dependencies);
    return circle;
}

/* Topologies that are up_down are not searched, so the property must be true. */
static void test_up_down(void **state)
{
    static const struct {
        const char *type;
        struct setting settings[8];
    } cases[] = {
        {"star", {{.name = NULL}}},
        {"dumbbell", {{.name = NULL}}},
        {"parking_lot", {{.name = "hops", .u = 5}}},
        {"leaf_spine",
         {{.name = "leaves", .u = 5},
          {.name = "spines", .u = 3},
          {.name = "hosts_per_leaf", .u = 2}}},
        {"fat_tree", {{.name = "k", .u = 4}}},
        {"fat_tree", {{.name = "k", .u = 6}}},
        {"clos",
         {{.name = "pods", .u = 3},
          {.name = "tors_per_pod", .u = 2},
          {.name = "hosts_per_tor", .u = 2},
          {.name = "oversubscription", .real = 0},
          {.name = "uplinks_per_tor", .u = 4},
          {.name = "aggs_per_pod", .u = 2},
          {.name = "cores", .u = 4}}},
        {"clos",
         {{.name = "pods", .u = 2},
          {.name = "tors_per_pod", .u = 3},
          {.name = "hosts_per_tor", .u = 2},
          {.name = "oversubscription", .real = 0},
          {.name = "uplinks_per_tor", .u = 2},
          {.name = "uplinks_per_agg", .u = 3},
          {.name = "cores", .u = 2}}},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        struct oche_topology t = built(cases[i].type, cases[i].settings);
        struct oche_topology_routes r = routed(&t);
        struct oche_circle circle = circle_of_all(&t, r.of, 16);

        assert_true(oche_topology_type_find(cases[i].type)->up_down);
        if (circle.count > 0)
            fail_msg("%s: %s", t.summary, oche_circle_text(&t, &circle));
        oche_topology_routes_free(&r);
        oche_topology_free(&t);
    }
    assert_false(oche_topology_type_find("from_file")->up_down);
}

static char file_path[] = "/tmp/oche-dependency-XXXXXX";

/* A ring of so many switches, one host each; h0 at s0, and so on. */
static struct oche_topology ring(unsigned switches)
{
    FILE *file = fopen(file_path, "w");

    assert_non_null(file);
    for (unsigned i = 0; i < switches; i++)
        fprintf(file, "switch s%u\nhost h%u\n", i, i);
    for (unsigned i = 0; i < switches; i++)
        fprintf(file, "link h%u s%u 40Gbps 1us\n", i, i);
    for (unsigned i = 0; i < switches; i++)
        fprintf(file, "link s%u s%u 40Gbps 1us\n", i, (i + 1) % switches);
    assert_int_equal(fclose(file), 0);
    return built("from_file", SET({.name = "file", .text = file_path}));
}

/* Shortest paths in a ring of four take two hops, in both directions: two circles, one is named. */
static void test_ring(void **state)
{
    struct oche_topology t = ring(4);
    struct oche_topology_routes r = routed(&t);
    struct oche_circle circle = circle_of_all(&t, r.of, 16);
    char *text = oche_circle_text(&t, &circle);

    (void)state;
    assert_string_equal(text, "s0:s1 → s1:s2 → s2:s3 → s3:s0 → s0:s1");
    free(text);
    oche_circle_free(&circle);
    oche_topology_routes_free(&r);
    oche_topology_free(&t);
}

/*
 * In a ring of three they take one hop: no port waits. A chain of waiting that ends is no circle.
 */
static void test_no_circle(void **state)
{
    struct oche_topology t = ring(3);
    struct oche_topology_routes r = routed(&t);
    struct oche_circle circle = circle_of_all(&t, r.of, 1);
    struct oche_dependencies *dependencies;
    struct oche_walk walk;

    (void)state;
    assert_int_equal(circle.count, 0);
    oche_topology_routes_free(&r);
    oche_topology_free(&t);

    t = ring(5);
    r = routed(&t);
    dependencies = oche_dependencies_create(&t);
    for (uint32_t src = 0; src < 4; src++) { /* all but the one that would close the circle */
        oche_topology_walk(&t, r.of, 1, false, src, (src + 2) % 5, 0, &walk);
        assert_int_equal(walk.count, 4);
        oche_dependencies_add(dependencies, &walk);
    }
    circle = oche_dependencies_circle(dependencies);
    assert_int_equal(circle.count, 0);
    oche_topology_walk(&t, r.of, 1, false, 4, 1, 0, &walk);
    oche_dependencies_add(dependencies, &walk);
    circle = oche_dependencies_circle(dependencies);
    assert_int_equal(circle.count, 5);
    oche_circle_free(&circle);
    oche_dependencies_free(dependencies);
    oche_topology_routes_free(&r);
    oche_topology_free(&t);
}

/* The middle of a long circle is left out of its text. */
static void test_long_text(void **state)
{
    struct oche_topology t = ring(20);
    uint32_t *ports = malloc(20 * sizeof(*ports));
    struct oche_circle circle;

    (void)state;
    for (uint32_t i = 0; i < 20; i++) /* s5:s6, s6:s7, …: turned so that s0:s1 is first */
        ports[i] = t.nodes[t.host_count + (i + 5) % 20].first_port + ((i + 5) % 20 == 0 ? 1 : 2);
    circle = oche_circle_make(ports, 20);
    char *text = oche_circle_text(&t, &circle);

    assert_string_equal(text,
                        "s0:s1 → s1:s2 → s2:s3 → s3:s4 → s4:s5 → s5:s6 → (8 more) → s14:s15 → "
                        "s15:s16 → s16:s17 → s17:s18 → s18:s19 → s19:s0 → s0:s1");
    free(text);
    oche_circle_free(&circle);
    oche_topology_free(&t);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(file_path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_up_down),
        cmocka_unit_test(test_ring),
        cmocka_unit_test(test_no_circle),
        cmocka_unit_test(test_long_text),
    };
    int file = mkstemp(file_path);

    if (file < 0)
        return 1;
    close(file);
    return cmocka_run_group_tests(tests, NULL, remove_file);
}
