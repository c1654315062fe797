/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of one run, and of several side by side. */
#include "cli/run/summary.h"

#include <string.h>

#include "cli/run/failure_rows.h"
#include "cli/run/metrics.h"
#include "cli/run/pathologies.h"
#include "params/figures.h"
#include "params/table.h"

static void print_and_free(struct oche_table *table, FILE *out)
{
    oche_table_print(table, out);
    oche_table_free(table);
}

static void print_setting(const struct oche_outcome *outcome, FILE *out)
{
    fprintf(out, "%s\ncongestion control %s, recovery %s, seed %llu\n", outcome->topology,
            outcome->scheme, outcome->recovery, (unsigned long long)outcome->seed);
    if (outcome->remark[0] != '\0')
        fprintf(out, "%s: %s.\n", outcome->scheme, outcome->remark);
    if (outcome->ignored[0] != '\0')
        fprintf(out, "%s: %s.\n", outcome->scheme, outcome->ignored);
    if (outcome->headroom_remark[0] != '\0')
        fprintf(out, "switch: %s.\n", outcome->headroom_remark);
}

/* ---- one run ---- */

static void print_sizes(const struct oche_outcome *outcome, FILE *out)
{
    struct oche_table *table = oche_table_create(12);
    const char *heads[] = {"flow size", "started", "delivered", "failed"};
    char name[64];

    for (size_t i = 0; i < 4; i++)
        oche_table_cell(table, "%s", heads[i]);
    for (unsigned p = 0; p < OCHE_PERCENTILES; p++)
        oche_table_cell(table, "%s%s", p == 0 ? "FCT " : "", oche_percentile_names[p]);
    for (unsigned p = 0; p < OCHE_PERCENTILES; p++)
        oche_table_cell(table, "%s%s", p == 0 ? "slowdown " : "", oche_percentile_names[p]);
    oche_table_rule(table);
    for (unsigned r = 0; r <= OCHE_OUTCOME_SIZES; r++) {
        const struct oche_completion_row *row = &outcome->sizes[r];

        if (row->flows == 0 && r < OCHE_OUTCOME_SIZES)
            continue;
        if (r == OCHE_OUTCOME_SIZES)
            oche_table_rule(table);
        oche_table_cell(table, "%s", oche_outcome_size_name(row, name, sizeof(name)));
        oche_table_cell(table, "%s", oche_figure_count(row->flows).text);
        oche_table_cell(table, "%s", oche_figure_count(row->delivered).text);
        oche_table_cell(table, "%s", oche_figure_count(row->failed).text);
        for (unsigned p = 0; p < OCHE_PERCENTILES; p++)
            oche_table_cell(table, "%s",
                            row->delivered > 0 ? oche_figure_time(row->time[p]).text : "–");
        for (unsigned p = 0; p < OCHE_PERCENTILES; p++)
            oche_table_cell(table, "%s",
                            row->delivered > 0 ? oche_figure_ratio(row->slowdown[p]).text : "–");
    }
    print_and_free(table, out);
}

static void print_unmeasured(const struct oche_outcome *outcome, FILE *out)
{
    if (outcome->unfinished > 0)
        fprintf(out, "%s flows were not finished at the end; their times are not in the table.\n",
                oche_figure_count(outcome->unfinished).text);
    if (outcome->warmup_flows > 0)
        fprintf(out, "%s flows began during warm-up and are left out.\n",
                oche_figure_count(outcome->warmup_flows).text);
}

static void print_places(const struct oche_outcome *outcome, FILE *out)
{
    struct oche_table *table = oche_table_create(9);
    static const char *const heads[] = {"links from", "ports",   "use, mean",
                                        "most",       "where",   "packets out",
                                        "marked CE",  "dropped", "lost on link"};

    for (size_t i = 0; i < 9; i++)
        oche_table_cell(table, "%s", heads[i]);
    oche_table_rule(table);
    for (unsigned p = 0; p < OCHE_PLACES; p++) {
        enum oche_port_place place = oche_places_up[p];
        const struct oche_utilisation_row *use = &outcome->utilisation[place];
        const struct oche_mark_row *marks = &outcome->marks[place];

        if (use->ports == 0)
            continue;
        oche_table_cell(table, "%s", oche_port_place_name(place));
        oche_table_cell(table, "%u", use->ports);
        oche_table_cell(table, "%s", oche_figure_share(use->mean).text);
        oche_table_cell(table, "%s", oche_figure_share(use->largest).text);
        oche_table_cell(table, "%s", outcome->busiest[place]);
        oche_table_cell(table, "%s", oche_figure_count(marks->packets).text);
        oche_table_cell(table, "%s", oche_figure_count(marks->marks).text);
        oche_table_cell(table, "%s", oche_figure_count(marks->drops).text);
        oche_table_cell(table, "%s", oche_figure_count(outcome->lost[place]).text);
    }
    print_and_free(table, out);
}

/* Where packets waited, from the sender on. */
static void print_waiting(const struct oche_outcome *outcome, FILE *out)
{
    const oche_time all = outcome->congestion[OCHE_WHERE_ALL].queueing;
    const uint64_t packets = outcome->totals.nic.data_packets_sent;
    struct oche_table *table = oche_table_create(7);
    static const char *const heads[] = {"packets waited at", "on a way, mean", "of all",
                                        "a packet, mean",    "worst port",     "where",
                                        "longest queue"};

    for (size_t i = 0; i < 7; i++)
        oche_table_cell(table, "%s", heads[i]);
    oche_table_rule(table);
    for (unsigned where = 0; where < OCHE_WHERE_LINKS; where++) {
        const struct oche_congestion_row *row = &outcome->congestion[where];

        if (row->packets == 0 || packets == 0)
            continue;
        oche_table_cell(table, "%s", oche_where_name(where));
        oche_table_cell(table, "%s", oche_figure_time(row->queueing / packets).text);
        oche_table_cell(table, "%s",
                        oche_figure_share(all == 0 ? 0 : (double)row->queueing / (double)all).text);
        oche_table_cell(table, "%s", oche_figure_time((oche_time)row->queueing_mean).text);
        oche_table_cell(table, "%s", oche_figure_time((oche_time)row->queueing_worst).text);
        oche_table_cell(table, "%s", outcome->worst[where]);
        oche_table_cell(table, "%s",
                        where == OCHE_WHERE_HOST_NIC ? "–"
                                                     : oche_figure_bytes(row->queue_most).text);
    }
    print_and_free(table, out);
}

