/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the measures of a run. */
#include "lab/measures/outcome.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cc/cc_advice.h"
#include "lab/measures/ignored.h"
#include "lab/measures/same_runs.h"
#include "lab/measures/posted.h"
#include "lab/measures/size_rows.h"
#include "params/figures.h"
#include "params/printable.h"
#include "sim/measure/fairness.h"
#include "sim/network/rank_mail.h"

const enum oche_port_place oche_places_up[OCHE_PLACES] = {OCHE_PLACE_HOST_NIC, OCHE_PLACE_TO_HOST,
                                                          OCHE_PLACE_TOR_UP, OCHE_PLACE_AGGREGATION,
                                                          OCHE_PLACE_CORE};

const char *oche_node_kind_name(enum oche_node_kind kind)
{
    static const char *const names[OCHE_NODE_KINDS] = {[OCHE_NODE_HOST] = "host",
                                                       [OCHE_NODE_TOR] = "ToR",
                                                       [OCHE_NODE_AGGREGATION] = "aggregation",
                                                       [OCHE_NODE_CORE] = "core"};

    OCHE_MUST(kind < OCHE_NODE_KINDS);
    return names[kind];
}

const char *oche_outcome_size_name(const struct oche_completion_row *row, char *text,
                                   size_t text_bytes)
{
    if (row->from_bytes == 0 && row->to_bytes == UINT64_MAX)
        snprintf(text, text_bytes, "all sizes");
    else if (row->from_bytes == 0)
        snprintf(text, text_bytes, "below %s", oche_figure_bytes(row->to_bytes).text);
    else if (row->to_bytes == UINT64_MAX)
        snprintf(text, text_bytes, "%s and more", oche_figure_bytes(row->from_bytes).text);
    else
        snprintf(text, text_bytes, "%s to %s", oche_figure_bytes(row->from_bytes).text,
                 oche_figure_bytes(row->to_bytes).text);
    return text;
}

size_t *oche_outcomes_same(const struct oche_outcome *outcomes, size_t count)
{
    uint64_t *hashes = calloc(count, sizeof(*hashes));
    size_t *first = calloc(count, sizeof(*first));

    OCHE_GOT(hashes != NULL && first != NULL);
    for (size_t i = 0; i < count; i++)
        hashes[i] = outcomes[i].totals.hash;
    oche_same_runs(hashes, count, first);
    free(hashes);
    return first;
}

bool oche_outcome_is_lossless(const struct oche_outcome *outcome)
{
    const struct oche_world_totals *totals = &outcome->totals;
    uint64_t bad = totals->lost_packets + totals->rejected_packets + totals->dropped_by_hosts +
                   totals->nic.retransmitted_packets;

    for (unsigned cause = 0; cause < OCHE_DROP_CAUSES; cause++)
        bad += totals->drops[cause];
    return bad == 0;
}

/* Takes the flows' goodputs, and Jain's index of how equal they are. */
static void take_goodputs(struct oche_outcome *outcome, const struct oche_world *world)
{
    struct oche_sorted_values *goodputs = &outcome->samples[OCHE_SAMPLES_GOODPUT];
    const struct oche_flows *flows = oche_world_flows(world);

    goodputs->values = malloc(((size_t)oche_flows_made(flows) + 1) * sizeof(*goodputs->values));
    OCHE_GOT(goodputs->values != NULL);
    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        double goodput = oche_flow_goodput(world, i);

        if (goodput >= 0)
            goodputs->values[goodputs->count++] = goodput;
    }
    outcome->jain = oche_jain_index(goodputs->values, goodputs->count);
    for (size_t i = 0; i < goodputs->count; i++)
        goodputs->values[i] *= 8 * (double)OCHE_SEC;
    oche_sort_real(goodputs->values, goodputs->count);
}

/* Counts the flows in goodputs by host: as their sender, and as their receiver. */
static void count_ends(const struct oche_world *world, uint32_t *sends, uint32_t *receives)
{
    const struct oche_flows *flows = oche_world_flows(world);

    for (OCHE_EACH_MADE_FLOW(i, flows))
        if (oche_flow_goodput(world, i) >= 0) {
            sends[flows->plan[i].src]++;
            receives[flows->plan[i].dst]++;
        }
}

