/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stores a run in its results file. Counters are since the end of warm-up, for two kinds of entity:
 * a host ("host3": its NIC and its port), and a switch's port ("tor0:host3"). A counter that stayed
 * 0 is left out.
 */
#include "cli/run/store_run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/run/show_defaults.h"
#include "cli/run/store_jobs.h"
#include "core/qp/nic.h"
#include "lab/measures/metrics.h"
#include "lab/measures/steady.h"

/* A counter in a struct of uint64_t counters. */
struct counter {
    const char *name;
    size_t offset;
};

static uint64_t counter_in(const void *counters, const struct counter *counter)
{
    return *(const uint64_t *)(const void *)((const char *)counters + counter->offset);
}

#define NIC(member)                                                                                \
    {                                                                                              \
#member, offsetof(struct oche_nic_stats, member)                                           \
    }
#define PORT(member)                                                                               \
    {                                                                                              \
#member, offsetof(struct oche_switch_port_stats, member)                                   \
    }
#define DROP(n, what)                                                                              \
    {                                                                                              \
        "drops_" n, offsetof(struct oche_switch_port_stats, drops) + 8 * (what)                    \
    }
static const struct counter nic_counters[] = {
    NIC(data_packets_sent),
    NIC(data_bytes_sent),
    NIC(data_packets_received),
    NIC(data_bytes_received),
    NIC(delivered_bytes),
    NIC(delivered_messages),
    NIC(delivered_sends),
    NIC(refused_writes),
    NIC(retransmitted_packets),
    NIC(retransmitted_bytes),
    NIC(duplicate_packets),
    NIC(out_of_order_packets),
    NIC(placed_packets),
    NIC(acks_sent),
    NIC(acks_received),
    NIC(naks_sent),
    NIC(naks_received),
    NIC(rnr_naks_sent),
    NIC(rnr_naks_received),
    NIC(cnps_sent),
    NIC(cnps_received),
    NIC(cc_packets_sent),
    NIC(cc_packets_received),
    NIC(ce_received),
    NIC(ce_marked),
    {"queueing_time_ps", offsetof(struct oche_nic_stats, queueing_time)},
    NIC(timeouts),
    NIC(adaptive_timeouts),
    NIC(early_timeouts),
    NIC(early_losses),
    NIC(rejected_packets),
    NIC(read_requests),
    NIC(atomic_requests),
    NIC(gaps),
    NIC(response_gaps),
    NIC(gap_naks_acted_on),
    NIC(duplicate_responses),
    NIC(adaptive_give_ups),
    NIC(slow_restarts),
    NIC(cnps_ignored),
    NIC(no_receive),
    NIC(access_refused),
    NIC(failed_sends),
    NIC(flushed_sends),
    NIC(failed_receives),
    NIC(flushed_receives),
    NIC(short_receives),
    NIC(sends_refused_access),
    NIC(sends_refused_invalid),
    NIC(sends_unanswered),
    NIC(sends_not_ready),
    NIC(trimmed_packets),
    NIC(trim_nacks_sent),
    NIC(trim_nacks_received),
};
_Static_assert(sizeof(nic_counters) / sizeof(nic_counters[0]) ==
                   sizeof(struct oche_nic_stats) / sizeof(uint64_t),
               "each field of struct oche_nic_stats has a row");
/* Counters of a slow receiver. */
static const struct counter slow_counters[] = {
    {"receive_buffer_drops", offsetof(struct oche_slow_host_stats, dropped_packets)},
    {"receive_buffer_dropped_bytes", offsetof(struct oche_slow_host_stats, dropped_bytes)},
    {"receive_buffer_peak_bytes", offsetof(struct oche_slow_host_stats, most_bytes)},
};
static const struct counter port_counters[] = {
    PORT(packets),
    {"queueing_time_ps", offsetof(struct oche_switch_port_stats, queueing_time)},
    PORT(marks),
    DROP("buffer", OCHE_DROP_BUFFER),
    DROP("no_route", OCHE_DROP_NO_ROUTE),
    DROP("ttl", OCHE_DROP_TTL),
    DROP("mechanism", OCHE_DROP_MECHANISM),
    DROP("link_down", OCHE_DROP_LINK_DOWN),
    PORT(max_queue_bytes),
};
/* Counters with one value per class: "pauses_sent_0". */
static const struct counter class_counters[] = {
    PORT(pauses_sent),     PORT(pause_sent_time), PORT(refreshes_sent),
    PORT(pauses_received), PORT(paused_time),
};

