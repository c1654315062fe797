/* SPDX-License-Identifier: Apache-2.0 */
/* Writes sentences about a comparison. */
#include "cli/run/remarks.h"

#include <stdlib.h>
#include <string.h>

#include "cli/run/run_name.h"
#include "params/figures.h"

#define ALIKE     1.05 /* numbers whose ratio is at most this are called alike */
#define P99_NEEDS 100  /* flows that a 99th percentile needs; with fewer, it is the maximum */

/* The runs of a comparison, and the key whose values tell them apart. */
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

/* Returns the name of a run in a sentence: "none" alone would be read as "no run". */
static struct oche_run_name name_of(const struct comparison *runs,
                                    const struct oche_outcome *outcome)
{
    struct oche_run_name name = oche_run_name(runs->key, outcome->label);

    if (strcmp(name.text, "none") == 0 && strcmp(outcome->scheme, "none") == 0)
        snprintf(name.text, sizeof(name.text), "%s",
                 outcome->pfc ? "PFC alone" : "no congestion control");
    return name;
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

static void print_pauses(const struct comparison *runs)
{
    struct range sent = {.least = NULL};

    for (size_t i = 0; i < runs->count; i++)
        widen(&sent, &runs->outcomes[i], (double)runs->outcomes[i].totals.pauses_sent);
    uint64_t least = sent.least->totals.pauses_sent, most = sent.most->totals.pauses_sent;

    if (most == 0) {
        fputs("No run sends a PAUSE frame.\n", runs->out);
        return;
    }
    if (is_alike(&sent)) {
        fprintf(runs->out, "The runs send about as many PAUSE frames (%s to %s).\n",
                oche_figure_count(least).text, oche_figure_count(most).text);
        return;
    }
    if (least == 0)
        fprintf(runs->out,
                "%s sends %s PAUSE frames, which hold ports for %s in all; %s sends none.\n",
                name_of(runs, sent.most).text, oche_figure_count(most).text,
                oche_figure_time(held_of(sent.most)).text, name_of(runs, sent.least).text);
    else
        fprintf(runs->out,
                "%s sends %s PAUSE frames, %s times as many as %s (%s); they hold ports for %s "
                "in all, against %s.\n",
                name_of(runs, sent.most).text, oche_figure_count(most).text,
                oche_figure_ratio((double)most / (double)least).text,
                name_of(runs, sent.least).text, oche_figure_count(least).text,
                oche_figure_time(held_of(sent.most)).text,
                oche_figure_time(held_of(sent.least)).text);
}

/* True if every run has enough flows of this size for a 99th percentile. */
static bool has_tail(const struct comparison *runs, unsigned size)
{
    for (size_t i = 0; i < runs->count; i++)
        if (runs->outcomes[i].sizes[size].delivered < P99_NEEDS)
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
        fprintf(runs->out,
                "Of the flows %s%s, 99 %% take at most %s times as long as alone, whatever the "
                "run.\n",
                of, name, oche_figure_ratio(tail.most_value).text);
    else
        fprintf(runs->out,
                "Of the flows %s%s, 99 %% take at most %s times as long as alone with %s, and at "
                "most %s times with %s.\n",
                of, name, oche_figure_ratio(tail.least_value).text, name_of(runs, tail.least).text,
                oche_figure_ratio(tail.most_value).text, name_of(runs, tail.most).text);
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
    if (longest > shortest)
        print_tail(runs, longest);
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

static void print_goodput(const struct comparison *runs)
{
    struct range goodput = {.least = NULL};

    for (size_t i = 0; i < runs->count; i++)
        widen(&goodput, &runs->outcomes[i],
              (double)oche_rate_of(runs->outcomes[i].totals.nic.delivered_bytes,
                                   runs->outcomes[i].totals.measured));
    if (is_alike(&goodput))
        return;
    fprintf(runs->out,
            "Goodput (payload of all hosts over the measured time) is %s with %s and %s with %s.\n",
            oche_figure_rate((uint64_t)goodput.most_value).text, name_of(runs, goodput.most).text,
            oche_figure_rate((uint64_t)goodput.least_value).text,
            name_of(runs, goodput.least).text);
    if (all_deliver(runs))
        fprintf(runs->out,
                "No data is missing: every flow arrives, the last one after %s and %s.\n",
                oche_figure_time(goodput.most->simulated).text,
                oche_figure_time(goodput.least->simulated).text);
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

/* Prints how many flows failed or have not arrived, if they are more than a hundredth. */
static void print_missing(const struct comparison *runs, const struct oche_outcome *one)
{
    const uint64_t missing = one->unfinished + one->failed;
    const struct oche_figure unfinished = oche_figure_count(one->unfinished);

    if (missing * 100 <= one->flows)
        return;
    fprintf(runs->out, "With %s, %s of %s flows", name_of(runs, one).text,
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

/* Prints numbers that must be mentioned for a comparison of times to be fair. */
static void print_caveats(const struct comparison *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        const struct oche_outcome *one = &runs->outcomes[i];
        char *stop = oche_pathologies_stop_line(&one->pathologies);

        if (stop != NULL)
            fprintf(runs->out, "With %s: %s.\n", name_of(runs, one).text, stop);
        if (one->remark[0] != '\0')
            fprintf(runs->out, "With %s: %s.\n", name_of(runs, one).text, one->remark);
        if (one->ignored[0] != '\0')
            fprintf(runs->out, "With %s: %s.\n", name_of(runs, one).text, one->ignored);
        if (one->flow_remark[0] != '\0')
            fprintf(runs->out, "With %s: %s.\n", name_of(runs, one).text, one->flow_remark);
        if (one->headroom_remark[0] != '\0')
            fprintf(runs->out, "With %s: %s.\n", name_of(runs, one).text, one->headroom_remark);
        for (unsigned remark = 0; remark < one->unfit.count; remark++)
            fprintf(runs->out, "With %s: %s.\n", name_of(runs, one).text, one->unfit.text[remark]);
        free(stop);
        if (one->totals.drops[OCHE_DROP_BUFFER] > 0)
            fprintf(runs->out, "With %s, switches drop %s packets.\n", name_of(runs, one).text,
                    oche_figure_count(one->totals.drops[OCHE_DROP_BUFFER]).text);
        if (one->totals.dropped_by_hosts > 0)
            fprintf(runs->out, "With %s, slow receivers drop %s packets.\n",
                    name_of(runs, one).text, oche_figure_count(one->totals.dropped_by_hosts).text);
    }
}

void oche_remarks_print(const char *key, const struct oche_outcome *outcomes, size_t count,
                        FILE *out)
{
    const struct comparison of = {key, outcomes, count, out}, *runs = &of;

    print_pauses(runs);
    print_victims(runs);
    for (size_t i = 0; i < count; i++)
        print_missing(runs, &outcomes[i]);
    print_tails(runs);
    print_goodput(runs);
    print_caveats(runs);
}
