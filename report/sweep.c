/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shows a sweep (store/sweep_store.h): its axes and, for every combination of their values, the
 * mean, standard deviation, smallest and largest value of each metric over the repeats. Only points
 * that failed or crashed are listed one by one.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/json.h"
#include "report/parts.h"
#include "store/sweep_store.h"

#define MOST_AXES         16
#define MOST_COMBINATIONS 1000000
#define MOST_LISTED       500 /* most failed and crashed points in the list */
#define MOST_CURVES       400 /* most combinations for which distributions are shown */
#define NONE              SIZE_MAX

struct axis {
    uint64_t id;
    size_t values;
};

struct point {
    uint64_t id;
    /*
     * index of the point's combination: at first among all combinations, later among combinations
     * that have points
     */
    size_t place;
    bool done;
};

/* Statistics of one metric for one combination. */
struct statistic {
    uint64_t count;
    double mean, squares; /* squares: sum of the squared distances to the mean */
    double least, most;
};

struct sweep {
    struct oche_report_source *source;
    bool zipped; /* a combination has the same number on all axes */
    struct axis axes[MOST_AXES];
    size_t axis_count, places; /* places: number of combinations that the axes allow */
    struct point *points;      /* in ascending order of id */
    size_t point_count;
    /* for each combination that has points, its index among all combinations */
    size_t *places_used;
    size_t combinations; /* number of combinations that have points */
    struct statistic *statistics;
};

/* ---- axes and points ---- */

static struct json_object *axis_values(struct oche_report_source *source, uint64_t axis)
{
    struct json_object *values = oche_json_array(0);
    sqlite3_stmt *row =
        oche_report_query(source, "SELECT value FROM axis_values WHERE axis = ? ORDER BY number");

    if (row != NULL)
        sqlite3_bind_int64(row, 1, (sqlite3_int64)axis);
    while (oche_report_row(source, row))
        oche_json_push(values, oche_json_text(oche_report_text(row, 0)));
    return values;
}

static struct json_object *read_axes(struct sweep *sweep)
{
    struct json_object *list = oche_json_array(0);
    sqlite3_stmt *row = oche_report_query(sweep->source, "SELECT id, key FROM axes ORDER BY id");

    sweep->places = 1;
    while (oche_report_row(sweep->source, row)) {
        struct json_object *axis = oche_json_object();
        uint64_t id = oche_report_u64(row, 0);
        struct json_object *values = axis_values(sweep->source, id);
        size_t count = json_object_array_length(values);

        oche_json_add_text(axis, "key", oche_report_text(row, 1));
        oche_json_add(axis, "values", values);
        oche_json_push(list, axis);
        size_t before = sweep->zipped ? 1 : sweep->places;

        if (sweep->axis_count == MOST_AXES || count == 0 || before > MOST_COMBINATIONS / count ||
            (sweep->zipped && sweep->axis_count > 0 && sweep->places != count)) {
            oche_report_source_fail(sweep->source, "damaged: its grid is too large or empty");
            continue;
        }
        sweep->axes[sweep->axis_count++] = (struct axis){.id = id, .values = count};
        sweep->places = before * count;
    }
    return list;
}

static void read_points(struct sweep *sweep)
{
    size_t room = oche_report_number(sweep->source, "SELECT count(*) FROM points");
    sqlite3_stmt *row =
        oche_report_query(sweep->source, "SELECT id, status FROM points ORDER BY id");

    sweep->points = calloc(room + 1, sizeof(*sweep->points));
    OCHE_GOT(sweep->points != NULL);
    while (oche_report_row(sweep->source, row))
        if (sweep->point_count < room) /* a sweep that is still running may have added points */
            sweep->points[sweep->point_count++] =
                (struct point){.id = oche_report_u64(row, 0),
                               .done = strcmp(oche_report_text(row, 1), "done") == 0};
}

static int by_id(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = ((const struct point *)b)->id;

    return (x > y) - (x < y);
}

static struct point *find_point(const struct sweep *sweep, uint64_t id)
{
    return sweep->point_count == 0
               ? NULL
               : bsearch(&id, sweep->points, sweep->point_count, sizeof(*sweep->points), by_id);
}

