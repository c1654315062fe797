/* SPDX-License-Identifier: Apache-2.0 */
/* Random worlds: see the header. */
#include "tests/property/random_scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/shared_buffer.h"
#include "tests/support/test.h"

#define MOST_FLOWS 96
#define MOST_BYTES UINT64_C(8000000) /* of all flows; it bounds the run */
#define HEADERS    96                /* of a full frame beside its payload, or slightly more */

/* Uniform in [low, high]. */
static uint64_t between(struct oche_random *random, uint64_t low, uint64_t high)
{
    return low + oche_random_below(random, high - low + 1);
}

/* Between low and high; each octave is equally likely, so sizes and times of every scale occur. */
static uint64_t any_scale(struct oche_random *random, uint64_t low, uint64_t high)
{
    unsigned octaves = 0;
    uint64_t top;

    while (low << (octaves + 1) <= high)
        octaves++;
    top = low << oche_random_below(random, octaves + 1);
    return between(random, top, 2 * top < high ? 2 * top : high);
}

static bool coin(struct oche_random *random)
{
    return oche_random_below(random, 2) == 0;
}

static uint64_t any_rate(struct oche_random *random)
{
    static const uint64_t rates[] = {10, 25, 40, 56, 100, 200, 400};

    return rates[oche_random_below(random, OCHE_COUNT_OF(rates))] * OCHE_GBPS;
}

static uint64_t any_delay(struct oche_random *random)
{
    return any_scale(random, 20 * OCHE_NS, 5 * OCHE_US);
}

/* ---- topology ---- */

static void set(struct random_scenario *scenario, const char *name, uint64_t value)
{
    const struct oche_param *param = oche_param_find(scenario->topology_type->table, name);
    size_t used = strlen(scenario->text);

    assert_non_null(param);
    oche_param_set(param, scenario->topology_params, (union oche_value){.u = value});
    snprintf(scenario->text + used, sizeof(scenario->text) - used, " %s %llu", name,
             (unsigned long long)value);
}

static void set_counts(struct random_scenario *scenario, struct oche_random *random)
{
    const char *type = scenario->topology_type->name;

    if (strcmp(type, "star") == 0) {
        set(scenario, "hosts", between(random, 3, 20));
    } else if (strcmp(type, "dumbbell") == 0) {
        set(scenario, "left_hosts", between(random, 2, 10));
        set(scenario, "right_hosts", between(random, 1, 10));
    } else if (strcmp(type, "parking_lot") == 0) {
        set(scenario, "hops", between(random, 1, 5));
        set(scenario, "hosts_per_switch", between(random, 1, 4));
    } else if (strcmp(type, "leaf_spine") == 0) {
        set(scenario, "leaves", between(random, 2, 5));
        set(scenario, "spines", between(random, 1, 4));
        set(scenario, "hosts_per_leaf", between(random, 1, 5));
    } else if (strcmp(type, "clos") == 0) {
        uint64_t aggs = between(random, 1, 2);

        set(scenario, "pods", between(random, 2, 3));
        set(scenario, "tors_per_pod", between(random, 1, 3));
        set(scenario, "hosts_per_tor", between(random, 1, 3));
        set(scenario, "oversubscription", 0); /* 0.0 is all zero bits */
        set(scenario, "uplinks_per_tor", aggs * between(random, 1, 2));
        set(scenario, "aggs_per_pod", aggs);
        set(scenario, "uplinks_per_agg", between(random, 1, 2));
        set(scenario, "cores", coin(random) ? 0 : 1);
    } else {
        assert_string_equal(type, "fat_tree");
        set(scenario, "k", 4);
    }
}

static void make_topology(struct random_scenario *scenario, struct oche_random *random)
{
    static const char *const types[] = {"star",       "dumbbell", "parking_lot",
                                        "leaf_spine", "clos",     "fat_tree"};
    static const char *const rates[] = {"host_rate", "link_rate", "core_rate", "bottleneck_rate"};
    static const char *const delays[] = {"delay", "link_delay", "bottleneck_delay"};
    const char *name = types[oche_random_below(random, OCHE_COUNT_OF(types))];
    const struct oche_param_table *table;
    struct oche_error error;

    scenario->topology_type = oche_topology_type_find(name);
    table = scenario->topology_type->table;
    scenario->topology_params = calloc(1, table->struct_bytes);
    assert_non_null(scenario->topology_params);
    oche_param_defaults(table, scenario->topology_params);
    snprintf(scenario->text, sizeof(scenario->text), "%s", name);
    set_counts(scenario, random);
    for (size_t i = 0; i < OCHE_COUNT_OF(rates); i++)
        if (oche_param_find(table, rates[i]) != NULL)
            set(scenario, rates[i], any_rate(random));
    for (size_t i = 0; i < OCHE_COUNT_OF(delays); i++)
        if (oche_param_find(table, delays[i]) != NULL)
            set(scenario, delays[i], any_delay(random));
    if ((scenario->topology_type->check != NULL &&
         !scenario->topology_type->check(scenario->topology_params, &error)) ||
        !scenario->topology_type->build(scenario->topology_params, &scenario->topology, &error))
        fail_msg("scenario %llu, %s: %s", (unsigned long long)scenario->number, scenario->text,
                 error.text);
}

