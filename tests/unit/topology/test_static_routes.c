/* SPDX-License-Identifier: Apache-2.0 */
/* Routes from a file: which packets they apply to, their precedence, and rejected lines. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fabric/ecmp.h"
#include "sim/topology/static_routes.h"
#include "sim/topology/walk.h"
#include "tests/unit/topology/build.h"

static char path[] = "/tmp/oche-routes-XXXXXX";

static void write_file(const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Two leaves of two hosts each, host0 … host3; three spines. */
struct net {
    struct oche_topology topology;
    struct oche_topology_routes shortest;
    struct oche_static_routes routes;
};

static void begin(struct net *net)
{
    net->topology = built("leaf_spine", SET({.name = "leaves", .u = 2}, {.name = "spines", .u = 3},
                                            {.name = "hosts_per_leaf", .u = 2}));
    net->shortest = routed(&net->topology);
}

static void end(struct net *net)
{
    oche_static_routes_free(&net->routes);
    oche_topology_routes_free(&net->shortest);
    oche_topology_free(&net->topology);
}

static void read_routes(struct net *net, const char *text)
{
    struct oche_error error = {""};

    begin(net);
    write_file(text);
    if (!oche_static_routes_read(&net->shortest, path, &net->routes, &error))
        fail_msg("%s", error.text);
}

/* Returns the neighbours to which `sw` may send packets for `host`, in the order of its routes. */
static void assert_next(const struct net *net, const char *sw, const char *host, const char *next)
{
    const struct oche_topology *t = &net->topology;
    uint32_t node = oche_topology_find(t, sw), dst = oche_topology_find(t, host);
    const struct oche_routes *of = &net->routes.of[node - t->host_count];
    uint32_t group = of->group_of[dst];
    char found[256] = "";

    if (group == of->own_group) {
        strcat(found, t->nodes[oche_topology_port(t, node, of->port_of_address[dst])->peer].name);
    } else {
        struct oche_port_set set = of->sets[of->set_of_group[group]];

        for (uint32_t i = 0; i < set.count; i++) {
            strcat(found, i > 0 ? " " : "");
            strcat(found,
                   t->nodes[oche_topology_port(t, node, of->ports[set.first + i])->peer].name);
        }
    }
    assert_string_equal(found, next);
}

static void test_unmentioned_keeps_shortest(void **state)
{
    struct net net;

    (void)state;
    read_routes(&net, "# nothing but one line\nleaf0 host2 spine1 # a comment\n\n");
    assert_next(&net, "leaf0", "host2", "spine1");
    assert_next(&net, "leaf0", "host3", "spine0 spine1 spine2");
    assert_next(&net, "leaf1", "host2", "host2");
    assert_next(&net, "leaf1", "host3", "host3");
    assert_next(&net, "leaf1", "host0", "spine0 spine1 spine2");
    assert_next(&net, "spine2", "host2", "leaf1");
    assert_next(&net, "spine2", "host3", "leaf1");
    end(&net);
}

/* In any order of lines, a host counts before its switch, and that before "all". */
static void test_what_counts_more(void **state)
{
    static const char *const texts[] = {
        "leaf0 host2 spine0\nleaf0 leaf1 spine1\nleaf0 * spine2\n",
        "leaf0 * spine2\nleaf0 leaf1 spine1\nleaf0 host2 spine0\n",
    };
    struct net net;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        read_routes(&net, texts[i]);
        assert_next(&net, "leaf0", "host2", "spine0");
        assert_next(&net, "leaf0", "host3", "spine1");
        assert_next(&net, "leaf0", "host0", "host0");
        end(&net);
    }
    read_routes(&net, "leaf0 * spine2\nleaf1 host2 spine1\n");
    assert_next(&net, "leaf0", "host2", "spine2"); /* though it is a group of its own */
    assert_next(&net, "leaf0", "host3", "spine2");
    assert_next(&net, "leaf0", "host1", "host1");
    end(&net);
}

/* A ToR that does not deliver: only a line that names the host can cause that. */
static void test_own_hosts(void **state)
{
    struct net net;

    (void)state;
    read_routes(&net, "leaf1 host2 spine1\nspine1 leaf1 leaf0\nspine0 * leaf0\n");
    assert_next(&net, "leaf1", "host2", "spine1");
    assert_next(&net, "leaf1", "host3", "host3");
    assert_next(&net, "spine1", "host2", "leaf0");
    assert_next(&net, "spine1", "host3", "leaf0");
    assert_next(&net, "spine0", "host3", "leaf0");
    assert_next(&net, "spine2", "host3", "leaf1");
    end(&net);
    read_routes(&net, "leaf1 host2 host2\n"); /* what it does anyway */
    assert_next(&net, "leaf1", "host2", "host2");
    end(&net);
}

