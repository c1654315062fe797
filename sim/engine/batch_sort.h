/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts pending events: the events of a slice by node, the events of a batch by time. */
#ifndef OCHE_SIM_ENGINE_BATCH_SORT_H
#define OCHE_SIM_ENGINE_BATCH_SORT_H

#include "sim/engine/event_queue.h"

/*
 * Sorts `count` events, all of one node, by (time, key). Writes them to `to`, or to `spare`, which
 * are both as large and may not overlap `from`; returns which.
 */
struct oche_pending *oche_batch_sort(const struct oche_pending *from, uint32_t count,
                                     struct oche_pending *to, struct oche_pending *spare);

/*
 * Sorts events by node, which is the key's bits from `node_shift` on. Events of one node are then
 * in some order that depends only on the events. `spare` is as large as `events`.
 */
void oche_batch_sort_nodes(struct oche_pending *events, uint32_t count, struct oche_pending *spare,
                           unsigned node_shift);

#endif
