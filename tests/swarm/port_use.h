/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When hosts' ports are free, from the trace: a port that is free does not let wait what is due.
 */
#ifndef OCHE_TESTS_SWARM_PORT_USE_H
#define OCHE_TESTS_SWARM_PORT_USE_H

#include "tests/swarm/watch.h"

struct port_use;

/* Returns NULL if hosts send what no event shows, or wait for credits of links. */
struct port_use *port_use_make(const struct swarm_run *run);
void port_use_free(struct port_use *use);
void port_use_event(struct port_use *use, uint32_t node, const struct oche_trace_record *record);
/* True if the host's port was free from `since` on, or later, and before `now`. */
bool port_was_free(const struct port_use *use, uint32_t node, oche_time since, oche_time now);

#endif
