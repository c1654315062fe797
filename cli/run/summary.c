/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of one run, and of several side by side. */
#include "cli/run/summary.h"

#include <string.h>

#include "cli/run/columns.h"
#include "cli/run/metrics.h"
#include "cli/run/pathologies.h"
#include "cli/run/run_name.h"
#include "params/figures.h"
#include "params/table.h"

static void print_and_free(struct oche_table *table, FILE *out)
{
    oche_table_print(table, out);
    oche_table_free(table);
}

static const char *defaults_of(const struct oche_outcome *outcome)
{
    return outcome->defaults == OCHE_PRESET_DEPLOYED ? "of equipment in use" : "of the papers";
}

static void print_setting(const struct oche_outcome *outcome, FILE *out)
{
    fprintf(out, "%s\ncongestion control %s, recovery %s, seed %llu, defaults %s",
            outcome->topology, outcome->scheme, outcome->recovery,
            (unsigned long long)outcome->seed, defaults_of(outcome));
    if (outcome->scheme_preset != outcome->defaults)
        fprintf(out, ", %s %s", outcome->scheme,
                outcome->scheme_preset == OCHE_PRESET_PAPER ? "by its paper"
                                                            : "as in equipment in use");
    fputc('\n', out);
    if (outcome->remark[0] != '\0')
        fprintf(out, "%s: %s.\n", outcome->scheme, outcome->remark);
    if (outcome->ignored[0] != '\0')
        fprintf(out, "%s: %s.\n", outcome->scheme, outcome->ignored);
    if (outcome->flow_remark[0] != '\0')
        fprintf(out, "workload: %s.\n", outcome->flow_remark);
    if (outcome->headroom_remark[0] != '\0')
        fprintf(out, "switch: %s.\n", outcome->headroom_remark);
    for (unsigned i = 0; i < outcome->unfit.count; i++)
        fprintf(out, "%s.\n", outcome->unfit.text[i]);
}

/* ---- one run ---- */

static void print_unmeasured(const struct oche_outcome *outcome, FILE *out)
{
    const uint64_t unfinished = outcome->unfinished, warmup = outcome->warmup_flows;

    if (unfinished > 0)
        fprintf(out, "%s flow%s not finished at the end; %s not in the table.%s\n",
                oche_figure_count(unfinished).text, unfinished == 1 ? " was" : "s were",
                unfinished == 1 ? "its time is" : "their times are",
                outcome->end == OCHE_END_DURATION && outcome->cut_short
                    ? " Set a longer duration, or none."
                    : "");
    if (warmup > 0)
        fprintf(out, "%s flow%s left out.\n", oche_figure_count(warmup).text,
                warmup == 1 ? " began during warm-up and is" : "s began during warm-up and are");
}

/* Prints the paths of deflected messages as names of nodes, beginning with the sender. */
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

void oche_summary_print(const struct oche_outcome *outcome, FILE *out)
{
    struct oche_table *rest = oche_table_create(2);

    print_setting(outcome, out);
    oche_print_stops(&outcome->pathologies, out);
    fputc('\n', out);
    oche_columns_print(&oche_size_columns, outcome, out);
    print_unmeasured(outcome, out);
    fputc('\n', out);
    if (outcome->failures.count > 0)
        oche_failures_print(outcome, out);
    oche_columns_print(&oche_place_columns, outcome, out);
    fputc('\n', out);
    oche_columns_print(&oche_waiting_columns, outcome, out);
    fputc('\n', out);
    if (outcome->totals.pauses_sent > 0) {
        oche_columns_print(&oche_pause_columns, outcome, out);
        fputc('\n', out);
        oche_print_pausing_hosts(&outcome->pausing_hosts, out);
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

static void print_settings(const char *key, const struct oche_outcome *outcomes, size_t count,
                           FILE *out)
{
    bool topologies_differ = false, seeds_differ = false, defaults_differ = false;

    for (size_t i = 1; i < count; i++) {
        topologies_differ |= strcmp(outcomes[i].topology, outcomes[0].topology) != 0;
        seeds_differ |= outcomes[i].seed != outcomes[0].seed;
        defaults_differ |= outcomes[i].defaults != outcomes[0].defaults;
    }
    for (size_t i = 0; topologies_differ && i < count; i++)
        fprintf(out, "%s: %s\n", oche_run_name(key, outcomes[i].label).text, outcomes[i].topology);
    if (!topologies_differ)
        fprintf(out, "%s\n", outcomes[0].topology);
    if (!seeds_differ)
        fprintf(out, "seed %llu%s%s in every run\n", (unsigned long long)outcomes[0].seed,
                defaults_differ ? "" : " and defaults ",
                defaults_differ ? "" : defaults_of(&outcomes[0]));
}

void oche_comparison_print(const char *key, const struct oche_outcome *outcomes, size_t count,
                           FILE *out)
{
    struct oche_table *table = oche_table_create(1 + count);

    print_settings(key, outcomes, count, out);
    fputc('\n', out);
    oche_table_cell(table, "%s", key);
    for (size_t i = 0; i < count; i++)
        oche_table_cell(table, "%s", outcomes[i].label);
    for (unsigned group = 0; group < OCHE_METRIC_GROUPS; group++)
        oche_metric_rows(table, group, outcomes, count);
    print_and_free(table, out);
    for (size_t i = 0; i < count; i++)
        print_deflected(&outcomes[i], oche_run_name(key, outcomes[i].label).text, out);
}