/* Returns when the flow was over; OCHE_NEVER: it is not over. */
static oche_time over_at(const struct oche_flows *flows, uint32_t flow)
{
    return flows->sent[flow].failed != 0 ? flows->sent[flow].completed
                                         : flows->received[flow].delivered;
}

/* True if these flows compete (struct oche_outcome). */
static bool do_compete(const struct oche_world *world)
{
    const struct oche_flows *flows = oche_world_flows(world);
    const uint32_t hosts = oche_world_topology(world)->host_count;
    uint32_t *sends = calloc((size_t)hosts * 2 + 1, sizeof(*sends)), *receives = sends + hosts;
    const struct oche_flow_plan *first = NULL;
    oche_time last_start = 0, first_end = OCHE_NEVER;
    bool alike = true;

    OCHE_GOT(sends != NULL);
    count_ends(world, sends, receives);
    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        const struct oche_flow_plan *plan = &flows->plan[i];

        if (oche_flow_goodput(world, i) < 0)
            continue;
        first = first == NULL ? plan : first;
        alike = alike && plan->bytes == first->bytes && plan->supply_bps == first->supply_bps &&
                plan->tenant == first->tenant && plan->priority == first->priority &&
                sends[plan->src] == sends[first->src] &&
                receives[plan->dst] == receives[first->dst];
        last_start = oche_time_max(last_start, flows->sent[i].started);
        first_end = oche_time_min(first_end, over_at(flows, i));
    }
    free(sends);
    return alike && first != NULL && last_start < first_end;
}

/* Takes completion times and slowdowns of the delivered flows that started after warm-up. */
static void take_times(struct oche_outcome *outcome, const struct oche_flow_record *records,
                       uint32_t count, oche_time warmup)
{
    struct oche_sorted_values *times = &outcome->samples[OCHE_SAMPLES_FCT];
    struct oche_sorted_values *slowdowns = &outcome->samples[OCHE_SAMPLES_SLOWDOWN];

    times->values = malloc(((size_t)count + 1) * sizeof(*times->values));
    slowdowns->values = malloc(((size_t)count + 1) * sizeof(*slowdowns->values));
    OCHE_GOT(times->values != NULL && slowdowns->values != NULL);
    for (uint32_t i = 0; i < count; i++) {
        const struct oche_flow_record *flow = &records[i];

        if (flow->start == OCHE_NEVER || flow->start < warmup || flow->end == OCHE_NEVER ||
            flow->failed)
            continue;
        double time = (double)(flow->end - flow->start);

        times->values[times->count++] = time / (double)OCHE_SEC;
        slowdowns->values[slowdowns->count++] = time / (double)flow->ideal;
    }
    OCHE_MUST(times->count == outcome->delivered);
    oche_sort_real(times->values, times->count);
    oche_sort_real(slowdowns->values, slowdowns->count);
}

/* Takes the goodput of each receiving host. */
static void take_hosts(struct oche_outcome *outcome, const struct oche_world *world)
{
    const struct oche_flows *flows = oche_world_flows(world);
    uint32_t hosts = oche_world_topology(world)->host_count;
    double *received = calloc(hosts + 1, sizeof(*received));
    size_t count = 0;

    OCHE_GOT(received != NULL);
    for (OCHE_EACH_MADE_FLOW(i, flows))
        if (flows->sent[i].started != OCHE_NEVER)
            received[flows->plan[i].dst] = 1;
    outcome->host_goodput_least = outcome->host_goodput_most = -1;
    for (uint32_t host = 0; host < hosts; host++) {
        struct oche_nic_stats nic;

        if (received[host] == 0)
            continue;
        oche_world_host_stats(world, host, &nic);
        double bps = (double)oche_rate_of(nic.delivered_bytes, outcome->totals.measured);

        if (count == 0 || bps < outcome->host_goodput_least)
            outcome->host_goodput_least = bps;
        if (bps > outcome->host_goodput_most)
            outcome->host_goodput_most = bps;
        received[count++] = bps;
    }
    outcome->host_jain = oche_jain_index(received, count);
    free(received);
}

