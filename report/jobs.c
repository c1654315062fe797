/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs: their repetitions and phases, and what their ranks did over time. The spans of a rank are
 * put into columns of equal length, as few as a picture needs, and equal neighbours become one.
 */
#include <math.h>
#include <stdlib.h>

#include "report/json.h"
#include "report/parts.h"
#include "report/report.sql.h"

#define MOST_ROWS        256 /* ranks, besides the one that ended last */
#define MOST_COLUMNS     OCHE_REPORT_SPANS
#define MOST_CELLS       65536 /* columns of all ranks, unless that leaves LEAST_COLUMNS */
#define LEAST_COLUMNS    64
#define MOST_REPETITIONS 200
#define ACTIVITIES       4 /* calculates, sends, receives, waits */

/* Columns of the time of a job. */
struct columns {
    double start_ps, step_ps;
    size_t count;
    double (*times)[ACTIVITIES]; /* of a rank, in picoseconds */
};

static sqlite3_stmt *query_of(struct oche_report_source *source, const char *sql, uint64_t job)
{
    sqlite3_stmt *row = oche_report_query(source, sql);

    if (row != NULL)
        sqlite3_bind_int64(row, 1, (sqlite3_int64)job);
    return row;
}

/* ---- the timeline ---- */

/* Finds the columns of a job. Returns false if it has no spans. */
static bool find_columns(struct oche_report_source *source, uint64_t job, size_t rows,
                         struct columns *columns)
{
    sqlite3_stmt *row = query_of(source, job_bounds, job);
    double begin = 0, end = 0, shortest = 0;
    size_t most = MOST_COLUMNS;

    while (oche_report_row(source, row)) {
        begin = oche_report_real(row, 0);
        end = oche_report_real(row, 1);
        shortest = oche_report_real(row, 2);
    }
    if (rows == 0 || !(begin >= 0) || !(end > begin) || !(shortest > 0))
        return false;
    while (most > LEAST_COLUMNS && most * rows > MOST_CELLS)
        most /= 2;
    *columns = (struct columns){.start_ps = begin, .step_ps = shortest};
    /* Spans are as long as the shortest one, or twice as long, and so on. */
    while ((end - begin) / columns->step_ps > (double)most)
        columns->step_ps *= 2;
    columns->count = (size_t)ceil((end - begin) / columns->step_ps);
    columns->times = calloc(columns->count, sizeof(*columns->times));
    OCHE_GOT(columns->times != NULL);
    return true;
}

/* Adds a span of the file, whose times are spread evenly over its length. */
static void add_span(struct columns *columns, sqlite3_stmt *row)
{
    const double begin = oche_report_real(row, 0) - columns->start_ps;
    const double end = oche_report_real(row, 1) - columns->start_ps;

    if (!(begin >= 0) || !(end > begin))
        return;
    for (size_t i = (size_t)fmin(begin / columns->step_ps, (double)columns->count);
         i < columns->count && (double)i * columns->step_ps < end; i++) {
        const double from = fmax(begin, (double)i * columns->step_ps);
        const double to = fmin(end, (double)(i + 1) * columns->step_ps);

        for (int k = 0; k < ACTIVITIES; k++)
            columns->times[i][k] +=
                fmax(0, oche_report_real(row, 2 + k)) * (to - from) / (end - begin);
    }
}

/* Returns the percentage of a column, from 0 to 100. */
static int64_t share_of(const struct columns *columns, size_t column, int activity)
{
    return (int64_t)fmin(100, round(100 * columns->times[column][activity] / columns->step_ps));
}

static bool are_equal(const struct columns *columns, size_t one, size_t other)
{
    for (int k = 0; k < ACTIVITIES; k++)
        if (share_of(columns, one, k) != share_of(columns, other, k))
            return false;
    return true;
}

/*
 * Returns the rank's columns, [from, to, calculates, sends, receives, waits, from, …], without
 * those in which it does nothing. The activities are in per cent.
 */
static struct json_object *cells_json(const struct columns *columns)
{
    struct json_object *list = oche_json_array(0);

    for (size_t from = 0, to; from < columns->count; from = to) {
        int64_t sum = 0;

        for (to = from + 1; to < columns->count && are_equal(columns, from, to);)
            to++;
        for (int k = 0; k < ACTIVITIES; k++)
            sum += share_of(columns, from, k);
        if (sum == 0)
            continue;
        oche_json_push(list, oche_json_int((int64_t)from));
        oche_json_push(list, oche_json_int((int64_t)to));
        for (int k = 0; k < ACTIVITIES; k++)
            oche_json_push(list, oche_json_int(share_of(columns, from, k)));
    }
    return list;
}

/* Returns how long the rank spent with each activity, in seconds. */
static struct json_object *sums_json(const struct columns *columns)
{
    struct json_object *list = oche_json_array(ACTIVITIES);

    for (int k = 0; k < ACTIVITIES; k++) {
        double sum = 0;

        for (size_t i = 0; i < columns->count; i++)
            sum += columns->times[i][k];
        oche_json_push(list, oche_json_exact(sum / 1e12));
    }
    return list;
}

static void add_spans(struct oche_report_source *source, uint64_t job, uint64_t rank,
                      struct columns *columns, struct json_object *of)
{
    sqlite3_stmt *row = query_of(source, spans_of_rank, job);

