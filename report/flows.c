/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results of flows by size. Ranges of a decade, as in the terminal's tables, have whole curves;
 * finer ranges (1, 2, 5) have percentiles with their intervals. Fine ranges of few flows are joined
 * with their neighbours. Only flows that began after warm-up count. Times are given for delivered
 * flows only; all flows are counted.
 */
#include <math.h>
#include <stdlib.h>

#include "report/interval.h"
#include "report/json.h"
#include "report/parts.h"
#include "report/report.sql.h"
#include "report/sample.h"

#define ALL    UINT64_MAX
#define FINE   40  /* number of fine ranges: 100 B … 5 * 10^14 B */
#define ENOUGH 100 /* flows of a fine range: with fewer there is no p99 */

struct flow {
    uint64_t bytes;
    /* NAN if the flow was not delivered; `slowdown` is also NAN if the ideal time is unknown */
    double time_s, slowdown;
    bool failed;
};

struct flows {
    struct flow *list;
    size_t count, capacity;
    uint64_t in_warmup;
};

static const uint64_t range_from[] = {0, 10000, 100000, 1000000, 10000000};
#define RANGES OCHE_COUNT_OF(range_from)

static void read_flows(struct oche_report_source *source, struct flows *flows)
{
    sqlite3_stmt *row = oche_report_query(
        source, "SELECT bytes, CASE WHEN status = 'completed' THEN delivered_ps - start_ps END, "
                "slowdown, status LIKE 'failed%', measured FROM flows");

    while (oche_report_row(source, row)) {
        if (oche_report_u64(row, 4) == 0) {
            flows->in_warmup++;
            continue;
        }
        if (flows->count == flows->capacity) {
            flows->capacity = flows->capacity == 0 ? 1024 : flows->capacity * 2;
            flows->list = realloc(flows->list, flows->capacity * sizeof(*flows->list));
            OCHE_GOT(flows->list != NULL);
        }
        struct flow *flow = &flows->list[flows->count++];

        *flow = (struct flow){.bytes = oche_report_u64(row, 0),
                              .time_s = oche_report_real(row, 1) / 1e12,
                              .slowdown = oche_report_real(row, 2),
                              .failed = oche_report_u64(row, 3) != 0};
    }
}

/* Returns the intervals of p50, p90, p99 and p99.9. */
static struct json_object *intervals_json(const struct oche_sample *sample)
{
    static const uint32_t shown[] = {50000, 90000, 99000, 99900};
    struct json_object *list = oche_json_array(OCHE_COUNT_OF(shown));

    for (size_t i = 0; i < OCHE_COUNT_OF(shown); i++)
        oche_json_push(list, oche_interval_json(sample, shown[i]));
    return list;
}

/*
 * Returns the results of the flows whose size is at least `from` and below `to` bytes: with curves,
 * or with intervals.
 */
static struct json_object *range_json(const struct flows *flows, uint64_t from, uint64_t to,
                                      bool curves)
{
    struct oche_sample times = {0}, slowdowns = {0}, goodputs = {0};
    uint64_t started = 0, failed = 0, bytes = 0;
    struct json_object *range = oche_json_object();

    for (size_t i = 0; i < flows->count; i++) {
        const struct flow *flow = &flows->list[i];

        if (flow->bytes < from || (flow->bytes >= to && to != ALL))
            continue;
        started++;
        failed += flow->failed;
        if (isnan(flow->time_s))
            continue;
        bytes += flow->bytes;
        oche_sample_add(&times, flow->time_s);
        if (flow->time_s > 0)
            oche_sample_add(&goodputs, (double)flow->bytes * 8 / flow->time_s);
        if (!isnan(flow->slowdown))
            oche_sample_add(&slowdowns, flow->slowdown);
    }
    oche_json_add_int(range, "from", from);
    oche_json_add(range, "to", to == ALL ? NULL : oche_json_int((int64_t)to));
    oche_json_add_int(range, "started", started);
    oche_json_add_int(range, "delivered", times.count);
    oche_json_add_int(range, "failed", failed);
    oche_json_add_int(range, "bytes", bytes);

    const struct {
        const char *name, *curve, *interval;
        struct oche_sample *sample;
    } samples[] = {{"fct", "fct_curve", "fct_interval", &times},
                   {"slowdown", "slowdown_curve", "slowdown_interval", &slowdowns},
                   {"goodput", "goodput_curve", NULL, &goodputs}};

    for (size_t i = 0; i < OCHE_COUNT_OF(samples); i++) {
        oche_sample_sort(samples[i].sample);
        oche_json_add(range, samples[i].name, oche_sample_summary_json(samples[i].sample));
        if (curves && samples[i].sample->count > 0)
            oche_json_add(range, samples[i].curve, oche_sample_curve_json(samples[i].sample));
        if (!curves && samples[i].interval != NULL)
            oche_json_add(range, samples[i].interval, intervals_json(samples[i].sample));
        oche_sample_free(samples[i].sample);
    }
    return range;
}

