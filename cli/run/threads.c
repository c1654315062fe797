/* SPDX-License-Identifier: Apache-2.0 */
/* Threads: the share of each, and the gain from more of them. */
#include "cli/run/threads.h"

#include "params/figures.h"
#include "sim/network/ranks.h"
#include "sim/network/schedule.h"

/*
 * A process that has fewer events in a window mostly waits for others. Measured on 2026-11-27: on a
 * quiet machine two processes took as long as one with 15 events each, and 0.7 times as long with
 * 29 and with 98. On a busy one, when each window took two exchanges, they took 1.5 times as long
 * with 46.
 */
#define FEW_EVENTS 30

/* Prints, once, if processes have so few events in a window that one process is faster. */
static void remark_on_windows(uint32_t processes, double events, const char *have, FILE *out)
{
    static bool said;

    if (said || events / processes >= FEW_EVENTS)
        return;
    said = true;
    fprintf(out,
            "mpirun: %u processes %s %.0f events each in a window, after which all wait for all: "
            "one process is most likely faster\n",
            processes, have, events / processes);
}

static void print_shares(const struct oche_world *world, FILE *out)
{
    const struct oche_world_config *config = oche_world_config(world);
    const struct oche_world_thread_split *split = oche_world_thread_split(world);
    uint64_t all = 0;

    if (config->mail != NULL)
        fprintf(out, "processes: %u", config->mail->count);
    else
        fprintf(out, "threads: %u", split->threads);
    if (config->threads == 0 && config->mail == NULL)
        fprintf(out, ", chosen for %u processor%s", config->processors,
                config->processors == 1 ? "" : "s");
    if (split->events_a_window > 0)
        fprintf(out, "; windows of %s are expected to hold %s events",
                oche_figure_time(oche_world_network(world)->window).text,
                oche_figure_count((uint64_t)(split->events_a_window + 0.5)).text);
    fputc('\n', out);
    if (split->parts == NULL || split->threads == 1)
        return;
    for (uint32_t i = 0; i < split->threads; i++)
        all += split->parts[i].work;
    for (uint32_t i = 0; i < split->threads; i++)
        fprintf(out, "part %u: %u hosts, %u switches, %.1f %% of the expected work\n", i,
                split->parts[i].hosts, split->parts[i].switches,
                100 * (double)split->parts[i].work / (double)all);
    fprintf(out, "%u of %u links are between parts\n", split->cut_links,
            oche_world_topology(world)->link_count);
}

void oche_threads_print(const struct oche_world *world, bool verbose, FILE *out)
{
    const struct oche_rank_mail *mail = oche_world_config(world)->mail;
    const double events = oche_world_thread_split(world)->events_a_window;

    if (verbose)
        print_shares(world, out);
    if (mail != NULL && events > 0)
        remark_on_windows(mail->count, events, "are expected to have", out);
}

/* Prints how many messages, packets and bytes the processes sent to each other. */
static void print_messages(const struct oche_ranks *ranks, double wall_s, FILE *out)
{
    const struct oche_rank_counts *all = &ranks->of_all;
    const double windows = all->windows > 0 ? (double)all->windows : 1;
    const double messages = windows * ranks->count * (ranks->count - 1);

    fprintf(out,
            "processes told each other of %s windows, one message to each other one after each: "
            "%s packets crossed in a window, messages had %s bytes on average and %s at most\n",
            oche_figure_count(all->windows).text,
            oche_figure_count((uint64_t)((double)all->packets / windows + 0.5)).text,
            oche_figure_count((uint64_t)((double)all->bytes / messages + 0.5)).text,
            oche_figure_bytes(all->most).text);
    fprintf(out,
            "they looked at the whole %s times, for %s in all; each waited for others for %.0f "
            "%% of the time\n",
            oche_figure_count(all->checks).text, oche_figure_bytes(all->check_bytes).text,
            wall_s > 0 ? 1e-7 * (double)all->waited_ns / ranks->count / wall_s : 0);
}

void oche_threads_print_together(const struct oche_world *world, double wall_s, bool verbose,
                                 FILE *out)
{
    const struct oche_network *network = oche_world_network(world);
    const uint64_t events = oche_network_events(network);

    if (network->ranks != NULL) {
        if (verbose)
            print_messages(network->ranks, wall_s, out);
        if (network->ranks->of_all.windows > 0)
            remark_on_windows(network->ranks->count,
                              (double)events / (double)network->ranks->of_all.windows, "had", out);
    } else if (verbose && network->shard_count > 1 && network->schedule == NULL)
        fprintf(out, "threads ran %.1f %% of %s events together, one of them the others\n",
                events > 0 ? 100 * (double)network->events_together / (double)events : 0,
                oche_figure_count(events).text);
}

void oche_partition_report_print(const struct oche_world *world, double wall_s, FILE *out)
{
    const struct oche_network *network = oche_world_network(world);
    struct oche_schedule_way ways[OCHE_SCHEDULE_WAYS];
    const unsigned count = oche_schedule_ways(network->schedule, ways);
    const double windows = (double)oche_schedule_windows(network->schedule);
    const double events = (double)oche_network_events(network);

    fprintf(out,
            "\n%.0f windows of at most %s with %.0f events each, %.0f ns an event in this run\n",
            windows, oche_figure_time(network->window).text, windows > 0 ? events / windows : 0,
            events > 0 ? 1e9 * wall_s / events : 0);
    fputs("Times as fast as one thread, where all events take 100 ns and telling others of a "
          "window\ntakes nothing, 0.5 us (threads) or 10 us (machines); one waits for all others, "
          "or for those\nthat it has links to:\n\n",
          out);
    fputs("         most/mean  most/mean   crossing  links      for all others        for those "
          "with links\n"
          "threads   in a run   a window   a window     to      0  0.5us   10us       0  0.5us   "
          "10us\n",
          out);
    for (unsigned i = 0; i < count; i++) {
        const struct oche_schedule_way *way = &ways[i];
        const double mean = way->all > 0 ? way->all / way->threads : 1;

        fprintf(out,
                "%7u   %8.2f   %8.2f   %8.0f   %4.1f  %5.2f  %5.2f  %5.2f   %5.2f  %5.2f  %5.2f\n",
                way->threads, way->busiest / mean, way->most / mean,
                windows > 0 ? (double)way->crossing / windows : 0, way->links, way->barrier[0],
                way->barrier[1], way->barrier[2], way->neighbours[0], way->neighbours[1],
                way->neighbours[2]);
    }
}
