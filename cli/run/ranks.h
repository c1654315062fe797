/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that mpirun has started in several processes: the ranks. All read the scenario and make the
 * same world, each with its part of the devices; rank 0 alone speaks and writes results.
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
    uint64_t digest; /* of the scenarios that are to be run */
};

/*
 * Finds out whether mpirun has started this process, which then is not to say anything unless it is
 * rank 0: if arguments are wrong, rank 0 says so, and mpirun ends the others. One that is still
 * there after some seconds speaks for itself. To be called before arguments are read.
 */
struct oche_run_ranks oche_run_ranks_find(void);
/*
 * For commands other than run: if mpirun has started this process beside others, says so, once, and
 * returns the exit status; otherwise returns 0.
 */
int oche_run_ranks_refuse(const char *command);
/*
 * Joins the other ranks. Returns false, with an error, if that is not possible, or not with these
 * options, which it changes to those of this rank, or if another rank is another program.
 */
bool oche_run_ranks_join(struct oche_run_ranks *ranks, struct oche_run_options *options,
                         struct oche_error *error);
/* Notes a scenario that is to be run, by which ranks notice that they have different ones. */
void oche_run_ranks_note(struct oche_run_ranks *ranks, const struct oche_scenario *scenario);
/*
 * Returns true if all ranks are fine, and have noted the same scenarios; otherwise `error` is the
 * first one's of those that are not. All ranks must call it.
 */
bool oche_run_ranks_agree(struct oche_run_ranks *ranks, bool fine, struct oche_error *error);
/* The same, for ranks that are about to run a world; whether it is the same one. */
bool oche_run_ranks_agree_on(struct oche_run_ranks *ranks, bool fine,
                             const struct oche_world *world, struct oche_error *error);
/* True if mpirun has started this process, and what it says comes to mpirun's terminal. */
bool oche_run_ranks_have_terminal(void);
/* Waits for all others. Returns the status with which to end: that of mpirun is rank 0's. */
int oche_run_ranks_leave(struct oche_run_ranks *ranks, int status);

/* True if this process is to speak, and to write. */
static inline bool oche_run_ranks_is_first(const struct oche_run_ranks *ranks)
{
    return ranks->rank == 0;
}

#endif
