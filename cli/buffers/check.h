/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether ECN is sure to act before PFC in the switches of a scenario: the worst case of
 * DCQCN sec 4, with each switch's own headroom and with only those ports that can really feed each
 * other.
 */
#ifndef OCHE_CLI_BUFFERS_CHECK_H
#define OCHE_CLI_BUFFERS_CHECK_H

#include <stdio.h>

#include "report/json.h"
#include "sim/scenario/idle_keys.h"
#include "sim/world/world.h"

/*
 * Prints, for each kind of switch, whether ECN is sure to act before PFC, and what to change if
 * not. The world is the scenario's. Returns true if ECN is sure and headroom is sufficient for
 * every kind. `all_priorities`: computes as if data came in all PFC priorities, as in the paper.
 */
bool oche_buffers_check(const struct oche_scenario *scenario, const struct oche_world *world,
                        bool all_priorities, FILE *out);

/* Returns the same as an object. Sets *yes to the result of oche_buffers_check. */
struct json_object *oche_buffers_check_json(const struct oche_scenario *scenario,
                                            const struct oche_world *world, const char *path,
                                            bool all_priorities, bool *yes);

#endif
