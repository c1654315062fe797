/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forest of PAUSEs from notes written by hand. Two leaves with two hosts each (host0 and host1
 * at leaf0), two spines, 40 Gbit/s, 1 us. A PFC frame takes effect 1016.8 ns after its first bit is
 * sent, plus the response time: 0 for switches, 100 ns for hosts.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/measure/victims.h"
#include "tests/unit/topology/build.h"

#define WAY  (OCHE_US + 16800)
#define HOST (WAY + 100 * OCHE_NS)
#define NONE OCHE_NO_PAUSE_NODE

struct net {
    struct oche_topology topology;
    struct oche_pause_tree *tree;
};

static void begin(struct net *net, const struct oche_pause_tree_config *config)
{
    struct oche_pause_tree_config mine = *config;

    net->topology = built("leaf_spine", SET({.name = "leaves", .u = 2}, {.name = "spines", .u = 2},
                                            {.name = "hosts_per_leaf", .u = 2},
                                            {.name = "host_rate", .u = 40 * OCHE_GBPS},
                                            {.name = "link_rate", .u = 40 * OCHE_GBPS}));
    mine.topology = &net->topology;
    mine.host_response = 100 * OCHE_NS;
    net->tree = oche_pause_tree_create(&mine);
}

static void end(struct net *net)
{
    oche_pause_tree_free(net->tree);
    oche_topology_free(&net->topology);
}

static uint32_t port_of(const struct net *net, const char *name)
{
    struct oche_error error;
    uint32_t node, port;

    if (!oche_topology_find_port(&net->topology, name, &node, &port, &error))
        fail_msg("%s", error.text);
    return net->topology.nodes[node].first_port + port;
}

/* `port` pauses its peer because of the queue of `cause`, which was `held` or else hot. */
static void pause(struct net *net, oche_time time, const char *port, const char *cause, bool held)
{
    oche_pause_tree_note(
        net->tree,
        &(struct oche_pause_note){.time = time,
                                  .port = port_of(net, port),
                                  .on = true,
                                  .held = held,
                                  .cause = cause == NULL ? OCHE_NO_PORT : port_of(net, cause)});
}

static void resume(struct net *net, oche_time time, const char *port)
{
    oche_pause_tree_note(net->tree,
                         &(struct oche_pause_note){.time = time, .port = port_of(net, port)});
}

static void finish(struct net *net, oche_time now)
{
    oche_pause_tree_end(net->tree, now);
    oche_pause_tree_finish(net->tree);
}

/* Returns the only node for that held port (or hot spot, if `depth` is 0) and depth. */
static const struct oche_pause_node *node(const struct net *net, const char *port, unsigned depth)
{
    const struct oche_pause_node *nodes, *found = NULL;
    uint32_t count;

    nodes = oche_pause_tree_nodes(net->tree, &count);
    for (uint32_t i = 0; i < count; i++)
        if (nodes[i].port == port_of(net, port) && nodes[i].depth == depth) {
            assert_null(found);
            found = &nodes[i];
        }
    if (found == NULL)
        fail_msg("no node for %s at depth %u", port, depth);
    return found;
}

static const struct oche_pause_node *above(const struct net *net,
                                           const struct oche_pause_node *below)
{
    uint32_t count;

    assert_int_not_equal(below->parent, NONE);
    return &oche_pause_tree_nodes(net->tree, &count)[below->parent];
}

static uint32_t count_of(const struct net *net)
{
    uint32_t count;

    oche_pause_tree_nodes(net->tree, &count);
    return count;
}

/* Fills leaf1:host2, then spine0:leaf1, then leaf0:spine0: in the end host0 is held. */
static void cascade(struct net *net)
{
    pause(net, 10 * OCHE_US, "leaf1:spine0", "leaf1:host2", false);
    pause(net, 20 * OCHE_US, "spine0:leaf0", "spine0:leaf1", true);
    pause(net, 30 * OCHE_US, "leaf0:host0", "leaf0:spine0", true);
    resume(net, 40 * OCHE_US, "leaf1:spine0");
    resume(net, 50 * OCHE_US, "spine0:leaf0");
    resume(net, 70 * OCHE_US, "leaf0:host0");
}