static void list_flows(struct oche_outcome *outcome, struct oche_world *world)
{
    const struct oche_flows *flows = oche_world_flows(world);
    const struct oche_topology *topology = oche_world_topology(world);

    if (outcome->flows > OCHE_OUTCOME_LISTED)
        return;
    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        struct oche_outcome_flow *flow = &outcome->listed[outcome->listed_count];
        double goodput = oche_flow_goodput(world, i);
        struct oche_flow_pause_loss holds;

        if (goodput < 0)
            continue;
        oche_world_flow_pause_loss(world, i, &holds);
        flow->lost_share = (double)holds.lost / (double)holds.life;
        snprintf(flow->name, sizeof(flow->name), "%s to %s, %s",
                 topology->nodes[flows->plan[i].src].name, topology->nodes[flows->plan[i].dst].name,
                 oche_figure_bytes(flows->plan[i].bytes).text);
        flow->goodput_bps = (uint64_t)(goodput * 8 * (double)OCHE_SEC);
        flow->delivered = flows->received[i].delivered != OCHE_NEVER;
        outcome->listed_count++;
    }
}

static void take_flows(struct oche_outcome *outcome, struct oche_world *world)
{
    const struct oche_flows *flows = oche_world_flows(world);
    oche_time warmup = oche_world_config(world)->run.warmup;
    struct oche_flow_record *records =
        malloc(((size_t)oche_flows_made(flows) + 1) * sizeof(*records));
    uint32_t count = 0;

    OCHE_GOT(records != NULL);
    for (OCHE_EACH_MADE_FLOW(i, flows))
        records[count++] = (struct oche_flow_record){
            .bytes = flows->plan[i].bytes,
            .start = flows->sent[i].started,
            .end = flows->received[i].delivered,
            .ideal = flows->sent[i].started == OCHE_NEVER ? 0 : oche_world_ideal_time(world, i),
            .failed = flows->sent[i].failed != 0,
            .flow = i};
    OCHE_MUST(oche_completion_size_count == OCHE_OUTCOME_SIZES);
    outcome->warmup_flows = oche_flow_completion(records, count, warmup, oche_completion_sizes,
                                                 oche_completion_size_count, outcome->sizes);
    static const uint64_t short_or_not[] = {0, OCHE_SHORT_BYTES};
    struct oche_completion_row rows[3];

    oche_flow_completion(records, count, warmup, short_or_not, 2, rows);
    outcome->sizes[OCHE_OUTCOME_SHORT] = rows[0];
    oche_size_rows_exact(outcome, records, count, warmup);
    oche_size_rows_packets(outcome, world);
    const struct oche_completion_row *all = &outcome->sizes[OCHE_OUTCOME_SIZES];

    outcome->flows = all->flows;
    outcome->delivered = all->delivered;
    outcome->failed = all->failed;
    outcome->unfinished = all->flows - all->delivered - all->failed;
    take_goodputs(outcome, world);
    outcome->compete = do_compete(world);
    take_times(outcome, records, count, warmup);
    list_flows(outcome, world);
    oche_failures_take(&outcome->failures, world, &outcome->totals, records, count);
    outcome->pair_count = oche_pairs_take(world, outcome->pairs);
    free(records);
}

/* Returns the number of packets that NICs sent: data and every kind of answer. */
static uint64_t packets_of_hosts(const struct oche_nic_stats *nic)
{
    return nic->data_packets_sent + nic->acks_sent + nic->naks_sent + nic->rnr_naks_sent +
           nic->cnps_sent + nic->cc_packets_sent;
}

