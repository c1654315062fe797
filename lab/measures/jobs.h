/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome of a job: its ranks' times and, of a collective operation, its bandwidth. */
#ifndef OCHE_LAB_MEASURES_JOBS_H
#define OCHE_LAB_MEASURES_JOBS_H

#include "sim/world/world.h"

/* One value per flow, rank and the like, in ascending order; malloc'd. */
struct oche_sorted_values {
    double *values;
    size_t count;
};

/* A phase of a collective operation. */
struct oche_phase_outcome {
    char name[OCHE_PHASE_NAME_BYTES];
    double mean_s; /* over repetitions: from its first message's begin to its last one's end */
};

struct oche_job_outcome {
    bool known;                   /* the workload is a job; else all figures are NAN */
    struct oche_job_repeats what; /* without its operations */
    double ranks, ranks_done, hosts;
    double receives_left, messages_left; /* without a message, and without a receive */
    struct oche_job_waits waits;         /* at the end of the run */
    double time_s;  /* from the ranks' begin to the end of the last one; NAN: not all have ended */
    double first_s; /* the same, to the end of the first one */
    uint32_t last;  /* the rank that ended last; of several the lowest */
    double late_s;  /* how much later than the median rank; NAN: not all have ended */
    double waiting; /* share of the ranks' times in which they do nothing but wait */
    /* for each rank that has ended: the time in which one of its cpus is busy, and the rest */
    struct oche_sorted_values busy, exposed;
    /*
     * The time of each repetition that all ranks have ended: from the begin of the first rank, when
     * it has calculated, to the end of the last one.
     */
    struct oche_sorted_values repetition;
    /*
     * Bandwidth of an operation as NCCL's tests count it: its bytes over the mean time of a
     * repetition, and that times the bus factor. NAN: it is no collective operation, or no
     * repetition has ended.
     */
    double algorithm_bps, bus_bps;
    /* The phases of a repetition, in their order (malloc'd); those without messages are left out.
     */
    struct oche_phase_outcome *phases;
    uint32_t phase_count;
};

/* Takes the outcome of workload `number`. */
void oche_job_outcome_take(struct oche_job_outcome *outcome, const struct oche_world *world,
                           uint32_t number);
void oche_job_outcome_free(struct oche_job_outcome *outcome);

#endif
