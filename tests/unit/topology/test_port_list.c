/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of ports: names, patterns, and the message if none matches. */
#include <stdio.h>
#include <string.h>

#include "sim/topology/port_list.h"
#include "sim/topology/builder.h"
#include "tests/unit/topology/build.h"

/* Two pods of two ToRs and two aggregation switches, four cores, 16 hosts. */
static struct oche_topology fat_tree(void)
{
    return built("fat_tree", SET({"k", 4}));
}

/* Writes "tor0:host0 tor0:host1 …". */
static void names_of(const struct oche_topology *topology, const struct oche_port_list *list,
                     char *text, size_t bytes)
{
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < list->count; i++) {
        uint32_t node = oche_port_list_node(topology, list->ports[i]);
        char name[OCHE_PORT_NAME_BYTES];

        oche_topology_port_name(topology, node, list->ports[i] - topology->nodes[node].first_port,
                                name, sizeof(name));
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", i > 0 ? " " : "", name);
    }
}

static void assert_found(const char *text, enum oche_port_list_of of, const char *expected)
{
    struct oche_topology topology = fat_tree();
    struct oche_port_list list;
    struct oche_error error;
    char found[4096];

    if (!oche_port_list_find(&topology, text, of, &list, &error))
        fail_msg("%s: %s", text, error.text);
    names_of(&topology, &list, found, sizeof(found));
    assert_string_equal(found, expected);
    oche_port_list_free(&list);
    oche_topology_free(&topology);
}

static void assert_count(const char *text, enum oche_port_list_of of, uint32_t expected)
{
    struct oche_topology topology = fat_tree();
    struct oche_port_list list;
    struct oche_error error;

    assert_true(oche_port_list_find(&topology, text, of, &list, &error));
    if (list.count != expected)
        fail_msg("%s: %u ports, not %u", text, list.count, expected);
    oche_port_list_free(&list);
    oche_topology_free(&topology);
}

static void assert_refused(const char *text, enum oche_port_list_of of, const char *expected)
{
    struct oche_topology topology = fat_tree();
    struct oche_port_list list;
    struct oche_error error;

    assert_false(oche_port_list_find(&topology, text, of, &list, &error));
    assert_string_equal(error.text, expected);
    oche_topology_free(&topology);
}

static void test_names(void **state)
{
    (void)state;
    assert_found("tor0:host1", OCHE_PORTS_OF_SWITCHES, "tor0:host1");
    assert_found("tor0:host1, tor0:0  tor0:1", OCHE_PORTS_OF_SWITCHES, "tor0:host1 tor0:host0");
    assert_found("tor0:up0,tor0:up1", OCHE_PORTS_OF_SWITCHES, "tor0:agg0 tor0:agg1");
    assert_found("tor3:down1", OCHE_PORTS_OF_SWITCHES, "tor3:host7");
    assert_found("agg0:down0, agg0:up0", OCHE_PORTS_OF_SWITCHES, "agg0:tor0 agg0:core0");
    assert_found("host3, 2", OCHE_PORTS_OF_ALL, "host3:tor1 host2:tor1");
    assert_found("", OCHE_PORTS_OF_ALL, "");
}

static void test_patterns(void **state)
{
    (void)state;
    assert_found("tor0:*", OCHE_PORTS_OF_SWITCHES, "tor0:host0 tor0:host1 tor0:agg0 tor0:agg1");
    assert_found("tor0:agg?", OCHE_PORTS_OF_SWITCHES, "tor0:agg0 tor0:agg1");
    /* a port that was named before keeps its place */
    assert_found("tor0:host1, tor0:host*", OCHE_PORTS_OF_SWITCHES, "tor0:host1 tor0:host0");
    assert_count("tor*:up*", OCHE_PORTS_OF_SWITCHES, 16);
    assert_count("tor*:down*", OCHE_PORTS_OF_SWITCHES, 16);
    assert_count("*:up*", OCHE_PORTS_OF_SWITCHES, 32);
    assert_count("core*", OCHE_PORTS_OF_SWITCHES, 16);
    assert_count("*", OCHE_PORTS_OF_SWITCHES, 80);
    assert_count("*", OCHE_PORTS_OF_ALL, 96);
    assert_count("all", OCHE_PORTS_OF_SWITCHES, 80);
    assert_count("*:host1", OCHE_PORTS_OF_SWITCHES, 1);
    assert_count("*o*e*:*a*g*1*", OCHE_PORTS_OF_SWITCHES, 2); /* core2 and 3 to agg1 */
}