    for (size_t i = 0; i < columns->count; i++)
        for (int k = 0; k < ACTIVITIES; k++)
            columns->times[i][k] = 0;
    if (row != NULL)
        sqlite3_bind_int64(row, 2, (sqlite3_int64)rank);
    while (oche_report_row(source, row))
        add_span(columns, row);
    oche_json_add(of, "sums", sums_json(columns));
    oche_json_add(of, "cells", cells_json(columns));
}

static struct json_object *timeline_json(struct oche_report_source *source, uint64_t job,
                                         uint64_t last)
{
    struct json_object *line, *rows;
    struct columns columns = {.count = 0};
    size_t count = 0, number = 0;
    sqlite3_stmt *row = query_of(source, recorded_ranks, job);

    while (oche_report_row(source, row))
        count++;
    const size_t every = (count + MOST_ROWS - 1) / MOST_ROWS;

    if (!find_columns(source, job, every == 0 ? 0 : count / every, &columns))
        return NULL;
    line = oche_json_object();
    rows = oche_json_array(0);
    row = query_of(source, recorded_ranks, job);
    for (; oche_report_row(source, row); number++) {
        const uint64_t rank = oche_report_u64(row, 0);
        struct json_object *one;

        if (number % every != 0 && rank != last)
            continue;
        one = oche_json_object();
        oche_json_add_int(one, "rank", rank);
        oche_json_add_text(one, "host", oche_report_text(row, 1));
        oche_json_add(one, "end_s", oche_json_exact(oche_report_real(row, 2) / 1e12));
        add_spans(source, job, rank, &columns, one);
        oche_json_push(rows, one);
    }
    oche_json_add(line, "start_s", oche_json_exact(columns.start_ps / 1e12));
    oche_json_add(line, "step_s", oche_json_exact(columns.step_ps / 1e12));
    oche_json_add_int(line, "columns", columns.count);
    oche_json_add(line, "rows", rows);
    free(columns.times);
    return line;
}

/* ---- repetitions and phases ---- */

/* Returns the first repetitions, [[begin, end, rank that ended last], …] in seconds. */
static struct json_object *repetitions_json(struct oche_report_source *source, uint64_t job)
{
    struct json_object *list = oche_json_array(0);
    sqlite3_stmt *row = query_of(source, repetitions_of_job, job);

    while (oche_report_row(source, row)) {
        struct json_object *one = oche_json_array(3);

        if (json_object_array_length(list) == MOST_REPETITIONS) {
            json_object_put(one);
            continue;
        }
        oche_json_push(one, oche_json_exact(oche_report_real(row, 0) / 1e12));
        oche_json_push(one, oche_json_exact(oche_report_real(row, 1) / 1e12));
        oche_json_push(one, oche_json_int((int64_t)oche_report_u64(row, 2)));
        oche_json_push(list, one);
    }
    return list;
}

/* Returns the phases with their times over all repetitions, in seconds. */
static struct json_object *phases_json(struct oche_report_source *source, uint64_t job)
{
    struct json_object *list = oche_json_array(0);
    sqlite3_stmt *row = query_of(source, phases_of_job, job);

    while (oche_report_row(source, row)) {
        struct json_object *one = oche_json_object();

        oche_json_add_text(one, "name", oche_report_text(row, 0));
        oche_json_add(one, "mean_s", oche_json_exact(oche_report_real(row, 1) / 1e12));
        oche_json_add(one, "least_s", oche_json_exact(oche_report_real(row, 2) / 1e12));
        oche_json_add(one, "most_s", oche_json_exact(oche_report_real(row, 3) / 1e12));
        oche_json_push(list, one);
    }
    return list;
}

struct json_object *oche_report_jobs(struct oche_report_source *source)
{
    struct json_object *list = oche_json_array(0);
    sqlite3_stmt *row;

    if (!oche_report_has_column(source, "jobs", "late_ps"))
        return list; /* a file of an earlier version */
    row = oche_report_query(source, shown_jobs);
    while (oche_report_row(source, row)) {
        const uint64_t number = oche_report_u64(row, 0);
        const bool ended = !oche_report_is_null(row, 5);
        const uint64_t last = ended ? oche_report_u64(row, 6) : UINT64_MAX;
        struct json_object *job = oche_json_object();

        oche_json_add_int(job, "job", number);
        oche_json_add_text(job, "title", oche_report_text(row, 1));
        oche_json_add_int(job, "ranks", oche_report_u64(row, 2));
        oche_json_add(job, "bytes", oche_json_exact(oche_report_real(row, 3)));
        oche_json_add(job, "start_s", oche_json_exact(oche_report_real(row, 4) / 1e12));
        oche_json_add(job, "end_s", oche_json_exact(oche_report_real(row, 5) / 1e12));
        oche_json_add(job, "last_rank", ended ? oche_json_int((int64_t)last) : NULL);
        oche_json_add(job, "late_s", oche_json_exact(oche_report_real(row, 7) / 1e12));
        oche_json_add_int(job, "ended", oche_report_u64(row, 8));
        oche_json_add(job, "repetitions", repetitions_json(source, number));
        oche_json_add(job, "phases", phases_json(source, number));
        oche_json_add(job, "timeline", timeline_json(source, number, last));
        oche_json_push(list, job);
    }
    return list;
}
