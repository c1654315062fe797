/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds incasts under RoGUE that no window can prevent. A sender keeps least_batches segments
 * posted for any window (RoGUE sec 3.1). If those of all senders together exceed the capacity of
 * their common port, packets are dropped throughout.
 */
#ifndef OCHE_LAB_MEASURES_POSTED_H
#define OCHE_LAB_MEASURES_POSTED_H

#include "sim/world/world.h"

/*
 * To be called after the run. Fills `text` with a line about the host's port with drops and with
 * the most data posted to it, or with "" if there is none.
 */
void oche_posted_remark(const struct oche_world *world, char *text, size_t text_bytes);

#endif
