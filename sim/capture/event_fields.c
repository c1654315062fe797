/* SPDX-License-Identifier: Apache-2.0 */
/* The table of fields; the comments in core/trace/trace.h say what the words mean. */
#include "sim/capture/event_fields.h"

#include "core/wire/aeth.h"

#define A(name)                                                                                    \
    {                                                                                              \
        name, false, 0, 64                                                                         \
    }
#define B(name)                                                                                    \
    {                                                                                              \
        name, true, 0, 64                                                                          \
    }
#define A_PART(name, shift, bits)                                                                  \
    {                                                                                              \
        name, false, shift, bits                                                                   \
    }
#define B_PART(name, shift, bits)                                                                  \
    {                                                                                              \
        name, true, shift, bits                                                                    \
    }

static const struct oche_event_field fields[OCHE_TRACE_KINDS][OCHE_EVENT_MOST_FIELDS + 1] = {
    [OCHE_TRACE_DATA_SENT] = {A("psn"), B_PART("bytes", 0, 32), B_PART("opcode", 32, 8),
                              B_PART("retransmitted", 40, 24)},
    [OCHE_TRACE_DATA_ARRIVED] = {A("psn"), B_PART("bytes", 0, 32), B_PART("opcode", 32, 8),
                                 B_PART("ecn", 40, 24)},
    [OCHE_TRACE_DELIVERED] = {A("psn"), B("bytes")},
    [OCHE_TRACE_MESSAGE_DELIVERED] = {A("msn"), B("bytes")},
    [OCHE_TRACE_DUPLICATE] = {A("psn"), B("opcode")},
    [OCHE_TRACE_OUT_OF_ORDER] = {A("psn"), B("expected_psn")},
    [OCHE_TRACE_ACK_SENT] = {A("psn"), B_PART("msn", 0, 24), B_PART("syndrome", 24, 40)},
    [OCHE_TRACE_ACK_ARRIVED] = {A("psn"), B_PART("msn", 0, 24), B_PART("syndrome", 24, 40)},
    [OCHE_TRACE_RATE_CHANGED] = {A("cause"), B("rate_bps")},
    [OCHE_TRACE_WINDOW_CHANGED] = {A("cause"), B("window_bytes")},
    [OCHE_TRACE_TIMEOUT] = {A("psn"), B("retries_left")},
    [OCHE_TRACE_GO_BACK] = {A("psn"), B("highest_psn")},
    [OCHE_TRACE_POSTED] = {A("wr_id"), B_PART("bytes", 0, 32), B_PART("operation", 32, 32)},
    [OCHE_TRACE_COMPLETED] = {A("wr_id"), B("status")},
    [OCHE_TRACE_STATE] = {A("from_state"), B("to_state")},
    [OCHE_TRACE_REJECTED] = {A("cause"), B("psn")},
    [OCHE_TRACE_PAUSE_SENT] = {A("port"), B_PART("quanta", 0, 16), B_PART("class", 16, 48)},
    [OCHE_TRACE_PAUSE_ARRIVED] = {A("port"), B_PART("quanta", 0, 16), B_PART("class", 16, 48)},
    [OCHE_TRACE_DROPPED] = {A_PART("port", 0, 32), A_PART("cause", 32, 32), B("psn")},
    [OCHE_TRACE_MARKED] = {A("psn"), B("backlog_bytes")},
    [OCHE_TRACE_FLOW_STARTED] = {A("flow"), B("bytes")},
    [OCHE_TRACE_FLOW_ENDED] = {A("flow"), B("bytes")},
    [OCHE_TRACE_RANK_ENDED] = {A("rank"), B("workload")},
    [OCHE_TRACE_CC_STATE] = {A("state_a"), B("state_b")},
    [OCHE_TRACE_RESTARTED] = {A("psn"), B_PART("bytes", 0, 40), B_PART("of_read", 40, 24)},
    [OCHE_TRACE_PLACED] = {A("psn"), B("bytes")},
    [OCHE_TRACE_SENDERS] = {A("senders"), B_PART("told", 0, 32), B_PART("cc_state", 32, 32)},
    [OCHE_TRACE_DEFLECTED] = {A_PART("egress", 0, 16), A_PART("port", 16, 48), B_PART("psn", 0, 24),
                              B_PART("tokens", 24, 8), B_PART("lane", 32, 32)},
    [OCHE_TRACE_CREDIT_SENT] = {A("credit"), B("bytes")},
    [OCHE_TRACE_CREDIT_ARRIVED] = {A("credit"), B("bytes")},
    [OCHE_TRACE_LINK_DOWN] = {A("port")},
    [OCHE_TRACE_LINK_UP] = {A("port")},
    [OCHE_TRACE_LINK_CHANGED] = {A("port"), B("rate_bps")},
    [OCHE_TRACE_FCP_SENT] = {A("port"), B_PART("fccl", 0, 16), B_PART("fctbs", 16, 16),
                             B_PART("vl", 32, 32)},
    [OCHE_TRACE_FCP_ARRIVED] = {A("port"), B_PART("fccl", 0, 16), B_PART("fctbs", 16, 16),
                                B_PART("vl", 32, 32)},
};

const struct oche_event_field *oche_event_fields(enum oche_trace_kind kind)
{
    return fields[kind];
}

const char *oche_event_name(const struct oche_trace_record *record, bool roce)
{
    bool sent = record->kind == OCHE_TRACE_ACK_SENT;

    if (roce && (sent || record->kind == OCHE_TRACE_ACK_ARRIVED)) {
        enum oche_aeth_kind kind = oche_aeth_kind((uint8_t)(record->b >> 24));

        if (kind == OCHE_AETH_NAK)
            return sent ? "NAK_SENT" : "NAK_ARRIVED";
        if (kind == OCHE_AETH_RNR)
            return sent ? "RNR_NAK_SENT" : "RNR_NAK_ARRIVED";
    }
    return oche_trace_name((enum oche_trace_kind)record->kind);
}
