/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Invariants of how hosts, switches and links are scheduled, for tests: what holds between windows,
 * when everything before network->now has happened. The statements are a table in invariants.c.
 */
#ifndef OCHE_SIM_NETWORK_INVARIANTS_H
#define OCHE_SIM_NETWORK_INVARIANTS_H

#include "sim/network/network.h"

/*
 * Returns the first statement that does not hold, a static string; NULL if all hold, those of the
 * shards' queues (sim/engine/invariants.h) among them. `*node` is the node that breaks it;
 * UINT32_MAX: it is about events. Not for networks of several ranks.
 */
const char *oche_network_broken(const struct oche_network *network, uint32_t *node);

#endif
