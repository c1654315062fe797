/* SPDX-License-Identifier: Apache-2.0 */
/* Flow completion times by size; see the header. */
#include "sim/measure/flow_completion.h"

#include <stdlib.h>

/* One decade per row, matching what the literature calls short, medium and long flows. */
const uint64_t oche_completion_sizes[] = {0, 10000, 100000, 1000000, 10000000};
const uint32_t oche_completion_size_count = OCHE_COUNT_OF(oche_completion_sizes);

/*
 * Fills in the row's times and slowdowns. `times` and `slowdowns` have one value for each delivered
 * flow of the row, and are sorted here.
 */
static void fill_times(struct oche_completion_row *row, uint64_t *times, double *slowdowns)
{
    size_t count = row->delivered;
    unsigned __int128 time_sum = 0;
    double slowdown_sum = 0;

    if (count == 0)
        return;
    oche_sort_u64(times, count);
    oche_sort_real(slowdowns, count);
    for (size_t i = 0; i < count; i++) {
        time_sum += times[i];
        slowdown_sum += slowdowns[i];
    }
    row->time_mean = (oche_time)(time_sum / count);
    row->time_max = times[count - 1];
    row->slowdown_mean = slowdown_sum / (double)count;
    row->slowdown_max = slowdowns[count - 1];
    for (unsigned p = 0; p < OCHE_PERCENTILES; p++) {
        row->time[p] = oche_percentile_u64(times, count, oche_percentile_thousandths[p]);
        row->slowdown[p] = oche_percentile_real(slowdowns, count, oche_percentile_thousandths[p]);
    }
}

static void fill_row(const struct oche_flow_record *flows, size_t count, oche_time warmup,
                     struct oche_completion_row *row, uint64_t *times, double *slowdowns)
{
    for (size_t i = 0; i < count; i++) {
        const struct oche_flow_record *flow = &flows[i];

        if (flow->start == OCHE_NEVER || flow->start < warmup || flow->bytes < row->from_bytes ||
            (flow->bytes >= row->to_bytes && row->to_bytes != UINT64_MAX))
            continue;
        row->flows++;
        row->failed += flow->failed;
        if (flow->end == OCHE_NEVER || flow->failed)
            continue;
        OCHE_MUST(flow->ideal > 0 && flow->end >= flow->start);
        times[row->delivered] = flow->end - flow->start;
        slowdowns[row->delivered] = (double)times[row->delivered] / (double)flow->ideal;
        row->delivered++;
        row->bytes += flow->bytes;
    }
    fill_times(row, times, slowdowns);
}

uint64_t oche_flow_completion(const struct oche_flow_record *flows, size_t count, oche_time warmup,
                              const uint64_t *sizes, uint32_t size_count,
                              struct oche_completion_row *rows)
{
    uint64_t *times = calloc(count + 1, sizeof(*times)), left_out = 0;
    double *slowdowns = calloc(count + 1, sizeof(*slowdowns));

    if (times == NULL || slowdowns == NULL)
        oche_panic(__FILE__, __LINE__, "out of memory for flow completion times");
    for (uint32_t r = 0; r <= size_count; r++) {
        bool all = r == size_count;

        rows[r] = (struct oche_completion_row){
            .from_bytes = all ? 0 : sizes[r],
            .to_bytes = all || r + 1 == size_count ? UINT64_MAX : sizes[r + 1]};
        fill_row(flows, count, warmup, &rows[r], times, slowdowns);
    }
    for (size_t i = 0; i < count; i++)
        left_out += flows[i].start < warmup;
    free(times);
    free(slowdowns);
    return left_out;
}
