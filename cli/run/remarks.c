/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes sentences about a comparison. Where one run is a multiple of another, the other is the
 * first one, the base.
 */
#include "cli/run/remarks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/run/run_name.h"
#include "lab/measures/few.h"
#include "lab/measures/same_runs.h"
#include "params/figures.h"

#define MOST_NAMED 3     /* runs that a sentence names one by one */
#define SAME_SHARE 0.005 /* loads with a smaller difference are called equal */
#define ALIKE      1.05  /* numbers whose ratio is at most this are called similar */

/* The runs of a comparison, and the key whose values distinguish them. */
struct comparison {
    const char *key;
    const struct oche_outcome *outcomes;
    size_t count;
    FILE *out;
};

/* The runs with the smallest and the largest value of a number; of equal runs, the first. */
struct range {
    const struct oche_outcome *least, *most;
    double least_value, most_value;
};

static void widen(struct range *range, const struct oche_outcome *outcome, double value)
{
    if (range->least == NULL || value < range->least_value) {
        range->least = outcome;
        range->least_value = value;
    }
    if (range->most == NULL || value > range->most_value) {
        range->most = outcome;
        range->most_value = value;
    }
}

static struct oche_run_name name_of(const struct comparison *runs,
                                    const struct oche_outcome *outcome)
{
    return oche_run_name_of(runs->key, outcome);
}

static bool is_alike(const struct range *range)
{
    return range->most_value <= range->least_value * ALIKE;
}

static oche_time held_of(const struct oche_outcome *outcome)
{
    oche_time sum = 0;

    for (unsigned kind = 0; kind < OCHE_NODE_KINDS; kind++)
        sum += outcome->pauses[kind].received_time;
    return sum;
}

/* Returns, of two runs, the one that sends more or fewer PAUSEs than the base by a larger factor.
 */
static const struct oche_outcome *farther(const struct oche_outcome *base, const struct range *sent)
{
    const double of_base = (double)base->totals.pauses_sent;

    return sent->most_value * sent->least_value > of_base * of_base ? sent->most : sent->least;
}

/* Ends a sentence with the runs that send no PAUSE; of more than MOST_NAMED, with their number. */
static void print_without_pauses(const struct comparison *runs)
{
    size_t none = 0, named = 0;

    for (size_t i = 0; i < runs->count; i++)
        none += runs->outcomes[i].totals.pauses_sent == 0;
    for (size_t i = 0; none <= MOST_NAMED && i < runs->count; i++)
        if (runs->outcomes[i].totals.pauses_sent == 0)
            fprintf(runs->out, "%s%s",
                    named++ == 0    ? ""
                    : named == none ? " and "
                                    : ", ",
                    name_of(runs, &runs->outcomes[i]).text);
    if (none > MOST_NAMED)
        fprintf(runs->out, "%zu of the runs", none);
    fprintf(runs->out, " send%s none.\n", none == 1 ? "s" : "");
}

static bool has_pfc_alone(const struct comparison *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        if (runs->outcomes[i].pfc && strcmp(runs->outcomes[i].scheme, "none") == 0)
            return true;
    return false;
}

static void print_pauses(const struct comparison *runs)
{
    const struct oche_outcome *base = &runs->outcomes[0];
    struct range sent = {.least = NULL};

    for (size_t i = 0; i < runs->count; i++)
        widen(&sent, &runs->outcomes[i], (double)runs->outcomes[i].totals.pauses_sent);
    uint64_t least = sent.least->totals.pauses_sent, most = sent.most->totals.pauses_sent;

    if (most == 0) {
        fputs(has_pfc_alone(runs) ? "No run sends a PAUSE frame: in these runs PFC alone is no "
                                    "congestion control at all.\n"
                                  : "No run sends a PAUSE frame.\n",
              runs->out);
        return;
    }
    if (is_alike(&sent)) {
        fprintf(runs->out, "The runs send about as many PAUSE frames (%s to %s).\n",
                oche_figure_count(least).text, oche_figure_count(most).text);
        return;
    }
    if (least == 0) {
        fprintf(runs->out, "%s sends %s PAUSE frames, which hold ports for %s in all; ",
                name_of(runs, sent.most).text, oche_figure_count(most).text,
                oche_figure_time(held_of(sent.most)).text);
        print_without_pauses(runs);
        return;
    }
    const struct oche_outcome *other = farther(base, &sent);
    const uint64_t of_other = other->totals.pauses_sent, of_base = base->totals.pauses_sent;

    fprintf(runs->out,
            "%s sends %s PAUSE frames, %s times as many as the base, %s (%s); they hold ports for "
            "%s in all, against %s.\n",
            name_of(runs, other).text, oche_figure_count(of_other).text,
            oche_figure_ratio((double)of_other / (double)of_base).text, name_of(runs, base).text,
            oche_figure_count(of_base).text, oche_figure_time(held_of(other)).text,
            oche_figure_time(held_of(base)).text);
}