/* Returns the lower end of fine range `number`: 0, 100, 200, 500, 1000, … bytes. */
static uint64_t fine_from(unsigned number)
{
    static const uint64_t digit[] = {1, 2, 5};

    if (number == 0)
        return 0;
    uint64_t from = 100 * digit[(number - 1) % 3];

    for (unsigned i = 0; i < (number - 1) / 3; i++)
        from *= 10;
    return from;
}

/* Returns the number of the fine range of a size. */
static unsigned fine_of(uint64_t bytes)
{
    unsigned number = 0;

    while (number + 1 < FINE && bytes >= fine_from(number + 1))
        number++;
    return number;
}

/*
 * Returns the last fine range that is joined with range `first`, which has flows. Ranges are joined
 * until there are ENOUGH flows, but within a decade, so flows of very different sizes stay apart.
 * The last range has flows. A rest with too few flows is joined, too.
 */
static unsigned joined_until(const uint64_t count[FINE], unsigned first)
{
    uint64_t sum = 0, left = 0;
    unsigned last = first;

    for (unsigned i = first; i < first + 3 && i < FINE; i++) {
        if (count[i] == 0)
            continue;
        left = 0;
        for (unsigned k = i; k < FINE; k++)
            left += count[k];
        if (sum >= ENOUGH && left >= ENOUGH)
            break;
        sum += count[i];
        last = i;
    }
    return last;
}

static struct json_object *fine_json(const struct flows *flows)
{
    struct json_object *list = oche_json_array(0);
    uint64_t count[FINE] = {0};

    for (size_t i = 0; i < flows->count; i++)
        count[fine_of(flows->list[i].bytes)]++;
    for (unsigned i = 0; i < FINE; i++) {
        unsigned last = i;

        if (count[i] == 0)
            continue;
        if (flows->count >= ENOUGH) /* no range can have more */
            last = joined_until(count, i);
        oche_json_push(list, range_json(flows, fine_from(i),
                                        last + 1 < FINE ? fine_from(last + 1) : ALL, false));
        i = last;
    }
    return list;
}

static uint64_t started_in(struct json_object *range)
{
    return json_object_get_uint64(json_object_object_get(range, "started"));
}

static void push_unless_empty(struct json_object *list, struct json_object *range)
{
    if (started_in(range) > 0)
        oche_json_push(list, range);
    else
        json_object_put(range);
}

/*
 * Adds the start of the measured time and the start of the last flow, in seconds; null if no flow
 * started. The time after the last start is the drain.
 */
static void add_window(struct oche_report_source *source, struct json_object *all)
{
    sqlite3_stmt *row = oche_report_query(source, flow_window);
    double from = NAN, until = NAN;

    while (oche_report_row(source, row)) {
        from = oche_report_real(row, 0) / 1e12;
        until = oche_report_is_null(row, 1) ? NAN : oche_report_real(row, 1) / 1e12;
    }
    oche_json_add(all, "from_s", oche_json_exact(from));
    oche_json_add(all, "last_start_s", oche_json_exact(until));
}

struct json_object *oche_report_flows(struct oche_report_source *source)
{
    struct flows flows = {0};
    struct json_object *all = oche_json_object(), *ranges = oche_json_array(0);

    read_flows(source, &flows);
    for (unsigned i = 0; i < RANGES; i++)
        push_unless_empty(ranges, range_json(&flows, range_from[i],
                                             i + 1 < RANGES ? range_from[i + 1] : ALL, true));
    oche_json_push(ranges, range_json(&flows, 0, ALL, true));
    oche_json_add_int(all, "in_warmup", flows.in_warmup);
    add_window(source, all);
    oche_json_add(all, "ranges", ranges);
    oche_json_add(all, "fine", fine_json(&flows));
    free(flows.list);
    return all;
}
