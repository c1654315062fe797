/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the results of jobs. */
#include "lab/measures/jobs.h"

#include <math.h>
#include <stdlib.h>

#include "sim/measure/percentile.h"

static double seconds(oche_time time)
{
    return (double)time / (double)OCHE_SEC;
}

static void make_room(struct oche_sorted_values *values, size_t count)
{
    values->values = malloc((count + 1) * sizeof(*values->values));
    OCHE_GOT(values->values != NULL);
}

static void add(struct oche_sorted_values *values, double value)
{
    values->values[values->count++] = value;
}

static const struct oche_job *job_of(const struct oche_world *world, uint32_t number)
{
    const struct oche_jobs *jobs = oche_world_jobs(world);

    for (uint32_t i = 0; i < jobs->count; i++)
        if (jobs->list[i]->workload == number)
            return jobs->list[i];
    return NULL;
}

static void take_ranks(struct oche_job_outcome *outcome, const struct oche_job *job)
{
    const uint32_t ranks = job->goal.ranks;
    struct oche_sorted_values times = {.count = 0};
    oche_time first = OCHE_NEVER, last = 0;
    double all = 0, waiting = 0;

    make_room(&times, ranks);
    make_room(&outcome->busy, ranks);
    make_room(&outcome->exposed, ranks);
    for (uint32_t i = 0; i < ranks; i++) {
        const struct oche_job_rank *rank = &job->results[i];

        if (rank->ended == OCHE_NEVER)
            continue;
        const oche_time time = rank->ended - job->params.start;

        outcome->ranks_done++;
        if (rank->ended > last) {
            last = rank->ended;
            outcome->last = i;
        }
        first = oche_time_min(first, rank->ended);
        add(&times, seconds(time));
        add(&outcome->busy, seconds(rank->busy));
        add(&outcome->exposed, seconds(time - rank->busy));
        all += seconds(time);
        waiting += seconds(time - rank->busy);
    }
    outcome->waiting = all > 0 ? waiting / all : 0;
    if (outcome->ranks_done == ranks) {
        outcome->time_s = seconds(last - job->params.start);
        outcome->first_s = seconds(first - job->params.start);
        oche_sort_real(times.values, times.count);
        outcome->late_s = outcome->time_s - times.values[(ranks - 1) / 2];
    }
    free(times.values);
}

static void take_repetitions(struct oche_job_outcome *outcome, const struct oche_job *job)
{
    double sum = 0;

    make_room(&outcome->repetition, job->repeats.count);
    for (uint32_t i = 0; i < job->repeats.count; i++) {
        struct oche_job_part part;

        if (!oche_job_repetition(job, i, &part))
            break;
        add(&outcome->repetition, seconds(part.ended - part.begun));
        sum += seconds(part.ended - part.begun);
    }
    if (outcome->repetition.count == 0 || sum <= 0)
        return;
    outcome->algorithm_bps =
        8 * (double)job->repeats.bytes * (double)outcome->repetition.count / sum;
    outcome->bus_bps = outcome->algorithm_bps * job->repeats.bus_factor;
}

static void take_phase(struct oche_job_outcome *outcome, const struct oche_job *job, uint32_t phase)
{
    struct oche_phase_outcome *to = &outcome->phases[outcome->phase_count];
    double sum = 0;

    for (uint32_t i = 0; i < outcome->repetition.count; i++) {
        struct oche_job_part part;

        if (!oche_job_phase(job, i, phase, &part))
            return;
        sum += seconds(part.ended - part.begun);
    }
    oche_collective_phase_name(&job->repeats.of, phase, to->name, sizeof(to->name));
    to->mean_s = sum / (double)outcome->repetition.count;
    outcome->phase_count++;
}

static void take_phases(struct oche_job_outcome *outcome, const struct oche_job *job)
{
    if (outcome->repetition.count == 0 || job->phases == 0)
        return;
    outcome->phases = calloc(job->phases, sizeof(*outcome->phases));
    OCHE_GOT(outcome->phases != NULL);
    for (uint32_t i = 0; i < job->phases; i++)
        take_phase(outcome, job, i);
}

static uint32_t hosts_of(const struct oche_job *job)
{
    uint32_t hosts = 0;

    for (uint32_t i = 0; i < job->hosts; i++)
        hosts += job->first_on[i + 1] > job->first_on[i];
    return hosts;
}

void oche_job_outcome_take(struct oche_job_outcome *outcome, const struct oche_world *world,
                           uint32_t number)
{
    const struct oche_job *job = job_of(world, number);

    *outcome = (struct oche_job_outcome){.ranks = NAN,
                                         .ranks_done = NAN,
                                         .hosts = NAN,
                                         .receives_left = NAN,
                                         .messages_left = NAN,
                                         .time_s = NAN,
                                         .late_s = NAN,
                                         .algorithm_bps = NAN,
                                         .bus_bps = NAN};
    if (job == NULL)
        return;
    outcome->known = true;
    outcome->what = job->repeats;
    outcome->what.begins = outcome->what.ends = NULL; /* the job's own */
    outcome->ranks = job->goal.ranks;
    outcome->hosts = hosts_of(job);
    outcome->ranks_done = 0;
    outcome->waits = oche_job_waits(job);
    outcome->receives_left = (double)outcome->waits.receives;
    outcome->messages_left = (double)outcome->waits.messages;
    take_ranks(outcome, job);
    take_repetitions(outcome, job);
    take_phases(outcome, job);
    oche_sort_real(outcome->busy.values, outcome->busy.count);
    oche_sort_real(outcome->exposed.values, outcome->exposed.count);
    oche_sort_real(outcome->repetition.values, outcome->repetition.count);
}

void oche_job_outcome_free(struct oche_job_outcome *outcome)
{
    free(outcome->busy.values);
    free(outcome->exposed.values);
    free(outcome->repetition.values);
    free(outcome->phases);
}
