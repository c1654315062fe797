/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants of a switch, for tests: what holds between any two calls of fabric/switch.h, once all
 * packets of a link that went down have been flushed. The statements are a table in invariants.c.
 */
#ifndef OCHE_FABRIC_INVARIANTS_H
#define OCHE_FABRIC_INVARIANTS_H

#include "fabric/switch.h"

/*
 * Returns the first statement that does not hold, a static string; NULL if all hold. `*port` is the
 * port that breaks it; UINT32_MAX: it is about the whole switch. The time grows with the packets
 * that wait.
 */
const char *oche_switch_broken(const struct oche_switch *sw, uint32_t *port);

#endif
