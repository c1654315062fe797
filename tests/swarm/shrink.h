/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a world that breaks a rule smaller, as long as it breaks the same rule. */
#ifndef OCHE_TESTS_SWARM_SHRINK_H
#define OCHE_TESTS_SWARM_SHRINK_H

#include "tests/swarm/draft.h"

/* True if the draft breaks the rule. */
typedef bool shrink_breaks(void *context, const struct draft *draft);

/* Changes `draft` in place. Tries at most `tries` smaller drafts. Returns how many it tried. */
unsigned shrink(struct draft *draft, shrink_breaks *breaks, void *context, unsigned tries);

#endif
