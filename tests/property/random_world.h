/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs random scenarios: a scenario becomes a world, the world runs until all is delivered, and
 * packets and bytes are accounted for.
 */
#ifndef OCHE_TESTS_PROPERTY_RANDOM_WORLD_H
#define OCHE_TESTS_PROPERTY_RANDOM_WORLD_H

#include "sim/network/rank_mail.h"
#include "sim/world/world.h"
#include "tests/property/random_scenario.h"

/* A world and what it points to. Its address must not change. */
struct random_world {
    struct random_scenario *scenario;
    struct oche_world_config config;
    struct oche_workload_config workloads[2];
    struct oche_failure_params failure;
    char failed[16];
    void *cc_params, *recovery_params, *beside_params;
    /* mechanism that congestion control requires, or NULL */
    const struct oche_switch_mechanism *mechanism;
    void *mechanism_params;
    struct oche_world *world;
    struct oche_world_totals totals; /* totals after the run */
};

/* Makes and runs the world on `threads` threads. The scenario must outlive it. */
void random_world_run(struct random_world *random, struct random_scenario *scenario,
                      uint32_t threads);
/*
 * Like random_world_run, for a scenario without duration. In every other scenario an additional
 * pair of hosts never ends.
 */
void random_world_run_until_done(struct random_world *random, struct random_scenario *scenario,
                                 uint32_t threads);
/* Like random_world_run_until_done, but the first receiver's link goes down for good after 5 us. */
void random_world_run_cut(struct random_world *random, struct random_scenario *scenario,
                          uint32_t threads);
/*
 * Sets the measurements of later worlds. 0: none; 1: queues, rates and series at a fixed interval,
 * after warm-up; 2: series at an automatic interval.
 */
void random_world_measure(unsigned what);
/* Later worlds are run by ranks instead of threads; NULL: by threads. */
void random_world_use_mail(struct oche_rank_mail *mail);
void random_world_free(struct random_world *random);

/* Returns the drops in switches, of all causes. */
uint64_t random_world_drops(const struct random_world *random);

/*
 * Fails, naming the scenario, unless the books balance:
 * - every packet that was sent was received or dropped;
 * - no queue, buffer account or link has anything left;
 * - no port is paused or pauses another;
 * - every byte of every flow was delivered once.
 */
void random_world_assert_books(const struct random_world *random);

#endif