/* ---- what it is ---- */

static void store_number(struct oche_results *results, const char *key, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof(text), "%" PRIu64, value);
    oche_results_info(results, key, text);
}

/* Stores how the run ended, and the faults of the routes. */
static void store_stops(struct oche_results *results, const struct oche_outcome *outcome)
{
    const struct oche_pathologies *pathologies = &outcome->pathologies;
    enum oche_world_end end = outcome->end;
    const char *unfinished = pathologies->at_bound ? "unfinished" : "stalled";

    oche_results_info(results, "status",
                      pathologies->deadlock != NULL  ? "deadlock"
                      : pathologies->waiting != NULL ? unfinished
                      : end == OCHE_END_INTERRUPTED  ? "interrupted"
                                                     : "done");
    if (pathologies->waiting != NULL)
        oche_results_info(results, unfinished, pathologies->waiting);
    if (pathologies->deadlock != NULL) {
        oche_results_info(results, "deadlock", pathologies->deadlock);
        store_number(results, "deadlock_since_ps", pathologies->deadlock_since);
        store_number(results, "deadlock_noticed_ps", pathologies->deadlock_noticed);
    }
    if (pathologies->circle != NULL)
        oche_results_info(results, "cyclic_buffer_dependency", pathologies->circle);
    if (pathologies->lost_flows != NULL)
        oche_results_info(results, "flows_without_a_way", pathologies->lost_flows);
    if (pathologies->unnoted > 0)
        store_number(results, "pauses_not_in_tree", pathologies->unnoted);
}

/* Stores how certain the metric of --until-stable is. */
static void store_steady(struct oche_results *results, const struct oche_steady_result *steady)
{
    const struct oche_batch_means *interval = &steady->interval;
    const bool known = interval->bound > 0;
    char text[OCHE_STEADY_TEXT_BYTES];
    const struct {
        const char *key;
        double value;
        bool there;
    } numbers[] = {{"until_stable_within", steady->within, true},
                   {"until_stable_mean", interval->mean, known},
                   {"until_stable_half_width", interval->half_width, known},
                   {"until_stable_correlation", interval->correlation, known},
                   {"until_stable_correlation_bound", interval->bound, known}};

    if (steady->metric[0] == '\0')
        return;
    oche_results_info(results, "until_stable", steady->metric);
    for (size_t i = 0; i < OCHE_COUNT_OF(numbers); i++) {
        snprintf(text, sizeof(text), "%.17g", numbers[i].value);
        if (numbers[i].there)
            oche_results_info(results, numbers[i].key, text);
    }
    store_number(results, "until_stable_batches", interval->batches);
    store_number(results, "until_stable_batch_ps", steady->batch);
    oche_steady_complaint(steady, text, sizeof(text));
    oche_results_info(results, "until_stable_reached",
                      steady->state == OCHE_STEADY_STABLE ? "yes" : text);
}