/*
 * Finds the index of each point's combination among all combinations; the last axis varies fastest.
 */
static void place_points(struct sweep *sweep)
{
    sqlite3_stmt *row =
        oche_report_query(sweep->source, "SELECT point, axis, number FROM point_values");

    while (oche_report_row(sweep->source, row)) {
        struct point *point = find_point(sweep, oche_report_u64(row, 0));
        uint64_t axis = oche_report_u64(row, 1), number = oche_report_u64(row, 2);
        size_t unit = 1;

        if (point == NULL)
            continue;
        for (size_t i = sweep->axis_count; i-- > 0;) {
            if (sweep->axes[i].id == axis && number < sweep->axes[i].values)
                point->place = sweep->zipped ? number : point->place + number * unit;
            unit *= sweep->axes[i].values;
        }
    }
}

/* Numbers the combinations that have points, in the order of their indices. */
static void number_combinations(struct sweep *sweep)
{
    size_t *number = calloc(sweep->places, sizeof(*number));

    OCHE_GOT(number != NULL);
    for (size_t i = 0; i < sweep->point_count; i++) {
        struct point *point = &sweep->points[i];

        if (point->place >= sweep->places) /* the file is damaged: it has an axis twice */
            point->place = 0;
        number[point->place] = 1;
    }
    sweep->places_used = calloc(sweep->places, sizeof(size_t));
    OCHE_GOT(sweep->places_used != NULL);
    for (size_t i = 0; i < sweep->places; i++) {
        if (number[i] == 0)
            continue;
        sweep->places_used[sweep->combinations] = i;
        number[i] = sweep->combinations++;
    }
    for (size_t i = 0; i < sweep->point_count; i++)
        sweep->points[i].place = number[sweep->points[i].place];
    free(number);
}

/* Returns, for each axis, the number of the value that each combination has on the axis. */
static struct json_object *combinations_json(const struct sweep *sweep)
{
    struct json_object *list = oche_json_array(0);
    size_t unit = sweep->places;

    for (size_t i = 0; i < sweep->axis_count; i++) {
        struct json_object *numbers = oche_json_array(0);

        unit = sweep->zipped ? 1 : unit / sweep->axes[i].values;
        for (size_t k = 0; k < sweep->combinations; k++) {
            size_t number = sweep->places_used[k] / unit % sweep->axes[i].values;

            oche_json_push(numbers, oche_json_int((int64_t)number));
        }
        oche_json_push(list, numbers);
    }
    return list;
}

/* Counts the finished points by combination, and lists the other points one by one. */
static void add_statuses(struct sweep *sweep, struct json_object *json)
{
    struct json_object *done = oche_json_array(0), *listed = oche_json_array(0);
    uint64_t *count = calloc(sweep->combinations + 1, sizeof(*count)), not_done = 0;
    sqlite3_stmt *row = oche_report_query(
        sweep->source, "SELECT id, repeat, seed, status, error FROM points WHERE status != 'done' "
                       "ORDER BY id");

    OCHE_GOT(count != NULL);
    for (size_t i = 0; i < sweep->point_count; i++)
        count[sweep->points[i].place] += sweep->points[i].done;
    for (size_t i = 0; i < sweep->combinations; i++)
        oche_json_push(done, oche_json_int((int64_t)count[i]));
    free(count);
    while (oche_report_row(sweep->source, row)) {
        const struct point *point = find_point(sweep, oche_report_u64(row, 0));
        struct json_object *one;

        if (point == NULL || ++not_done > MOST_LISTED)
            continue;
        one = oche_json_object();
        oche_json_add_int(one, "point", point->id);
        oche_json_add_int(one, "combination", point->place);
        oche_json_add_int(one, "repeat", oche_report_u64(row, 1));
        oche_json_add_text(one, "seed", oche_report_text(row, 2));
        oche_json_add_text(one, "status", oche_report_text(row, 3));
        oche_json_add_text(one, "error", oche_report_text(row, 4));
        oche_json_push(listed, one);
    }
    oche_json_add_int(json, "points", sweep->point_count);
    oche_json_add_int(json, "not_done", not_done);
    oche_json_add(json, "done", done);
    oche_json_add(json, "listed", listed);
}