static void take_ports(struct oche_outcome *outcome, const struct oche_world *world)
{
    const struct oche_topology *topology = oche_world_topology(world);
    uint32_t count = oche_world_network(world)->port_count;
    uint64_t *line_bytes = malloc((count + 1) * sizeof(*line_bytes));
    struct oche_switch_port_stats *stats = malloc((count + 1) * sizeof(*stats));

    OCHE_GOT(line_bytes != NULL && stats != NULL);
    for (uint32_t i = 0; i < count; i++)
        line_bytes[i] = oche_world_line_bytes(world, i);
    for (uint32_t n = 0; n < topology->host_count; n++)
        outcome->host_line_bytes += line_bytes[topology->nodes[n].first_port];
    oche_world_port_stats(world, stats);
    oche_utilisation_by_place(topology, line_bytes, outcome->totals.measured, outcome->utilisation);
    oche_marks_by_place(topology, stats, packets_of_hosts(&outcome->totals.nic),
                        outcome->totals.nic.ce_marked, outcome->marks);
    oche_congestion(topology, stats, outcome->congestion);
    oche_imbalance(topology, line_bytes, outcome->imbalance);
    for (uint32_t where = 0; where < OCHE_WHERES; where++)
        if (outcome->congestion[where].packets > 0)
            oche_topology_port_name(topology, outcome->congestion[where].node,
                                    outcome->congestion[where].port, outcome->worst[where],
                                    sizeof(outcome->worst[where]));
    oche_pause_by_kind(topology, stats, outcome->pauses);
    oche_pausing_hosts_take(&outcome->pausing_hosts, world, stats);
    const struct oche_utilisation_row *use =
        outcome->load.known ? outcome->load.utilisation : outcome->utilisation;

    for (uint32_t place = 0; place < OCHE_PLACES; place++)
        if (use[place].ports > 0)
            oche_topology_port_name(topology, use[place].node, use[place].port,
                                    outcome->busiest[place], sizeof(outcome->busiest[place]));
    for (uint32_t n = 0; n < oche_topology_nodes(topology); n++)
        for (uint32_t p = 0; p < topology->nodes[n].port_count; p++)
            outcome->lost[oche_topology_place(topology, n, p)] +=
                oche_world_lost_packets(world, topology->nodes[n].first_port + p);
    free(line_bytes);
    free(stats);
}

static void take_events(struct oche_outcome *outcome, const struct oche_world *world)
{
    const struct oche_network *network = oche_world_network(world);
    const struct oche_port *port;

    if (!oche_world_event_counts(world, &outcome->events))
        return;
    port = &network->ports[outcome->events.port];
    oche_topology_port_name(oche_world_topology(world), port->node, port->local,
                            outcome->events_port, sizeof(outcome->events_port));
}

static void take_queues(struct oche_outcome *outcome, const struct oche_world *world)
{
    outcome->queue_count = oche_world_watch_count(world);
    outcome->queues = calloc(outcome->queue_count + 1, sizeof(*outcome->queues));
    OCHE_GOT(outcome->queues != NULL);
    for (uint32_t i = 0; i < outcome->queue_count; i++) {
        const char *name;
        const struct oche_queue_watch *watch = oche_world_watch(world, i, &name);

        snprintf(outcome->queues[i].name, sizeof(outcome->queues[i].name), "%s", name);
        outcome->queues[i].occupancy = oche_queue_occupancy(watch, oche_world_network(world)->now);
    }
}

static void take_endpoint_remark(struct oche_outcome *outcome,
                                 const struct oche_world_config *config)
{
    if (config->endpoint->remark == NULL)
        return;
    for (unsigned kind = 0; kind < OCHE_NODE_KINDS; kind++) {
        if (config->topology->tiers[kind] == NULL)
            continue;
        const char *remark =
            config->endpoint->remark(config->endpoint_params, oche_world_of_tier(config, kind));

        if (remark != NULL)
            snprintf(outcome->remark, sizeof(outcome->remark), "%s", remark);
    }
}

static void take_remark(struct oche_outcome *outcome, const struct oche_world *world)
{
    const struct oche_world_config *config = oche_world_config(world);

    oche_ignored(world, outcome->ignored, sizeof(outcome->ignored));
    snprintf(outcome->topology_remark, sizeof(outcome->topology_remark), "%s",
             oche_world_topology(world)->remark);
    oche_printable(oche_world_flow_remark(world), outcome->flow_remark,
                   sizeof(outcome->flow_remark));
    if (config->endpoint != NULL) {
        oche_posted_remark(world, outcome->remark, sizeof(outcome->remark));
        take_endpoint_remark(outcome, config);
        return;
    }
    if (config->cc->advice == NULL || config->cc->advice->remark == NULL)
        return;
    const struct oche_host_rates *rates = oche_world_host_rates(world);
    const oche_time empty_rtt = oche_world_empty_rtt(world);
    const char *remark = NULL;

    for (uint32_t i = 0; i < rates->count && remark == NULL; i++)
        remark = config->cc->advice->remark(oche_world_fitted_cc(world), empty_rtt,
                                            rates->kinds[i].link_bps);
    if (remark != NULL)
        snprintf(outcome->remark, sizeof(outcome->remark),
                 "where nothing waits, a round trip takes up to %s: %s",
                 oche_figure_time(empty_rtt).text, remark);
}

/*
 * Makes one table of the series called `name` whose entities begin with `entity` ("flow 0", …).
 * Leaves it empty if there are more than `most` flows, or if there is no measure.interval.
 */
