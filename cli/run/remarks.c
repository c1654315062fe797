/* SPDX-License-Identifier: Apache-2.0 */
/* Writes sentences about a comparison. */
#include "cli/run/remarks.h"

#include <stdlib.h>
#include <string.h>

#include "params/figures.h"

#define ALIKE     1.05 /* numbers whose ratio is at most this are called alike */
#define P99_NEEDS 100  /* flows that a 99th percentile needs; with fewer, it is the maximum */

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
static const char *name_of(const struct oche_outcome *outcome)
{
    if (strcmp(outcome->label, "none") != 0 || strcmp(outcome->scheme, "none") != 0)
        return outcome->label;
    return outcome->pfc ? "PFC alone" : "no congestion control";
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

static void print_pauses(const struct oche_outcome *outcomes, size_t count, FILE *out)
{
    struct range sent = {.least = NULL};

    for (size_t i = 0; i < count; i++)
        widen(&sent, &outcomes[i], (double)outcomes[i].totals.pauses_sent);
    uint64_t least = sent.least->totals.pauses_sent, most = sent.most->totals.pauses_sent;

    if (most == 0) {
        fputs("No run sends a PAUSE frame.\n", out);
        return;
    }
    if (is_alike(&sent)) {
        fprintf(out, "The runs send about as many PAUSE frames (%s to %s).\n",
                oche_figure_count(least).text, oche_figure_count(most).text);
        return;
    }
    if (least == 0)
        fprintf(out, "%s sends %s PAUSE frames, which hold ports for %s in all; %s sends none.\n",
                name_of(sent.most), oche_figure_count(most).text,
                oche_figure_time(held_of(sent.most)).text, name_of(sent.least));
    else
        fprintf(out,
                "%s sends %s PAUSE frames, %s times as many as %s (%s); they hold ports for %s "
                "in all, against %s.\n",
                name_of(sent.most), oche_figure_count(most).text,
                oche_figure_ratio((double)most / (double)least).text, name_of(sent.least),
                oche_figure_count(least).text, oche_figure_time(held_of(sent.most)).text,
                oche_figure_time(held_of(sent.least)).text);
}

/* True if every run has enough flows of this size for a 99th percentile. */
static bool has_tail(const struct oche_outcome *outcomes, size_t count, unsigned size)
{
    for (size_t i = 0; i < count; i++)
        if (outcomes[i].sizes[size].delivered < P99_NEEDS)
            return false;
    return true;
}

static void print_tail(const struct oche_outcome *outcomes, size_t count, unsigned size, FILE *out)
{
    struct range tail = {.least = NULL};
    const struct oche_completion_row *row = &outcomes[0].sizes[size];
    const char *of = row->from_bytes == 0 ? "" : "of ";
    char name[64];

    for (size_t i = 0; i < count; i++)
        widen(&tail, &outcomes[i], outcomes[i].sizes[size].slowdown[OCHE_P99]);
    oche_outcome_size_name(row, name, sizeof(name));
    if (is_alike(&tail))
        fprintf(out,
                "Of the flows %s%s, 99 %% take at most %s times as long as alone, whatever the "
                "run.\n",
                of, name, oche_figure_ratio(tail.most_value).text);
    else
        fprintf(out,
                "Of the flows %s%s, 99 %% take at most %s times as long as alone with %s, and at "
                "most %s times with %s.\n",
                of, name, oche_figure_ratio(tail.least_value).text, name_of(tail.least),
                oche_figure_ratio(tail.most_value).text, name_of(tail.most));
}

/* Prints remarks on the smallest and the largest sizes of which every run has enough flows. */
static void print_tails(const struct oche_outcome *outcomes, size_t count, FILE *out)
{
    unsigned shortest = 0, longest = OCHE_OUTCOME_SIZES;

    while (shortest < OCHE_OUTCOME_SIZES && !has_tail(outcomes, count, shortest))
        shortest++;
    if (shortest == OCHE_OUTCOME_SIZES)
        return;
    while (!has_tail(outcomes, count, --longest))
        ;
    print_tail(outcomes, count, shortest, out);
    if (longest > shortest)
        print_tail(outcomes, count, longest, out);
}

/* True if every run ended with its last flow, all of them delivered, and as many as in the others.
 */
static bool all_deliver(const struct oche_outcome *outcomes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (outcomes[i].end != OCHE_END_DELIVERED || outcomes[i].unfinished > 0 ||
            outcomes[i].failed > 0 || outcomes[i].flows != outcomes[0].flows)
            return false;
    return true;
}

static void print_goodput(const struct oche_outcome *outcomes, size_t count, FILE *out)
{
    struct range goodput = {.least = NULL};

    for (size_t i = 0; i < count; i++)
        widen(&goodput, &outcomes[i],
              (double)oche_rate_of(outcomes[i].totals.nic.delivered_bytes,
                                   outcomes[i].totals.measured));
    if (is_alike(&goodput))
        return;
    fprintf(out,
            "Goodput (payload of all hosts over the measured time) is %s with %s and %s with %s.\n",
            oche_figure_rate((uint64_t)goodput.most_value).text, name_of(goodput.most),
            oche_figure_rate((uint64_t)goodput.least_value).text, name_of(goodput.least));
    if (all_deliver(outcomes, count))
        fprintf(out, "No data is missing: every flow arrives, the last one after %s and %s.\n",
                oche_figure_time(goodput.most->simulated).text,
                oche_figure_time(goodput.least->simulated).text);
}

static void print_victims(const struct oche_outcome *outcomes, size_t count, FILE *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct oche_pathologies *pathologies = &outcomes[i].pathologies;
        bool one = pathologies->victims == 1;

        if (pathologies->victims > 0)
            fprintf(out,
                    "With %s, %s of %s flows %s %s or more of %s time to congestion that is not "
                    "on %s way.\n",
                    name_of(&outcomes[i]), oche_figure_count(pathologies->victims).text,
                    oche_figure_count(outcomes[i].flows).text, one ? "loses" : "lose",
                    oche_figure_share(pathologies->share_limit).text, one ? "its" : "their",
                    one ? "its" : "their");
    }
}

