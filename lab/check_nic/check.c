/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the judges, and what they share; see check.h. */
#include "lab/check_nic/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/check_nic/judges.h"

void oche_nic_wrong(const struct oche_nic_case *of, enum oche_nic_judge judge, uint32_t stream,
                    size_t at, uint32_t psn, const char *format, ...)
{
    struct oche_nic_verdict *verdict = &of->check->verdicts[judge];
    va_list arguments;

    if (verdict->wrong && verdict->at <= at)
        return;
    verdict->wrong = true;
    verdict->at = at;
    verdict->stream = stream;
    verdict->psn = psn;
    va_start(arguments, format);
    vsnprintf(verdict->what, sizeof(verdict->what), format, arguments);
    va_end(arguments);
}

void oche_nic_sample(struct oche_nic_samples *samples, oche_time value)
{
    if (samples->count == samples->room) {
        samples->room = samples->room == 0 ? 16 : 2 * samples->room;
        samples->list = realloc(samples->list, samples->room * sizeof(*samples->list));
        OCHE_GOT(samples->list != NULL);
    }
    samples->list[samples->count++] = value;
}

static int compare(const void *left, const void *right)
{
    const oche_time a = *(const oche_time *)left, b = *(const oche_time *)right;

    return a < b ? -1 : a > b;
}

static void sort(struct oche_nic_samples *samples)
{
    if (samples->count > 0)
        qsort(samples->list, samples->count, sizeof(oche_time), compare);
}

/* Measures from each lost packet to the next one with its PSN. */
void oche_nic_measure_resending(const struct oche_nic_case *of, uint32_t stream)
{
    const struct oche_nic_trace *trace = of->trace;
    const bool reads = trace->streams[stream].responses;

    for (size_t i = 0; i < trace->count; i++) {
        const struct oche_seen_packet *lost = &trace->packets[i];

        if (lost->stream != stream || lost->kind != OCHE_SEEN_DATA || oche_seen_delivered(lost) ||
            lost->number == 0) /* its time is not known */
            continue;
        for (size_t k = i + 1; k < trace->count; k++) {
            const struct oche_seen_packet *again = &trace->packets[k];

            if (again->stream != stream || again->kind != OCHE_SEEN_DATA || again->psn != lost->psn)
                continue;
            if (again->number != 0)
                oche_nic_sample(&of->check->latencies[reads][OCHE_LATENCY_RESENDING],
                                again->when - lost->when);
            break;
        }
    }
}

void oche_check_nic(const struct oche_nic_trace *trace, const struct oche_nic_expected *expected,
                    struct oche_check_nic *check)
{
    const struct oche_nic_case of = {.trace = trace, .expected = expected, .check = check};

    memset(check, 0, sizeof(*check));
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        if (trace->streams[i].responses) {
            oche_nic_judge_responder(&of, i);
            oche_nic_judge_requester(&of, i);
        } else {
            oche_nic_judge_sender(&of, i);
            oche_nic_judge_receiver(&of, i);
        }
        oche_nic_measure_resending(&of, i);
    }
    oche_nic_judge_cnps(&of);
    for (int reads = 0; reads < 2; reads++)
        for (int i = 0; i < OCHE_LATENCIES; i++)
            sort(&check->latencies[reads][i]);
    sort(&check->cnps.delays);
}

void oche_nic_check_free(struct oche_check_nic *check)
{
    for (int reads = 0; reads < 2; reads++)
        for (int i = 0; i < OCHE_LATENCIES; i++)
            free(check->latencies[reads][i].list);
    free(check->cnps.delays.list);
}

const char *oche_nic_judge_name(enum oche_nic_judge judge)
{
    static const char *const names[OCHE_JUDGES] = {
        [OCHE_JUDGE_SENDER] = "go-back-N sender",
        [OCHE_JUDGE_RECEIVER] = "go-back-N receiver",
        [OCHE_JUDGE_RESPONDER] = "READ responder",
        [OCHE_JUDGE_REQUESTER] = "READ requester",
        [OCHE_JUDGE_CNPS] = "CNPs",
    };

    return names[judge];
}

bool oche_nic_check_wrong(const struct oche_check_nic *check)
{
    for (int i = 0; i < OCHE_JUDGES; i++)
        if (check->verdicts[i].wrong)
            return true;
    return false;
}

oche_time oche_nic_median(const struct oche_nic_samples *samples)
{
    return samples->list[(samples->count - 1) / 2];
}
