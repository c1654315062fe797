/* SPDX-License-Identifier: Apache-2.0 */
/* Traces of a run: the file and the filter that the command line names. */
#include "cli/run/event_trace.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES (1 << 20)

static bool ends_with(const char *path, const char *end)
{
    size_t length = strlen(path), more = strlen(end);

    return length > more && strcmp(path + length - more, end) == 0;
}

static bool read_format(const char *path, enum oche_event_format *format, struct oche_error *error)
{
    bool csv = ends_with(path, ".csv");

    *format = csv ? OCHE_EVENTS_CSV : OCHE_EVENTS_JSON_LINES;
    if (csv || ends_with(path, ".jsonl"))
        return true;
    return oche_fail(error,
                     "--trace %s: ends neither in .csv nor in .jsonl (a JSON object a line), which "
                     "says how it is written",
                     path);
}

bool oche_event_trace_open(struct oche_event_trace *trace, const char *argument,
                           struct oche_error *error)
{
    enum oche_event_format format;
    struct oche_error why;

    *trace = (struct oche_event_trace){.path = strdup(argument)};
    OCHE_GOT(trace->path != NULL);
    char *slash = strrchr(trace->path, '/');
    char *filter = strchr(slash != NULL ? slash : trace->path, ':');

    if (filter != NULL)
        *filter++ = '\0';
    if (!read_format(trace->path, &format, error)) {
        oche_event_trace_abandon(trace);
        return false;
    }
    if (!oche_whole_file_begin(&trace->file, trace->path, &why)) {
        oche_fail(error, "--trace %s", why.text);
        oche_event_trace_abandon(trace);
        return false;
    }
    setvbuf(trace->file.out, NULL, _IOFBF, BUFFER_BYTES);
    trace->log = oche_event_log_create(trace->file.out, format, filter, &why);
    if (trace->log != NULL)
        return true;
    oche_fail(error, "--trace %s: %s", argument, why.text);
    oche_event_trace_abandon(trace);
    return false;
}

bool oche_event_trace_is_fine(const struct oche_event_trace *trace, struct oche_error *error)
{
    int failure = oche_event_log_failure(trace->log);

    if (failure == 0)
        return true;
    return oche_fail(error, "--trace %s: cannot be written: %s; give a place that can be",
                     trace->path, strerror(failure));
}

bool oche_event_trace_finish(struct oche_event_trace *trace, uint64_t *lines,
                             struct oche_error *error)
{
    struct oche_error why;

    *lines = oche_event_log_lines(trace->log);
    if (!oche_event_trace_is_fine(trace, error)) {
        oche_event_trace_abandon(trace);
        return false;
    }
    bool fine = oche_whole_file_end(&trace->file, &why);

    if (!fine)
        oche_fail(error, "--trace %s", why.text);
    oche_event_trace_abandon(trace);
    return fine;
}

void oche_event_trace_abandon(struct oche_event_trace *trace)
{
    oche_event_log_free(trace->log);
    oche_whole_file_abandon(&trace->file);
    free(trace->path);
    *trace = (struct oche_event_trace){.log = NULL};
}