/* Messages that switches sent another way: by name of nodes, from the sender on. */
static void print_deflected(const struct oche_outcome *outcome, const char *of, FILE *out)
{
    const struct oche_deflected *deflected = &outcome->deflected;

    if (deflected->count == 0)
        return;
    fprintf(out, "\nMost deflected%s%s (* deflected there):\n", *of != '\0' ? " with " : "", of);
    for (uint32_t i = 0; i < deflected->count; i++) {
        const struct oche_deflected_line *line = &deflected->lines[i];

        fprintf(out, "flow %u, %u time%s, by %u links: %s\n    else by %u: %s\n", line->flow,
                line->deflections, line->deflections == 1 ? "" : "s", line->links, line->taken,
                line->ordinary_links, line->ordinary);
    }
}

static void print_pauses(const struct oche_outcome *outcome, FILE *out)
{
    struct oche_table *table = oche_table_create(6);
    static const char *const heads[] = {
        "PAUSE at",      "sent", "upstream held, sum", "received", "own ports held, sum",
        "one port, most"};

    for (size_t i = 0; i < 6; i++)
        oche_table_cell(table, "%s", heads[i]);
    oche_table_rule(table);
    for (unsigned kind = 0; kind < OCHE_NODE_KINDS; kind++) {
        const struct oche_pause_sum *sum = &outcome->pauses[kind];

        if (sum->sent == 0 && sum->received == 0 && sum->received_time == 0)
            continue;
        oche_table_cell(table, "%s", oche_node_kind_name(kind));
        oche_table_cell(table, "%s", oche_figure_count(sum->sent).text);
        oche_table_cell(table, "%s", oche_figure_time(sum->sent_time).text);
        oche_table_cell(table, "%s", oche_figure_count(sum->received).text);
        oche_table_cell(table, "%s", oche_figure_time(sum->received_time).text);
        oche_table_cell(table, "%s", oche_figure_time(sum->longest_held).text);
    }
    print_and_free(table, out);
}

void oche_summary_print(const struct oche_outcome *outcome, FILE *out)
{
    struct oche_table *rest = oche_table_create(2);

    print_setting(outcome, out);
    oche_print_stops(&outcome->pathologies, out);
    fputc('\n', out);
    print_sizes(outcome, out);
    print_unmeasured(outcome, out);
    fputc('\n', out);
    if (outcome->failures.count > 0)
        oche_failures_print(&outcome->failures, out);
    print_places(outcome, out);
    fputc('\n', out);
    print_waiting(outcome, out);
    fputc('\n', out);
    if (outcome->totals.pauses_sent > 0) {
        print_pauses(outcome, out);
        fputc('\n', out);
        oche_print_pause_tree(&outcome->pathologies, out);
        fputc('\n', out);
    } else {
        fprintf(out, "No PAUSE frame was sent.\n\n");
    }
    oche_table_cell(rest, "in all");
    oche_table_cell(rest, "%s", "");
    oche_metric_rows(rest, OCHE_METRICS_LIST, outcome, 1);
    oche_metric_rows(rest, OCHE_METRICS_TRAFFIC, outcome, 1);
    oche_metric_rows(rest, OCHE_METRICS_DEFLECTION, outcome, 1);
    oche_metric_rows(rest, OCHE_METRICS_QUEUES, outcome, 1);
    oche_metric_rows(rest, OCHE_METRICS_RUN, outcome, 1);
    print_and_free(rest, out);
    print_deflected(outcome, "", out);
}

/* ---- several runs ---- */

static void print_settings(const struct oche_outcome *outcomes, size_t count, FILE *out)
{
    bool topologies_differ = false, seeds_differ = false;

    for (size_t i = 1; i < count; i++) {
        topologies_differ |= strcmp(outcomes[i].topology, outcomes[0].topology) != 0;
        seeds_differ |= outcomes[i].seed != outcomes[0].seed;
    }
    for (size_t i = 0; topologies_differ && i < count; i++)
        fprintf(out, "%s: %s\n", outcomes[i].label, outcomes[i].topology);
    if (!topologies_differ)
        fprintf(out, "%s\n", outcomes[0].topology);
    if (!seeds_differ)
        fprintf(out, "seed %llu in every run\n", (unsigned long long)outcomes[0].seed);
}

void oche_comparison_print(const char *key, const struct oche_outcome *outcomes, size_t count,
                           FILE *out)
{
    struct oche_table *table = oche_table_create(1 + count);

    print_settings(outcomes, count, out);
    fputc('\n', out);
    oche_table_cell(table, "%s", key);
    for (size_t i = 0; i < count; i++)
        oche_table_cell(table, "%s", outcomes[i].label);
    for (unsigned group = 0; group < OCHE_METRIC_GROUPS; group++)
        oche_metric_rows(table, group, outcomes, count);
    print_and_free(table, out);
    for (size_t i = 0; i < count; i++)
        print_deflected(&outcomes[i], outcomes[i].label, out);
}
