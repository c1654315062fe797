/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two runs of one random world. */
#ifndef OCHE_TESTS_PROPERTY_SAME_WORLD_H
#define OCHE_TESTS_PROPERTY_SAME_WORLD_H

#include "tests/property/random_world.h"

/*
 * Fails, naming the scenario, unless both runs have the same trace hash, end, counters, flows,
 * ports, PAUSEs, queues and series. `many` is the run that `name` describes; `one` is the run of
 * one process.
 */
void assert_same_world(const struct random_world *one, const struct random_world *many,
                       const char *name);

#endif
