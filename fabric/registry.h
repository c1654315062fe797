/* SPDX-License-Identifier: Apache-2.0 */
/* The mechanisms that switches may have beside what every switch has: one line each. */
#ifndef OCHE_FABRIC_REGISTRY_H
#define OCHE_FABRIC_REGISTRY_H

#include "fabric/mechanism.h"

#define OCHE_MOST_MECHANISMS         16
#define OCHE_MOST_MECHANISM_COUNTERS 16 /* of one */

/* NULL ends the list. */
extern const struct oche_switch_mechanism *const oche_switch_mechanisms[];

/* By the name that scenarios use; NULL: there is none. */
const struct oche_switch_mechanism *oche_switch_mechanism_find(const char *name);

#endif
