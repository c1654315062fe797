/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows a run over time. A series of many samples is cut into spans with their mean and, if they
 * matter, their smallest and largest value. The histogram of a watched queue becomes a curve of
 * percentiles.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/json.h"
#include "report/parts.h"
#include "report/report.sql.h"
#include "report/sample.h"

struct values {
    double *list;
    size_t count, capacity;
};

static void add_value(struct values *values, double value)
{
    if (values->count == values->capacity) {
        values->capacity = values->capacity == 0 ? 1024 : values->capacity * 2;
        values->list = realloc(values->list, values->capacity * sizeof(*values->list));
        OCHE_GOT(values->list != NULL);
    }
    values->list[values->count++] = value;
}

/* ---- time series ---- */

enum line { MEAN, LEAST, MOST };

static struct json_object *line_json(const struct oche_span *spans, size_t count, enum line line)
{
    struct json_object *list = oche_json_array((int)count + 1);

    for (size_t i = 0; i < count; i++)
        oche_json_push_real(list, line == MEAN    ? spans[i].mean
                                  : line == LEAST ? spans[i].least
                                                  : spans[i].most);
    return list;
}

/* Reads the samples of one series, and the times, in picoseconds, of its first and last sample. */
static void read_samples(struct oche_report_source *source, uint64_t id, struct values *values,
                         uint64_t *first, uint64_t *last)
{
    sqlite3_stmt *row = oche_report_query(
        source, "SELECT time_ps, value FROM series WHERE series = ? ORDER BY time_ps");

    *first = 0;
    *last = 0;
    if (row != NULL)
        sqlite3_bind_int64(row, 1, (sqlite3_int64)id);
    while (oche_report_row(source, row)) {
        if (values->count == 0)
            *first = oche_report_u64(row, 0);
        *last = oche_report_u64(row, 0);
        add_value(values, oche_report_real(row, 1));
    }
}

static void add_samples(struct oche_report_source *source, uint64_t id, bool spread,
                        struct json_object *series)
{
    struct values values = {0};
    uint64_t first, last;

    read_samples(source, id, &values, &first, &last);
    size_t width = oche_span_width(values.count, OCHE_REPORT_SPANS);
    struct oche_span *spans = calloc(values.count / width + 1, sizeof(*spans));

    OCHE_GOT(spans != NULL);
    size_t count = oche_spans(values.list, values.count, width, spans);
    double step = values.count < 2 ? 0 : (double)(last - first) / (double)(values.count - 1);

    oche_json_add_real(series, "first_s", (double)first / 1e12);
    oche_json_add_real(series, "step_s", step / 1e12);
    oche_json_add_int(series, "width", width); /* number of samples per span */
    oche_json_add_int(series, "samples", values.count);
    oche_json_add(series, "mean", line_json(spans, count, MEAN));
    if (spread && width > 1) {
        oche_json_add(series, "least", line_json(spans, count, LEAST));
        oche_json_add(series, "most", line_json(spans, count, MOST));
    }
    free(spans);
    free(values.list);
}

struct json_object *oche_report_series(struct oche_report_source *source)
{
    struct json_object *list = oche_json_array(0);
    sqlite3_stmt *row = oche_report_query(source, shown_series);

    while (oche_report_row(source, row)) {
        struct json_object *series = oche_json_object();
        const char *name = oche_report_text(row, 1), *entity = oche_report_text(row, 2);
        bool spread = strcmp(name, "queue") == 0 || strcmp(entity, "all") == 0;

        oche_json_add_text(series, "name", name);
        oche_json_add_text(series, "entity", entity);
        oche_json_add_text(series, "unit", oche_report_text(row, 3));
        if (!oche_report_is_null(row, 4))
            oche_json_add_text(series, "about", oche_report_text(row, 4));
        if (!oche_report_is_null(row, 5))
            oche_json_add_int(series, "bytes", oche_report_u64(row, 5));
        if (!oche_report_is_null(row, 6))
            oche_json_add_real(series, "slowdown", oche_report_real(row, 6));
        add_samples(source, oche_report_u64(row, 0), spread, series);
        oche_json_push(list, series);
    }
    return list;
}

/* ---- ports held by PAUSE ---- */

/*
 * Finds when the first interval of the series begins, and how long an interval is. Returns false if
 * there are no series.
 */
static bool intervals(struct oche_report_source *source, double *start_ps, double *step_ps,
                      uint64_t *count)
{
    sqlite3_stmt *row = oche_report_query(source, series_intervals);
    *count = 0;
    while (oche_report_row(source, row)) {
        double first = oche_report_real(row, 0), last = oche_report_real(row, 1);

        *count = oche_report_u64(row, 2);
        *start_ps = oche_report_real(row, 3);
        *step_ps = *count > 1 ? (last - first) / (double)(*count - 1) : first - *start_ps;
    }
    return *count > 0 && *step_ps > 0;
}

/*
 * Returns the shares of time that a port was held: the numbers of the spans in which it was held,
 * and the share of time in each of these spans.
 */
