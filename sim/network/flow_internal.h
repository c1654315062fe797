/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that prepare flows: their memory, connections and start order. */
#ifndef OCHE_SIM_NETWORK_FLOW_INTERNAL_H
#define OCHE_SIM_NETWORK_FLOW_INTERNAL_H

#include "sim/network/flow.h"

#define OCHE_FLOW_MOST_HOSTS (UINT32_C(1) << 20)

/* Returns zeroed memory (oche_sparse_take), never NULL. */
void *oche_flows_memory(size_t count, size_t bytes);

/* flow.c: makes the next flow of a source; there must be one. */
void oche_flows_make_next(struct oche_flows *flows, struct oche_flow_source *source);

/* connections.c */
/* Assigns connections. The first flow of each source must be drawn. */
void oche_flows_connect(struct oche_flows *flows, uint32_t host_count, enum oche_connections per);
/* Sets the connection of a flow that a source has just drawn. */
void oche_flows_connect_drawn(struct oche_flows *flows, const struct oche_flow_source *source,
                              uint32_t number);
/* Returns the number of the connection that a source's flow has, or will have. */
uint32_t oche_flows_connection_of(const struct oche_flows *flows,
                                  const struct oche_flow_source *source, uint32_t number,
                                  const struct oche_flow_plan *plan);

/* starts.c */
void oche_flows_order_starts(struct oche_flows *flows, uint32_t host_count);

#endif