static void test_cascade(void **state)
{
    struct net net;

    (void)state;
    begin(&net, &(struct oche_pause_tree_config){.from = 0});
    cascade(&net);
    finish(&net, 100 * OCHE_US);
    assert_int_equal(count_of(&net), 4);
    const struct oche_pause_node *root = node(&net, "leaf1:host2", 0);
    const struct oche_pause_node *spine = node(&net, "spine0:leaf1", 1);
    const struct oche_pause_node *leaf = node(&net, "leaf0:spine0", 2);
    const struct oche_pause_node *host = node(&net, "host0", 3);
    assert_int_equal(root->parent, NONE);
    assert_ptr_equal(above(&net, spine), root);
    assert_ptr_equal(above(&net, leaf), spine);
    assert_ptr_equal(above(&net, host), leaf);
    assert_int_equal(host->root, spine->parent);
    assert_int_equal(spine->pauses, 1);
    assert_int_equal(spine->held, 30 * OCHE_US);
    assert_int_equal(spine->first, 10 * OCHE_US + WAY);
    assert_int_equal(spine->last, 40 * OCHE_US + WAY);
    assert_int_equal(host->held, 40 * OCHE_US);
    assert_int_equal(host->first, 30 * OCHE_US + HOST);
    assert_int_equal(host->last, 70 * OCHE_US + HOST);
    assert_int_equal(root->pauses, 3);
    assert_int_equal(root->held, 100 * OCHE_US);
    assert_int_equal(root->first, spine->first);
    assert_int_equal(root->last, host->last);
    assert_int_equal(root->ports, 3);
    assert_false(root->returns || spine->returns || leaf->returns || host->returns);
    end(&net);
}

/* A queue that is hot itself is a root, even if its port was held once. */
static void test_hot_spots(void **state)
{
    struct net net;

    (void)state;
    begin(&net, &(struct oche_pause_tree_config){.from = 0});
    pause(&net, 10 * OCHE_US, "leaf1:spine0", "leaf1:host2", false);
    pause(&net, 20 * OCHE_US, "spine0:leaf0", "spine0:leaf1", false);
    pause(&net, 30 * OCHE_US, "leaf0:host1", "leaf0:spine1", true); /* it was held: by whom? */
    pause(&net, 31 * OCHE_US, "leaf0:host0", NULL, false);          /* nor is that known */
    resume(&net, 41 * OCHE_US, "leaf0:host0");
    finish(&net, 31 * OCHE_US + HOST);
    assert_ptr_equal(above(&net, node(&net, "spine0:leaf1", 1)), node(&net, "leaf1:host2", 0));
    assert_ptr_equal(above(&net, node(&net, "leaf0:spine0", 1)), node(&net, "spine0:leaf1", 0));
    assert_ptr_equal(above(&net, node(&net, "host1", 1)), node(&net, "leaf0:spine1", 0));
    assert_int_equal(above(&net, node(&net, "host0", 1))->port, OCHE_NO_PORT);
    assert_int_equal(node(&net, "host1", 1)->held, OCHE_US); /* until the end */
    end(&net);
}

/*
 * The reason is the cause that held the queue's port when the PAUSE was sent. Times are those at
 * which PAUSEs take effect.
 */
static void test_reason_in_time(void **state)
{
    struct net net;
    const struct oche_pause_node *hosts[4];

    (void)state;
    begin(&net, &(struct oche_pause_tree_config){.from = 0});
    pause(&net, 10 * OCHE_US, "leaf1:spine0", "leaf1:host2", false);
    resume(&net, 20 * OCHE_US, "leaf1:spine0");
    pause(&net, 30 * OCHE_US, "leaf1:spine0", "leaf1:host3", false);
    /* Before the second one takes effect, but after it was sent. */
    pause(&net, 30 * OCHE_US + WAY - 1, "spine0:leaf0", "spine0:leaf1", true);
    resume(&net, 35 * OCHE_US, "spine0:leaf0");
    pause(&net, 40 * OCHE_US, "spine0:leaf0", "spine0:leaf1", true);
    resume(&net, 45 * OCHE_US, "spine0:leaf0");
    finish(&net, 100 * OCHE_US);
    const struct oche_pause_node *nodes;
    uint32_t count, found = 0;
    nodes = oche_pause_tree_nodes(net.tree, &count);
    for (uint32_t i = 0; i < count; i++)
        if (nodes[i].depth == 2)
            hosts[found++] = &nodes[nodes[i].root];
    assert_int_equal(found, 2);
    assert_int_equal(hosts[0]->port, port_of(&net, "leaf1:host2"));
    assert_int_equal(hosts[1]->port, port_of(&net, "leaf1:host3"));
    end(&net);
}