static void store_info(struct oche_results *results, const struct oche_scenario *scenario,
                       const struct oche_outcome *outcome, const char *command)
{
    char text[64];

    oche_results_info(results, "program", "oche " OCHE_VERSION);
    oche_results_info(results, "command", command);
    oche_results_info(results, "scenario", scenario->name);
    oche_results_info(results, "description", scenario->description);
    oche_results_info(results, "scenario_file", oche_document_name(scenario->document));
    oche_results_info(results, "scenario_text", oche_document_text(scenario->document));
    oche_results_info(results, "label", outcome->label);
    oche_results_info(results, "topology", outcome->topology);
    oche_results_info(results, "congestion_control", outcome->scheme);
    if (outcome->remark[0] != '\0')
        oche_results_info(results, "congestion_control_remark", outcome->remark);
    if (outcome->ignored[0] != '\0')
        oche_results_info(results, "ignored", outcome->ignored);
    if (outcome->topology_remark[0] != '\0')
        oche_results_info(results, "topology_remark", outcome->topology_remark);
    if (outcome->flow_remark[0] != '\0')
        oche_results_info(results, "flow_remark", outcome->flow_remark);
    if (outcome->headroom_remark[0] != '\0')
        oche_results_info(results, "headroom_remark", outcome->headroom_remark);
    for (unsigned i = 0; i < outcome->unfit.count; i++) {
        snprintf(text, sizeof(text), "network_remark_%u", i + 1);
        oche_results_info(results, text, outcome->unfit.text[i]);
    }
    for (unsigned i = 0; i < outcome->idle.count; i++) {
        snprintf(text, sizeof(text), "idle_key_%u", i + 1);
        oche_results_info(results, text, outcome->idle.text[i]);
    }
    oche_results_info(results, "recovery", outcome->recovery);
    store_number(results, "seed", outcome->seed);
    store_number(results, "threads", outcome->threads);
    store_number(results, "simulated_ps", outcome->simulated);
    store_number(results, "measured_ps", outcome->totals.measured);
    if (outcome->load.known)
        store_number(results, "load_ps", outcome->load.window);
    snprintf(text, sizeof(text), "%.6f", outcome->wall_s);
    oche_results_info(results, "wall_s", text);
    snprintf(text, sizeof(text), "%016" PRIx64, outcome->totals.hash);
    oche_results_info(results, "trace_hash", text);
    if (outcome->jain >= 0) {
        snprintf(text, sizeof(text), "%.6f", outcome->jain);
        oche_results_info(results, "jain_of_flow_goodputs", text);
    }
    if (outcome->compete)
        oche_results_info(results, "flows_compete", "yes");
    store_stops(results, outcome);
    store_steady(results, &outcome->steady);
    if (outcome->ways.unnoted > 0)
        store_number(results, "deflections_not_listed", outcome->ways.unnoted);
}

struct parameters {
    struct oche_results *results;
    const struct oche_world *world;
};

static void store_parameter(void *context, const char *key, const char *value, const char *unit,
                            bool given)
{
    const struct parameters *to = context;
    char text[1024];

    oche_results_parameter(to->results, key,
                           oche_show_value(to->world, key, value, text, sizeof(text)), unit, given);
}

static void store_metric(void *context, const char *name, const char *unit, double value)
{
    oche_results_metric(context, name, unit, oche_metric_help(name), value);
}

/* ---- flows ---- */

static const char *failure(uint32_t status)
{
    static const char *const words[OCHE_STATUSES] = {
        [OCHE_STATUS_LOCAL_LENGTH] = "failed: local length",
        [OCHE_STATUS_LOCAL_QP_OPERATION] = "failed: local operation",
        [OCHE_STATUS_LOCAL_PROTECTION] = "failed: local protection",
        [OCHE_STATUS_FLUSHED] = "failed: flushed",
        [OCHE_STATUS_REMOTE_INVALID_REQUEST] = "failed: remote invalid request",
        [OCHE_STATUS_REMOTE_ACCESS] = "failed: remote access",
        [OCHE_STATUS_REMOTE_OPERATION] = "failed: remote operation",
        [OCHE_STATUS_RETRY_EXCEEDED] = "failed: retries exceeded",
        [OCHE_STATUS_RNR_RETRY_EXCEEDED] = "failed: RNR retries exceeded",
    };

    return status < OCHE_STATUSES && words[status] != NULL ? words[status] : "failed";
}

