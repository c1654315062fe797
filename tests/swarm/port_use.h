/* SPDX-License-Identifier: Apache-2.0 */
/* Computes from the trace when hosts' ports are idle. An idle port must send whatever is due. */
#ifndef OCHE_TESTS_SWARM_PORT_USE_H
#define OCHE_TESTS_SWARM_PORT_USE_H

#include "tests/swarm/watch.h"

struct port_use;

/* Returns NULL if hosts send frames without events, wait for credits of links, or become slow. */
struct port_use *port_use_make(const struct swarm_run *run);
void port_use_free(struct port_use *use);
void port_use_event(struct port_use *use, uint32_t node, const struct oche_trace_record *record);
/* True if the host's port was idle at some time in [since, now). */
bool port_was_free(const struct port_use *use, uint32_t node, oche_time since, oche_time now);

#endif