/* A circle of waiting is one node that is marked as a circle, not an endless path. */
static void test_returns(void **state)
{
    struct net net;

    (void)state;
    begin(&net, &(struct oche_pause_tree_config){.from = 0});
    pause(&net, OCHE_US, "spine0:leaf0", "spine0:leaf1", false);
    for (oche_time t = 10 * OCHE_US; t < 1000 * OCHE_US; t += 40 * OCHE_US) {
        /*
         * leaf0:spine0 makes spine1:leaf0 wait, which makes leaf1:spine1 wait, then spine0:leaf1, …
         */
        pause(&net, t, "leaf0:spine1", "leaf0:spine0", true);
        pause(&net, t + 10 * OCHE_US, "spine1:leaf1", "spine1:leaf0", true);
        pause(&net, t + 20 * OCHE_US, "leaf1:spine0", "leaf1:spine1", true);
        pause(&net, t + 30 * OCHE_US, "spine0:leaf0", "spine0:leaf1", true);
    }
    finish(&net, 2000 * OCHE_US);
    assert_int_equal(count_of(&net), 5);
    assert_true(node(&net, "leaf0:spine0", 1)->returns);
    assert_int_equal(node(&net, "leaf0:spine0", 1)->pauses, 26);
    /* Never resumed: held from the first PAUSE on. Each later PAUSE begins where that one ends. */
    assert_int_equal(node(&net, "leaf0:spine0", 1)->held, 1999 * OCHE_US - WAY);
    end(&net);
}

/* Times before the end of warm-up do not count, but may be a reason. */
static void test_warmup(void **state)
{
    struct net net;

    (void)state;
    begin(&net, &(struct oche_pause_tree_config){.from = 45 * OCHE_US});
    cascade(&net);
    pause(&net, 80 * OCHE_US, "leaf0:host0", "leaf0:spine0", true);
    finish(&net, 90 * OCHE_US);
    assert_int_equal(node(&net, "spine0:leaf1", 1)->pauses, 0);
    assert_int_equal(node(&net, "spine0:leaf1", 1)->held, 0);
    assert_int_equal(node(&net, "leaf0:spine0", 2)->pauses, 0);
    assert_int_equal(node(&net, "leaf0:spine0", 2)->held, 5 * OCHE_US + WAY);
    assert_int_equal(node(&net, "leaf0:spine0", 2)->first, 45 * OCHE_US);
    assert_int_equal(node(&net, "host0", 3)->pauses, 1);
    assert_int_equal(node(&net, "host0", 3)->held, 25 * OCHE_US + HOST + 10 * OCHE_US - HOST);
    assert_int_equal(node(&net, "leaf1:host2", 0)->pauses, 1);
    uint32_t order[8];
    assert_int_equal(oche_pause_tree_order(net.tree, order), 4); /* the way to host0 remains */
    end(&net);

    begin(&net, &(struct oche_pause_tree_config){.from = 90 * OCHE_US});
    cascade(&net);
    finish(&net, 100 * OCHE_US);
    assert_int_equal(oche_pause_tree_order(net.tree, order), 0);
    end(&net);
}