/* A flow is incomplete if part of it was lost for good, which its sender need not know. */
static const char *status_of(const struct oche_flow_sent *sent,
                             const struct oche_flow_received *received)
{
    if (sent->failed != 0)
        return failure(sent->failed);
    if (received->delivered != OCHE_NEVER)
        return "completed";
    return received->passed_over || sent->completed != OCHE_NEVER ? "incomplete" : "unfinished";
}

/* Returns the name of the port of a node in the forest of PAUSEs; NULL if it is unknown. */
static const char *pause_port(const struct oche_world *world, uint32_t node, char *text,
                              size_t text_bytes)
{
    uint32_t count;
    const struct oche_pause_node *nodes =
        oche_pause_tree_nodes(oche_world_pause_tree(world), &count);

    OCHE_MUST(node < count);
    if (nodes[node].port == OCHE_NO_PORT)
        return NULL;
    oche_topology_global_name(oche_world_topology(world), nodes[node].port, text, text_bytes);
    return text;
}

/* Stores one row for each flow that started. */
static void store_flows(struct oche_results *results, struct oche_world *world)
{
    const struct oche_flows *flows = oche_world_flows(world);
    oche_time warmup = oche_world_config(world)->run.warmup;

    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        const struct oche_flow_plan *plan = &flows->plan[i];
        const struct oche_flow_sent *sent = &flows->sent[i];

        if (sent->started == OCHE_NEVER)
            continue;
        char root[OCHE_OUTCOME_NAME_BYTES];
        struct oche_flow_pause_loss holds;

        oche_world_flow_pause_loss(world, i, &holds);
        struct oche_results_flow flow = {
            .id = i,
            .workload = plan->workload,
            .src = plan->src,
            .dst = plan->dst,
            .bytes = plan->bytes,
            .started = sent->started,
            .delivered = flows->received[i].delivered,
            .completed = sent->completed,
            .ideal = oche_world_ideal_time(world, i),
            .retransmitted_packets = sent->retransmitted_packets,
            .timeouts = sent->timeouts,
            .status = status_of(sent, &flows->received[i]),
            .measured = sent->started >= warmup,
            .held = holds.held,
            .lost = holds.lost,
            .root = holds.lost > 0 ? pause_port(world, holds.root, root, sizeof(root)) : NULL,
            .victim = oche_flow_is_victim(&holds, oche_world_config(world)->measure.victim_share),
            .verb = oche_verb_names[plan->verb],
        };
        oche_results_flow(results, &flow);
    }
}

/* ---- the network ---- */

/* Writes the port's entity: a host's port has the host's name. */
static void entity_of(const struct oche_topology *topology, uint32_t node, uint32_t port,
                      char *text, size_t text_bytes)
{
    if (node < topology->host_count)
        snprintf(text, text_bytes, "%s", topology->nodes[node].name);
    else
        oche_topology_port_name(topology, node, port, text, text_bytes);
}

static void store_topology(struct oche_results *results, const struct oche_topology *topology)
{
    static const char *const kinds[OCHE_NODE_KINDS] = {
        [OCHE_NODE_HOST] = "host",
        [OCHE_NODE_TOR] = "tor",
        [OCHE_NODE_AGGREGATION] = "aggregation",
        [OCHE_NODE_CORE] = "core",
    };

    for (uint32_t i = 0; i < oche_topology_nodes(topology); i++) {
        const struct oche_topology_node *node = &topology->nodes[i];
        uint32_t pod = node->pod == OCHE_NO_POD ? UINT32_MAX : node->pod;

        oche_results_node(results, i, node->name, kinds[node->kind], pod);
    }
    for (uint32_t i = 0; i < topology->link_count; i++) {
        const struct oche_topology_link *link = &topology->links[i];
        char port_a[OCHE_OUTCOME_NAME_BYTES], port_b[OCHE_OUTCOME_NAME_BYTES];
        struct oche_results_link row = {.a = link->a,
                                        .b = link->b,
                                        .port_a = port_a,
                                        .port_b = port_b,
                                        .rate_bps = link->rate_bps,
                                        .delay = link->delay};

        entity_of(topology, link->a, link->port_a, port_a, sizeof(port_a));
        entity_of(topology, link->b, link->port_b, port_b, sizeof(port_b));
        oche_results_link(results, &row);
    }
}