/* ---- metrics ---- */

static void take(struct statistic *statistic, double value)
{
    double before = value - statistic->mean;

    if (!isfinite(value))
        return;
    statistic->count++;
    statistic->mean += before / (double)statistic->count;
    statistic->squares += before * (value - statistic->mean);
    if (statistic->count == 1 || value < statistic->least)
        statistic->least = value;
    if (statistic->count == 1 || value > statistic->most)
        statistic->most = value;
}

/* True if the metric differs between the repeats of at least one combination. */
static bool has_spread(const struct sweep *sweep)
{
    for (size_t i = 0; i < sweep->combinations; i++)
        if (sweep->statistics[i].least != sweep->statistics[i].most)
            return true;
    return false;
}

/* True if at least one finished point does not have the metric. */
static bool has_gaps(const struct sweep *sweep)
{
    uint64_t count = 0, done = 0;

    for (size_t i = 0; i < sweep->combinations; i++)
        count += sweep->statistics[i].count;
    for (size_t i = 0; i < sweep->point_count; i++)
        done += sweep->points[i].done;
    return count != done;
}

/*
 * Returns the statistics by combination. Leaves out statistics that tell nothing new, such as the
 * spread if no combination has one.
 */
static struct json_object *statistics_json(const struct sweep *sweep, const char *name,
                                           const char *unit, const char *help)
{
    static const char *const keys[] = {"count", "mean", "deviation", "least", "most"};
    struct json_object *json = oche_json_object();
    bool spread = has_spread(sweep), gaps = has_gaps(sweep);

    oche_json_add_text(json, "name", name);
    oche_json_add_text(json, "unit", unit);
    oche_json_add_text(json, "help", help);
    for (size_t key = 0; key < 5; key++) {
        struct json_object *list;

        if ((key == 0 && !gaps) || (key > 1 && !spread))
            continue;
        list = oche_json_array(0);
        for (size_t i = 0; i < sweep->combinations; i++) {
            const struct statistic *s = &sweep->statistics[i];
            const double values[] = {(double)s->count, s->mean,
                                     s->count > 1 ? sqrt(s->squares / (double)(s->count - 1)) : NAN,
                                     s->least, s->most};

            oche_json_push_real(list, key > 0 && s->count == 0 ? NAN : values[key]);
        }
        oche_json_add(json, keys[key], list);
    }
    return json;
}

static struct json_object *metrics_json(struct sweep *sweep)
{
    struct json_object *list = oche_json_array(0);
    size_t bytes = (sweep->combinations + 1) * sizeof(*sweep->statistics);
    char *name = NULL, *unit = NULL, *help = NULL;
    sqlite3_stmt *row = oche_report_query(
        sweep->source, "SELECT n.name, n.unit, n.help, m.point, m.value FROM metric_names n JOIN "
                       "metrics m ON m.name = n.name ORDER BY m.name, m.point");

    sweep->statistics = calloc(1, bytes);
    OCHE_GOT(sweep->statistics != NULL);
    for (bool more = true; more;) {
        more = oche_report_row(sweep->source, row);
        if (name != NULL && (!more || strcmp(name, oche_report_text(row, 0)) != 0)) {
            oche_json_push(list, statistics_json(sweep, name, unit, help));
            memset(sweep->statistics, 0, bytes);
            free(name);
            free(unit);
            free(help);
            name = NULL;
        }
        if (!more)
            break;
        if (name == NULL) {
            name = strdup(oche_report_text(row, 0));
            unit = strdup(oche_report_text(row, 1));
            help = strdup(oche_report_text(row, 2));
            OCHE_GOT(name != NULL && unit != NULL && help != NULL);
        }
        const struct point *point = find_point(sweep, oche_report_u64(row, 3));

        if (point != NULL && point->done)
            take(&sweep->statistics[point->place], oche_report_real(row, 4));
    }
    return list;
}

/* ---- distributions ---- */

/* True if this percentile, in thousandths, is shown. */
static bool is_shown(uint64_t thousandth)
{
    return thousandth % 25 == 0 || thousandth == 990 || thousandth == 995;
}

#define SHOWN 43