/* True if every run has enough flows of this size for a 99th percentile. */
static bool has_tail(const struct comparison *runs, unsigned size)
{
    for (size_t i = 0; i < runs->count; i++)
        if (oche_few(&runs->outcomes[i], "slowdown.SIZE.p99", size))
            return false;
    return true;
}

static void print_tail(const struct comparison *runs, unsigned size)
{
    struct range tail = {.least = NULL};
    const struct oche_completion_row *row = &runs->outcomes[0].sizes[size];
    const char *of = row->from_bytes == 0 ? "" : "of ";
    char name[64];

    for (size_t i = 0; i < runs->count; i++)
        widen(&tail, &runs->outcomes[i], runs->outcomes[i].sizes[size].slowdown[OCHE_P99]);
    oche_outcome_size_name(row, name, sizeof(name));
    if (is_alike(&tail))
        fprintf(
            runs->out,
            "Of the delivered flows %s%s, 99 %% take at most %s times as long as alone in every "
            "run.\n",
            of, name, oche_figure_ratio(tail.most_value).text);
    else
        fprintf(
            runs->out,
            "Of the delivered flows %s%s, 99 %% take at most %s times as long as alone with %s, "
            "and at most %s times with %s.\n",
            of, name, oche_figure_ratio(tail.least_value).text, name_of(runs, tail.least).text,
            oche_figure_ratio(tail.most_value).text, name_of(runs, tail.most).text);
}

/* Prints the medians of a size if their order differs from that of the tails. */
static void print_median(const struct comparison *runs, unsigned size)
{
    struct range tail = {.least = NULL}, median = {.least = NULL};

    for (size_t i = 0; i < runs->count; i++) {
        widen(&tail, &runs->outcomes[i], runs->outcomes[i].sizes[size].slowdown[OCHE_P99]);
        widen(&median, &runs->outcomes[i], runs->outcomes[i].sizes[size].slowdown[OCHE_P50]);
    }
    if (median.least == tail.least || is_alike(&median))
        return;
    fprintf(runs->out, "But half of them take at most %s times with %s, and %s times with %s.\n",
            oche_figure_ratio(median.least_value).text, name_of(runs, median.least).text,
            oche_figure_ratio(median.most_value).text, name_of(runs, median.most).text);
}

/* Prints the basis of a comparison of tails: one seed, if all runs have the same. */
static void print_seed(const struct comparison *runs)
{
    for (size_t i = 1; i < runs->count; i++)
        if (runs->outcomes[i].seed != runs->outcomes[0].seed)
            return;
    fprintf(
        runs->out,
        "These numbers are of one seed, %llu: another one gives others, and small differences may "
        "reverse. oche sweep repeats runs with other seeds.\n",
        (unsigned long long)runs->outcomes[0].seed);
}

/* Prints remarks on the smallest and the largest sizes of which every run has enough flows. */
static void print_tails(const struct comparison *runs)
{
    unsigned shortest = 0, longest = OCHE_OUTCOME_SIZES;

    while (shortest < OCHE_OUTCOME_SIZES && !has_tail(runs, shortest))
        shortest++;
    if (shortest == OCHE_OUTCOME_SIZES)
        return;
    while (!has_tail(runs, --longest))
        ;
    print_tail(runs, shortest);
    if (longest > shortest) {
        print_tail(runs, longest);
        print_median(runs, longest);
    }
}

