/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reproduced figure: its claims with their verdicts, its plots with measured and published
 * curves, the differences from the paper's set-up, and the sweep with its runs.
 */
#include <stdlib.h>
#include <string.h>

#include "report/json.h"
#include "report/parts.h"

/* Returns the claim's results in other readings of the paper. */
static struct json_object *readings_json(struct oche_report_source *source, uint64_t claim)
{
    struct json_object *readings = oche_json_array(0);
    sqlite3_stmt *row = oche_report_query(
        source, "SELECT label, verdict, measured, low, high FROM readings WHERE claim = ? ORDER BY "
                "rowid");

    if (row != NULL)
        sqlite3_bind_int64(row, 1, (sqlite3_int64)claim);
    while (oche_report_row(source, row)) {
        struct json_object *reading = oche_json_object();

        oche_json_add_text(reading, "label", oche_report_text(row, 0));
        oche_json_add_text(reading, "verdict", oche_report_text(row, 1));
        oche_json_add(reading, "measured", oche_json_exact(oche_report_real(row, 2)));
        oche_json_add(reading, "low", oche_json_exact(oche_report_real(row, 3)));
        oche_json_add(reading, "high", oche_json_exact(oche_report_real(row, 4)));
        oche_json_push(readings, reading);
    }
    return readings;
}

#define CLAIMS(unsure, source)                                                                     \
    "SELECT name, text, quantity, condition, published_text, unit, place, tolerance, "             \
    "confidence, verdict, explanation, " source                                                    \
    ", published, measured, low, high, spread, " unsure ", id FROM claims ORDER BY id"

static struct json_object *claims_json(struct oche_report_source *source)
{
    static const char *const texts[] = {"name",           "text",    "quantity",    "condition",
                                        "published_text", "unit",    "place",       "tolerance",
                                        "confidence",     "verdict", "explanation", "source"};
    static const char *const numbers[] = {"published", "measured", "low", "high", "spread"};
    const int text_count = OCHE_COUNT_OF(texts);
    const int number_count = OCHE_COUNT_OF(numbers);
    struct json_object *claims = oche_json_array(0);
    /*
     * Files before schema 3 do not record the claims' sources. The first ones of schema 1 do not
     * record if a verdict is sure.
     */
    const bool unsure = oche_report_has_column(source, "claims", "unsure");
    sqlite3_stmt *row = oche_report_query(source, oche_report_has_column(source, "claims", "source")
                                                      ? CLAIMS("unsure", "source")
                                                  : unsure ? CLAIMS("unsure", "''")
                                                           : CLAIMS("0", "''"));

    while (oche_report_row(source, row)) {
        struct json_object *claim = oche_json_object();

        for (int i = 0; i < text_count; i++)
            oche_json_add_text(claim, texts[i], oche_report_text(row, i));
        for (int i = 0; i < number_count; i++)
            oche_json_add(claim, numbers[i],
                          oche_json_exact(oche_report_real(row, text_count + i)));
        oche_json_add(claim, "unsure",
                      oche_json_truth(oche_report_u64(row, text_count + number_count) != 0));
        oche_json_add(claim, "readings",
                      readings_json(source, oche_report_u64(row, text_count + number_count + 1)));
        oche_json_push(claims, claim);
    }
    return claims;
}

/* Returns the points of a curve, each as [x, y, low, high]. */
static struct json_object *curve_points(struct oche_report_source *source, uint64_t curve)
{
    struct json_object *points = oche_json_array(0);
    sqlite3_stmt *row =
        oche_report_query(source, "SELECT x, y, low, high FROM curve_points WHERE curve = ?");

    if (row != NULL)
        sqlite3_bind_int64(row, 1, (sqlite3_int64)curve);
    while (oche_report_row(source, row)) {
        struct json_object *point = oche_json_array(0);

        for (int i = 0; i < 4; i++)
            oche_json_push_real(point, oche_report_real(row, i));
        oche_json_push(points, point);
    }
    return points;
}

static struct json_object *curves_json(struct oche_report_source *source, sqlite3_stmt *row)
{
    static const char *const texts[] = {"label", "kind", "x_name", "y_name", "x_unit", "y_unit"};
    struct json_object *curves = oche_json_array(0);

    while (oche_report_row(source, row)) {
        struct json_object *curve = oche_json_object();

        for (int i = 0; i < 6; i++)
            oche_json_add_text(curve, texts[i], oche_report_text(row, i));
        oche_json_add(curve, "points", curve_points(source, oche_report_u64(row, 6)));
        oche_json_push(curves, curve);
    }
    return curves;
}

#define CURVES(condition)                                                                          \
    "SELECT label, kind, x_name, y_name, x_unit, y_unit, id FROM curves " condition " ORDER BY id"
static const char *const plot_keys[] = {"title", "x_name", "x_scale", "y_name", "y_scale"};
enum { PLOT_KEYS = OCHE_COUNT_OF(plot_keys) };

static struct json_object *plots_json(struct oche_report_source *source)
{
    struct json_object *plots = oche_json_array(0);
    sqlite3_stmt *row = oche_report_query(
        source, "SELECT title, x_name, x_scale, y_name, y_scale, id FROM plots ORDER BY id");

    while (oche_report_row(source, row)) {
        struct json_object *plot = oche_json_object();
        sqlite3_stmt *curves = oche_report_query(source, CURVES("WHERE plot = ?"));

        for (int i = 0; i < PLOT_KEYS; i++)
            oche_json_add_text(plot, plot_keys[i], oche_report_text(row, i));
        if (curves != NULL)
            sqlite3_bind_int64(curves, 1, sqlite3_column_int64(row, PLOT_KEYS));
        oche_json_add(plot, "curves", curves_json(source, curves));
        oche_json_push(plots, plot);
    }
    return plots;
}

/* Returns the only plot of a file of schema 1, whose axes are described in the table info. */
static struct json_object *only_plot_json(struct oche_report_source *source)
{
    struct json_object *plots = oche_json_array(0), *plot = oche_json_object();

    for (int i = 0; i < PLOT_KEYS; i++) {
        char *value = i > 0 ? oche_report_info(source, plot_keys[i]) : NULL;

        oche_json_add_text(plot, plot_keys[i], value != NULL ? value : "");
        free(value);
    }
    oche_json_add(plot, "curves", curves_json(source, oche_report_query(source, CURVES(""))));
    oche_json_push(plots, plot);
    return plots;
}

static struct json_object *differences_json(struct oche_report_source *source)
{
    struct json_object *list = oche_json_array(0);
    sqlite3_stmt *row = oche_report_query(source, "SELECT text FROM differences ORDER BY id");

    while (oche_report_row(source, row))
        oche_json_push(list, oche_json_text(oche_report_text(row, 0)));
    return list;
}

struct json_object *oche_report_figure(struct oche_report_source *source)
{
    struct json_object *figure = oche_report_sweep(source);

    oche_json_add(figure, "claims", claims_json(source));
    oche_json_add(figure, "plots",
                  oche_report_has_column(source, "curves", "plot") ? plots_json(source)
                                                                   : only_plot_json(source));
    oche_json_add(figure, "differences", differences_json(source));
    return figure;
}
