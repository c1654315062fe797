/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/jobs.h"

#include <math.h>

#include "lab/measures/jobs.h"
#include "lab/measures/metrics.h"
#include "params/figures.h"

static struct oche_figure figure_of(const struct oche_outcome *outcome, const char *metric,
                                    uint32_t number)
{
    return oche_metric_figure(metric, oche_metric_value(outcome, metric, number));
}

static void print_speed(const struct oche_outcome *outcome, uint32_t number, FILE *out)
{
    const struct oche_job_outcome *job = &outcome->by_workload.workloads[number].job;

    if (isnan(job->bus_bps))
        return;
    if (job->what.count > 1)
        fprintf(out, "; %s each", figure_of(outcome, "workload.N.repetition.mean", number).text);
    fprintf(out, "; algorithm bandwidth %s, bus bandwidth %s",
            figure_of(outcome, "workload.N.algorithm_bandwidth", number).text,
            figure_of(outcome, "workload.N.bus_bandwidth", number).text);
}

#define FEW_PHASES 3 /* of more only the longest is named */

/* Prints the times of phases, which overlap where some ranks are ahead of others. */
static void print_phases(const struct oche_job_outcome *job, FILE *out)
{
    const struct oche_phase_outcome *longest = job->phases;

    for (uint32_t i = 0; i < job->phase_count; i++) {
        const struct oche_phase_outcome *phase = &job->phases[i];

        if (job->phase_count <= FEW_PHASES)
            fprintf(out, "%s%s %s", i == 0 ? "; " : ", ", phase->name,
                    oche_figure_value(phase->mean_s, "s").text);
        else if (phase->mean_s > longest->mean_s)
            longest = phase;
    }
    if (job->phase_count > FEW_PHASES)
        fprintf(out, "; longest of %u phases: %s, %s", job->phase_count, longest->name,
                oche_figure_value(longest->mean_s, "s").text);
}

static void print_waits(const struct oche_job_waits *waits, FILE *out)
{
    if (waits->receives > 0)
        fprintf(out, "; %llu receive%s no message, the first of them operation %u of rank %u",
                (unsigned long long)waits->receives, waits->receives == 1 ? " has" : "s have",
                waits->operation, waits->receiver);
    if (waits->messages > 0)
        fprintf(out,
                "; %llu message%s no receive, the first of them from rank %u to rank %u with tag "
                "%u",
                (unsigned long long)waits->messages, waits->messages == 1 ? " has" : "s have",
                waits->sender, waits->target, waits->tag);
}

static void print_job(const struct oche_outcome *outcome, uint32_t number, FILE *out)
{
    const struct oche_job_outcome *job = &outcome->by_workload.workloads[number].job;
    const struct oche_job_repeats *what = &job->what;

    fprintf(out, "Job %u, ", number);
    if (what->title[0] == '\0')
        fprintf(out, "%s", outcome->by_workload.workloads[number].type);
    else if (what->count == 1)
        fprintf(out, "%s of %s", what->title, oche_figure_bytes(what->bytes).text);
    else
        fprintf(out, "%u times %s of %s", what->count, what->title,
                oche_figure_bytes(what->bytes).text);
    fprintf(out, ", %.0f rank%s on %.0f host%s: ", job->ranks, job->ranks == 1 ? "" : "s",
            job->hosts, job->hosts == 1 ? "" : "s");
    if (isnan(job->time_s)) {
        fprintf(out, "%.0f of %.0f ranks came to their end", job->ranks_done, job->ranks);
        print_waits(&job->waits, out);
        fputs(".\n", out);
        return;
    }
    fprintf(out, "%s", figure_of(outcome, "workload.N.time", number).text);
    print_speed(outcome, number, out);
    print_phases(job, out);
    if (job->waiting < 1)
        fprintf(out, "; ranks wait %.0f %% of their time", 100 * job->waiting);
    if (job->first_s < job->time_s)
        fprintf(out, "; rank %u ends last", job->last);
    if (job->late_s > 0)
        fprintf(out, ", %s after the median",
                figure_of(outcome, "workload.N.straggler", number).text);
    print_waits(&job->waits, out);
    fputs(".\n", out);
}

void oche_jobs_print(const struct oche_outcome *outcome, FILE *out)
{
    for (uint32_t i = 0; i < outcome->by_workload.count; i++)
        if (outcome->by_workload.workloads[i].job.known)
            print_job(outcome, i, out);
}

static void add_row(struct oche_table *table, const char *label, const char *metric, uint32_t which,
                    const struct oche_outcome *outcomes, size_t count)
{
    bool known = false;

    for (size_t i = 0; i < count; i++)
        known |= which < outcomes[i].by_workload.count &&
                 !isnan(oche_metric_value(&outcomes[i], metric, which));
    if (!known)
        return;
    oche_table_cell(table, "%s", label);
    for (size_t i = 0; i < count; i++)
        oche_table_cell(
            table, "%s",
            oche_metric_figure(metric, which < outcomes[i].by_workload.count
                                           ? oche_metric_value(&outcomes[i], metric, which)
                                           : NAN)
                .text);
}

bool oche_job_rows(struct oche_table *table, const struct oche_outcome *outcomes, size_t count,
                   struct oche_rows_shown *shown, bool begun)
{
    (void)shown;
    for (uint32_t which = 0; which < outcomes[0].by_workload.count; which++) {
        char label[40];

        if (!outcomes[0].by_workload.workloads[which].job.known)
            continue;
        if (!begun)
            oche_table_rule(table);
        begun = true;
        snprintf(label, sizeof(label), "job %u, time", which);
        add_row(table, label, "workload.N.time", which, outcomes, count);
        add_row(table, "  ranks that came to their end", "workload.N.ranks_done", which, outcomes,
                count);
        add_row(table, "  last rank, after the median", "workload.N.straggler", which, outcomes,
                count);
        add_row(table, "  bus bandwidth", "workload.N.bus_bandwidth", which, outcomes, count);
        add_row(table, "  slowest repetition", "workload.N.repetition.max", which, outcomes, count);
        add_row(table, "  a rank waits, mean", "workload.N.exposed.mean", which, outcomes, count);
    }
    return begun;
}