static uint64_t goodput_of(const struct oche_outcome *outcome)
{
    return oche_rate_of(outcome->totals.nic.delivered_bytes, outcome->totals.measured);
}

/* True if every run ended with its last flow, all of them delivered, and as many as in the others.
 */
static bool all_deliver(const struct comparison *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        if (runs->outcomes[i].end != OCHE_END_DELIVERED || runs->outcomes[i].unfinished > 0 ||
            runs->outcomes[i].failed > 0 || runs->outcomes[i].flows != runs->outcomes[0].flows)
            return false;
    return true;
}

/* True if all flows that a clock started are over, and all were delivered. */
static bool is_drained(const struct oche_outcome *outcome)
{
    return outcome->load.stopped && !isnan(outcome->load.drain_s) && outcome->failed == 0;
}

/*
 * Prints how long the rest took after arrivals had stopped, if all of it was delivered in all runs.
 */
static void print_drain(const struct comparison *runs)
{
    struct range drain = {.least = NULL};

    for (size_t i = 0; i < runs->count; i++) {
        if (!is_drained(&runs->outcomes[i]))
            return;
        widen(&drain, &runs->outcomes[i], runs->outcomes[i].load.drain_s);
    }
    if (drain.most_value == 0)
        return;
    fputs("All that is under way then arrives, too: the last flow ends ", runs->out);
    const double to_time = (double)OCHE_SEC;

    if (is_alike(&drain))
        fprintf(runs->out, "at most %s later in every run.\n",
                oche_figure_time((oche_time)(drain.most_value * to_time)).text);
    else
        fprintf(runs->out, "%s later with %s and %s later with %s.\n",
                oche_figure_time((oche_time)(drain.least_value * to_time)).text,
                name_of(runs, drain.least).text,
                oche_figure_time((oche_time)(drain.most_value * to_time)).text,
                name_of(runs, drain.most).text);
}

/*
 * Prints the fraction of the offered load that is delivered, for runs whose flows a clock starts.
 */
static void print_load(const struct comparison *runs)
{
    struct range offered = {.least = NULL}, share = {.least = NULL};
    char of[64] = "its load";

    for (size_t i = 0; i < runs->count; i++) {
        widen(&offered, &runs->outcomes[i], runs->outcomes[i].load.offered_bps);
        widen(&share, &runs->outcomes[i], runs->outcomes[i].load.share);
    }
    if (offered.least_value == offered.most_value)
        snprintf(of, sizeof(of), "the offered %s",
                 oche_figure_rate((uint64_t)offered.most_value).text);
    if (share.most_value - share.least_value < SAME_SHARE)
        fprintf(runs->out,
                "Until arrivals stop, the network delivers at least %s of %s in every run.\n",
                oche_figure_share(share.least_value).text, of);
    else
        fprintf(runs->out,
                "Until arrivals stop, the network delivers %s of %s with %s and %s with %s.\n",
                oche_figure_share(share.most_value).text, of, name_of(runs, share.most).text,
                oche_figure_share(share.least_value).text, name_of(runs, share.least).text);
    if (share.most_value > 1 + SAME_SHARE)
        fputs("That is more than all because it includes what was under way when warm-up ended.\n",
              runs->out);
    print_drain(runs);
}

/*
 * Prints when flows ended, run by run in the table's order. A rate over the whole time would make
 * one late flow look like a network that carries less.
 */