/* Roots by the time that they held ports. Branches likewise, each after its parent. */
static void test_order(void **state)
{
    static const char *const expected[] = {"leaf1:host3",  "spine1:leaf1", "leaf0:spine1",
                                           "spine0:leaf1", "leaf1:host2",  "spine0:leaf1"};
    struct net net;
    uint32_t order[16], count;

    (void)state;
    begin(&net, &(struct oche_pause_tree_config){.from = 0});
    pause(&net, 10 * OCHE_US, "leaf1:spine0", "leaf1:host2", false);
    resume(&net, 20 * OCHE_US, "leaf1:spine0");
    pause(&net, 30 * OCHE_US, "leaf1:spine0", "leaf1:host3", false);
    resume(&net, 35 * OCHE_US, "leaf1:spine0");
    pause(&net, 30 * OCHE_US, "leaf1:spine1", "leaf1:host3", false);
    pause(&net, 33 * OCHE_US, "spine1:leaf0", "spine1:leaf1", true);
    resume(&net, 34 * OCHE_US, "spine1:leaf0");
    resume(&net, 50 * OCHE_US, "leaf1:spine1");
    finish(&net, 100 * OCHE_US);
    count = oche_pause_tree_order(net.tree, order);
    assert_int_equal(count, 6);
    const struct oche_pause_node *nodes = oche_pause_tree_nodes(net.tree, &count);
    for (uint32_t i = 0; i < 6; i++) {
        char name[64];
        oche_topology_global_name(&net.topology, nodes[order[i]].port, name, sizeof(name));
        assert_string_equal(name, expected[i]);
    }
    end(&net);
}

/*
 * With too few nodes, everything is counted at the existing ones. With too few episodes, none is
 * lost.
 */
static void test_bounds(void **state)
{
    struct net net;
    uint64_t pauses = 0;
    oche_time held = 0;
    uint32_t count;

    (void)state;
    begin(&net, &(struct oche_pause_tree_config){.most_nodes = 3, .most_episodes = 4});
    cascade(&net);
    for (unsigned i = 0; i < 100; i++) { /* 10 us of each 20 */
        oche_time t = (100 + 20 * i) * OCHE_US;
        pause(&net, t, "leaf1:spine1", i % 2 == 0 ? "leaf1:host2" : "leaf1:host3", false);
        resume(&net, t + 10 * OCHE_US, "leaf1:spine1");
    }
    finish(&net, 10 * OCHE_MS);
    const struct oche_pause_node *nodes = oche_pause_tree_nodes(net.tree, &count);
    assert_int_equal(count, 3);
    for (uint32_t i = 0; i < count; i++) {
        pauses += nodes[i].depth == 0 ? nodes[i].pauses : 0;
        held += nodes[i].depth == 0 ? nodes[i].held : 0;
    }
    assert_int_equal(pauses, 103);
    assert_int_equal(held, 1100 * OCHE_US);
    assert_true(node(&net, "spine0:leaf1", 1)->deeper > 0);
    const struct oche_pause_episode *episodes =
        oche_pause_tree_episodes(net.tree, port_of(&net, "spine1:leaf1"), 0, &count);
    assert_true(count > 0 && count <= 4);
    assert_true(episodes[0].held > 10 * OCHE_US);
    assert_true(episodes[0].until - episodes[0].from >= 2 * episodes[0].held - 10 * OCHE_US);
    end(&net);
}

static void test_episodes(void **state)
{
    struct net net;
    uint32_t count;

    (void)state;
    begin(&net, &(struct oche_pause_tree_config){.from = 0});
    pause(&net, 10 * OCHE_US, "leaf1:spine0", "leaf1:host2", false);
    resume(&net, 20 * OCHE_US, "leaf1:spine0");
    pause(&net, 30 * OCHE_US, "leaf1:spine0", "leaf1:host3", false);
    finish(&net, 50 * OCHE_US);
    const struct oche_pause_episode *episodes =
        oche_pause_tree_episodes(net.tree, port_of(&net, "spine0:leaf1"), 0, &count);
    assert_int_equal(count, 2);
    assert_int_equal(episodes[0].from, 10 * OCHE_US + WAY);
    assert_int_equal(episodes[0].until, 20 * OCHE_US + WAY);
    assert_int_equal(episodes[0].held, 10 * OCHE_US);
    assert_int_equal(episodes[1].from, 30 * OCHE_US + WAY);
    assert_int_equal(episodes[1].until, 50 * OCHE_US);
    assert_int_equal(episodes[1].held, 20 * OCHE_US - WAY);
    oche_pause_tree_episodes(net.tree, port_of(&net, "spine0:leaf1"), 1, &count);
    assert_int_equal(count, 0);
    oche_pause_tree_episodes(net.tree, port_of(&net, "host3"), 0, &count);
    assert_int_equal(count, 0);
    assert_int_equal(oche_pause_tree_lost_episodes(net.tree), 0);
    end(&net);
}

