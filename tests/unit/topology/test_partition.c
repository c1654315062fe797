/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes over threads: balanced, pods whole, few links cut, always the same. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/topology/build.h"

struct split {
    uint16_t *part;
    uint32_t parts;
    uint32_t cut_links;
    uint64_t smallest, largest; /* work: ports of switches, twice those of hosts */
};

static struct split split(const struct oche_topology *t, uint32_t parts)
{
    uint32_t nodes = oche_topology_nodes(t);
    struct split s = {.part = calloc(nodes, sizeof(uint16_t)), .smallest = UINT64_MAX};
    uint16_t *again = calloc(nodes, sizeof(uint16_t));
    uint64_t *work = calloc(parts, sizeof(uint64_t));

    assert_true(s.part != NULL && again != NULL && work != NULL);
    s.parts = oche_topology_partition(t, parts, NULL, s.part);
    assert_int_equal(oche_topology_partition(t, parts, NULL, again), s.parts);
    assert_memory_equal(s.part, again, nodes * sizeof(uint16_t));
    for (uint32_t n = 0; n < nodes; n++) {
        assert_true(s.part[n] < s.parts);
        work[s.part[n]] += t->nodes[n].port_count * (n < t->host_count ? 2u : 1u);
    }
    for (uint32_t p = 0; p < s.parts; p++) {
        s.smallest = work[p] < s.smallest ? work[p] : s.smallest;
        s.largest = work[p] > s.largest ? work[p] : s.largest;
    }
    for (uint32_t l = 0; l < t->link_count; l++)
        s.cut_links += s.part[t->links[l].a] != s.part[t->links[l].b];
    free(again);
    free(work);
    return s;
}

static void test_fat_tree(void **state)
{
    struct oche_topology t = built("fat_tree", SET({"k", 8}));

    (void)state;
    for (uint32_t parts = 1; parts <= 8; parts *= 2) {
        struct split s = split(&t, parts);

        assert_int_equal(s.parts, parts);
        assert_int_equal(s.smallest, s.largest); /* it divides */
        /* Only links to cores are cut, and 1/parts of them stay within a part. */
        assert_int_equal(s.cut_links, 128 - 128 / parts);
        for (uint32_t host = 0; host < 128; host++)
            assert_int_equal(s.part[host], s.part[oche_topology_port(&t, host, 0)->peer]);
        free(s.part);
    }
    oche_topology_free(&t);
}

static void test_uneven(void **state)
{
    struct oche_topology t = built("clos", NO_SETTINGS);
    struct split s = split(&t, 3); /* 16 pods over 3 */

    (void)state;
    assert_int_equal(s.parts, 3);
    assert_true(s.largest * 10 <= s.smallest * 12);
    free(s.part);
    oche_topology_free(&t);
}

static void test_chain(void **state)
{
    struct oche_topology t = built("parking_lot", SET({"hops", 11}));
    struct split s = split(&t, 4);

    (void)state;
    assert_int_equal(s.parts, 4);
    assert_int_equal(s.cut_links, 3); /* a chain in four pieces */
    free(s.part);
    oche_topology_free(&t);
}

/* Fewer pods than threads: by ToR; fewer ToR: by node. */
static void test_small(void **state)
{
    struct oche_topology t = built("clos", SET({"pods", 2}));
    struct split s = split(&t, 4);

    (void)state;
    assert_int_equal(s.parts, 4);
    assert_true(s.largest * 10 <= s.smallest * 12);
    for (uint32_t host = 0; host < t.host_count; host++)
        assert_int_equal(s.part[host], s.part[oche_topology_port(&t, host, 0)->peer]);
    free(s.part);
    oche_topology_free(&t);

    t = built("star", SET({"hosts", 16}));
    s = split(&t, 2);
    assert_int_equal(s.parts, 2);
    assert_int_equal(s.largest, 24); /* the switch and 4 hosts; 12 hosts */
    free(s.part);
    s = split(&t, 100); /* more threads than nodes */
    assert_int_equal(s.parts, 17);
    free(s.part);
    oche_topology_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fat_tree),
        cmocka_unit_test(test_uneven),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_small),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
