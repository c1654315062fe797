/* SPDX-License-Identifier: Apache-2.0 */
/* Tells how a run is shared out among threads, and what more of them would give. */
#ifndef OCHE_CLI_RUN_THREADS_H
#define OCHE_CLI_RUN_THREADS_H

#include <stdio.h>

#include "sim/world/world.h"

/*
 * Before the run: a remark if several processes are expected to have too little to do in a window
 * and, if `verbose`, the number of threads or processes, why it is that, and what each has.
 */
void oche_threads_print(const struct oche_world *world, bool verbose, FILE *out);

/*
 * After the run: that remark, if it was not expected, and, if `verbose`, how much of it the threads
 * ran together, or what processes told each other.
 */
void oche_threads_print_together(const struct oche_world *world, double wall_s, bool verbose,
                                 FILE *out);

/* --partition-report: prints what 2, 4, … threads would give, as found by the run. */
void oche_partition_report_print(const struct oche_world *world, double wall_s, FILE *out);

#endif
