/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants of an event queue, for tests: the statements hold between any two calls of
 * event_queue.h, also while a batch is open. The statements are a table in invariants.c.
 */
#ifndef OCHE_SIM_ENGINE_INVARIANTS_H
#define OCHE_SIM_ENGINE_INVARIANTS_H

#include "sim/engine/event_queue.h"

/*
 * Returns the first statement that does not hold, a static string; NULL if all hold. The time grows
 * with the events and with the ring.
 */
const char *oche_events_broken(const struct oche_event_queue *queue);

/* Calls `visit` for each event that has not been popped, in no order. */
void oche_events_each(const struct oche_event_queue *queue,
                      void (*visit)(void *context, const struct oche_event *event), void *context);

#endif
