/* SPDX-License-Identifier: Apache-2.0 */
/* Flow control packets (fabric/ib_link.h) in the trace of the node that sends or gets them. */
#ifndef OCHE_SIM_NETWORK_FCP_TRACE_H
#define OCHE_SIM_NETWORK_FCP_TRACE_H

#include "core/trace/trace.h"
#include "core/wire/packet.h"

/* Records each FCP of a frame: OCHE_TRACE_FCP_SENT or OCHE_TRACE_FCP_ARRIVED. */
static inline void oche_fcp_trace(struct oche_trace *trace, enum oche_trace_kind kind,
                                  unsigned port, const struct oche_packet *frame, oche_time now)
{
    for (unsigned vl = 0; vl < OCHE_CLASSES; vl++)
        if (oche_fcp_has(frame, vl))
            oche_trace_emit(trace, now, kind, 0, port,
                            (uint64_t)vl << 32 | (uint64_t)frame->fcp.lane[vl].fctbs << 16 |
                                frame->fcp.lane[vl].fccl);
}

#endif
