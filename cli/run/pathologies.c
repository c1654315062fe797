/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the effects of PFC on a network. */
#include "cli/run/pathologies.h"

#include <inttypes.h>

#include "params/figures.h"
#include "params/table.h"

void oche_print_route_faults(const char *lost_flows, const char *circle, FILE *out)
{
    if (lost_flows != NULL)
        fprintf(out, "%s.\n", lost_flows);
    if (circle != NULL)
        fprintf(out,
                "The routes allow a cyclic buffer dependency: %s. With PFC, these ports may come "
                "to wait for each other for ever.\n",
                circle);
}

void oche_print_stops(const struct oche_pathologies *pathologies, FILE *out)
{
    oche_print_route_faults(pathologies->lost_flows, pathologies->circle, out);
    if (pathologies->deadlock != NULL)
        fprintf(out,
                "DEADLOCK since %s: %s. Each port waits for the next; %" PRIu32
                " ports of switches, with %s, can never send again. Noticed at %s, where the run "
                "ended.\n",
                oche_figure_time(pathologies->deadlock_since).text, pathologies->deadlock,
                pathologies->stuck_ports, oche_figure_bytes(pathologies->stuck_bytes).text,
                oche_figure_time(pathologies->deadlock_noticed).text);
    if (pathologies->waiting != NULL)
        fprintf(out, "%s: %s.\n", pathologies->at_bound ? "NOT FINISHED" : "STALLED",
                pathologies->waiting);
}

static void print_line(struct oche_table *table, const struct oche_pause_line *line)
{
    char name[2 * OCHE_PATHOLOGY_NAME_BYTES + 64];
    const char *port = line->port[0] != '\0' ? line->port : "(elsewhere)";
    int length = snprintf(name, sizeof(name), "%*s%s", 2 * (int)line->depth, "", port);

    if (line->depth == 0)
        length += snprintf(name + length, sizeof(name) - (size_t)length, ", %u sender%s",
                           line->senders, line->senders == 1 ? "" : "s");
    if (line->depth == 0 && line->cls > 0)
        length += snprintf(name + length, sizeof(name) - (size_t)length, ", class %u", line->cls);
    if (line->returns)
        length += snprintf(name + length, sizeof(name) - (size_t)length, ", waits for itself");
    if (line->hidden > 0)
        snprintf(name + length, sizeof(name) - (size_t)length, " (+%u)", line->hidden);
    oche_table_cell(table, "%s", name);
    oche_table_cell(table, "%s", oche_figure_count(line->pauses).text);
    oche_table_cell(table, "%s", oche_figure_time(line->held).text);
    oche_table_cell(table, "%s", line->held > 0 ? oche_figure_time(line->first).text : "–");
    oche_table_cell(table, "%s", line->held > 0 ? oche_figure_time(line->last).text : "–");
}

static void print_victims(const struct oche_pathologies *pathologies, FILE *out)
{
    if (pathologies->worst_flow[0] == '\0') {
        fputs("No flow lost time to congestion that is not on its way.\n", out);
        return;
    }
    fprintf(out, "%s flow%s lost %s or more of %s time to congestion that is not on %s way",
            pathologies->victims == 0 ? "No" : oche_figure_count(pathologies->victims).text,
            pathologies->victims == 1 ? "" : "s", oche_figure_share(pathologies->share_limit).text,
            pathologies->victims > 1 ? "their" : "its", pathologies->victims > 1 ? "their" : "its");
    fprintf(out, "%s %s, %s of %s (%s), for %s.\n",
            pathologies->victims == 1 ? ":" : "; most of all", pathologies->worst_flow,
            oche_figure_time(pathologies->worst_lost).text,
            oche_figure_time(pathologies->worst_life).text,
            oche_figure_share(pathologies->worst_share).text, pathologies->worst_root);
}

void oche_print_pausing_hosts(const struct oche_pausing_hosts *hosts, FILE *out)
{
    for (uint32_t i = 0; i < hosts->listed_count; i++) {
        const struct oche_pausing_host *host = &hosts->listed[i];

        fprintf(out, "%s, %s, sent %s PAUSE%s itself and held %s for %s.\n", host->name,
                host->slow ? "a slow receiver" : "in a storm", oche_figure_count(host->pauses).text,
                host->pauses == 1 ? "" : "s", host->port, oche_figure_time(host->held).text);
    }
    if (hosts->count > hosts->listed_count)
        fprintf(out, "%s more host%s sent PAUSEs.\n",
                oche_figure_count(hosts->count - hosts->listed_count).text,
                hosts->count - hosts->listed_count == 1 ? "" : "s");
}

void oche_print_pause_tree(const struct oche_pathologies *pathologies, FILE *out)
{
    struct oche_table *table;
    static const char *const heads[] = {"PAUSE began at, and held", "PAUSEs", "held, sum", "from",
                                        "until"};

    if (pathologies->line_count == 0)
        return;
    table = oche_table_create(5);
    for (size_t i = 0; i < 5; i++)
        oche_table_cell(table, "%s", heads[i]);
    for (uint32_t i = 0; i < pathologies->line_count; i++) {
        if (pathologies->lines[i].depth == 0)
            oche_table_rule(table);
        print_line(table, &pathologies->lines[i]);
    }
    oche_table_print(table, out);
    oche_table_free(table);
    if (pathologies->hot_spots > pathologies->hot_spots_shown) {
        uint64_t more = pathologies->hot_spots - pathologies->hot_spots_shown;

        fprintf(out, "%s more port%s where PAUSEs began.\n", oche_figure_count(more).text,
                more == 1 ? "" : "s");
    }
    if (pathologies->unnoted > 0)
        fprintf(out, "%s PAUSEs and RESUMEs came too fast to be in this table.\n",
                oche_figure_count(pathologies->unnoted).text);
    print_victims(pathologies, out);
}
