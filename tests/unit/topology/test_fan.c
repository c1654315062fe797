/* SPDX-License-Identifier: Apache-2.0 */
/* How many ports can feed a port: by counting on paper, and by following each pair of hosts. */
#include <stdlib.h>

#include "tests/unit/topology/build.h"

struct fans {
    struct oche_topology topology;
    struct oche_topology_routes routes;
    uint32_t *out, *in;
};

static struct fans made(const char *type, const struct setting *settings)
{
    struct fans fans = {.topology = built(type, settings)};
    uint32_t ports = 0;

    for (uint32_t i = 0; i < oche_topology_nodes(&fans.topology); i++)
        ports += fans.topology.nodes[i].port_count;
    fans.out = malloc(ports * sizeof(*fans.out));
    fans.in = malloc(ports * sizeof(*fans.in));
    assert_true(fans.out != NULL && fans.in != NULL);
    return fans;
}

/* The routes point to the topology, so its address must be final. */
static void count(struct fans *fans)
{
    fans->routes = routed(&fans->topology);
    oche_topology_fan(&fans->routes, fans->out, fans->in);
}

static void done(struct fans *fans)
{
    oche_topology_routes_free(&fans->routes);
    oche_topology_free(&fans->topology);
    free(fans->out);
    free(fans->in);
}

/* Every port of `node` from `first` to before `end`. */
static void expect(const struct fans *fans, const char *name, uint32_t first, uint32_t end,
                   uint32_t out, uint32_t in)
{
    const struct oche_topology_node *node =
        &fans->topology.nodes[oche_topology_find(&fans->topology, name)];

    assert_true(end <= node->port_count);
    for (uint32_t port = first; port < end; port++) {
        assert_int_equal(fans->out[node->first_port + port], out);
        assert_int_equal(fans->in[node->first_port + port], in);
    }
}

static void test_star(void **state)
{
    struct fans fans = made("star", SET({"hosts", 9}));

    (void)state;
    count(&fans);
    expect(&fans, "tor0", 0, 9, 8, 8);
    expect(&fans, "host3", 0, 1, 0, 0);
    done(&fans);
}

/* Up and down: a packet that came down does not go up again. */
static void test_leaf_spine(void **state)
{
    struct fans fans = made("leaf_spine", SET({"leaves", 4}, {"spines", 3}, {"hosts_per_leaf", 5}));

    (void)state;
    count(&fans);
    expect(&fans, "leaf0", 0, 5, 4 + 3, 4 + 3); /* other hosts, spines */
    expect(&fans, "leaf0", 5, 8, 5, 5);
    expect(&fans, "spine0", 0, 4, 3, 3);
    done(&fans);
}

static void test_fat_tree(void **state)
{
    struct fans fans = made("fat_tree", SET({"k", 4}));

    (void)state;
    count(&fans);
    expect(&fans, "tor0", 0, 2, 1 + 2, 1 + 2);
    expect(&fans, "tor0", 2, 4, 2, 2);
    /* From a ToR: the pod's other ToR, and the cores; from a core: the ToRs. */
    expect(&fans, "agg0", 0, 2, 1 + 2, 1 + 2);
    expect(&fans, "agg0", 2, 4, 2, 2);
    expect(&fans, "core0", 0, 4, 3, 3);
    done(&fans);
}

static void test_dumbbell(void **state)
{
    struct fans fans = made("dumbbell", SET({"left_hosts", 6}, {"right_hosts", 3}));

    (void)state;
    count(&fans);
    expect(&fans, "tor0", 0, 6, 5 + 1, 5 + 1);
    expect(&fans, "tor0", 6, 7, 6, 6);
    expect(&fans, "tor1", 0, 3, 2 + 1, 2 + 1);
    done(&fans);
}

/* The slow way: every pair of hosts, every route, one switch after the other. */
struct slow {
    const struct fans *fans;
    bool *pair; /* by port of the topology, times most ports, plus port of the switch */
    uint32_t width;
};

static void walk(struct slow *slow, uint32_t node, uint32_t in, uint32_t dst)
{
    const struct oche_topology *topology = &slow->fans->topology;
    const struct oche_routes *of = &slow->fans->routes.of[node - topology->host_count];
    uint32_t group = of->group_of[dst];
    struct oche_port_set set = of->sets[of->set_of_group[group]];
    bool *row = slow->pair + (size_t)(topology->nodes[node].first_port + in) * slow->width;

    if (of->own_group == group) {
        row[of->port_of_address[dst]] = true;
        return;
    }
    for (uint32_t i = 0; i < set.count; i++) {
        uint32_t out = of->ports[set.first + i];
        const struct oche_topology_port *port = oche_topology_port(topology, node, out);

        row[out] = true;
        walk(slow, port->peer, port->peer_port, dst);
    }
}

static void test_every_pair(void **state)
{
    struct fans fans = made("clos", SET({"pods", 2}, {"tors_per_pod", 3}, {"hosts_per_tor", 4},
                                        {"oversubscription", .real = 2}));
    const struct oche_topology *topology = &fans.topology;
    uint32_t nodes = oche_topology_nodes(topology), ports = 0;

    (void)state;
    count(&fans);
    struct slow slow = {.fans = &fans, .width = 64};

    for (uint32_t i = 0; i < nodes; i++) {
        assert_true(topology->nodes[i].port_count <= slow.width);
        ports += topology->nodes[i].port_count;
    }
    slow.pair = calloc((size_t)ports * slow.width, sizeof(bool));
    assert_non_null(slow.pair);
    for (uint32_t src = 0; src < topology->host_count; src++)
        for (uint32_t dst = 0; dst < topology->host_count; dst++) {
            const struct oche_topology_port *port = oche_topology_port(topology, src, 0);

            if (src != dst)
                walk(&slow, port->peer, port->peer_port, dst);
        }
    for (uint32_t i = topology->host_count; i < nodes; i++)
        for (uint32_t port = 0; port < topology->nodes[i].port_count; port++) {
            uint32_t first = topology->nodes[i].first_port, out = 0, in = 0;

            for (uint32_t other = 0; other < topology->nodes[i].port_count; other++) {
                out += slow.pair[(size_t)(first + port) * slow.width + other];
                in += slow.pair[(size_t)(first + other) * slow.width + port];
            }
            assert_int_equal(fans.out[first + port], out);
            assert_int_equal(fans.in[first + port], in);
        }
    free(slow.pair);
    done(&fans);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_star),       cmocka_unit_test(test_leaf_spine),
        cmocka_unit_test(test_fat_tree),   cmocka_unit_test(test_dumbbell),
        cmocka_unit_test(test_every_pair),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