static void test_ports(void **state)
{
    struct net net;

    (void)state;
    read_routes(&net, "leaf0 leaf1 spine2 spine0\nleaf1 leaf0 4 2\n");
    assert_next(&net, "leaf0", "host3", "spine2 spine0");
    assert_next(&net, "leaf1", "host0", "spine2 spine0"); /* hosts have ports 0 and 1 */
    end(&net);
}

/* The switch's own routing uses these tables, and a walk agrees. */
static void test_walks(void **state)
{
    struct net net;
    struct oche_walk walk;
    char name[64];

    (void)state;
    read_routes(&net, "leaf0 leaf1 spine0 spine2\nspine0 host3 leaf0\n");
    for (uint32_t hash = 0; hash < 64; hash++) {
        oche_topology_walk(&net.topology, net.routes.of, 1, false, 0, 2, hash, &walk);
        assert_int_equal(walk.end, OCHE_WALK_ARRIVES);
        assert_int_equal(walk.count, 4);
        oche_topology_global_name(&net.topology, walk.ports[0], name, sizeof(name));
        assert_string_equal(name, "host0");
        oche_topology_global_name(&net.topology, walk.ports[1], name, sizeof(name));
        assert_true(strcmp(name, "leaf0:spine0") == 0 || strcmp(name, "leaf0:spine2") == 0);
        bool loops = strcmp(name, "leaf0:spine0") == 0;
        oche_topology_global_name(&net.topology, walk.ports[3], name, sizeof(name));
        assert_string_equal(name, "leaf1:host2");
        oche_topology_walk(&net.topology, net.routes.of, 1, false, 0, 3, hash, &walk);
        assert_int_equal(walk.end, loops ? OCHE_WALK_LOOPS : OCHE_WALK_ARRIVES);
        if (loops) {
            assert_int_equal(walk.count - walk.loop, 2);
            assert_int_equal(walk.ports[walk.loop - 1], walk.ports[walk.count - 1]);
        }
    }
    end(&net);
}