static struct json_object *held_port(struct oche_report_source *source, uint64_t series,
                                     double start_ps, double step_ps, size_t count, size_t width)
{
    struct json_object *port = oche_json_object(), *at = oche_json_array(0),
                       *share = oche_json_array(0);
    size_t spans = (count + width - 1) / width;
    double *sum = calloc(spans, sizeof(*sum));
    sqlite3_stmt *row =
        oche_report_query(source, "SELECT time_ps, value FROM series WHERE series = ?");

    OCHE_GOT(sum != NULL);
    if (row != NULL)
        sqlite3_bind_int64(row, 1, (sqlite3_int64)series);
    while (oche_report_row(source, row)) {
        double number = (oche_report_real(row, 0) - start_ps) / step_ps - 0.5;
        double value = oche_report_real(row, 1);

        if (number > 0 && number < (double)count && value > 0)
            sum[(size_t)number / width] += value / (double)width;
    }
    for (size_t i = 0; i < spans; i++) {
        if (sum[i] <= 0)
            continue;
        oche_json_push(at, oche_json_int((int64_t)i));
        oche_json_push(share, oche_json_real(round(sum[i] * 1000) / 1000));
    }
    oche_json_add(port, "at", at);
    oche_json_add(port, "share", share);
    free(sum);
    return port;
}

static struct json_object *timeline(struct oche_report_source *source)
{
    struct json_object *line, *ports;
    double start_ps = 0, step_ps = 0, rest_ps = 0;
    uint64_t count, more = 0, shown = 0;

    if (!intervals(source, &start_ps, &step_ps, &count))
        return NULL;
    size_t width = oche_span_width(count, OCHE_REPORT_SPANS / 2);
    sqlite3_stmt *row = oche_report_query(source, held_ports);

    line = oche_json_object();
    ports = oche_json_array(0);
    while (oche_report_row(source, row)) {
        double held_ps = oche_report_real(row, 2) * step_ps;

        if (shown++ >= OCHE_REPORT_HELD_PORTS) {
            more++;
            rest_ps += held_ps;
            continue;
        }
        struct json_object *port =
            held_port(source, oche_report_u64(row, 0), start_ps, step_ps, (size_t)count, width);

        oche_json_add_text(port, "port", oche_report_text(row, 1));
        oche_json_add_text(port, "kind", oche_report_text(row, 3));
        oche_json_add(port, "held_s", oche_json_exact(held_ps / 1e12));
        oche_json_push(ports, port);
    }
    oche_json_add_real(line, "start_s", start_ps / 1e12);
    oche_json_add_real(line, "step_s", step_ps * (double)width / 1e12);
    oche_json_add_real(line, "end_s", (start_ps + step_ps * (double)count) / 1e12);
    oche_json_add(line, "ports", ports);
    oche_json_add_int(line, "more_ports", more);
    oche_json_add(line, "more_s", oche_json_exact(rest_ps / 1e12));
    return line;
}

struct json_object *oche_report_held(struct oche_report_source *source)
{
    struct json_object *held = oche_json_object();

    oche_json_add(held, "timeline", timeline(source));
    return held;
}

/* ---- watched queues ---- */

struct bucket {
    double low, weight;
};

/*
 * Returns percentile p (in 100,000ths) of the values, weighted by the buckets' weights. The search
 * begins at bucket *at and moves *at on, so p must not fall from call to call.
 */
static double weighted(const struct bucket *buckets, size_t count, double total, uint32_t p,
                       size_t *at, double *below)
{
    while (*at + 1 < count && *below + buckets[*at].weight < total * p / 100000)
        *below += buckets[(*at)++].weight;
    return buckets[*at].low;
}

/* Adds the curve of percentiles, and a summary: some percentiles, and the mean. */
static void add_curve(struct json_object *queue, const struct bucket *buckets, size_t count,
                      double mean)
{
    static const uint32_t shown[] = {50000, 90000, 99000, 99900, 100000};
    struct json_object *curve = oche_json_array(0), *summary = oche_json_array(0);
    double total = 0, below = 0;
    size_t at = 0;

    for (size_t i = 0; i < count; i++)
        total += buckets[i].weight;
    for (uint32_t i = 0; i < OCHE_SAMPLE_GRID; i++)
        oche_json_push_real(curve,
                            weighted(buckets, count, total, oche_sample_grid(i), &at, &below));
    at = 0;
    below = 0;
    for (size_t i = 0; i < OCHE_COUNT_OF(shown); i++)
        oche_json_push(summary,
                       oche_json_exact(weighted(buckets, count, total, shown[i], &at, &below)));
    oche_json_push(summary, oche_json_exact(mean));
    oche_json_add(queue, "curve", curve);
    oche_json_add(queue, "summary", summary);
}

struct json_object *oche_report_queues(struct oche_report_source *source)
{
    struct json_object *list = oche_json_array(0);
    sqlite3_stmt *row = oche_report_query(source, watched_queues);

    while (oche_report_row(source, row)) {
        struct json_object *queue = oche_json_object();
        struct bucket *buckets = NULL;
        size_t count = 0, capacity = 0;
        sqlite3_stmt *inner = oche_report_query(
            source, "SELECT low, weight FROM histograms WHERE histogram = ? ORDER BY low");

        oche_json_add_text(queue, "entity", oche_report_text(row, 1));
        oche_json_add_text(queue, "unit", oche_report_text(row, 2));
        oche_json_add_real(queue, "most", oche_report_real(row, 3));
        if (inner != NULL)
            sqlite3_bind_int64(inner, 1, sqlite3_column_int64(row, 0));
        while (oche_report_row(source, inner)) {
            if (count == capacity) {
                capacity = capacity == 0 ? 1024 : capacity * 2;
                buckets = realloc(buckets, capacity * sizeof(*buckets));
                OCHE_GOT(buckets != NULL);
            }
            buckets[count++] = (struct bucket){.low = (double)oche_report_u64(inner, 0),
                                               .weight = (double)oche_report_u64(inner, 1)};
        }
        if (count > 0)
            add_curve(queue, buckets, count, oche_report_real(row, 4));
        free(buckets);
        oche_json_push(list, queue);
    }
    return list;
}
