/* SPDX-License-Identifier: Apache-2.0 */
/* Random scenarios, run: a scenario becomes a world, the world runs dry, and its books are kept. */
#ifndef OCHE_TESTS_PROPERTY_RANDOM_WORLD_H
#define OCHE_TESTS_PROPERTY_RANDOM_WORLD_H

#include "sim/network/rank_mail.h"
#include "sim/world/world.h"
#include "tests/property/random_scenario.h"

/* A world and what it points to. Its address must not change while it is in use. */
struct random_world {
    struct random_scenario *scenario;
    struct oche_world_config config;
    struct oche_workload_config workloads[2];
    struct oche_failure_params failure;
    char failed[16];
    void *cc_params, *recovery_params, *beside_params;
    const struct oche_switch_mechanism *mechanism; /* that congestion control needs, or NULL */
    void *mechanism_params;
    struct oche_world *world;
    struct oche_world_totals totals; /* when it has run */
};

/* Makes and runs it, on so many threads. The scenario must outlive it. */
void random_world_run(struct random_world *random, struct random_scenario *scenario,
                      uint32_t threads);
/* The same without duration; every other scenario has a pair beside its flows that goes on. */
void random_world_run_until_done(struct random_world *random, struct random_scenario *scenario,
                                 uint32_t threads);
/* The same, but the link of the first receiver goes down after 5 us, for good. */
void random_world_run_cut(struct random_world *random, struct random_scenario *scenario,
                          uint32_t threads);
/*
 * What worlds that are made after this measure: 0 nothing; 1 queues, rates and series at a fixed
 * interval, after warm-up; 2 series at an automatic one.
 */
void random_world_measure(unsigned what);
/* Worlds that are made after this are run by ranks, in place of threads; NULL: by threads. */
void random_world_use_mail(struct oche_rank_mail *mail);
void random_world_free(struct random_world *random);

/* Drops in switches, of all causes. */
uint64_t random_world_drops(const struct random_world *random);

/*
 * Fails, naming the scenario, unless every packet that was sent was received or dropped, nothing
 * is left in a queue, in a buffer's account or on a link, no port is paused or holds another so,
 * and every byte of every flow was delivered once.
 */
void random_world_assert_books(const struct random_world *random);

#endif
