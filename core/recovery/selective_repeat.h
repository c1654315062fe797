/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of selective repeat, for callers that set them without a scenario file. */
#ifndef OCHE_CORE_RECOVERY_SELECTIVE_REPEAT_H
#define OCHE_CORE_RECOVERY_SELECTIVE_REPEAT_H

#include "core/recovery/recovery.h"

enum oche_selective_rto { OCHE_SELECTIVE_RTO_FIXED, OCHE_SELECTIVE_RTO_MEASURED };
enum oche_selective_reorder {
    OCHE_SELECTIVE_REORDER_NONE,
    OCHE_SELECTIVE_REORDER_RACK,
    OCHE_SELECTIVE_REORDER_WINDOW,
};
enum oche_selective_sack { OCHE_SELECTIVE_SACK_EVERY, OCHE_SELECTIVE_SACK_ASKED };
enum oche_selective_memory { OCHE_SELECTIVE_MEMORY_IN_ORDER, OCHE_SELECTIVE_MEMORY_AS_IT_COMES };

struct oche_selective_repeat_params {
    uint64_t window;
    uint64_t few_packets;
    oche_time rto_low, rto_high, rto_most, probe;
    bool undo;
    uint32_t rto;             /* enum oche_selective_rto */
    uint32_t reorder;         /* enum oche_selective_reorder */
    uint64_t reorder_packets; /* reorder: window; 0: no such limit */
    oche_time reorder_time;   /* reorder: window */
    uint32_t sack;            /* enum oche_selective_sack */
    uint32_t memory;          /* enum oche_selective_memory */
    uint32_t preset;          /* enum oche_preset */
};

extern const struct oche_recovery_scheme oche_recovery_selective_repeat;

#endif