/* ---- switches ---- */

void random_scenario_switch(const struct random_scenario *scenario, uint32_t number,
                            struct oche_switch_port_config *ports,
                            struct oche_switch_config *config)
{
    const struct oche_topology *topology = &scenario->topology;
    uint32_t node = topology->host_count + number;

    *config = (struct oche_switch_config){
        .params = &scenario->switches,
        .node = node,
        .seed = scenario->number,
        .port_count = topology->nodes[node].port_count,
        .ports = ports,
        .class_count = RANDOM_SCENARIO_CLASSES,
        .lossless_classes = (1 << RANDOM_SCENARIO_CLASSES) - 1,
        .mtu_frame_bytes = (uint32_t)scenario->mtu_bytes + HEADERS,
    };
    for (uint32_t port = 0; port < config->port_count; port++) {
        const struct oche_topology_link *link = oche_topology_port_link(topology, node, port);

        ports[port] = (struct oche_switch_port_config){
            .rate_bps = link->rate_bps,
            .delay = link->delay,
            .place = (uint8_t)oche_topology_place(topology, node, port)};
    }
}

void random_scenario_scale_headroom(struct random_scenario *scenario, double scale)
{
    uint64_t needed = 0;

    scenario->switches.headroom_scale = scale;
    for (uint32_t s = 0; s < scenario->topology.switch_count; s++) {
        struct oche_switch_port_config ports[64];
        struct oche_switch_config config;
        struct oche_buffer_plan plan;

        random_scenario_switch(scenario, s, ports, &config);
        plan = oche_buffer_plan(&config);
        if (plan.headroom_total + plan.reserve > needed)
            needed = plan.headroom_total + plan.reserve;
    }
    scenario->switches.buffer_bytes = needed + scenario->shared_bytes;
}

static void make_switches(struct random_scenario *scenario, struct oche_random *random)
{
    struct oche_switch_params *s = &scenario->switches;

    oche_param_defaults(&oche_switch_params, s);
    s->pfc = true;
    s->pfc_priorities = coin(random) ? 0 : between(random, 2, OCHE_CLASSES);
    s->threshold = coin(random) ? OCHE_THRESHOLD_DYNAMIC : OCHE_THRESHOLD_STATIC;
    s->beta = 1.0 / 8 * (double)(1 << oche_random_below(random, 8));
    s->pfc_response =
        oche_random_below(random, 3) == 0 ? 0 : any_scale(random, OCHE_NS, 3 * OCHE_US);
    s->ecn = oche_random_below(random, 4) != 0;
    s->ecn_at = coin(random) ? OCHE_ECN_AT_DEQUEUE : OCHE_ECN_AT_ENQUEUE;
    s->kmin_bytes = any_scale(random, 1000, 100000);
    s->kmax_bytes = s->kmin_bytes + oche_random_below(random, 200000);
    s->pmax = 1.0 / (double)(1 << oche_random_below(random, 8));
    scenario->shared_bytes = any_scale(random, 4000, 300000);
    random_scenario_scale_headroom(scenario, 1);
    if (s->threshold == OCHE_THRESHOLD_STATIC && coin(random))
        s->xoff_bytes = any_scale(random, 100, scenario->shared_bytes);
}

/* ---- hosts and flows ---- */

static void make_hosts(struct random_scenario *scenario, struct oche_random *random)
{
    static const uint64_t mtus[] = {256, 512, 1000, 1024, 1500, 2048, 4096};
    static const char *const schemes[] = {"none",           "dcqcn", "timely",
                                          "timely_patched", "dart",  "rcp"};

    scenario->mtu_bytes = mtus[oche_random_below(random, OCHE_COUNT_OF(mtus))];
    scenario->ack_every_packets = any_scale(random, 1, 64);
    scenario->window_packets = coin(random) ? 0 : any_scale(random, 16, 1024);
    scenario->host_pfc_response = scenario->switches.pfc_response;
    scenario->per_pair = coin(random);
    scenario->congestion_control = schemes[oche_random_below(random, OCHE_COUNT_OF(schemes))];
}