/* Prints numbers that must be mentioned for a comparison of times to be fair. */
static void print_caveats(const struct oche_outcome *outcomes, size_t count, FILE *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct oche_outcome *one = &outcomes[i];
        char *stop = oche_pathologies_stop_line(&one->pathologies);
        uint64_t missing = one->unfinished + one->failed;

        if (stop != NULL)
            fprintf(out, "With %s: %s.\n", name_of(one), stop);
        if (one->remark[0] != '\0')
            fprintf(out, "With %s: %s.\n", name_of(one), one->remark);
        if (one->ignored[0] != '\0')
            fprintf(out, "With %s: %s.\n", name_of(one), one->ignored);
        if (one->headroom_remark[0] != '\0')
            fprintf(out, "With %s: %s.\n", name_of(one), one->headroom_remark);
        for (unsigned remark = 0; remark < one->unfit.count; remark++)
            fprintf(out, "With %s: %s.\n", name_of(one), one->unfit.text[remark]);
        free(stop);
        if (missing * 100 > one->flows)
            fprintf(out, "With %s, %s of %s flows %s not arrived; %s in no time above.\n",
                    name_of(one), oche_figure_count(missing).text,
                    oche_figure_count(one->flows).text, missing == 1 ? "has" : "have",
                    missing == 1 ? "it is" : "they are");
        if (one->totals.drops[OCHE_DROP_BUFFER] > 0)
            fprintf(out, "With %s, switches drop %s packets.\n", name_of(one),
                    oche_figure_count(one->totals.drops[OCHE_DROP_BUFFER]).text);
    }
}

void oche_remarks_print(const struct oche_outcome *outcomes, size_t count, FILE *out)
{
    print_pauses(outcomes, count, out);
    print_victims(outcomes, count, out);
    print_tails(outcomes, count, out);
    print_goodput(outcomes, count, out);
    print_caveats(outcomes, count, out);
}
