/* SPDX-License-Identifier: Apache-2.0 */
/* Prints how a run is divided among threads, and the gain from more of them. */
#ifndef OCHE_CLI_RUN_THREADS_H
#define OCHE_CLI_RUN_THREADS_H

#include <stdio.h>

#include "sim/world/world.h"

/*
 * Before the run: a remark if several processes are expected to have too few events in a window. If
 * `verbose`, also the number of threads or processes, the reason for it, and the share of each.
 */
void oche_threads_print(const struct oche_world *world, bool verbose, FILE *out);

/*
 * After the run: the same remark, if it was not expected. If `verbose`, also the part that the
 * threads ran in parallel, or the messages between processes.
 */
void oche_threads_print_together(const struct oche_world *world, double wall_s, bool verbose,
                                 FILE *out);

/* --partition-report: prints the gain from 2, 4, … threads, as measured in the run. */
void oche_partition_report_print(const struct oche_world *world, double wall_s, FILE *out);

#endif
