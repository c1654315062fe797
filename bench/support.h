/* SPDX-License-Identifier: Apache-2.0 */
/* What the benchmarks of whole worlds share: a configuration with DCQCN and PFC, and the clock. */
#ifndef OCHE_BENCH_SUPPORT_H
#define OCHE_BENCH_SUPPORT_H

#include "sim/world/world.h"

double bench_seconds(void);
long bench_peak_mib(void);

/*
 * Fills in a configuration with all parameters at their defaults: 1 µs links, DCQCN, go_back_n, an
 * ACK per packet, 1000-byte packets. What it points to lives as long as the program.
 */
void bench_config(struct oche_world_config *config, const char *topology,
                  const struct oche_workload_type *workload);
/* Sets a parameter of the topology; ends the program if there is none of this name. */
void bench_topology(struct oche_world_config *config, const char *name, uint64_t value);

/*
 * Builds and runs; the clock starts at the end of warm-up. Prints one line. Ends the program if the
 * run did not do the work that was to be measured: marks and CNPs above zero, no drops.
 */
void bench_run(const struct oche_world_config *config, const char *label);

#endif