/* ---- PAUSEs ---- */

static void store_pauses(struct oche_results *results, const struct oche_world *world)
{
    const struct oche_pause_tree *tree = oche_world_pause_tree(world);
    uint32_t all;
    const struct oche_pause_node *nodes = oche_pause_tree_nodes(tree, &all);
    uint32_t *order = calloc(all + 1, sizeof(*order)), *senders = calloc(all + 1, sizeof(*senders));

    OCHE_GOT(order != NULL && senders != NULL);
    uint32_t count = oche_pause_tree_order(tree, order);

    if (count > 0)
        oche_world_pause_senders(world, senders);
    for (uint32_t i = 0; i < count; i++) {
        const struct oche_pause_node *node = &nodes[order[i]];
        char port[OCHE_OUTCOME_NAME_BYTES];

        oche_results_pause(results, &(struct oche_results_pause){
                                        .id = order[i],
                                        .parent = node->parent,
                                        .port = pause_port(world, order[i], port, sizeof(port)),
                                        .cls = node->cls,
                                        .depth = node->depth,
                                        .pauses = node->pauses,
                                        .held = node->held,
                                        .first = node->held > 0 ? node->first : OCHE_NEVER,
                                        .last = node->held > 0 ? node->last : OCHE_NEVER,
                                        .ports = node->ports,
                                        .senders = senders[order[i]],
                                        .returns = node->returns,
                                    });
    }
    free(order);
    free(senders);
}

static void store_deadlock(struct oche_results *results, const struct oche_world *world)
{
    const struct oche_deadlock *deadlock = oche_world_deadlock(world);
    char port[OCHE_OUTCOME_NAME_BYTES];

    for (uint32_t i = 0; deadlock != NULL && i < deadlock->circle.count; i++) {
        oche_topology_global_name(oche_world_topology(world), deadlock->circle.ports[i], port,
                                  sizeof(port));
        oche_results_deadlock(results, i, port, deadlock->cls);
    }
}

/* ---- congestion ---- */

static void store_congestion(struct oche_results *results, const struct oche_world *world,
                             const struct oche_outcome *outcome)
{
    for (unsigned where = 0; where < OCHE_WHERE_LINKS; where++) {
        const struct oche_congestion_row *row = &outcome->congestion[where];
        char port[OCHE_OUTCOME_NAME_BYTES];

        if (row->ports == 0)
            continue;
        entity_of(oche_world_topology(world), row->node, row->port, port, sizeof(port));
        oche_results_congestion(
            results, &(struct oche_results_congestion){
                         .place = oche_where_key(where),
                         .ports = row->ports,
                         .packets = row->packets,
                         .marks = row->marks,
                         .queueing = row->queueing,
                         .paused = row->paused,
                         .worst = row->queueing_worst,
                         .worst_port = row->packets > 0 ? port : NULL,
                         .queue_most = where == OCHE_WHERE_HOST_NIC ? OCHE_NEVER : row->queue_most,
                     });
    }
}

/* ---- deflection ---- */

struct deflections {
    struct oche_results *results;
    const struct oche_world *world;
    const struct oche_topology *topology;
};

static void store_deflection(void *context, const struct oche_world_deflection *deflection)
{
    const struct deflections *to = context;
    char in_port[OCHE_OUTCOME_NAME_BYTES], port[OCHE_OUTCOME_NAME_BYTES];

    entity_of(to->topology, deflection->node, deflection->in_port, in_port, sizeof(in_port));
    entity_of(to->topology, deflection->node, deflection->port, port, sizeof(port));
    oche_results_deflection(to->results,
                            &(struct oche_results_deflection){.time = deflection->time,
                                                              .flow = deflection->flow,
                                                              .node = deflection->node,
                                                              .in_port = in_port,
                                                              .port = port,
                                                              .lane = deflection->lane,
                                                              .tokens = deflection->tokens});
}

