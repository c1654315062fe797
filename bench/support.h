/* SPDX-License-Identifier: Apache-2.0 */
/* For the benchmarks of whole worlds: a configuration with DCQCN and PFC, and a timed run. */
#ifndef OCHE_BENCH_SUPPORT_H
#define OCHE_BENCH_SUPPORT_H

#include "sim/world/world.h"

double bench_seconds(void);
long bench_peak_mib(void);
/* Returns the processor time that the process has used, in seconds. */
double bench_processor_seconds(void);

/*
 * Fills in a configuration with all parameters at their defaults: 1 µs links, DCQCN, go_back_n, an
 * ACK per packet, 1000-byte packets. The structs that it points to are static; `params` are the
 * workload's own.
 */
void bench_config(struct oche_world_config *config, const char *topology,
                  const struct oche_workload_type *workload, const void *params);
/*
 * Gives switches with more ports than the default buffer has PFC headroom for as much more of it;
 * with up to 32 ports leaves it as it is.
 */
void bench_buffer(struct oche_world_config *config, uint64_t ports);
/* Sets a parameter of the topology; ends the program if the topology has no such parameter. */
void bench_topology(struct oche_world_config *config, const char *name, uint64_t value);

/*
 * Builds a world, runs it and prints one line; the time is measured from the end of warm-up. Ends
 * the program if the run had no marks or no CNPs, or had drops: then it measured the wrong work.
 */
void bench_run(const struct oche_world_config *config, const char *label);

/* Prints the head of the table of bench_table_row. */
void bench_table_head(void);
/*
 * Builds a world, runs it to its end, and prints a row: peak memory, also by host, time to set it
 * up, and processor time by packet-hop. The process must not have run a world before. Ends the
 * program as bench_run does.
 */
void bench_table_row(const struct oche_world_config *config);

/* The table of workloads without parameters. */
extern const struct oche_param_table bench_no_params;

#endif
