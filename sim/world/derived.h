/* SPDX-License-Identifier: Apache-2.0 */
/* The values that `auto` stands for in a scenario, derived from the world's network. */
#ifndef OCHE_SIM_WORLD_DERIVED_H
#define OCHE_SIM_WORLD_DERIVED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fabric/switch.h"

struct oche_world;

/*
 * Writes what `auto` stands for in this world: "1.6MB", "100KB to 400KB" where switches, ports or
 * hosts differ, "timer, by mode nic" where another parameter decides. `key` is the parameter as
 * --set names it ("switch.kmin"). Returns false if nothing is derived for the key.
 */
bool oche_world_derived(const struct oche_world *world, const char *key, char *text, size_t bytes);

/* Returns the parameters of switch `node`, with the thresholds that a port of `rate_bps` has. */
struct oche_switch_params oche_world_marking(const struct oche_world *world, uint32_t node,
                                             uint64_t rate_bps);

#endif
