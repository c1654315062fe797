/* SPDX-License-Identifier: Apache-2.0 */
/* The metrics, group by group. */
#include "cli/run/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/run/failure_rows.h"
#include "cli/run/scheme_rows.h"
#include "fabric/iofd.h"
#include "params/figures.h"
#include "sim/measure/percentile.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define NONE            "–" /* there is no such number */

/* One row: `which` is the size, place, kind or queue that it is about. */
struct row {
    const char *name;
    unsigned which;
    void (*cell)(struct oche_table *table, const struct oche_outcome *outcome, unsigned which);
};

static void add_row(struct oche_table *table, const struct row *row,
                    const struct oche_outcome *outcomes, size_t count)
{
    oche_table_cell(table, "%s", row->name);
    for (size_t i = 0; i < count; i++)
        row->cell(table, &outcomes[i], row->which);
}

/* A title over rows that follow. */
static void add_title(struct oche_table *table, const char *title, size_t count)
{
    oche_table_rule(table);
    oche_table_cell(table, "%s", title);
    for (size_t i = 0; i < count; i++)
        oche_table_cell(table, "%s", "");
}

static void count_cell(struct oche_table *table, uint64_t count)
{
    oche_table_cell(table, "%s", oche_figure_count(count).text);
}

static void time_cell(struct oche_table *table, oche_time time)
{
    oche_table_cell(table, "%s", oche_figure_time(time).text);
}

/* ---- flows ---- */

static void flows_started(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    count_cell(table, o->flows);
}

static void flows_delivered(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    count_cell(table, o->delivered);
}

static void flows_unfinished(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    count_cell(table, o->unfinished);
}

static void flows_failed(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    count_cell(table, o->failed);
}

static void flows_in_warmup(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    count_cell(table, o->warmup_flows);
}

static const struct row flow_rows[] = {
    {"flows started", 0, flows_started},
    {"  delivered", 0, flows_delivered},
    {"  unfinished at the end", 0, flows_unfinished},
    {"  failed", 0, flows_failed},
    {"left out: began in warm-up", 0, flows_in_warmup},
};

/* ---- completion times and slowdowns ---- */

/* Percentiles one below the other, whatever their units: cells of equal width. */
#define CELL "%6s %6s %6s %6s"

static void fct_cell(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    const struct oche_completion_row *row = &o->sizes[which];

    if (row->delivered == 0)
        oche_table_cell(table, NONE);
    else
        oche_table_cell(table, CELL, oche_figure_time(row->time[OCHE_P50]).text,
                        oche_figure_time(row->time[OCHE_P90]).text,
                        oche_figure_time(row->time[OCHE_P99]).text,
                        oche_figure_time(row->time[OCHE_P999]).text);
}

static void slowdown_cell(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    const struct oche_completion_row *row = &o->sizes[which];

    if (row->delivered == 0)
        oche_table_cell(table, NONE);
    else
        oche_table_cell(table, CELL, oche_figure_ratio(row->slowdown[OCHE_P50]).text,
                        oche_figure_ratio(row->slowdown[OCHE_P90]).text,
                        oche_figure_ratio(row->slowdown[OCHE_P99]).text,
                        oche_figure_ratio(row->slowdown[OCHE_P999]).text);
}

static void size_rows(struct oche_table *table, const char *title,
                      void (*cell)(struct oche_table *, const struct oche_outcome *, unsigned),
                      const struct oche_outcome *outcomes, size_t count)
{
    char name[64] = "  ";

    add_title(table, title, count);
    for (unsigned r = 0; r <= OCHE_OUTCOME_SIZES; r++) {
        uint64_t flows = 0;

        for (size_t i = 0; i < count; i++)
            flows += outcomes[i].sizes[r].flows;
        if (flows == 0)
            continue;
        oche_outcome_size_name(&outcomes[0].sizes[r], name + 2, sizeof(name) - 2);
        add_row(table, &(struct row){name, r, cell}, outcomes, count);
    }
}

/* ---- single flows ---- */

