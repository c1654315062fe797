/* SPDX-License-Identifier: Apache-2.0 */
/* A world for tests. */
#include "tests/support/small_world.h"

#include "fabric/registry.h"
#include "sim/endpoint/registry.h"
#include "tests/support/test.h"

#include <stdlib.h>

static const struct small_world *generating;

static bool by_hand(const void *params, const struct oche_workload_facts *facts,
                    struct oche_flow_list *list, struct oche_error *error)
{
    (void)params;
    (void)error;
    for (uint32_t i = 0; i < generating->group_count; i++)
        oche_flow_list_add_group(list, generating->groups[i].members, generating->groups[i].count);
    for (uint32_t i = 0; i < generating->flow_count; i++) {
        const struct oche_flow_plan *flow = &generating->flows[i];
        uint32_t number =
            oche_flow_list_add(list, facts->number, flow->src, flow->dst, flow->bytes, flow->start);
        list->plan[number].then_same_source = flow->then_same_source;
        list->plan[number].initial_rate_bps = flow->initial_rate_bps;
        list->plan[number].supply_bps = flow->supply_bps;
        list->plan[number].tenant = flow->tenant;
        list->plan[number].group = flow->group;
        list->plan[number].verb = flow->verb;
    }
    return true;
}

static const struct oche_param_table no_params = {.count = 0};
static const struct oche_workload_type by_hand_type = {
    .name = "by_hand", .table = &no_params, .generate = by_hand};

static void *defaults(const struct oche_param_table *table)
{
    void *values = calloc(1, table->struct_bytes + 1);

    assert_non_null(values);
    oche_param_defaults(table, values);
    return values;
}

static void set(const struct oche_param_table *table, void *values, const char *name,
                uint64_t value)
{
    const struct oche_param *param = oche_param_find(table, name);

    assert_non_null(param);
    oche_param_set(param, values, (union oche_value){.u = value});
}

static const struct oche_param_table *scheme_table(const struct small_world *small)
{
    return small->config.endpoint != NULL ? small->config.endpoint->table
                                          : &small->config.cc->table;
}

static void add_mechanism(struct small_world *small)
{
    struct oche_world_config *config = &small->config;
    const char *needed = oche_world_needed_mechanism(config);

    if (needed == NULL)
        return;
    small->mechanism = oche_switch_mechanism_find(needed);
    assert_non_null(small->mechanism);
    small->mechanism_params = defaults(small->mechanism->params);
    config->mechanisms = &small->mechanism;
    config->mechanism_params = (const void *const *)&small->mechanism_params;
    config->mechanism_count = 1;
}

void small_world_init(struct small_world *small, const char *topology, const char *cc,
                      const char *recovery)
{
    *small = (struct small_world){.config = {.seed = 1, .threads = 1, .workload_count = 1}};
    struct oche_world_config *config = &small->config;
    config->topology = oche_topology_type_find(topology);
    config->endpoint = oche_endpoint_find(cc);
    config->cc = oche_cc_find(cc);
    config->recovery = oche_recovery_find(recovery);
    assert_non_null(config->topology);
    assert_true(config->cc != NULL || config->endpoint != NULL);
    assert_non_null(config->recovery);
    config->topology_params = small->topology_params = defaults(config->topology->table);
    config->cc_params = config->endpoint_params = small->cc_params = defaults(scheme_table(small));
    config->recovery_params = small->recovery_params = defaults(&config->recovery->table);
    config->workloads = &small->workload;
    small->workload.type = &by_hand_type;
    oche_param_defaults(&oche_run_params, &config->run);
    config->run.duration = 10 * OCHE_MS;
    oche_param_defaults(&oche_measure_params, &config->measure);
    oche_param_defaults(&oche_routes_params, &config->routes);
    oche_param_defaults(&oche_loss_params, &config->loss);
    oche_param_defaults(&oche_switch_params, &config->switches);
    oche_param_defaults(&oche_host_params, &config->hosts);
    add_mechanism(small);
}

void small_world_topology(struct small_world *small, const char *name, uint64_t value)
{
    set(small->config.topology->table, small->topology_params, name, value);
}

void small_world_recovery(struct small_world *small, const char *name, uint64_t value)
{
    set(&small->config.recovery->table, small->recovery_params, name, value);
}

void small_world_topology_file(struct small_world *small, const char *path)
{
    const struct oche_param *param = oche_param_find(small->config.topology->table, "file");

    assert_non_null(param);
    oche_param_set(param, small->topology_params, (union oche_value){.text = path});
}

void small_world_cc(struct small_world *small, const char *name, uint64_t value)
{
    set(scheme_table(small), small->cc_params, name, value);
}

void small_world_cc_real(struct small_world *small, const char *name, double value)
{
    const struct oche_param *param = oche_param_find(scheme_table(small), name);

    assert_non_null(param);
    assert_int_equal(param->unit, OCHE_UNIT_REAL);
    oche_param_set(param, small->cc_params, (union oche_value){.real = value});
}

