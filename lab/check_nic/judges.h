/* SPDX-License-Identifier: Apache-2.0 */
/* The judges, each a pass over the trace; check.h says what they judge. For this folder alone. */
#ifndef OCHE_LAB_CHECK_NIC_JUDGES_H
#define OCHE_LAB_CHECK_NIC_JUDGES_H

#include "lab/check_nic/check.h"

/* The arguments of every judge. */
struct oche_nic_case {
    const struct oche_nic_trace *trace;
    const struct oche_nic_expected *expected;
    struct oche_check_nic *check;
    const size_t *list; /* the stream's packets: indices into the trace, in order */
    size_t count;
};

void oche_nic_judge_sender(const struct oche_nic_case *of, uint32_t stream);
void oche_nic_judge_receiver(const struct oche_nic_case *of, uint32_t stream);
void oche_nic_judge_responder(const struct oche_nic_case *of, uint32_t stream);
void oche_nic_judge_requester(const struct oche_nic_case *of, uint32_t stream);
void oche_nic_judge_cnps(const struct oche_nic_case *of);
void oche_nic_measure_resending(const struct oche_nic_case *of, uint32_t stream);

/* Notes that the packet at index `at` is wrong, if it is the judge's first; SIZE_MAX: the end. */
void oche_nic_wrong(const struct oche_nic_case *of, enum oche_nic_judge judge, uint32_t stream,
                    size_t at, uint32_t psn, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
void oche_nic_sample(struct oche_nic_samples *samples, oche_time value);

/* Returns a PSN relative to the stream's first, as messages and scripts count. */
static inline uint32_t oche_nic_relative(const struct oche_nic_case *of, uint32_t stream,
                                         uint32_t psn)
{
    return (psn - of->trace->streams[stream].first) & OCHE_PSN_MASK;
}

#endif