static void store_hop(const struct deflections *to, uint32_t flow, bool ordinary, uint32_t hop,
                      const struct oche_world_hop *at)
{
    char port[OCHE_OUTCOME_NAME_BYTES];

    oche_topology_global_name(to->topology, at->port, port, sizeof(port));
    oche_results_path(to->results, &(struct oche_results_path){
                                       .flow = flow,
                                       .hop = hop,
                                       .node = oche_topology_node_of_port(to->topology, at->port),
                                       .ordinary = ordinary,
                                       .deflected = at->deflected,
                                       .port = port,
                                       .lane = at->lane,
                                       .tokens = at->tokens,
                                       .time = at->time});
}

static void store_paths(void *context, const struct oche_world_deflected_path *way)
{
    const struct deflections *to = context;
    struct oche_walk walk;

    oche_world_walk(to->world, way->flow, false, &walk);
    for (uint32_t i = 0; i < walk.count; i++)
        store_hop(to, way->flow, true, i,
                  &(struct oche_world_hop){.port = walk.ports[i], .time = OCHE_NEVER});
    for (uint32_t i = 0; i < way->count; i++)
        store_hop(to, way->flow, false, i, &way->hops[i]);
}

/* Stores the paths of flows, and where they were deflected. */
static void store_ways(struct oche_results *results, const struct oche_world *world)
{
    const struct oche_flows *flows = oche_world_flows(world);
    struct deflections to = {results, world, oche_world_topology(world)};

    if (flows->paths == NULL)
        return;
    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        const struct oche_flow_path *way = &flows->paths[i];
        const struct oche_flow_plan *plan = &flows->plan[i];

        if (way->packets == 0)
            continue;
        oche_results_way(results, &(struct oche_results_way){
                                      .flow = i,
                                      .packets = way->packets,
                                      .links = way->links,
                                      .shortest = (uint64_t)way->packets *
                                                  oche_topology_hops(oche_world_routes(world),
                                                                     plan->src, plan->dst),
                                      .deflections = way->deflections,
                                  });
    }
    oche_world_deflections(world, store_deflection, &to);
    oche_world_deflected_paths(world, store_paths, &to);
}

/* ---- counters ---- */

/* Stores the counters of a host's scheme or endpoint. */
static void store_scheme(struct oche_results *results, const char *host,
                         const struct oche_counters *counters, const uint64_t *values)
{
    char name[64];

    for (unsigned i = 0; counters != NULL && i < counters->count; i++) {
        snprintf(name, sizeof(name), "%s_%s", counters->prefix, counters->rows[i].name);
        for (char *at = name; *at != '\0'; at++)
            *at = *at == '.' ? '_' : *at;
        if (values[i] > 0)
            oche_results_counter(results, host, name, values[i]);
    }
}

static void store_some(struct oche_results *results, const char *entity,
                       const struct counter *counters, size_t count, const void *from)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value = counter_in(from, &counters[i]);

        if (value > 0)
            oche_results_counter(results, entity, counters[i].name, value);
    }
}

