/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace records every protocol event of a node. The table below lists the kinds of events. A
 * small ring always keeps the latest events, to be shown when something breaks. A hash is computed
 * over all events, so two runs with equal hashes have had the same events. If a sink is set, it
 * gets every event. Hops inside the network are not traced.
 */
#ifndef OCHE_CORE_TRACE_TRACE_H
#define OCHE_CORE_TRACE_TRACE_H

#include <string.h>

#include "core/base.h"

OCHE_C_BEGIN

/* X(name, meaning of a, meaning of b). Append only: an event's number is part of the hash. */
#define OCHE_TRACE_EVENTS(X)                                                                       \
    X(NONE, "", "")                                                                                \
    X(DATA_SENT, "psn", "bytes | opcode << 32 | retransmitted << 40")                              \
    X(DATA_ARRIVED, "psn", "bytes | opcode << 32 | ecn << 40")                                     \
    X(DELIVERED, "psn", "bytes delivered in order")                                                \
    X(MESSAGE_DELIVERED, "msn", "bytes of the message")                                            \
    X(DUPLICATE, "psn", "opcode")                                                                  \
    X(OUT_OF_ORDER, "psn", "expected psn")                                                         \
    X(ACK_SENT, "psn", "syndrome << 24 | msn")                                                     \
    X(ACK_ARRIVED, "psn", "syndrome << 24 | msn")                                                  \
    X(CNP_SENT, "", "")                                                                            \
    X(CNP_ARRIVED, "", "")                                                                         \
    X(RATE_CHANGED, "cause", "bits per second")                                                    \
    X(WINDOW_CHANGED, "cause", "bytes")                                                            \
    X(TIMEOUT, "first unacknowledged psn", "retries left")                                         \
    X(GO_BACK, "psn to resume at", "highest psn sent")                                             \
    X(POSTED, "wr_id", "bytes | opcode << 32")                                                     \
    X(COMPLETED, "wr_id", "status")                                                                \
    X(STATE, "from", "to")                                                                         \
    X(REJECTED, "cause", "psn")                                                                    \
    X(PAUSE_SENT, "port", "class << 16 | quanta")                                                  \
    X(PAUSE_ARRIVED, "port", "class << 16 | quanta")                                               \
    X(DROPPED,                                                                                     \
      "port; 2^32: lost by the link, 2^33: as it went down, 2^34: by slow host, "                  \
      "2^35: discarded from a queue",                                                              \
      "psn")                                                                                       \
    X(MARKED, "psn, by the sender's own NIC", "its backlog in bytes")                              \
    X(FLOW_STARTED, "flow", "bytes")                                                               \
    X(FLOW_ENDED, "flow", "bytes")                                                                 \
    X(CC_STATE, "scheme's own", "scheme's own")                                                    \
    X(RESTARTED, "psn at which the message begins again", "bytes forgotten | of a READ << 40")     \
    X(PLACED, "psn, kept behind a gap", "bytes")                                                   \
    X(SENDERS, "that have active messages here", "what their ACKs say | congestion state << 32")   \
    X(DEFLECTED, "port it leaves by | port it came by << 16",                                      \
      "psn | tokens left << 24 | lane << 32")                                                      \
    X(CREDIT_SENT, "its number", "bytes in order at the receiver")                                 \
    X(CREDIT_ARRIVED, "its number", "payload that goes for it")                                    \
    X(LINK_DOWN, "port", "")                                                                       \
    X(LINK_UP, "port", "")                                                                         \
    X(REROUTED, "", "")                                                                            \
    X(FCP_SENT, "port", "VL << 32 | FCTBS << 16 | FCCL")                                           \
    X(FCP_ARRIVED, "port", "VL << 32 | FCTBS << 16 | FCCL")                                        \
    X(RANK_ENDED, "rank of a job", "workload")                                                     \
    X(LINK_CHANGED, "port", "rate at which it sends from now on")

enum oche_trace_kind {
#define OCHE_TRACE_ENUM(name, a, b) OCHE_TRACE_##name,
    OCHE_TRACE_EVENTS(OCHE_TRACE_ENUM)
#undef OCHE_TRACE_ENUM
        OCHE_TRACE_KINDS
};

struct oche_trace_record {
    oche_time time;
    uint32_t qpn;  /* the queue pair's number, or 0 */
    uint32_t kind; /* enum oche_trace_kind */
    uint64_t a, b;
};

/* A sink sees every record, in order. It must not change anything on which the run depends. */
typedef void oche_trace_sink(void *context, uint32_t node, const struct oche_trace_record *record);

struct oche_trace {
    uint64_t hash;                  /* hash over all records so far */
    uint64_t count;                 /* number of records so far */
    struct oche_trace_record *ring; /* the last `mask + 1` records; the caller's memory */
    uint32_t mask;                  /* ring size - 1, a power of two - 1 */
    uint32_t node;
    oche_trace_sink *sink; /* or NULL */
    void *sink_context;
};

/* Makes an empty trace. `ring` has `records` entries (a power of two) and belongs to the caller. */
static inline void oche_trace_init(struct oche_trace *trace, uint32_t node,
                                   struct oche_trace_record *ring, uint32_t records)
{
    OCHE_MUST(records > 0 && (records & (records - 1)) == 0);
    memset(trace, 0, sizeof(*trace));
    trace->hash = UINT64_C(0x9e3779b97f4a7c15);
    trace->ring = ring;
    trace->mask = records - 1;
    trace->node = node;
}

static inline void oche_trace_emit(struct oche_trace *trace, oche_time time,
                                   enum oche_trace_kind kind, uint32_t qpn, uint64_t a, uint64_t b)
{
    struct oche_trace_record *record = &trace->ring[trace->count++ & trace->mask];
    uint64_t h = trace->hash;

    record->time = time;
    record->qpn = qpn;
    record->kind = (uint32_t)kind;
    record->a = a;
    record->b = b;
    h = (h ^ time) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ (h >> 32) ^ ((uint64_t)kind << 32 | qpn)) * UINT64_C(0xc4ceb9fe1a85ec53);
    h = (h ^ (h >> 32) ^ a) * UINT64_C(0x9fb21c651e98df25);
    trace->hash = (h ^ (h >> 32) ^ b) * UINT64_C(0xd6e8feb86659fd93);
    if (OCHE_UNLIKELY(trace->sink != NULL))
        trace->sink(trace->sink_context, trace->node, record);
}

/* Returns the event's name ("DATA_SENT"). The table above says what its a and b mean. */
const char *oche_trace_name(enum oche_trace_kind kind);

OCHE_C_END

#endif
