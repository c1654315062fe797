/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a scenario says about queue pairs although its hosts have none: an endpoint other than the
 * RNIC ignores all of it. That is not an error, so that one scenario can compare both, but the user
 * is told.
 */
#ifndef OCHE_LAB_MEASURES_IGNORED_H
#define OCHE_LAB_MEASURES_IGNORED_H

#include "sim/world/world.h"

/* Fills `text` with a line for the user, or with nothing. */
void oche_ignored(const struct oche_world *world, char *text, size_t text_bytes);

#endif
