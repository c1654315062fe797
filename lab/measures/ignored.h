/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds keys of a scenario that have no effect: keys that describe queue pairs, if the hosts'
 * endpoint has none, or does not use them all. Such keys are not an error, so that one scenario can
 * compare both kinds of endpoint, but the user is told.
 */
#ifndef OCHE_LAB_MEASURES_IGNORED_H
#define OCHE_LAB_MEASURES_IGNORED_H

#include "sim/world/world.h"

/* Fills `text` with a line for the user, or with "" if nothing is ignored. */
void oche_ignored(const struct oche_world *world, char *text, size_t text_bytes);

#endif