static void listed_cell(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    if (which >= o->listed_count)
        oche_table_cell(table, NONE);
    else
        oche_table_cell(table, "%s%s", oche_figure_rate(o->listed[which].goodput_bps).text,
                        o->listed[which].delivered ? "" : " so far");
}

/* Flow by flow, if every run has the same ones. */
static void list_rows(struct oche_table *table, const struct oche_outcome *outcomes, size_t count)
{
    char name[sizeof(outcomes->listed[0].name) + 2] = "  ";

    for (size_t i = 0; i < count; i++) {
        if (outcomes[i].listed_count != outcomes[0].listed_count)
            return;
        for (unsigned f = 0; f < outcomes[0].listed_count; f++)
            if (strcmp(outcomes[i].listed[f].name, outcomes[0].listed[f].name) != 0)
                return;
    }
    if (outcomes[0].listed_count == 0)
        return;
    add_title(table, "goodput of each flow", count);
    for (unsigned f = 0; f < outcomes[0].listed_count; f++) {
        snprintf(name + 2, sizeof(name) - 2, "%s", outcomes[0].listed[f].name);
        add_row(table, &(struct row){name, f, listed_cell}, outcomes, count);
    }
}

/* ---- workloads ---- */

static void goodput_cell(struct oche_table *table, const struct oche_sorted_values *sorted)
{
    if (sorted->count == 0)
        oche_table_cell(table, NONE);
    else
        oche_table_cell(
            table, "%s %8s",
            oche_figure_rate((uint64_t)oche_percentile_real(sorted->values, sorted->count, 100))
                .text,
            oche_figure_rate((uint64_t)oche_percentile_real(sorted->values, sorted->count, 500))
                .text);
}

static void workload_flows(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    goodput_cell(table, &o->by_workload.workloads[which].flow_goodput);
}

static void workload_pairs(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    goodput_cell(table, &o->by_workload.workloads[which].pair_goodput);
}

/* Of what applications make at a rate of their own. */
static void workload_carried(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    const struct oche_workload_outcome *workload = &o->by_workload.workloads[which];

    if (!workload->supplied || !(workload->offered_bps > 0))
        oche_table_cell(table, NONE);
    else
        oche_table_cell(table, "%s %8s", oche_figure_rate((uint64_t)workload->offered_bps).text,
                        oche_figure_share(workload->goodput_bps / workload->offered_bps).text);
}

static bool any_supplied(const struct oche_outcome *outcome)
{
    for (uint32_t w = 0; w < outcome->by_workload.count; w++)
        if (outcome->by_workload.workloads[w].supplied)
            return true;
    return false;
}

/* Where a scenario has several, and every run the same ones. */
static void workload_rows(struct oche_table *table, const struct oche_outcome *outcomes,
                          size_t count)
{
    static const struct row rows[] = {
        {"goodput of flows by workload, 10 % below, median", 0, workload_flows},
        {"goodput of pairs of hosts by workload, the same", 0, workload_pairs},
        {"made by workload, share that the network carried", 0, workload_carried}};
    const struct oche_by_workload *first = &outcomes[0].by_workload;
    char name[64];

    for (size_t i = 0; i < count; i++) {
        if (outcomes[i].by_workload.count != first->count || first->count < 2)
            return;
        for (unsigned w = 0; w < first->count; w++)
            if (strcmp(outcomes[i].by_workload.workloads[w].type, first->workloads[w].type) != 0)
                return;
    }
    for (size_t r = 0; r < COUNT_OF(rows); r++) {
        if (rows[r].cell == workload_carried && !any_supplied(&outcomes[0]))
            continue;
        add_title(table, rows[r].name, count);
        for (unsigned w = 0; w < first->count; w++) {
            snprintf(name, sizeof(name), "  %u: %s", w, first->workloads[w].type);
            add_row(table, &(struct row){name, w, rows[r].cell}, outcomes, count);
        }
    }
}

/* ---- traffic ---- */

static void goodput(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    oche_table_cell(
        table, "%s",
        oche_figure_rate(oche_rate_of(o->totals.nic.delivered_bytes, o->totals.measured)).text);
}

static void jain(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    if (o->jain < 0)
        oche_table_cell(table, NONE);
    else
        oche_table_cell(table, "%.3f", o->jain);
}