/*
 * A PAUSE that takes effect after the end is held until the end, or not at all. It counts as sent.
 */
static void test_end(void **state)
{
    struct net net;

    (void)state;
    begin(&net, &(struct oche_pause_tree_config){.from = 0});
    assert_int_equal(oche_pause_tree_delay(net.tree), HOST);
    pause(&net, 10 * OCHE_US, "leaf1:spine0", "leaf1:host2", false);
    oche_pause_tree_end(net.tree, 20 * OCHE_US);
    resume(&net, 20 * OCHE_US - WAY + 1, "leaf1:spine0");
    pause(&net, 20 * OCHE_US - 1, "leaf1:spine1", "leaf1:host2", false);
    oche_pause_tree_finish(net.tree);
    assert_int_equal(node(&net, "spine0:leaf1", 1)->held, 10 * OCHE_US - WAY);
    assert_int_equal(node(&net, "spine0:leaf1", 1)->last, 20 * OCHE_US);
    assert_int_equal(node(&net, "spine1:leaf1", 1)->held, 0);
    assert_int_equal(node(&net, "spine1:leaf1", 1)->pauses, 1);
    assert_int_equal(node(&net, "leaf1:host2", 0)->pauses, 2);
    end(&net);
}

/* ---- victims ---- */

static struct oche_walk way(const struct net *net, const char *const *ports)
{
    struct oche_walk walk = {.end = OCHE_WALK_ARRIVES};

    for (; *ports != NULL; ports++)
        walk.ports[walk.count++] = port_of(net, *ports);
    return walk;
}

#define WAY_OF(net, ...) way(net, (const char *const[]){__VA_ARGS__, NULL})

/* host0 is held from 31.1168 us to 71.1168 us, leaf0:spine0 from 21.0168 us to 51.0168 us. */
static void test_own_and_foreign(void **state)
{
    struct net net;
    struct oche_flow_pause_loss holds;

    (void)state;
    begin(&net, &(struct oche_pause_tree_config){.from = 0});
    cascade(&net);
    finish(&net, 100 * OCHE_US);
    struct oche_walk guilty = WAY_OF(&net, "host0", "leaf0:spine0", "spine0:leaf1", "leaf1:host2");
    struct oche_walk victim = WAY_OF(&net, "host0", "leaf0:spine1", "spine1:leaf1", "leaf1:host3");
    struct oche_walk free_one =
        WAY_OF(&net, "host1", "leaf0:spine1", "spine1:leaf1", "leaf1:host3");

    oche_flow_pause_loss_of(net.tree, &guilty, 0, 0, 100 * OCHE_US, 10 * OCHE_US, &holds);
    assert_int_equal(holds.life, 100 * OCHE_US);
    assert_int_equal(holds.held, 40 * OCHE_US);
    assert_int_equal(holds.own, 40 * OCHE_US);
    assert_int_equal(holds.foreign, 0);
    assert_int_equal(holds.lost, 0);
    assert_int_equal(holds.root, NONE);
    assert_false(oche_flow_is_victim(&holds, 0.1));

    oche_flow_pause_loss_of(net.tree, &victim, 0, 0, 100 * OCHE_US, 10 * OCHE_US, &holds);
    assert_int_equal(holds.held, 40 * OCHE_US);
    assert_int_equal(holds.own, 0);
    assert_int_equal(holds.foreign, 40 * OCHE_US);
    assert_int_equal(holds.lost, 40 * OCHE_US);
    assert_int_equal(holds.root, node(&net, "host0", 3)->root);
    assert_true(oche_flow_is_victim(&holds, 0.4));
    assert_false(oche_flow_is_victim(&holds, 0.401));

    oche_flow_pause_loss_of(net.tree, &free_one, 0, 0, 100 * OCHE_US, 10 * OCHE_US, &holds);
    assert_int_equal(holds.held, 0);
    oche_flow_pause_loss_of(net.tree, &victim, 1, 0, 100 * OCHE_US, 10 * OCHE_US, &holds);
    assert_int_equal(holds.held, 0); /* another class */
    end(&net);
}

