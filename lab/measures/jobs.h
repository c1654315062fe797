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

struct oche_job_outcome {
    bool known;                          /* the workload is a job; else all figures are NAN */
    const struct oche_job_repeats *what; /* not owned */
    double ranks, ranks_done, hosts;
    double receives_left, messages_left; /* without a message, and without a receive */
    struct oche_job_waits waits;         /* at the end of the run */
    double time_s; /* from the ranks' begin to the end of the last one; NAN: not all have ended */
    uint32_t last; /* the rank that ended last */
    /* Of ranks that have ended: time in calculations and overhead, and all other time. */
    struct oche_sorted_values busy, exposed;
    /* Of repetitions that all ranks have ended: from the end of the one before. */
    struct oche_sorted_values repetition;
    /*
     * Bandwidth of an operation as NCCL's tests count it: its bytes over the mean time of a
     * repetition without the calculation before it, and that times the bus factor. NAN: it is no
     * collective operation, or no repetition has ended.
     */
    double algorithm_bps, bus_bps;
};

/* Takes the outcome of workload `number`. */
void oche_job_outcome_take(struct oche_job_outcome *outcome, const struct oche_world *world,
                           uint32_t number);
void oche_job_outcome_free(struct oche_job_outcome *outcome);

#endif