static void drops(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    count_cell(table, o->totals.drops[which]);
}

static void other_drops(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    count_cell(table, o->totals.drops[OCHE_DROP_NO_ROUTE] + o->totals.drops[OCHE_DROP_TTL] +
                          o->totals.rejected_packets);
}

static void lost(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    count_cell(table, o->totals.lost_packets);
}

static void retransmitted(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    count_cell(table, o->totals.nic.retransmitted_packets);
}

static void timeouts(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    count_cell(table, o->totals.nic.timeouts);
}

static void timeouts_by_cause(struct oche_table *table, const struct oche_outcome *o,
                              unsigned which)
{
    if (o->totals.timeout_causes_known)
        count_cell(table, o->totals.timeout_causes[which]);
    else
        oche_table_cell(table, NONE);
}

static void naks(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    count_cell(table, o->totals.nic.naks_sent);
}

static void cnps(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    count_cell(table, o->totals.nic.cnps_sent);
}

static void cc_packets(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    count_cell(table, o->totals.nic.cc_packets_sent);
}

static const struct row cc_packets_row = {"other packets of congestion control", 0, cc_packets};

static const struct row traffic_rows[] = {
    {"goodput, all hosts", 0, goodput},
    {"Jain's index of flow goodputs", 0, jain},
    {"data packets retransmitted", 0, retransmitted},
    {"ACK timeouts", 0, timeouts},
    {"NAKs", 0, naks},
    {"CNPs", 0, cnps},
    {"dropped by switches, buffer full", OCHE_DROP_BUFFER, drops},
    {"dropped for another reason", 0, other_drops},
    {"lost on links", 0, lost},
};

/* Under the timeouts: what they came from, as far as they did. */
static void cause_rows(struct oche_table *table, const struct oche_outcome *outcomes, size_t count)
{
    static const struct row rows[OCHE_TIMEOUT_CAUSES] = {
        {"  the last packet was lost", OCHE_TIMEOUT_LAST_PACKET, timeouts_by_cause},
        {"  the last ACK was lost", OCHE_TIMEOUT_LAST_ACK, timeouts_by_cause},
        {"  the NAK was lost", OCHE_TIMEOUT_NAK_LOST, timeouts_by_cause},
        {"  the same packet was lost twice", OCHE_TIMEOUT_LOST_TWICE, timeouts_by_cause},
        {"  the NAK waited for its interval", OCHE_TIMEOUT_NAK_HELD, timeouts_by_cause},
        {"  the answer was on its way", OCHE_TIMEOUT_OTHER, timeouts_by_cause},
    };

    for (unsigned cause = 0; cause < OCHE_TIMEOUT_CAUSES; cause++) {
        uint64_t sum = 0;

        for (size_t i = 0; i < count; i++)
            sum += outcomes[i].totals.timeout_causes[rows[cause].which];
        if (sum > 0)
            add_row(table, &rows[cause], outcomes, count);
    }
}

/* Few schemes have such, and some of them have rows of their own for them. */
static bool any_cc_packets(const struct oche_outcome *outcomes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (outcomes[i].totals.nic.cc_packets_sent > 0 &&
            !oche_scheme_tells_own_packets(&outcomes[i]))
            return true;
    return false;
}

static void traffic(struct oche_table *table, const struct oche_outcome *outcomes, size_t count)
{
    oche_table_rule(table);
    for (size_t i = 0; i < COUNT_OF(traffic_rows); i++) {
        add_row(table, &traffic_rows[i], outcomes, count);
        if (traffic_rows[i].cell == timeouts)
            cause_rows(table, outcomes, count);
        if (traffic_rows[i].cell == cnps && any_cc_packets(outcomes, count))
            add_row(table, &cc_packets_row, outcomes, count);
        if (traffic_rows[i].cell == cnps)
            oche_scheme_rows(table, outcomes, count);
    }
    oche_failure_rows(table, outcomes, count);
}

/* ---- places ---- */

