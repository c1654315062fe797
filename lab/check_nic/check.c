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
    uint32_t most = 0;
    size_t *lost; /* by PSN: index plus one; 0: none */

    for (size_t k = 0; k < of->count; k++) {
        const uint32_t psn = oche_nic_relative(of, stream, trace->packets[of->list[k]].psn);

        if (trace->packets[of->list[k]].kind == OCHE_SEEN_DATA && psn > most)
            most = psn;
    }
    lost = calloc((size_t)most + 1, sizeof(*lost));
    OCHE_GOT(lost != NULL);
    for (size_t k = 0; k < of->count; k++) {
        const size_t i = of->list[k];
        const struct oche_seen_packet *packet = &trace->packets[i];
        size_t *before;

        if (packet->kind != OCHE_SEEN_DATA)
            continue;
        before = &lost[oche_nic_relative(of, stream, packet->psn)];
        if (*before != 0 && packet->number != 0)
            oche_nic_sample(&of->check->latencies[reads][OCHE_LATENCY_RESENDING],
                            packet->when - trace->packets[*before - 1].when);
        /* the time of one that was not seen is not known */
        *before = !oche_seen_delivered(packet) && packet->number != 0 ? i + 1 : 0;
    }
    free(lost);
}

/* Returns the packets by stream (malloc'd): stream s has list[first[s]] to list[first[s + 1] - 1].
 */
static size_t *by_stream(const struct oche_nic_trace *trace, size_t *first)
{
    size_t *list = malloc((trace->count + 1) * sizeof(*list));

    OCHE_GOT(list != NULL);
    for (size_t i = 0; i < trace->count; i++)
        first[trace->packets[i].stream + 2]++;
    for (uint32_t i = 2; i < trace->stream_count + 2; i++)
        first[i] += first[i - 1];
    for (size_t i = 0; i < trace->count; i++)
        list[first[trace->packets[i].stream + 1]++] = i;
    return list;
}

void oche_check_nic(const struct oche_nic_trace *trace, const struct oche_nic_expected *expected,
                    struct oche_check_nic *check)
{
    struct oche_nic_case of = {.trace = trace, .expected = expected, .check = check};
    size_t *first = calloc((size_t)trace->stream_count + 3, sizeof(*first)), *list;

    OCHE_GOT(first != NULL);
    memset(check, 0, sizeof(*check));
    list = by_stream(trace, first);
    for (uint32_t i = 0; i < trace->stream_count; i++) {
        of.list = list + first[i];
        of.count = first[i + 1] - first[i];
        if (trace->streams[i].responses) {
            oche_nic_judge_responder(&of, i);
            oche_nic_judge_requester(&of, i);
        } else {
            oche_nic_judge_sender(&of, i);
            oche_nic_judge_receiver(&of, i);
        }
        oche_nic_measure_resending(&of, i);
    }
    free(list);
    free(first);
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
