/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds incasts under RoGUE that no window can help: a sender keeps least_batches segments posted
 * whatever its window (RoGUE sec 3.1), and those of all senders at once are more than the port that
 * they share can hold, so that packets are dropped throughout.
 */
#ifndef OCHE_LAB_MEASURES_POSTED_H
#define OCHE_LAB_MEASURES_POSTED_H

#include "sim/world/world.h"

/*
 * To be called after the run. Fills `text` with a line about the port of a host that dropped
 * packets and had most posted to it, or with "" if there is none.
 */
void oche_posted_remark(const struct oche_world *world, char *text, size_t text_bytes);

#endif