/* Which ports feed which (oche buffers), with a host that is a group of its own. */
static void test_fan(void **state)
{
    uint32_t out[64], in[64], out_before[64], in_before[64];
    struct net net;

    (void)state;
    read_routes(&net, "leaf1 host2 host2\n"); /* as the shortest paths are */
    struct oche_topology_routes used = {
        .topology = &net.topology, .group_count = net.routes.groups, .of = net.routes.of};
    uint32_t last = oche_topology_nodes(&net.topology) - 1;
    size_t bytes = (net.topology.nodes[last].first_port + 2) * sizeof(*out);
    oche_topology_fan(&net.shortest, out_before, in_before);
    oche_topology_fan(&used, out, in);
    assert_memory_equal(out, out_before, bytes);
    assert_memory_equal(in, in_before, bytes);
    end(&net);
    read_routes(&net, "spine0 leaf1 leaf0\nspine1 host0 leaf1\n"); /* back down, and round */
    used = (struct oche_topology_routes){
        .topology = &net.topology, .group_count = net.routes.groups, .of = net.routes.of};
    oche_topology_fan(&used, out, in);
    uint32_t spine = net.topology.nodes[oche_topology_find(&net.topology, "spine1")].first_port;
    assert_int_equal(in_before[spine], 1);
    assert_int_equal(in[spine + 1], 1);
    assert_int_equal(in[spine], 1); /* for host1; packets for host0 return the way they came */
    end(&net);
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", ": empty"},
        {"# nothing\n", ": no line in it; \"SWITCH DESTINATION PORT\""},
        {"leaf0 leaf1\n", ":1: too few words; \"SWITCH DESTINATION PORT [PORT …]\" would be right"},
        {"\nleaf9 leaf1 spine0\n",
         ":2: no switch is called \"leaf9\"; switches are leaf0 to spine2"},
        {"host0 leaf1 spine0\n", ":1: host0 is a host; a line begins with the switch that routes"},
        {"leaf0 nobody spine0\n", ":1: no node is called \"nobody\"; the destination is a host, a "
                                  "switch with hosts, or *"},
        {"leaf0 spine1 spine0\n", ":1: spine1 has no hosts; the destination is a host, a switch "
                                  "with hosts, or *"},
        {"leaf0 leaf0 spine0\n", ":1: from leaf0 to its own hosts; name the host that is meant"},
        {"leaf0 leaf1 leaf1\n",
         ":1: leaf0 has no port \"leaf1\"; its ports are 0 to 4, and the first leads to host0"},
        {"leaf0 leaf1 5\n",
         ":1: leaf0 has no port \"5\"; its ports are 0 to 4, and the first leads to host0"},
        {"leaf0 leaf1 host1\n", ":1: port host1 leads to a host, host1; the next hop is a switch, "
                                "or the destination itself"},
        {"leaf0 host0 host1\n", ":1: port host1 leads to a host, host1; the next hop is a switch, "
                                "or the destination itself"},
        {"leaf0 leaf1 spine0 2\n", ":1: port 2 twice; once would be right"},
#define FORM "\"flow NUMBER HOST SWITCH [SWITCH …] HOST\" would be right"
        {"flow 0 host0 host1\n", ":1: too few words; " FORM},
        {"flow x host0 leaf0 host1\n", ":1: \"x\" is no number of a flow; they are counted from 0"},
        {"flow 4294967295 host0 leaf0 host1\n",
         ":1: \"4294967295\" is no number of a flow; they are counted from 0"},
        {"flow 0 host0 leaf9 host1\n", ":1: no node is called \"leaf9\"; " FORM},
        {"flow 0 leaf0 leaf0 host1\n",
         ":1: leaf0 is a switch; a path leads from a host through switches to a host"},
        {"flow 0 host0 host1 host2\n",
         ":1: host1 is a host; a path leads from a host through switches to a host"},
        {"flow 0 host0 leaf0 leaf1\n",
         ":1: leaf1 is a switch; a path leads from a host through switches to a host"},
        {"flow 0 host0:0 leaf0 host1\n", ":1: host0:0: a host has one port; its name alone"},
        {"flow 0 host0 leaf1 host2\n", ":1: host0 has no link to leaf1; a path follows links"},
        {"flow 0 host0 leaf0 leaf1 host2\n",
         ":1: leaf0 has no link to leaf1; a path follows links"},
        {"flow 0 host0 leaf0 spine0 leaf1 host0\n",
         ":1: leaf1 has no link to host0; a path follows links"},
        {"flow 0 host0 leaf0:spine1 spine0 leaf1 host2\n",
         ":1: port leaf0:spine1 leads to spine1, not to spine0"},
        {"flow 0 host0 leaf0:9 spine0 leaf1 host2\n",
         ":1: leaf0 has no port \"9\"; its ports are 0 to 4, and the first leads to host0"},
        {"flow 0 host0 leaf0 spine0 leaf1 spine1 leaf0 host1\n",
         ":1: a loop: leaf0 twice; once would be right"},
        {"flow 0 host0 leaf0 host0\n", ":1: from host0 to itself; another host"},
        {"leaf0 leaf1 spine0\nleaf1 host0 spine0\nleaf0 leaf1 spine1\n",
         ":3: line 1 has this destination at leaf0 already; one line with all its ports would be "
         "right"},
    };
    char expected[OCHE_ERROR_BYTES];
    struct oche_error error;
    struct net net;

    (void)state;
    begin(&net);
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        write_file(cases[i].text);
        assert_false(oche_static_routes_read(&net.shortest, path, &net.routes, &error));
        snprintf(expected, sizeof(expected), "%s%s", path, cases[i].error);
        assert_string_equal(error.text, expected);
    }
    assert_false(oche_static_routes_read(&net.shortest, "/nowhere/at/all", &net.routes, &error));
    assert_string_equal(error.text,
                        "routes.file: /nowhere/at/all: No such file or directory; a readable "
                        "file would be right");
    end(&net);
}

/* A line with more words than any statement has, and one without an end. */
static void test_long_lines(void **state)
{
    char text[4096] = "leaf0 leaf1";
    struct oche_error error;
    struct net net;

    (void)state;
    begin(&net);
    for (unsigned i = 0; i < 200; i++)
        strcat(text, " spine0");
    write_file(text);
    assert_false(oche_static_routes_read(&net.shortest, path, &net.routes, &error));
    assert_non_null(strstr(error.text, ":1: too many words; "));
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    write_file(text);
    assert_false(oche_static_routes_read(&net.shortest, path, &net.routes, &error));
    assert_non_null(strstr(error.text, ":1: too few words; "));
    end(&net);
}

