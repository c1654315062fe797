/* SPDX-License-Identifier: Apache-2.0 */
/* The names of the events that a trace records. */
#include "core/trace/trace.h"

static const char *const names[OCHE_TRACE_KINDS] = {
#define OCHE_TRACE_ROW(event, a_says, b_says) [OCHE_TRACE_##event] = #event,
    OCHE_TRACE_EVENTS(OCHE_TRACE_ROW)
#undef OCHE_TRACE_ROW
};

const char *oche_trace_name(enum oche_trace_kind kind)
{
    return kind < OCHE_TRACE_KINDS ? names[kind] : "?";
}
