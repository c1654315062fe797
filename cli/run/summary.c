/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of one run, and of several side by side. */
#include "cli/run/summary.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/run/columns.h"
#include "cli/run/jobs.h"
#include "cli/run/metrics.h"
#include "cli/run/notes.h"
#include "cli/run/pathologies.h"
#include "cli/run/run_name.h"
#include "device/link/event_text.h"
#include "params/figures.h"
#include "params/table.h"

#define DEFAULT_WIDTH 120
#define LEAST_WIDTH   80
#define LONG_NAME     16 /* characters; longer names make columns wider than their numbers do */

static const char *defaults_of(const struct oche_outcome *outcome)
{
    return outcome->defaults == OCHE_PRESET_DEPLOYED ? "of equipment in use" : "of the papers";
}

/* Prints the time in which load is measured. */
static void print_window(const struct oche_load *load, FILE *out)
{
    if (load->known)
        fprintf(out, "from %s%s until %s, when %s", oche_figure_time(load->from).text,
                load->from > 0 ? ", the end of warm-up," : "", oche_figure_time(load->until).text,
                load->stopped ? "arrivals stop" : "the run ends");
}

static void print_setting(const struct oche_outcome *outcome, FILE *out)
{
    fprintf(out, "%s\ncongestion control %s, recovery %s, seed %llu, defaults %s",
            outcome->topology, oche_run_scheme_name(outcome).text, outcome->recovery,
            (unsigned long long)outcome->seed, defaults_of(outcome));
    if (outcome->scheme_preset != outcome->defaults)
        fprintf(out, ", %s %s", outcome->scheme,
                outcome->scheme_preset == OCHE_PRESET_PAPER ? "by its paper"
                                                            : "as in equipment in use");
    if (outcome->adapter[0] != '\0' || outcome->adapters)
        fprintf(out, ", adapters %s%s", outcome->adapter[0] != '\0' ? outcome->adapter : "ideal",
                outcome->adapters ? " and the list nics" : "");
    fputc('\n', out);
    if (outcome->load.known)
        fputs("load and use of links: ", out);
    print_window(&outcome->load, out);
    if (outcome->load.known)
        fputc('\n', out);
    if (outcome->remark[0] != '\0')
        fprintf(out, "%s: %s.\n", outcome->scheme, outcome->remark);
    if (outcome->ignored[0] != '\0')
        fprintf(out, "%s: %s.\n", outcome->scheme, outcome->ignored);
    if (outcome->topology_remark[0] != '\0')
        fprintf(out, "topology: %s.\n", outcome->topology_remark);
    if (outcome->flow_remark[0] != '\0')
        fprintf(out, "workload: %s.\n", outcome->flow_remark);
    if (outcome->headroom_remark[0] != '\0')
        fprintf(out, "switch: %s.\n", outcome->headroom_remark);
    for (unsigned i = 0; i < outcome->unfit.count; i++)
        fprintf(out, "%s.\n", outcome->unfit.text[i]);
    for (unsigned i = 0; i < outcome->idle.count; i++)
        fprintf(out, "%s.\n", outcome->idle.text[i]);
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

/* Prints in words the information of rows of zeros. */
static void print_no_loss(const struct oche_outcome *outcome, FILE *out)
{
    if (oche_outcome_is_lossless(outcome))
        fputs("No packet was dropped, lost or sent again.\n", out);
}

/* Prints what scripted events have done, and which never happened. */
static void print_events(const struct oche_outcome *outcome, const char *of, FILE *out)
{
    char text[OCHE_EVENT_REPORT_BYTES];

    if (outcome->events_port[0] == '\0')
        return;
    oche_event_text_report(&outcome->events.counts, &outcome->events.first_left, text);
    fprintf(out, "Scripted events at %s%s%s: %s.\n", outcome->events_port,
            *of != '\0' ? ", with " : "", of, text);
}

void oche_summary_print(const struct oche_outcome *outcome, bool all, FILE *out)
{
    static const enum oche_metric_group groups[] = {OCHE_METRICS_LOAD,    OCHE_METRICS_LIST,
                                                    OCHE_METRICS_TRAFFIC, OCHE_METRICS_DEFLECTION,
                                                    OCHE_METRICS_QUEUES,  OCHE_METRICS_RUN};
    struct oche_table *rest = oche_table_create(2);
    struct oche_rows_shown shown = {.all = all};

    print_setting(outcome, out);
    oche_print_stops(&outcome->pathologies, out);
    oche_jobs_print(outcome, out);
    fputc('\n', out);
    oche_columns_print(&oche_size_columns, outcome, &shown, out);
    print_unmeasured(outcome, out);
    fputc('\n', out);
    if (outcome->failures.count > 0)
        oche_failures_print(outcome, out);
    oche_columns_print(outcome->load.known ? &oche_load_columns : &oche_place_columns, outcome,
                       &shown, out);
    fputc('\n', out);
    oche_columns_print(&oche_waiting_columns, outcome, &shown, out);
    fputc('\n', out);
    if (outcome->totals.pauses_sent > 0) {
        oche_columns_print(&oche_pause_columns, outcome, &shown, out);
        fputc('\n', out);
        oche_print_pausing_hosts(&outcome->pausing_hosts, out);
        oche_print_pause_tree(&outcome->pathologies, out);
        fputc('\n', out);
    } else {
        fputs("No PAUSE frame was sent.\n\n", out);
    }
    oche_table_cell(rest, "in all");
    oche_table_cell(rest, "%s", "");
    for (size_t i = 0; i < OCHE_COUNT_OF(groups); i++)
        oche_metric_rows(rest, groups[i], outcome, 1, &shown);
    oche_table_print(rest, out);
    oche_table_free(rest);
    print_no_loss(outcome, out);
    print_events(outcome, "", out);
    oche_rows_hidden_print(&shown, 1, out);
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
        fprintf(out, "%s: %s\n", oche_run_name_of(key, &outcomes[i]).text, outcomes[i].topology);
    if (!topologies_differ)
        fprintf(out, "%s\n", outcomes[0].topology);
    if (!seeds_differ)
        fprintf(out, "seed %llu%s%s in every run\n", (unsigned long long)outcomes[0].seed,
                defaults_differ ? "" : " and defaults ",
                defaults_differ ? "" : defaults_of(&outcomes[0]));
}

static bool same_window(const struct oche_load *a, const struct oche_load *b)
{
    return a->known == b->known && a->from == b->from && a->until == b->until &&
           a->stopped == b->stopped;
}

/*
 * Prints the time in which load is measured: once if it is the same in all runs that have a load.
 */
static void print_windows(const char *key, const struct oche_outcome *outcomes, size_t count,
                          FILE *out)
{
    bool same = outcomes[0].load.known;

    for (size_t i = 1; i < count; i++)
        same = same && same_window(&outcomes[0].load, &outcomes[i].load);
    for (size_t i = 0; i < (same ? 1 : count); i++) {
        if (!outcomes[i].load.known)
            continue;
        if (!same)
            fprintf(out, "%s, ", oche_run_name_of(key, &outcomes[i]).text);
        fputs("load and use of links: ", out);
        print_window(&outcomes[i].load, out);
        fputc('\n', out);
    }
}

/* Returns the head of a run's column: its value, or the displayed name of the scheme "none". */
static struct oche_run_name head_of(const char *key, const struct oche_outcome *outcome)
{
    struct oche_run_name name = oche_run_name_of(key, outcome);

    if (strchr(name.text, '=') != NULL)
        snprintf(name.text, sizeof(name.text), "%s", outcome->label);
    return name;
}

/*
 * Returns the width for tables: the terminal's, or DEFAULT_WIDTH where the output is not one. On a
 * terminal that is narrower than LEAST_WIDTH lines are wrapped.
 */
static size_t width_for(FILE *out)
{
    struct winsize size;

    if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return DEFAULT_WIDTH;
    return size.ws_col > LEAST_WIDTH ? size.ws_col : LEAST_WIDTH;
}

/* True if the run's column has a number in place of a long name. */
static bool is_numbered(const char *key, const struct oche_outcome *outcome)
{
    return strlen(head_of(key, outcome).text) > LONG_NAME;
}

/* Returns the table. `numbers`: columns whose names are long have numbers for them. */
static struct oche_table *compare(const char *key, const struct oche_outcome *outcomes,
                                  size_t count, bool numbers, struct oche_rows_shown *shown)
{
    struct oche_table *table = oche_table_create(1 + count);

    oche_table_cell(table, "%s", key);
    for (size_t i = 0; i < count; i++) {
        char mark[OCHE_NOTE_MARK_BYTES];

        oche_notes_mark(outcomes, count, i, mark);
        if (numbers && is_numbered(key, &outcomes[i]))
            oche_table_cell(table, "#%zu%s", i + 1, mark);
        else
            oche_table_cell(table, "%s%s", head_of(key, &outcomes[i]).text, mark);
    }
    shown->hidden = 0;
    for (unsigned group = 0; group < OCHE_METRIC_GROUPS; group++)
        oche_metric_rows(table, group, outcomes, count, shown);
    return table;
}

void oche_comparison_print(const char *key, const struct oche_outcome *outcomes, size_t count,
                           bool all, bool by_size, FILE *out)
{
    struct oche_rows_shown shown = {.all = all, .by_size = by_size};
    struct oche_table *table = compare(key, outcomes, count, false, &shown);
    const size_t width = width_for(out);
    const bool numbers = oche_table_width(table) > width;

    print_settings(key, outcomes, count, out);
    print_windows(key, outcomes, count, out);
    oche_notes_print(key, outcomes, count, out);
    fputc('\n', out);
    if (numbers) {
        oche_table_free(table);
        table = compare(key, outcomes, count, true, &shown);
    }
    oche_table_print_within(table, width, out);
    oche_table_free(table);
    for (size_t i = 0; numbers && i < count; i++)
        if (is_numbered(key, &outcomes[i]))
            fprintf(out, "#%zu: %s\n", i + 1, head_of(key, &outcomes[i]).text);
    oche_rows_hidden_print(&shown, count, out);
    for (size_t i = 0; i < count; i++) {
        print_events(&outcomes[i], oche_run_name_of(key, &outcomes[i]).text, out);
        print_deflected(&outcomes[i], oche_run_name_of(key, &outcomes[i]).text, out);
    }
}