static void utilisation(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    const struct oche_utilisation_row *row = &o->utilisation[which];

    if (row->ports == 0)
        oche_table_cell(table, NONE);
    else
        oche_table_cell(table, "%s %7s", oche_figure_share(row->mean).text,
                        oche_figure_share(row->largest).text);
}

static void marks(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    count_cell(table, o->marks[which].marks);
}

static uint64_t all_marks(const struct oche_outcome *outcome)
{
    uint64_t sum = 0;

    for (unsigned place = 0; place < OCHE_PLACES; place++)
        sum += outcome->marks[place].marks;
    return sum;
}

static void place_rows(struct oche_table *table, const char *title,
                       void (*cell)(struct oche_table *, const struct oche_outcome *, unsigned),
                       const struct oche_outcome *outcomes, size_t count)
{
    char name[64];

    add_title(table, title, count);
    for (unsigned p = 0; p < OCHE_PLACES; p++) {
        enum oche_port_place place = oche_places_up[p];
        uint32_t ports = 0;

        for (size_t i = 0; i < count; i++)
            ports += outcomes[i].utilisation[place].ports;
        if (ports == 0)
            continue;
        snprintf(name, sizeof(name), "  %s", oche_port_place_name(place));
        add_row(table, &(struct row){name, place, cell}, outcomes, count);
    }
}

static void mark_rows(struct oche_table *table, const struct oche_outcome *outcomes, size_t count)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += all_marks(&outcomes[i]);
    if (sum > 0)
        place_rows(table, "packets marked CE", marks, outcomes, count);
}

/* What a packet's way loses there, mean; and of all that. */
static void waiting(struct oche_table *table, const struct oche_outcome *o, unsigned where)
{
    const struct oche_congestion_row *row = &o->congestion[where];
    const uint64_t packets = o->totals.nic.data_packets_sent;
    const oche_time all = o->congestion[OCHE_WHERE_ALL].queueing;

    if (row->ports == 0 || packets == 0 || all == 0)
        oche_table_cell(table, NONE);
    else
        oche_table_cell(table, "%s %7s", oche_figure_time(row->queueing / packets).text,
                        oche_figure_share((double)row->queueing / (double)all).text);
}

static void waiting_rows(struct oche_table *table, const struct oche_outcome *outcomes,
                         size_t count)
{
    char name[64];

    add_title(table, "waiting on a packet's way, share", count);
    for (unsigned where = 0; where < OCHE_WHERE_LINKS; where++) {
        uint32_t ports = 0;

        for (size_t i = 0; i < count; i++)
            ports += outcomes[i].congestion[where].ports;
        snprintf(name, sizeof(name), "  %s", oche_where_name(where));
        if (ports > 0)
            add_row(table, &(struct row){name, where, waiting}, outcomes, count);
    }
}

/* ---- PAUSE ---- */

static void pauses_sent(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    count_cell(table, o->pauses[which].sent);
}

static void all_pauses_sent(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    count_cell(table, o->totals.pauses_sent);
}

static void held(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    time_cell(table, o->pauses[which].received_time);
}

static void longest_held(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    oche_time longest = 0;

    (void)which;
    for (unsigned kind = 0; kind < OCHE_NODE_KINDS; kind++)
        if (o->pauses[kind].longest_held > longest)
            longest = o->pauses[kind].longest_held;
    time_cell(table, longest);
}

static void hot_spots(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    count_cell(table, o->pathologies.hot_spots);
}

static void victims(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    count_cell(table, o->pathologies.victims);
}

static void worst_victim(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    if (o->pathologies.worst_flow[0] == '\0')
        oche_table_cell(table, NONE);
    else
        oche_table_cell(table, "%s, %s", o->pathologies.worst_flow,
                        oche_figure_share(o->pathologies.worst_share).text);
}

