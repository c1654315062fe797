/* SPDX-License-Identifier: Apache-2.0 */
/* For the benchmarks of whole worlds: a configuration with DCQCN and PFC, and a timed run. */
#ifndef OCHE_BENCH_SUPPORT_H
#define OCHE_BENCH_SUPPORT_H

#include "sim/world/world.h"

double bench_seconds(void);
long bench_peak_mib(void);

/*
 * Fills in a configuration with all parameters at their defaults: 1 µs links, DCQCN, go_back_n, an
 * ACK per packet, 1000-byte packets. The structs that it points to are static.
 */
void bench_config(struct oche_world_config *config, const char *topology,
                  const struct oche_workload_type *workload);
/* Sets a parameter of the topology; ends the program if the topology has no such parameter. */
void bench_topology(struct oche_world_config *config, const char *name, uint64_t value);

/*
 * Builds a world, runs it and prints one line; the time is measured from the end of warm-up. Ends
 * the program if the run had no marks or no CNPs, or had drops: then it measured the wrong work.
 */
void bench_run(const struct oche_world_config *config, const char *label);

#endif