static void take_rates(struct oche_rates *rates, const struct oche_world *world, const char *name,
                       const char *entity, uint32_t flows, uint32_t most)
{
    const struct oche_world_config *config = oche_world_config(world);
    uint32_t found = 0;

    if (oche_measure_interval(config) == 0 || flows > most)
        return;
    for (uint32_t i = 0; i < oche_world_series_count(world) && found < flows; i++) {
        struct oche_world_series series = oche_world_series(world, i);

        if (strcmp(series.name, name) != 0 || strncmp(series.entity, entity, strlen(entity)) != 0)
            continue;
        if (found == 0) {
            rates->windows = series.count;
            rates->rates = calloc((size_t)flows * series.count + 1, sizeof(double));
            OCHE_GOT(rates->rates != NULL);
        }
        if (series.count > 0)
            memcpy(rates->rates + (size_t)found * series.count, series.values,
                   series.count * sizeof(double));
        found++;
    }
    rates->flows = rates->windows > 0 ? found : 0;
    rates->from_s = (double)config->run.warmup / (double)OCHE_SEC;
    rates->window_s = (double)oche_measure_interval(config) / (double)OCHE_SEC;
}

static void take_thresholds(struct oche_outcome *outcome, const struct oche_world *world)
{
    const struct oche_topology *topology = oche_world_topology(world);
    struct oche_switch_port_config ports[OCHE_MAX_PORTS];
    struct oche_switch_config config;
    uint32_t largest;

    if (topology->switch_count == 0)
        return;
    largest = oche_topology_at_place(topology, topology->host_count);
    for (uint32_t i = 1; i < topology->switch_count; i++) {
        uint32_t node = oche_topology_at_place(topology, topology->host_count + i);

        if (topology->nodes[node].port_count > topology->nodes[largest].port_count)
            largest = node;
    }
    oche_world_switch_config(world, largest - topology->host_count, &config, ports);
    outcome->has_thresholds = oche_thresholds(&config, &outcome->thresholds);
}

static void take_headroom_remark(struct oche_outcome *outcome, const struct oche_world *world)
{
    struct oche_headroom_lack lack;
    char name[OCHE_OUTCOME_NAME_BYTES];

    if (!oche_world_headroom_lack(world, &lack))
        return;
    oche_topology_port_name(oche_world_topology(world), lack.node, lack.port, name, sizeof(name));
    snprintf(
        outcome->headroom_remark, sizeof(outcome->headroom_remark),
        "packets may be lost in spite of PFC: %s has %s B of headroom, and its link needs %s B",
        name, oche_figure_count(lack.has).text, oche_figure_count(lack.needs).text);
}

/* True if a flow of a workload that ends by itself had started but not arrived. */
static bool is_cut_short(const struct oche_world *world)
{
    const struct oche_world_config *config = oche_world_config(world);
    const struct oche_flows *flows = oche_world_flows(world);

    for (OCHE_EACH_MADE_FLOW(i, flows)) {
        const struct oche_workload_config *workload = &config->workloads[flows->plan[i].workload];

        if (flows->sent[i].started != OCHE_NEVER && flows->received[i].delivered == OCHE_NEVER &&
            flows->sent[i].failed == 0 &&
            oche_workload_endless(workload->type, workload->params) == NULL)
            return true;
    }
    return false;
}

static enum oche_preset preset_of_scheme(const struct oche_world_config *config)
{
    const bool rnic = config->endpoint == NULL;
    const struct oche_param_table *table = rnic ? &config->cc->table : config->endpoint->table;
    const struct oche_param *row = oche_param_find(table, "preset");

    if (row == NULL)
        return config->defaults;
    return (enum oche_preset)oche_param_get(row, rnic ? config->cc_params : config->endpoint_params)
        .u;
}

/*
 * Counts the time until flows settle, in empty round trips. It starts with the last flow that does
 * not wait for another one to end.
 */
