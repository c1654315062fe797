/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the protocol events of a run, of which the trace hash is made (core/trace/trace.h), one a
 * line as CSV or JSON, while the run is going on.
 *
 *     config.events = oche_event_log_create(file, OCHE_EVENTS_CSV, filter, &error);
 *     world = oche_world_create(&config, …);    attaches the log to the world's nodes
 *     oche_world_run(…);                        writes
 *     oche_event_log_free(config.events);       after the world
 *
 * Lines are in order of time, then node, then of the node's own events, for any number of threads.
 * In memory are the events of one window (sim/network/network.h), in which each packet is sent once
 * at most.
 */
#ifndef OCHE_SIM_CAPTURE_EVENT_LOG_H
#define OCHE_SIM_CAPTURE_EVENT_LOG_H

#include <stdio.h>

#include "params/error.h"
#include "sim/network/flow.h"
#include "sim/network/network.h"
#include "sim/topology/topology.h"

struct oche_event_log;

#define OCHE_EVENT_LOG_SAYS "trace: "

enum oche_event_format { OCHE_EVENTS_CSV, OCHE_EVENTS_JSON_LINES };

/*
 * Makes a log that writes to `out`, which the caller closes. `filter`: "host=3,host=tor0,flow=7",
 * of which hosts, or switches, and flows may each be several; NULL: everything. Returns NULL, with
 * one line in `error`, if that is not a filter.
 */
struct oche_event_log *oche_event_log_create(FILE *out, enum oche_event_format format,
                                             const char *filter, struct oche_error *error);

/*
 * For the world, before any node has an event: hears the nodes' events from now on. Returns false,
 * with one line in `error` that begins with OCHE_EVENT_LOG_SAYS, if the filter names what is not
 * there. The log must outlive
 * the network.
 */
bool oche_event_log_attach(struct oche_event_log *log, struct oche_network *network,
                           const struct oche_topology *topology, const struct oche_flows *flows,
                           struct oche_error *error);

/*
 * For the world, between windows: writes what has happened. Returns false if the file cannot be
 * written any more.
 */
bool oche_event_log_write(struct oche_event_log *log);

/* Returns the number of lines so far; the first line of a CSV file, its header, is not counted. */
uint64_t oche_event_log_lines(const struct oche_event_log *log);
/* Returns the errno of the first failure to write; 0: there was none. */
int oche_event_log_failure(const struct oche_event_log *log);

/* Frees the log, which may be NULL. */
void oche_event_log_free(struct oche_event_log *log);

#endif