static void listen(struct small_world *small)
{
    const struct oche_network *network = oche_world_network(small->world);

    assert_int_equal(small->config.threads, 1);
    for (uint32_t i = 0; i < network->node_count; i++) {
        network->nodes[i].trace.sink = small->sink;
        network->nodes[i].trace.sink_context = small->sink_context;
    }
}

static void lose(struct small_world *small, unsigned which)
{
    const struct small_world_loss *loss = &small->losses[which];
    const struct oche_network *network = oche_world_network(small->world);
    uint32_t node, local;
    struct oche_error why;

    if (!oche_topology_find_port(oche_world_topology(small->world), loss->port, &node, &local,
                                 &why) ||
        !oche_loss_check(loss->pattern, &why))
        fail_msg("%s", why.text);
    uint32_t number = network->nodes[node].first_port + local;
    small->loss_memory[which] = calloc(1, oche_loss_bytes(loss->pattern));
    assert_non_null(small->loss_memory[which]);
    network->extras[number].loss =
        oche_loss_create(small->loss_memory[which], 0, loss->pattern, small->config.seed, number);
    network->ports[number].flags |= OCHE_PORT_SPECIAL;
}

void small_world_run(struct small_world *small, const struct oche_flow_plan *flows, uint32_t count)
{
    struct oche_error error = {""};

    small->flows = flows;
    small->flow_count = count;
    generating = small;
    small->config.in_order = small->sink != NULL;
    small->world = oche_world_create(&small->config, &error);
    if (small->world == NULL)
        fail_msg("%s", error.text);
    if (small->sink != NULL)
        listen(small);
    for (unsigned i = 0; i < SMALL_WORLD_LOSSES; i++)
        if (small->losses[i].port != NULL)
            lose(small, i);
    oche_world_run(small->world, NULL, NULL);
    oche_world_totals(small->world, &small->totals);
}

bool small_world_can(struct small_world *small, struct oche_error *error)
{
    generating = small;
    struct oche_world *world = oche_world_create(&small->config, error);

    oche_world_free(world);
    return world != NULL;
}

void small_world_end(struct small_world *small)
{
    oche_world_free(small->world);
    small->world = NULL;
    for (unsigned i = 0; i < SMALL_WORLD_LOSSES; i++) {
        free(small->loss_memory[i]);
        small->loss_memory[i] = NULL;
    }
}

void small_world_free(struct small_world *small)
{
    small_world_end(small);
    free(small->topology_params);
    free(small->cc_params);
    free(small->recovery_params);
    free(small->mechanism_params);
}

struct oche_flow_plan small_flow(uint32_t src, uint32_t dst, uint64_t bytes, oche_time start)
{
    return (struct oche_flow_plan){
        .src = src, .dst = dst, .bytes = bytes, .start = start, .then_same_source = OCHE_NO_FLOW};
}

static uint64_t between(struct oche_random *random, uint64_t least, uint64_t most)
{
    return least + oche_random_below(random, most - least + 1);
}

uint32_t small_world_random_network(struct small_world *small, struct oche_random *random,
                                    const char *cc, const char *recovery, bool chain)
{
    uint64_t leaves, each;

    switch (oche_random_below(random, chain ? 4 : 3)) {
    case 0:
        small_world_init(small, "leaf_spine", cc, recovery);
        leaves = between(random, 3, 5);
        each = between(random, 2, 5);
        small_world_topology(small, "leaves", leaves);
        small_world_topology(small, "spines", between(random, 2, 4));
        small_world_topology(small, "hosts_per_leaf", each);
        return (uint32_t)(leaves * each);
    case 1:
        small_world_init(small, "clos", cc, recovery);
        leaves = between(random, 2, 3);
        each = between(random, 2, 3);
        small_world_topology(small, "pods", leaves);
        small_world_topology(small, "tors_per_pod", each);
        small_world_topology(small, "hosts_per_tor", 4);
        small_world_topology(small, "uplinks_per_tor", 2);
        small_world_topology(small, "uplinks_per_agg", between(random, 2, 3));
        oche_param_set(oche_param_find(small->config.topology->table, "oversubscription"),
                       small->topology_params, (union oche_value){.real = 0});
        return (uint32_t)(leaves * each * 4);
    case 3:
        small_world_init(small, "parking_lot", cc, recovery);
        leaves = between(random, 1, 4);
        each = between(random, 1, 4);
        small_world_topology(small, "hops", leaves);
        small_world_topology(small, "hosts_per_switch", each);
        return (uint32_t)((leaves + 1) * each);
    default:
        small_world_init(small, "fat_tree", cc, recovery);
        small_world_topology(small, "k", 4);
        return 16;
    }
}

uint32_t small_world_busy_flows(struct oche_flow_plan *flows, uint32_t hosts)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < hosts; i++)
        flows[count++] = small_flow(i, (i + hosts / 2 + 1) % hosts, 300000, i * 10 * OCHE_NS);
    for (uint32_t i = 1; i < hosts; i++)
        flows[count++] = small_flow(i, 0, 100000, 20 * OCHE_US);
    flows[0].then_same_source = count;
    flows[count] = small_flow(flows[0].src, 5, 50000, OCHE_NEVER);
    count++;
    flows[count++] = small_flow(5, 6, 70000, 50 * OCHE_US);
    return count;
}
