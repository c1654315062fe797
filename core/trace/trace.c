/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the trace's events. */
#include "core/trace/trace.h"

static const struct {
    const char *name, *a, *b;
} events[OCHE_TRACE_KINDS] = {
#define OCHE_TRACE_ROW(event, a_says, b_says)                                                      \
    [OCHE_TRACE_##event] = {.name = #event, .a = a_says, .b = b_says},
    OCHE_TRACE_EVENTS(OCHE_TRACE_ROW)
#undef OCHE_TRACE_ROW
};

const char *oche_trace_name(enum oche_trace_kind kind)
{
    return kind < OCHE_TRACE_KINDS ? events[kind].name : "?";
}

const char *oche_trace_a(enum oche_trace_kind kind)
{
    return kind < OCHE_TRACE_KINDS ? events[kind].a : "?";
}

const char *oche_trace_b(enum oche_trace_kind kind)
{
    return kind < OCHE_TRACE_KINDS ? events[kind].b : "?";
}