static void print_ends(const struct comparison *runs)
{
    fputs("Every flow arrives. ", runs->out);
    for (size_t i = 0; i < runs->count; i++) {
        const struct oche_outcome *one = &runs->outcomes[i];

        fprintf(runs->out, "%s %s half of them take at most %s and the last one ends after %s",
                i == 0 ? "With" : "; with", name_of(runs, one).text,
                oche_figure_time(one->sizes[OCHE_OUTCOME_SIZES].time[OCHE_P50]).text,
                oche_figure_time(one->simulated).text);
    }
    fputs(".\nGoodput is all bytes over the time to that last one", runs->out);
    for (size_t i = 0; i < runs->count; i++)
        fprintf(runs->out, "%s %s with %s", i == 0 ? ":" : ",",
                oche_figure_rate(goodput_of(&runs->outcomes[i])).text,
                name_of(runs, &runs->outcomes[i]).text);
    fputs(".\n", runs->out);
}

static void print_goodput(const struct comparison *runs)
{
    struct range goodput = {.least = NULL};

    for (size_t i = 0; i < runs->count; i++)
        widen(&goodput, &runs->outcomes[i], (double)goodput_of(&runs->outcomes[i]));
    if (is_alike(&goodput))
        return;
    if (all_deliver(runs) && runs->count <= MOST_NAMED) {
        print_ends(runs);
        return;
    }
    fprintf(runs->out,
            "Goodput (payload of all hosts over the measured time) is %s with %s and %s with %s.\n",
            oche_figure_rate((uint64_t)goodput.most_value).text, name_of(runs, goodput.most).text,
            oche_figure_rate((uint64_t)goodput.least_value).text,
            name_of(runs, goodput.least).text);
    if (all_deliver(runs))
        fprintf(runs->out,
                "Every flow arrives, the last one after %s with %s and after %s with %s.\n",
                oche_figure_time(goodput.most->simulated).text, name_of(runs, goodput.most).text,
                oche_figure_time(goodput.least->simulated).text, name_of(runs, goodput.least).text);
}

/*
 * Prints the goodput of the runs. Where a clock starts flows, that is the delivered load. A rate
 * over the whole run would depend on the last flow to end.
 */
static void print_carried(const struct comparison *runs)
{
    bool load = true, goodput = false;

    for (size_t i = 0; i < runs->count; i++) {
        load = load && runs->outcomes[i].load.known;
        goodput = goodput || !runs->outcomes[i].load.known || !runs->outcomes[i].load.alone;
    }
    if (load)
        print_load(runs);
    if (goodput)
        print_goodput(runs);
}

static void print_victims(const struct comparison *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        const struct oche_pathologies *pathologies = &runs->outcomes[i].pathologies;
        bool one = pathologies->victims == 1;

        if (pathologies->victims > 0)
            fprintf(runs->out,
                    "With %s, %s of %s flows %s %s or more of %s time to congestion that is not "
                    "on %s way.\n",
                    name_of(runs, &runs->outcomes[i]).text,
                    oche_figure_count(pathologies->victims).text,
                    oche_figure_count(runs->outcomes[i].flows).text, one ? "loses" : "lose",
                    oche_figure_share(pathologies->share_limit).text, one ? "its" : "their",
                    one ? "its" : "their");
    }
}

/* True if more than a hundredth of the run's flows failed or have not arrived. */
static bool has_missing(const struct oche_outcome *one)
{
    return (one->unfinished + one->failed) * 100 > one->flows;
}

/* Prints how many flows failed or have not arrived; `name`: "With dcqcn", or "In every run". */
static void print_missing_of(const struct comparison *runs, const struct oche_outcome *one,
                             const char *name)
{
    const uint64_t missing = one->unfinished + one->failed;
    const struct oche_figure unfinished = oche_figure_count(one->unfinished);

    fprintf(runs->out, "%s, %s of %s flows", name,
            one->failed > 0 ? oche_figure_count(one->failed).text : unfinished.text,
            oche_figure_count(one->flows).text);
    if (one->failed > 0)
        fputs(" failed", runs->out);
    if (one->failed > 0 && one->unfinished > 0)
        fprintf(runs->out, " and %s", unfinished.text);
    if (one->unfinished > 0)
        fprintf(runs->out, " %s not arrived", one->unfinished == 1 ? "has" : "have");
    fprintf(runs->out, "; %s in none of the times.\n", missing == 1 ? "it is" : "they are");
}

