/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether ECN is sure to act before PFC in the switches of a scenario: the worst case of
 * DCQCN sec 4, with each switch's own headroom and with only those ports that can really feed each
 * other.
 */
#ifndef OCHE_CLI_BUFFERS_CHECK_H
#define OCHE_CLI_BUFFERS_CHECK_H

#include <stdio.h>

#include "sim/world/world.h"

/*
 * Prints the result for each kind of switch, and what to change if it is not sure. Returns true if
 * it is sure for all of them and headroom is sufficient. `all_priorities`: as if data came in all
 * PFC priorities, as in the paper.
 */
bool oche_buffers_check(const struct oche_world *world, bool all_priorities, FILE *out);

#endif
