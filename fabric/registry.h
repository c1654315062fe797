/* SPDX-License-Identifier: Apache-2.0 */
/* The mechanisms that switches may have in addition to what every switch has. */
#ifndef OCHE_FABRIC_REGISTRY_H
#define OCHE_FABRIC_REGISTRY_H

#include "fabric/mechanism.h"

#define OCHE_MOST_MECHANISMS         16
#define OCHE_MOST_MECHANISM_COUNTERS 16 /* most counters of one mechanism */

/* All mechanisms; NULL ends the list. */
extern const struct oche_switch_mechanism *const oche_switch_mechanisms[];

/* Returns the mechanism that scenarios call `name`, or NULL. */
const struct oche_switch_mechanism *oche_switch_mechanism_find(const char *name);

#endif