static void take_trips(struct oche_by_rate *by, const struct oche_world *world)
{
    struct oche_flow_walk walk = oche_flow_walk(oche_world_flows(world));
    const double trip = (double)oche_world_empty_rtt(world) / (double)OCHE_SEC;
    const struct oche_flow_plan *plan;
    oche_time last = 0;

    while ((plan = oche_flow_walk_next(&walk)) != NULL)
        if (plan->start != OCHE_NEVER)
            last = oche_time_max(last, plan->start);
    const double from = (double)last / (double)OCHE_SEC;

    by->settled_trips = trip > 0 ? fmax(0, by->settled - from) / trip : NAN;
    by->paced_trips = trip > 0 ? fmax(0, by->paced_settled - from) / trip : NAN;
    if (isnan(by->settled))
        by->settled_trips = NAN;
    if (isnan(by->paced_settled))
        by->paced_trips = NAN;
}

void oche_outcome_take(struct oche_outcome *outcome, struct oche_world *world, const char *label,
                       double wall_s)
{
    const struct oche_world_config *config = oche_world_config(world);
    const bool one_thread = config->record_schedule || config->mail != NULL;

    *outcome = (struct oche_outcome){
        .pfc = config->switches.pfc,
        .ipv6 = config->hosts.ipv6,
        .has_adapters = config->endpoint == NULL,
        .has_profiles = config->nic_count > 0 ||
                        (config->hosts.nic != NULL && strcmp(config->hosts.nic, "ideal") != 0),
        .seed = config->seed,
        .threads = one_thread ? 1 : oche_world_thread_split(world)->threads,
        .processors = config->threads == 0 && config->mail == NULL ? config->processors : 0,
        .processes = config->mail == NULL ? 1 : config->mail->count,
        .defaults = config->defaults,
        .scheme_preset = preset_of_scheme(config),
        .end = oche_world_ended(world),
        .cut_short = is_cut_short(world),
        .simulated = oche_world_network(world)->now,
        .wall_s = wall_s};
    snprintf(outcome->label, sizeof(outcome->label), "%s", label);
    snprintf(outcome->topology, sizeof(outcome->topology), "%s",
             oche_world_topology(world)->summary);
    snprintf(outcome->scheme, sizeof(outcome->scheme), "%s", oche_world_scheme_name(config));
    snprintf(outcome->recovery, sizeof(outcome->recovery), "%s",
             config->endpoint != NULL && !config->endpoint->roce ? config->endpoint->recovery
                                                                 : config->recovery->name);
    if (config->hosts.nic != NULL)
        oche_printable(config->hosts.nic, outcome->adapter, sizeof(outcome->adapter));
    outcome->adapters = config->nic_count > 0;
    take_remark(outcome, world);
    take_headroom_remark(outcome, world);
    take_events(outcome, world);
    oche_unfit_take(&outcome->unfit, world);
    oche_world_totals(world, &outcome->totals);
    oche_world_path_lengths(world, &outcome->ways);
    take_flows(outcome, world);
    take_hosts(outcome, world);
    oche_load_take(&outcome->load, world);
    take_ports(outcome, world);
    take_queues(outcome, world);
    oche_by_workload_take(&outcome->by_workload, world, outcome->totals.measured);
    take_rates(&outcome->rates, world, "goodput", "flow ", oche_world_flows(world)->count,
               OCHE_OUTCOME_RATED);
    take_rates(&outcome->paced, world, "rate", "connection ",
               oche_world_flows(world)->connection_count, OCHE_OUTCOME_PACED);
    oche_by_rate_take(&outcome->by_rate, &outcome->rates, &outcome->model, &outcome->paced);
    take_trips(&outcome->by_rate, world);
    oche_round_trips_take(&outcome->round_trips, world, &outcome->rates);
    take_thresholds(outcome, world);
    oche_pathologies_take(&outcome->pathologies, world);
    oche_deflected_take(&outcome->deflected, world);
}

void oche_outcome_free(struct oche_outcome *outcome)
{
    for (unsigned i = 0; i < OCHE_OUTCOME_SAMPLES; i++) {
        free(outcome->samples[i].values);
        outcome->samples[i] = (struct oche_sorted_values){.count = 0};
    }
    oche_pathologies_free(&outcome->pathologies);
    oche_by_workload_free(&outcome->by_workload);
    oche_round_trips_free(&outcome->round_trips);
    oche_failures_free(&outcome->failures);
    free(outcome->queues);
    free(outcome->rates.rates);
    free(outcome->paced.rates);
    free(outcome->model.rates);
    outcome->rates = outcome->model = outcome->paced = (struct oche_rates){.flows = 0};
    outcome->queues = NULL;
    outcome->queue_count = 0;
}