static size_t shown_number(uint64_t thousandth)
{
    return thousandth < 990    ? thousandth / 25
           : thousandth == 990 ? 40
           : thousandth == 995 ? 41
                               : 42;
}

/*
 * Returns each combination's percentiles, averaged over its repeats; null for a combination without
 * any.
 */
static struct json_object *curves_json(const struct sweep *sweep)
{
    struct json_object *curves = oche_json_array(0);

    for (size_t i = 0; i < sweep->combinations; i++) {
        const struct statistic *statistics = &sweep->statistics[i * SHOWN];
        struct json_object *curve = NULL;

        if (statistics[SHOWN - 1].count > 0)
            curve = oche_json_array(0);
        for (size_t k = 0; curve != NULL && k < SHOWN; k++)
            oche_json_push_real(curve, statistics[k].count > 0 ? statistics[k].mean : NAN);
        oche_json_push(curves, curve);
    }
    return curves;
}

static struct json_object *distribution_json(struct sweep *sweep, const char *name,
                                             const char *unit)
{
    struct json_object *json = oche_json_object(), *at = oche_json_array(0);
    size_t bytes = (sweep->combinations + 1) * SHOWN * sizeof(*sweep->statistics);
    sqlite3_stmt *row = oche_report_query(
        sweep->source, "SELECT point, thousandth, value FROM distributions WHERE name = ?");

    free(sweep->statistics);
    sweep->statistics = calloc(1, bytes);
    OCHE_GOT(sweep->statistics != NULL);
    if (row != NULL)
        sqlite3_bind_text(row, 1, name, -1, SQLITE_TRANSIENT);
    while (oche_report_row(sweep->source, row)) {
        const struct point *point = find_point(sweep, oche_report_u64(row, 0));
        uint64_t thousandth = oche_report_u64(row, 1);

        if (point != NULL && point->done && thousandth <= 1000 && is_shown(thousandth))
            take(&sweep->statistics[point->place * SHOWN + shown_number(thousandth)],
                 oche_report_real(row, 2));
    }
    for (uint64_t i = 0; i <= 1000; i += 5)
        if (is_shown(i))
            oche_json_push_real(at, (double)i / 10);
    oche_json_add_text(json, "name", name);
    oche_json_add_text(json, "unit", unit);
    oche_json_add(json, "at", at);
    oche_json_add(json, "curves", curves_json(sweep));
    return json;
}

static struct json_object *distributions_json(struct sweep *sweep)
{
    struct json_object *list = oche_json_array(0);
    sqlite3_stmt *row;

    if (sweep->combinations > MOST_CURVES)
        return list;
    row = oche_report_query(
        sweep->source, "SELECT name, min(unit) FROM distributions GROUP BY name ORDER BY name");
    while (oche_report_row(sweep->source, row))
        oche_json_push(
            list, distribution_json(sweep, oche_report_text(row, 0), oche_report_text(row, 1)));
    return list;
}

static bool has_info(struct oche_report_source *source, const char *key)
{
    char *value = oche_report_info(source, key);

    free(value);
    return value != NULL;
}

struct json_object *oche_report_sweep(struct oche_report_source *source)
{
    struct sweep sweep = {.source = source};
    struct json_object *json = oche_json_object();

    if (!oche_report_is_of_schema(source, OCHE_SWEEP_OLDEST, OCHE_SWEEP_SCHEMA,
                                  "oche sweep or oche reproduce"))
        return json;
    oche_json_add(json, "info", oche_report_info_json(source));
    oche_json_add(json, "parameters", oche_report_parameters_json(source));
    sweep.zipped = has_info(source, "zipped");
    oche_json_add(json, "zipped", oche_json_truth(sweep.zipped));
    oche_json_add(json, "axes", read_axes(&sweep));
    read_points(&sweep);
    place_points(&sweep);
    number_combinations(&sweep);
    oche_json_add(json, "combinations", combinations_json(&sweep));
    add_statuses(&sweep, json);
    oche_json_add(json, "metrics", metrics_json(&sweep));
    oche_json_add(json, "distributions", distributions_json(&sweep));
    free(sweep.points);
    free(sweep.places_used);
    free(sweep.statistics);
    return json;
}