static void test_refused(void **state)
{
    (void)state;
    assert_refused("tor*:upp*", OCHE_PORTS_OF_SWITCHES,
                   "no port matches \"tor*:upp*\"; switches are tor0 to core3, and the first of "
                   "the 4 ports of tor0 is tor0:0 or tor0:host0");
    assert_refused("host*", OCHE_PORTS_OF_SWITCHES,
                   "no port matches \"host*\"; switches are tor0 to core3, and the first of the "
                   "4 ports of tor0 is tor0:0 or tor0:host0");
    assert_refused("tor0:host0, host3", OCHE_PORTS_OF_SWITCHES,
                   "host3 is a host; name a port of a switch, such as tor0:host3");
    assert_refused("core0:up0", OCHE_PORTS_OF_SWITCHES,
                   "core0 has no port \"up0\"; its ports are 0 to 3, and the first leads to agg0");
    assert_refused("tor0:up2", OCHE_PORTS_OF_SWITCHES,
                   "tor0 has no port \"up2\"; its ports are 0 to 3, and the first leads to host0");
}

/* Two switches with two parallel links; the first port of each leads to its host. */
static struct oche_topology parallel(void)
{
    struct oche_topology topology;
    struct oche_error error;

    assert_true(oche_topology_begin(&topology, 2, 2, 4, &error));
    for (uint32_t i = 0; i < 2; i++) {
        oche_topology_name(&topology, i, OCHE_NODE_HOST, OCHE_NO_POD, "h", i);
        oche_topology_name(&topology, 2 + i, OCHE_NODE_TOR, OCHE_NO_POD, "t", i);
        oche_topology_link(&topology, i, 2 + i, OCHE_GBPS, OCHE_US);
    }
    for (unsigned i = 0; i < 2; i++)
        oche_topology_link(&topology, 2, 3, OCHE_GBPS, OCHE_US);
    assert_true(oche_topology_finish(&topology, &error));
    return topology;
}

/* Each of the parallel links has its own name. Their common name means all of them. */
static void test_parallel(void **state)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {{"t0:t1", "t0:t1/1 t0:t1/2"},          {"t1:t0/2", "t1:t0/2"},
                 {"t0:t1/2, t0:t1", "t0:t1/2 t0:t1/1"}, {"t0:2", "t0:t1/2"},
                 {"t0:t?", "t0:t1/1 t0:t1/2"},          {"t0:t1/*", "t0:t1/1 t0:t1/2"},
                 {"t*:*/2", "t0:t1/2 t1:t0/2"},         {"t0:h0, t0:h0/1", "t0:h0"}};
    static const char *const refused[] = {"t0:t1/0", "t0:t1/3", "t0:t1/", "t0:t1/2x", "t0:h0/2"};
    struct oche_topology topology = parallel();
    struct oche_port_list list;
    struct oche_error error;
    uint32_t node, port;
    char text[1024];

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        assert_true(
            oche_port_list_find(&topology, cases[i].text, OCHE_PORTS_OF_SWITCHES, &list, &error));
        names_of(&topology, &list, text, sizeof(text));
        assert_string_equal(text, cases[i].expected);
        oche_port_list_free(&list);
    }
    for (size_t i = 0; i < OCHE_COUNT_OF(refused); i++)
        assert_false(
            oche_port_list_find(&topology, refused[i], OCHE_PORTS_OF_SWITCHES, &list, &error));
    assert_false(oche_topology_find_port(&topology, "t0:t1", &node, &port, &error));
    assert_string_equal(error.text, "t0:t1 is 2 parallel links; name one of them, t0:t1/1 to "
                                    "t0:t1/2");
    assert_true(oche_topology_find_port(&topology, "t0:t1/2", &node, &port, &error));
    assert_int_equal(port, 2);
    oche_topology_free(&topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parallel),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
