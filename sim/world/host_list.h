/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of hosts in a scenario: "host3, host5", or "all". */
#ifndef OCHE_SIM_WORLD_HOST_LIST_H
#define OCHE_SIM_WORLD_HOST_LIST_H

#include "params/error.h"
#include "sim/topology/topology.h"

/*
 * Calls `add` for each host that `hosts` (NULL: none) names, until it returns false. `list` and
 * `number` are the entry's, for errors: "slow_receivers", 1. Returns false if a name is unknown or
 * there is none, with an error, or if `add` has returned false.
 */
bool oche_world_each_host(const struct oche_topology *topology, const char *list, uint32_t number,
                          const char *hosts, bool (*add)(void *context, uint32_t host),
                          void *context, struct oche_error *error);

#endif