/*
 * Only the time within the flow's life counts. A flow cannot lose more than its time above the
 * ideal.
 */
static void test_life(void **state)
{
    struct net net;
    struct oche_flow_pause_loss holds;

    (void)state;
    begin(&net, &(struct oche_pause_tree_config){.from = 0});
    cascade(&net);
    finish(&net, 100 * OCHE_US);
    struct oche_walk walk = WAY_OF(&net, "host0", "leaf0:spine1", "spine1:leaf1", "leaf1:host3");

    oche_flow_pause_loss_of(net.tree, &walk, 0, 60 * OCHE_US + HOST, 80 * OCHE_US, OCHE_US, &holds);
    assert_int_equal(holds.held, 10 * OCHE_US);
    oche_flow_pause_loss_of(net.tree, &walk, 0, 0, 40 * OCHE_US + HOST, OCHE_US, &holds);
    assert_int_equal(holds.held, 10 * OCHE_US);
    oche_flow_pause_loss_of(net.tree, &walk, 0, 80 * OCHE_US, 90 * OCHE_US, OCHE_US, &holds);
    assert_int_equal(holds.held, 0);
    oche_flow_pause_loss_of(net.tree, &walk, 0, 0, 100 * OCHE_US, 95 * OCHE_US, &holds);
    assert_int_equal(holds.foreign, 40 * OCHE_US);
    assert_int_equal(holds.lost, 5 * OCHE_US);
    oche_flow_pause_loss_of(net.tree, &walk, 0, 0, 100 * OCHE_US, 200 * OCHE_US, &holds);
    assert_int_equal(holds.lost, 0);
    oche_flow_pause_loss_of(net.tree, &walk, 0, 50 * OCHE_US, 50 * OCHE_US, 0, &holds);
    assert_int_equal(holds.life, 0);
    assert_false(oche_flow_is_victim(&holds, 0.1));
    end(&net);
}

/*
 * Held by its own hot spot for 30 us at one port, and by others at a second one for 20 us and 30
 * us. Without the others it would still have waited 30 us, so they cost it 20.
 */
static void test_both(void **state)
{
    struct net net;
    struct oche_flow_pause_loss holds;

    (void)state;
    begin(&net, &(struct oche_pause_tree_config){.from = 0});
    pause(&net, 10 * OCHE_US, "leaf1:spine0", "leaf1:host2", false); /* its own */
    resume(&net, 40 * OCHE_US, "leaf1:spine0");
    pause(&net, 100 * OCHE_US, "leaf0:host0", "leaf0:host1", false);
    resume(&net, 120 * OCHE_US, "leaf0:host0");
    pause(&net, 200 * OCHE_US, "leaf0:host0", "leaf0:spine1", false);
    resume(&net, 230 * OCHE_US, "leaf0:host0");
    finish(&net, 500 * OCHE_US);
    struct oche_walk walk = WAY_OF(&net, "host0", "leaf0:spine0", "spine0:leaf1", "leaf1:host2");

    oche_flow_pause_loss_of(net.tree, &walk, 0, 0, 500 * OCHE_US, OCHE_US, &holds);
    assert_int_equal(holds.held, 50 * OCHE_US);
    assert_int_equal(holds.own, 30 * OCHE_US);
    assert_int_equal(holds.foreign, 20 * OCHE_US);
    assert_int_equal(holds.lost, 20 * OCHE_US);
    uint32_t count;
    assert_int_equal(oche_pause_tree_nodes(net.tree, &count)[holds.root].port,
                     port_of(&net, "leaf0:spine1"));
    end(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cascade),
        cmocka_unit_test(test_hot_spots),
        cmocka_unit_test(test_reason_in_time),
        cmocka_unit_test(test_returns),
        cmocka_unit_test(test_warmup),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_episodes),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_own_and_foreign),
        cmocka_unit_test(test_life),
        cmocka_unit_test(test_both),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