static void print_missing(const struct comparison *runs)
{
    const struct oche_outcome *first = &runs->outcomes[0];
    bool same = runs->count > 1;

    for (size_t i = 1; i < runs->count; i++)
        same = same && runs->outcomes[i].flows == first->flows &&
               runs->outcomes[i].failed == first->failed &&
               runs->outcomes[i].unfinished == first->unfinished;
    for (size_t i = 0; i < (same ? 1 : runs->count); i++) {
        struct oche_run_name name = name_of(runs, &runs->outcomes[i]);
        char with[sizeof(name.text) + 8];

        snprintf(with, sizeof(with), "With %s", name.text);
        if (has_missing(&runs->outcomes[i]))
            print_missing_of(runs, &runs->outcomes[i], same ? "In every run" : with);
    }
}

/* Prints which runs drop packets, or that no run does. */
static void print_losses(const struct comparison *runs)
{
    bool lossless = true;

    for (size_t i = 0; i < runs->count; i++) {
        const struct oche_outcome *one = &runs->outcomes[i];

        lossless = lossless && oche_outcome_is_lossless(one);
        if (one->totals.drops[OCHE_DROP_BUFFER] > 0)
            fprintf(runs->out, "With %s, switches drop %s packets.\n", name_of(runs, one).text,
                    oche_figure_count(one->totals.drops[OCHE_DROP_BUFFER]).text);
        if (one->totals.lost_packets > 0)
            fprintf(runs->out, "With %s, links lose %s packets, and %s are sent again.\n",
                    name_of(runs, one).text, oche_figure_count(one->totals.lost_packets).text,
                    oche_figure_count(one->totals.nic.retransmitted_packets).text);
        if (one->totals.dropped_by_hosts > 0)
            fprintf(runs->out, "With %s, slow receivers drop %s packets.\n",
                    name_of(runs, one).text, oche_figure_count(one->totals.dropped_by_hosts).text);
    }
    if (lossless)
        fputs("No packet is dropped, lost or sent again in any run.\n", runs->out);
}

/* Prints the names of the runs with the trace of run `start`; of more than MOST_NAMED, some. */
static void print_names(const struct comparison *runs, const size_t *first, size_t start)
{
    size_t size = 0, named = 0;

    for (size_t i = start; i < runs->count; i++)
        size += first[i] == start;
    for (size_t i = start; i < runs->count && named < MOST_NAMED; i++) {
        if (first[i] != start)
            continue;
        fprintf(runs->out, "%s%s",
                named == 0          ? ""
                : named + 1 == size ? " and "
                                    : ", ",
                name_of(runs, &runs->outcomes[i]).text);
        named++;
    }
    if (size > named)
        fprintf(runs->out, " and %zu other%s", size - named, size - named == 1 ? "" : "s");
}

/* Prints which runs are the same, packet for packet. */
static void print_same(const struct comparison *runs)
{
    size_t *first = oche_outcomes_same(runs->outcomes, runs->count), *sizes;
    size_t same = 0;

    sizes = calloc(runs->count, sizeof(*sizes));
    OCHE_GOT(sizes != NULL);
    for (size_t i = 0; i < runs->count; i++)
        same += sizes[first[i]]++ > 0;
    for (size_t i = 0; i < runs->count; i++) {
        if (sizes[i] < 2)
            continue;
        print_names(runs, first, i);
        fputs(" gave the same run, packet for packet", runs->out);
        if (same + 1 == runs->count)
            fprintf(runs->out, ": %s %s", runs->key, oche_same_runs_verdict(runs->key));
        fputs(".\n", runs->out);
    }
    free(sizes);
    free(first);
}

void oche_remarks_print(const char *key, const struct oche_outcome *outcomes, size_t count,
                        FILE *out)
{
    const struct comparison of = {key, outcomes, count, out}, *runs = &of;

    fputc('\n', out);
    print_same(runs);
    print_missing(runs);
    print_tails(runs);
    print_carried(runs);
    if (outcomes[0].delivered > 0)
        print_seed(runs);
    print_losses(runs);
    print_pauses(runs);
    print_victims(runs);
}