/* Returns the ports of a walk as text. */
static void walk_text(const struct net *net, uint32_t src, uint32_t dst, uint32_t hash, char *text)
{
    struct oche_walk walk;

    text[0] = '\0';
    oche_topology_walk(&net->topology, net->routes.of, 1, false, src, dst, hash, &walk);
    assert_int_equal(walk.end, OCHE_WALK_ARRIVES);
    for (uint32_t i = 1; i < walk.count; i++) {
        oche_topology_global_name(&net->topology, walk.ports[i], text + strlen(text), 32);
        strcat(text, i + 1 < walk.count ? " " : "");
    }
}

/* A pinned flow takes its path against all other lines. Other flows of the same hosts do not. */
static void test_pinned(void **state)
{
    char text[256];
    struct net net;

    (void)state;
    read_routes(&net, "flow 0 host0 leaf0 spine1 leaf1 host2\nleaf0 host2 spine0\n"
                      "flow 1 host0 leaf0:spine2 spine2 leaf1:0 host2\n"
                      "flow 0 host2 leaf1 spine2 leaf0 host0\nflow 9 host0 leaf0 host1\n");
    struct oche_pinned_paths *pinned = &net.routes.pinned;

    assert_int_equal(pinned->count, 4);
    walk_text(&net, 0, 2, 70, text);
    assert_string_equal(text, "leaf0:spine0 spine0:leaf1 leaf1:host2"); /* not pinned yet */
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(oche_pinned_paths_pin(pinned, &pinned->paths[i], i == 1 ? 71 : 70));
        assert_false(oche_pinned_paths_pin(pinned, &pinned->paths[i], i == 1 ? 71 : 70));
    }
    walk_text(&net, 0, 2, 70, text);
    assert_string_equal(text, "leaf0:spine1 spine1:leaf1 leaf1:host2");
    walk_text(&net, 0, 2, 71, text);
    assert_string_equal(text, "leaf0:spine2 spine2:leaf1 leaf1:host2");
    walk_text(&net, 0, 2, 72, text);
    assert_string_equal(text, "leaf0:spine0 spine0:leaf1 leaf1:host2");
    walk_text(&net, 2, 0, 70, text);
    assert_string_equal(text, "leaf1:spine2 spine2:leaf0 leaf0:host0");
    end(&net);
}

/* Paths that are not shortest, and many at one switch. */
static void test_pinned_detour(void **state)
{
    char text[256], lines[8192] = "";
    struct net net;

    (void)state;
    for (unsigned i = 0; i < 100; i++)
        snprintf(lines + strlen(lines), 80,
                 "flow %u host0 leaf0 spine%u leaf1 spine%u leaf2 host4\n", i, i % 3, (i + 1) % 3);
    net.topology = built("leaf_spine", SET({.name = "leaves", .u = 3}, {.name = "spines", .u = 3},
                                           {.name = "hosts_per_leaf", .u = 2}));
    net.shortest = routed(&net.topology);
    struct oche_error error = {""};

    write_file(lines);
    if (!oche_static_routes_read(&net.shortest, path, &net.routes, &error))
        fail_msg("%s", error.text);
    for (uint32_t i = 0; i < 100; i++)
        assert_true(oche_pinned_paths_pin(&net.routes.pinned, &net.routes.pinned.paths[i], 7 * i));
    for (uint32_t i = 0; i < 100; i++) {
        walk_text(&net, 0, 4, 7 * i, text);
        snprintf(lines, sizeof(lines),
                 "leaf0:spine%u spine%u:leaf1 leaf1:spine%u spine%u:leaf2 leaf2:host4", i % 3,
                 i % 3, (i + 1) % 3, (i + 1) % 3);
        assert_string_equal(text, lines);
    }
    end(&net);
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unmentioned_keeps_shortest),
        cmocka_unit_test(test_what_counts_more),
        cmocka_unit_test(test_own_hosts),
        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_walks),
        cmocka_unit_test(test_fan),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_pinned),
        cmocka_unit_test(test_pinned_detour),
    };
    int file = mkstemp(path);

    if (file < 0)
        return 1;
    close(file);
    return cmocka_run_group_tests(tests, NULL, remove_file);
}
