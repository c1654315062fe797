/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that mpirun has started in several processes: the ranks. All read the scenario and make the
 * same world, each with its part of the devices. Only rank 0 prints and writes results.
 */
#ifndef OCHE_CLI_RUN_RANKS_H
#define OCHE_CLI_RUN_RANKS_H

#include "cli/run/options.h"
#include "params/error.h"
#include "sim/scenario/scenario.h"
#include "sim/world/world.h"
#include "sim/network/rank_mail.h"

struct oche_run_ranks {
    uint32_t rank, count;
    struct oche_rank_mail *mail; /* NULL: there is one process */
    void (*leave)(void);
    uint64_t digest; /* digest of the scenarios that are to be run */
};

/*
 * Checks if mpirun has started this process. If so, only rank 0 prints: if arguments are wrong,
 * rank 0 prints the error, and mpirun ends the others. A rank that still runs after some seconds
 * prints its own error. To be called before arguments are read.
 */
struct oche_run_ranks oche_run_ranks_find(void);
/*
 * For commands other than run. If mpirun has started several processes, prints an error once and
 * returns the exit status; otherwise returns 0.
 */
int oche_run_ranks_refuse(const char *command);
/*
 * Joins the other ranks. Changes the options to those of this rank. Returns false, with an error,
 * if joining fails, if these options do not allow it, or if another rank is another program.
 */
bool oche_run_ranks_join(struct oche_run_ranks *ranks, struct oche_run_options *options,
                         struct oche_error *error);
/* Notes a scenario of this run. Ranks compare these notes to detect differences. */
void oche_run_ranks_note(struct oche_run_ranks *ranks, const struct oche_scenario *scenario);
/*
 * Returns true if all ranks are fine and have noted the same scenarios. Otherwise `error` is that
 * of the first rank that is not. All ranks must call it.
 */
bool oche_run_ranks_agree(struct oche_run_ranks *ranks, bool fine, struct oche_error *error);
/* The same, for ranks that are about to run a world: checks that it is the same one. */
bool oche_run_ranks_agree_on(struct oche_run_ranks *ranks, bool fine,
                             const struct oche_world *world, struct oche_error *error);
/* True if mpirun has started this process, and its output appears on mpirun's terminal. */
bool oche_run_ranks_have_terminal(void);
/* Waits for all others. Returns the status with which to end: that of mpirun is rank 0's. */
int oche_run_ranks_leave(struct oche_run_ranks *ranks, int status);

/* True if this process may print and write. */
static inline bool oche_run_ranks_is_first(const struct oche_run_ranks *ranks)
{
    return ranks->rank == 0;
}

#endif