static void add_flow(struct random_scenario *scenario, uint32_t src, uint32_t dst, uint64_t bytes,
                     oche_time start)
{
    if (src == dst || scenario->flow_count == MOST_FLOWS ||
        scenario->flow_bytes + bytes > MOST_BYTES)
        return;
    scenario->flows[scenario->flow_count++] = (struct oche_flow_plan){
        .src = src, .dst = dst, .bytes = bytes, .start = start, .then_same_source = OCHE_NO_FLOW};
    scenario->flow_bytes += bytes;
}

/* Different senders that start within `spread` of each other. */
static void add_incast(struct random_scenario *scenario, struct oche_random *random)
{
    uint32_t hosts = scenario->topology.host_count;
    uint32_t dst = (uint32_t)oche_random_below(random, hosts);
    uint32_t degree = (uint32_t)between(random, 2, hosts - 1 < 16 ? hosts - 1 : 16);
    uint32_t first = (uint32_t)between(random, 1, hosts - 1);
    uint64_t bytes = any_scale(random, 100, 600000);
    oche_time start = oche_random_below(random, 50 * OCHE_US);
    oche_time spread = coin(random) ? 0 : any_scale(random, OCHE_NS, 20 * OCHE_US);

    for (uint32_t i = 0; i < degree; i++) {
        /* first, first+1, … in a circle, without dst */
        uint32_t src = (dst + 1 + (first - 1 + i) % (hosts - 1)) % hosts;

        add_flow(scenario, src, dst, bytes, start + oche_random_below(random, spread + 1));
    }
}

static void make_flows(struct random_scenario *scenario, struct oche_random *random)
{
    uint32_t hosts = scenario->topology.host_count;
    uint64_t incasts = between(random, 2, 6), others = oche_random_below(random, 12);

    scenario->flows = calloc(MOST_FLOWS, sizeof(*scenario->flows));
    assert_non_null(scenario->flows);
    for (uint64_t i = 0; i < incasts && hosts > 2; i++)
        add_incast(scenario, random);
    for (uint64_t i = 0; i < others || scenario->flow_count == 0; i++) {
        /* One draw a statement, as C does not define the order in which arguments are evaluated. */
        uint32_t src = (uint32_t)oche_random_below(random, hosts);
        uint32_t dst = (uint32_t)oche_random_below(random, hosts);
        uint64_t bytes = any_scale(random, 1, 300000);

        add_flow(scenario, src, dst, bytes, oche_random_below(random, 100 * OCHE_US));
    }
}

void random_scenario_make(struct random_scenario *scenario, uint64_t number)
{
    struct oche_random random = oche_random_stream(number, "scenario", 0);
    size_t used;

    memset(scenario, 0, sizeof(*scenario));
    scenario->number = number;
    make_topology(scenario, &random);
    make_hosts(scenario, &random);
    make_switches(scenario, &random);
    scenario->host_pfc_response = scenario->switches.pfc_response;
    make_flows(scenario, &random);
    scenario->feedback_jitter = coin(&random) ? 0 : any_scale(&random, OCHE_NS, 200 * OCHE_US);
    scenario->mixed_verbs = coin(&random);
    for (uint32_t i = 0; scenario->mixed_verbs && i < scenario->flow_count; i++)
        scenario->flows[i].verb = (uint8_t)(i % 3);
    used = strlen(scenario->text);
    snprintf(
        scenario->text + used, sizeof(scenario->text) - used,
        " buffer %llu %s beta %g xoff %llu priorities %llu response %llu ecn %d kmin %llu "
        "kmax %llu pmax %g mtu %llu ack_every %llu window %llu %s %s jitter %llu, %u flows of %llu "
        "bytes%s",
        (unsigned long long)scenario->switches.buffer_bytes,
        scenario->switches.threshold == OCHE_THRESHOLD_STATIC ? "static" : "dynamic",
        scenario->switches.beta, (unsigned long long)scenario->switches.xoff_bytes,
        (unsigned long long)scenario->switches.pfc_priorities,
        (unsigned long long)scenario->switches.pfc_response, scenario->switches.ecn,
        (unsigned long long)scenario->switches.kmin_bytes,
        (unsigned long long)scenario->switches.kmax_bytes, scenario->switches.pmax,
        (unsigned long long)scenario->mtu_bytes, (unsigned long long)scenario->ack_every_packets,
        (unsigned long long)scenario->window_packets, scenario->per_pair ? "per_pair" : "per_flow",
        scenario->congestion_control, (unsigned long long)scenario->feedback_jitter,
        scenario->flow_count, (unsigned long long)scenario->flow_bytes,
        scenario->mixed_verbs ? ", verbs in turn" : "");
}

void random_scenario_free(struct random_scenario *scenario)
{
    free(scenario->topology_params);
    free(scenario->flows);
    oche_topology_free(&scenario->topology);
    memset(scenario, 0, sizeof(*scenario));
}
