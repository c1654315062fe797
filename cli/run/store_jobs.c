/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/store_jobs.h"

#include <math.h>
#include <string.h>

#define MOST_ROWS  512   /* ranks whose spans are stored, besides the last one */
#define MOST_SPANS 65536 /* of all these ranks, unless each has one */

_Static_assert(OCHE_ACTIVITIES == OCHE_RESULTS_ACTIVITIES, "each has a column");

static oche_time time_of(double seconds)
{
    return isnan(seconds) ? OCHE_NEVER : (oche_time)llround(seconds * (double)OCHE_SEC);
}

static void store_job(struct oche_results *results, const struct oche_job *job,
                      const struct oche_workload_outcome *workload)
{
    const struct oche_job_outcome *of = &workload->job;
    const struct oche_job_repeats *what = &job->repeats;
    const bool done = !isnan(of->time_s);

    oche_results_job(
        results, &(struct oche_results_job){.job = job->workload,
                                            .title = what->count > 0 ? what->title : workload->type,
                                            .ranks = job->goal.ranks,
                                            .bytes = what->count > 0 ? what->bytes : OCHE_NEVER,
                                            .start = job->params.start,
                                            .end = done ? job->results[of->last].ended : OCHE_NEVER,
                                            .last_rank = done ? of->last : OCHE_NEVER,
                                            .late = time_of(of->late_s)});
    for (uint32_t i = 0; i < job->goal.ranks; i++)
        oche_results_rank(results, job->workload, i, job->host_of[i], job->results[i].ended,
                          job->results[i].busy);
}

static void store_phase(struct oche_results *results, const struct oche_job *job,
                        uint32_t repetition, uint32_t phase)
{
    struct oche_job_part part;
    char name[OCHE_PHASE_NAME_BYTES];

    if (!oche_job_phase(job, repetition, phase, &part))
        return;
    oche_collective_phase_name(&job->repeats.of, phase, name, sizeof(name));
    oche_results_repetition(results, &(struct oche_results_repetition){.job = job->workload,
                                                                       .repetition = repetition,
                                                                       .phase = phase,
                                                                       .name = name,
                                                                       .begin = part.begun,
                                                                       .end = part.ended,
                                                                       .last_rank = part.last});
}

static void store_repetitions(struct oche_results *results, const struct oche_job *job)
{
    for (uint32_t i = 0; i < job->repeats.count; i++) {
        struct oche_job_part part;

        if (!oche_job_repetition(job, i, &part))
            return;
        oche_results_repetition(results, &(struct oche_results_repetition){.job = job->workload,
                                                                           .repetition = i,
                                                                           .begin = part.begun,
                                                                           .end = part.ended,
                                                                           .last_rank = part.last});
        for (uint32_t phase = 0; phase < job->phases; phase++)
            store_phase(results, job, i, phase);
    }
}

/* ---- spans ---- */

/* Returns the rank's only activity in a span; OCHE_ACTIVITIES: it has several, or none. */
static unsigned only_activity(const struct oche_results_span *span)
{
    unsigned only = OCHE_ACTIVITIES;

    for (unsigned k = 0; k < OCHE_ACTIVITIES; k++)
        if (span->times[k] == span->end - span->begin)
            only = k;
    return only;
}

/* Stores a span, or makes `open` longer, the span before it, if both are of one activity. */
static void add_span(struct oche_results *results, struct oche_results_span *open,
                     const struct oche_results_span *next)
{
    const unsigned only = open->begin < open->end ? only_activity(open) : OCHE_ACTIVITIES;

    if (only < OCHE_ACTIVITIES && only_activity(next) == only && open->end == next->begin) {
        open->end = next->end;
        open->times[only] += next->times[only];
        return;
    }
    if (open->begin < open->end)
        oche_results_span(results, open);
    *open = *next;
}

static bool is_empty(const struct oche_results_span *span)
{
    return span->times[0] + span->times[1] + span->times[2] + span->times[3] == 0;
}

/* Stores the spans of a rank, `joined` of them as one. */
static void store_row(struct oche_results *results, const struct oche_job *job, uint32_t row,
                      uint32_t joined)
{
    const struct oche_timeline *line = &job->timeline;
    const oche_time(*times)[OCHE_ACTIVITIES] =
        (const oche_time(*)[OCHE_ACTIVITIES])oche_timeline_spans(line, row);
    const oche_time length = line->lengths[row] * joined;
    struct oche_results_span open = {.begin = 0};

    for (uint32_t i = 0; i < line->spans; i += joined) {
        struct oche_results_span next = {.job = job->workload,
                                         .rank = row * line->every,
                                         .begin = line->start + i / joined * length};

        for (uint32_t j = i; j < i + joined; j++)
            for (unsigned k = 0; k < OCHE_ACTIVITIES; k++)
                next.times[k] += times[j][k];
        next.end = next.begin + length;
        if (!is_empty(&next))
            add_span(results, &open, &next);
    }
    if (open.begin < open.end)
        oche_results_span(results, &open);
}

static void store_spans(struct oche_results *results, const struct oche_job *job, uint32_t last)
{
    const struct oche_timeline *line = &job->timeline;
    const uint32_t every = (line->rows + MOST_ROWS - 1) / MOST_ROWS;
    uint32_t joined = 1;

    while (joined < line->spans &&
           (uint64_t)(line->rows / every + 1) * (line->spans / joined) > MOST_SPANS)
        joined *= 2;
    for (uint32_t row = 0; row < line->rows; row++)
        if (row % every == 0 || row * line->every == last)
            store_row(results, job, row, joined);
}

void oche_store_jobs(struct oche_results *results, const struct oche_world *world,
                     const struct oche_outcome *outcome)
{
    const struct oche_jobs *jobs = oche_world_jobs(world);

    for (uint32_t i = 0; i < jobs->count; i++) {
        const struct oche_job *job = jobs->list[i];
        const struct oche_workload_outcome *workload =
            &outcome->by_workload.workloads[job->workload];

        store_job(results, job, workload);
        store_repetitions(results, job);
        store_spans(results, job, workload->job.last);
    }
}