static void store_port(struct oche_results *results, const struct oche_world *world, uint32_t node,
                       uint32_t local, const struct oche_switch_port_stats *stats)
{
    const struct oche_topology *topology = oche_world_topology(world);
    uint32_t port = topology->nodes[node].first_port + local;
    char entity[OCHE_OUTCOME_NAME_BYTES], name[64];

    entity_of(topology, node, local, entity, sizeof(entity));
    if (node >= topology->host_count) /* not for hosts, whose NICs have more detailed counters */
        store_some(results, entity, port_counters, OCHE_COUNT_OF(port_counters), stats);
    for (size_t i = 0; i < OCHE_COUNT_OF(class_counters); i++) {
        for (unsigned cls = 0; cls < OCHE_CLASSES; cls++) {
            struct counter one = {name, class_counters[i].offset + cls * sizeof(uint64_t)};

            snprintf(name, sizeof(name), "%s_%u", class_counters[i].name, cls);
            store_some(results, entity, &one, 1, stats);
        }
    }
    if (oche_world_line_bytes(world, port) > 0)
        oche_results_counter(results, entity, "line_bytes", oche_world_line_bytes(world, port));
    const uint64_t *in_window = oche_world_load_line_bytes(world);

    if (in_window != NULL && in_window[port] > 0)
        oche_results_counter(results, entity, "line_bytes_of_load", in_window[port]);
    if (oche_world_lost_packets(world, port) > 0)
        oche_results_counter(results, entity, "lost_packets", oche_world_lost_packets(world, port));
}

/* Stores how often each type of scripted event happened, with the port. */
static void store_events(struct oche_results *results, const struct oche_world *world)
{
    const struct oche_param *type = oche_param_find(&oche_packet_event_params, "type");
    const struct oche_port *port;
    char entity[OCHE_OUTCOME_NAME_BYTES], name[64];
    struct oche_world_events events;

    if (!oche_world_event_counts(world, &events))
        return;
    port = &oche_world_network(world)->ports[events.port];
    entity_of(oche_world_topology(world), port->node, port->local, entity, sizeof(entity));
    for (unsigned i = 0; i < OCHE_PACKET_EVENT_TYPES; i++) {
        snprintf(name, sizeof(name), "scripted.%s", type->choices[i]);
        oche_results_counter(results, entity, name, events.counts.by_type[i]);
    }
    oche_results_counter(results, entity, "scripted.never", events.counts.never);
    oche_results_counter(results, entity, "scripted.not_overtaken", events.counts.kept);
}

static void store_counters(struct oche_results *results, const struct oche_world *world)
{
    const struct oche_topology *topology = oche_world_topology(world);
    struct oche_switch_port_stats *stats =
        malloc(((size_t)oche_world_network(world)->port_count + 1) * sizeof(*stats));

    OCHE_GOT(stats != NULL);
    oche_world_port_stats(world, stats);
    for (uint32_t node = 0; node < oche_topology_nodes(topology); node++) {
        if (node < topology->host_count) {
            uint64_t counted[OCHE_MOST_COUNTERS];
            struct oche_nic_stats nic;

            oche_world_host_stats(world, node, &nic);
            store_some(results, topology->nodes[node].name, nic_counters,
                       OCHE_COUNT_OF(nic_counters), &nic);
            struct oche_slow_host_stats slow = oche_world_slow_host(world, node);

            store_some(results, topology->nodes[node].name, slow_counters,
                       OCHE_COUNT_OF(slow_counters), &slow);
            store_scheme(results, topology->nodes[node].name,
                         oche_world_host_counters(world, node, counted), counted);
        }
        for (uint32_t port = 0; port < topology->nodes[node].port_count; port++)
            store_port(results, world, node, port, &stats[topology->nodes[node].first_port + port]);
    }
    free(stats);
    store_events(results, world);
}

/* ---- series and histograms ---- */

static void store_series(struct oche_results *results, const struct oche_world *world)
{
    const struct oche_world_config *config = oche_world_config(world);

    for (uint32_t i = 0; i < oche_world_series_count(world); i++) {
        struct oche_world_series series = oche_world_series(world, i);
        uint32_t number = oche_results_series(results, series.name, series.entity, series.unit);

        for (uint32_t k = 0; k < series.count; k++) {
            if (isnan(series.values[k]))
                continue;
            oche_results_point(results, number,
                               config->run.warmup + (k + 1) * oche_world_interval(world),
                               series.values[k]);
        }
    }
}