static void pause_rows(struct oche_table *table, const struct oche_outcome *outcomes, size_t count)
{
    char name[64];

    oche_table_rule(table);
    add_row(table, &(struct row){"PAUSE frames sent", 0, all_pauses_sent}, outcomes, count);
    for (unsigned kind = 0; kind < 2 * OCHE_NODE_KINDS; kind++) {
        bool time = kind >= OCHE_NODE_KINDS;
        unsigned of = kind % OCHE_NODE_KINDS;
        uint64_t any = 0;

        for (size_t i = 0; i < count; i++)
            any += time ? outcomes[i].pauses[of].received_time : outcomes[i].pauses[of].sent;
        if (any == 0)
            continue;
        snprintf(name, sizeof(name), time ? "%s ports held, sum" : "  by %s switches",
                 oche_node_kind_name(of));
        add_row(table, &(struct row){name, of, time ? held : pauses_sent}, outcomes, count);
    }
    add_row(table, &(struct row){"most that one port was held", 0, longest_held}, outcomes, count);
    add_row(table, &(struct row){"ports where PAUSEs began", 0, hot_spots}, outcomes, count);
    add_row(table, &(struct row){"victims of congestion elsewhere", 0, victims}, outcomes, count);
    add_row(table, &(struct row){"  worst off, share of time lost", 0, worst_victim}, outcomes,
            count);
}

/* ---- deflection ---- */

/* A counter of the mechanism iofd; `which` is its number. */
static void deflection_counter(struct oche_table *table, const struct oche_outcome *o,
                               unsigned which)
{
    unsigned m = 0;

    while (oche_switch_mechanisms[m] != &oche_iofd)
        m++;
    if (o->ways.known)
        count_cell(table, o->totals.mechanisms[m][which]);
    else
        oche_table_cell(table, NONE);
}

static void deflected_flows(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    if (!o->ways.known)
        oche_table_cell(table, NONE);
    else
        oche_table_cell(table, "%s of %s", oche_figure_count(o->ways.deflected.flows).text,
                        oche_figure_count(o->ways.short_ones.flows).text);
}

/* How much longer ways were than the shortest: of short messages (0), of all packets (1). */
static void longer_ways(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    const struct oche_way_sum *sum = which == 0 ? &o->ways.short_ones : &o->ways.all;

    if (sum->shortest == 0)
        oche_table_cell(table, NONE);
    else
        oche_table_cell(
            table, "%s",
            oche_figure_share((double)(sum->links - sum->shortest) / (double)sum->shortest).text);
}

static const struct row deflection_rows[] = {
    {"deflected flows, of short messages", 0, deflected_flows},
    {"deflections", OCHE_IOFD_DEFLECTIONS, deflection_counter},
    {"  refused: no token", OCHE_IOFD_NO_TOKEN, deflection_counter},
    {"  refused: table full", OCHE_IOFD_NO_ENTRY, deflection_counter},
    {"  refused: no other port", OCHE_IOFD_NO_CANDIDATE, deflection_counter},
    {"  refused: at the receiver's port", OCHE_IOFD_LAST_HOP, deflection_counter},
    {"most entries at one switch", OCHE_IOFD_ENTRIES_PEAK, deflection_counter},
    {"entries that aged", OCHE_IOFD_AGED, deflection_counter},
    {"ways of short messages longer by", 0, longer_ways},
    {"load of links higher by", 1, longer_ways},
};

static bool any_deflects(const struct oche_outcome *outcomes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (outcomes[i].ways.known)
            return true;
    return false;
}

/* ---- watched queues ---- */

/* By name: another run may watch others, or in another order. */
static void queue_row(struct oche_table *table, const char *name,
                      const struct oche_outcome *outcomes, size_t count)
{
    oche_table_cell(table, "  %s", name);
    for (size_t i = 0; i < count; i++) {
        const struct oche_queue_occupancy *queue = NULL;

        for (uint32_t q = 0; q < outcomes[i].queue_count; q++)
            if (strcmp(outcomes[i].queues[q].name, name) == 0)
                queue = &outcomes[i].queues[q].occupancy;
        if (queue == NULL) {
            oche_table_cell(table, NONE);
            continue;
        }
        oche_table_cell(table, CELL " %6s", oche_figure_bytes(queue->percentile[OCHE_P50]).text,
                        oche_figure_bytes(queue->percentile[OCHE_P90]).text,
                        oche_figure_bytes(queue->percentile[OCHE_P99]).text,
                        oche_figure_bytes(queue->percentile[OCHE_P999]).text,
                        oche_figure_bytes(queue->max_bytes).text);
    }
}

