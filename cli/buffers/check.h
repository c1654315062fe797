/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether ECN is sure to act before PFC in the switches of a scenario: the worst case of DCQCN
 * sec 4, with each switch's own headroom and with the ports that its ports can really feed.
 */
#ifndef OCHE_CLI_BUFFERS_CHECK_H
#define OCHE_CLI_BUFFERS_CHECK_H

#include <stdio.h>

#include "sim/world/world.h"

/*
 * Prints what holds for each kind of switch, and what to change if it does not. Whether it is sure
 * for all of them, and headroom enough. `all_priorities`: as if data came in all PFC priorities, as
 * the paper has it.
 */
bool oche_buffers_check(const struct oche_world *world, bool all_priorities, FILE *out);

#endif