static void store_longest_queues(struct oche_results *results, const struct oche_world *world)
{
    const oche_time from = oche_world_config(world)->run.warmup;

    for (uint32_t i = 0; i < oche_world_longest_count(world); i++) {
        const struct oche_world_longest_series series = oche_world_longest_series(world, i);
        char port[OCHE_OUTCOME_NAME_BYTES];

        oche_topology_global_name(oche_world_topology(world), series.port, port, sizeof(port));
        uint32_t number = oche_results_series(results, "longest_queue", port, "bytes");

        for (uint32_t k = 0; k < series.count; k++)
            oche_results_point(results, number, from + (k + 1) * series.span, series.bytes[k]);
    }
}

static void store_slowest_flows(struct oche_results *results, const struct oche_world *world)
{
    const oche_time from = oche_world_config(world)->run.warmup;

    for (uint32_t i = 0; i < oche_world_slowest_count(world); i++) {
        const struct oche_world_slowest_series series = oche_world_slowest_series(world, i);
        char flow[32];

        snprintf(flow, sizeof(flow), "flow %u", series.flow);
        uint32_t number = oche_results_series(results, "slowest_goodput", flow, "bps");

        for (uint32_t k = 0; k < series.count; k++)
            oche_results_point(results, number, from + (series.first + k + 1) * series.span,
                               (double)oche_rate_of(series.bytes[k], series.span));
    }
}

/*
 * Stores a series for each port that was ever held. An interval in which the port was not held has
 * no point.
 */
static void store_holds(struct oche_results *results, const struct oche_world *world)
{
    const struct oche_topology *topology = oche_world_topology(world);
    const struct oche_world_config *config = oche_world_config(world);
    uint32_t *series = calloc(oche_world_network(world)->port_count + 1, sizeof(*series));
    size_t count;
    const struct oche_world_paused_port *holds = oche_world_paused_ports(world, &count);

    OCHE_GOT(series != NULL);
    for (size_t i = 0; i < count; i++) {
        const struct oche_world_paused_port *hold = &holds[i];
        uint32_t *number = &series[topology->nodes[hold->node].first_port + hold->port];

        if (*number == 0) {
            char entity[OCHE_OUTCOME_NAME_BYTES];

            entity_of(topology, hold->node, hold->port, entity, sizeof(entity));
            *number = oche_results_series(results, "held", entity, "ratio");
        }
        oche_results_point(results, *number,
                           config->run.warmup + (hold->row + 1) * oche_world_interval(world),
                           (double)hold->held / (double)oche_world_interval(world));
    }
    free(series);
}

static void store_histograms(struct oche_results *results, const struct oche_world *world)
{
    for (uint32_t i = 0; i < oche_world_watch_count(world); i++) {
        const char *name;
        const struct oche_queue_watch *watch = oche_world_watch(world, i, &name);
        uint32_t number = oche_results_histogram(results, "queue", name, "bytes", "ps");

        for (uint32_t step = 0; step < watch->steps; step++) {
            bool last = step + 1 == watch->steps;

            if (watch->time[step] > 0)
                oche_results_bucket(results, number, step * watch->step_bytes,
                                    last ? OCHE_NEVER : (step + 1) * watch->step_bytes,
                                    watch->time[step]);
        }
    }
}

void oche_store_run(struct oche_results *results, const struct oche_scenario *scenario,
                    struct oche_world *world, const struct oche_outcome *outcome,
                    const char *command)
{
    store_info(results, scenario, outcome, command);
    oche_bindings_each(&scenario->bindings, store_parameter, &(struct parameters){results, world});
    store_flows(results, world);
    store_topology(results, oche_world_topology(world));
    oche_store_jobs(results, world, outcome);
    store_pauses(results, world);
    store_deadlock(results, world);
    store_congestion(results, world, outcome);
    store_ways(results, world);
    oche_metrics_each(outcome, store_metric, results);
    store_counters(results, world);
    store_series(results, world);
    store_longest_queues(results, world);
    store_holds(results, world);
    /* last: ranks have none, and would number the others in the same way */
    store_slowest_flows(results, world);
    store_histograms(results, world);
}