static bool is_in_an_earlier_one(const struct oche_outcome *outcomes, size_t before,
                                 const char *name)
{
    for (size_t i = 0; i < before; i++)
        for (uint32_t q = 0; q < outcomes[i].queue_count; q++)
            if (strcmp(outcomes[i].queues[q].name, name) == 0)
                return true;
    return false;
}

static void queue_rows(struct oche_table *table, const struct oche_outcome *outcomes, size_t count)
{
    bool titled = false;

    for (size_t i = 0; i < count; i++) {
        for (uint32_t q = 0; q < outcomes[i].queue_count; q++) {
            if (is_in_an_earlier_one(outcomes, i, outcomes[i].queues[q].name))
                continue;
            if (!titled)
                add_title(table, "queue p50, p90, p99, p99.9, most", count);
            titled = true;
            queue_row(table, outcomes[i].queues[q].name, outcomes, count);
        }
    }
}

/* ---- the run ---- */

static void simulated(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    time_cell(table, o->simulated);
}

static void measured(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    time_cell(table, o->totals.measured);
}

static void hops(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    count_cell(table, o->totals.hops);
}

static void hash(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    oche_table_cell(table, "%016" PRIx64, o->totals.hash);
}

static void wall(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    oche_table_cell(table, "%.2f s", o->wall_s);
}

static void speed(struct oche_table *table, const struct oche_outcome *o, unsigned which)
{
    (void)which;
    if (o->wall_s <= 0)
        oche_table_cell(table, NONE);
    else
        oche_table_cell(table, "%.2f M/s", (double)o->totals.hops / o->wall_s / 1e6);
}

static const struct row run_rows[] = {
    {"simulated time", 0, simulated}, {"  of which measured", 0, measured},
    {"packet-hops", 0, hops},         {"trace hash", 0, hash},
    {"wall time", 0, wall},           {"speed, packet-hops", 0, speed},
};

/* ---- all of them ---- */

static void fixed_rows(struct oche_table *table, const struct row *rows, size_t row_count,
                       const struct oche_outcome *outcomes, size_t count)
{
    oche_table_rule(table);
    for (size_t i = 0; i < row_count; i++)
        add_row(table, &rows[i], outcomes, count);
}

void oche_metric_rows(struct oche_table *table, enum oche_metric_group group,
                      const struct oche_outcome *outcomes, size_t count)
{
    switch (group) {
    case OCHE_METRICS_FLOWS:
        fixed_rows(table, flow_rows, COUNT_OF(flow_rows), outcomes, count);
        break;
    case OCHE_METRICS_TIMES:
        size_rows(table, "FCT p50, p90, p99, p99.9", fct_cell, outcomes, count);
        break;
    case OCHE_METRICS_SLOWDOWNS:
        size_rows(table, "slowdown p50, p90, p99, p99.9", slowdown_cell, outcomes, count);
        break;
    case OCHE_METRICS_LIST:
        list_rows(table, outcomes, count);
        workload_rows(table, outcomes, count);
        break;
    case OCHE_METRICS_TRAFFIC:
        traffic(table, outcomes, count);
        break;
    case OCHE_METRICS_LINKS:
        place_rows(table, "link utilisation, mean, most", utilisation, outcomes, count);
        break;
    case OCHE_METRICS_MARKS:
        mark_rows(table, outcomes, count);
        waiting_rows(table, outcomes, count);
        break;
    case OCHE_METRICS_PAUSES:
        pause_rows(table, outcomes, count);
        break;
    case OCHE_METRICS_DEFLECTION:
        if (any_deflects(outcomes, count))
            fixed_rows(table, deflection_rows, COUNT_OF(deflection_rows), outcomes, count);
        break;
    case OCHE_METRICS_QUEUES:
        queue_rows(table, outcomes, count);
        break;
    case OCHE_METRICS_RUN:
        fixed_rows(table, run_rows, COUNT_OF(run_rows), outcomes, count);
        break;
    case OCHE_METRIC_GROUPS:
        break;
    }
}
