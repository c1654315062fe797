/* SPDX-License-Identifier: Apache-2.0 */
/* Warns before a run that it will take long, if its flows and losses show that. */
#ifndef OCHE_LAB_MEASURES_LONG_RUN_H
#define OCHE_LAB_MEASURES_LONG_RUN_H

#include "sim/world/world.h"

#define OCHE_LONG_RUN_BYTES 400

/*
 * Writes a remark for the user, one line without a full stop. Returns false, and writes nothing, if
 * the expected time is short or unknown.
 */
bool oche_long_run_remark(const struct oche_world *world, char text[OCHE_LONG_RUN_BYTES]);

#endif
