/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `--trace FILE[:host=…,flow=…]`: writes the protocol events of a run into a file, as CSV or as
 * JSON lines by the end of the file's name. The file is complete or absent.
 */
#ifndef OCHE_CLI_RUN_EVENT_TRACE_H
#define OCHE_CLI_RUN_EVENT_TRACE_H

#include "cli/whole_file.h"
#include "params/error.h"
#include "sim/capture/event_log.h"

struct oche_event_trace {
    struct oche_whole_file file;
    struct oche_event_log *log; /* NULL: there is no trace */
    char *path;
};

/*
 * Parses the argument and begins the file. Returns false, with one line in `error`, on failure. The
 * trace's log is for the configuration of the world, which must be freed before the trace ends.
 */
bool oche_event_trace_open(struct oche_event_trace *trace, const char *argument,
                           struct oche_error *error);

/* Returns false, with one line in `error`, if the file could not be written so far. */
bool oche_event_trace_is_fine(const struct oche_event_trace *trace, struct oche_error *error);

/*
 * Gives the file its final name; `lines` is then the number of its events. Returns false, with one
 * line in `error`, if it is incomplete; then no file is left.
 */
bool oche_event_trace_finish(struct oche_event_trace *trace, uint64_t *lines,
                             struct oche_error *error);

/*
 * Discards the trace and its file. May also be called after oche_event_trace_finish, or if nothing
 * was opened and `trace` is zero.
 */
void oche_event_trace_abandon(struct oche_event_trace *trace);

#endif
