/* SPDX-License-Identifier: Apache-2.0 */
/* Stores what only figures have: claims, readings, plots, curves and differences. */
#include "store/sweep.sql.h"
#include "store/sweep_rows.h"

void oche_sweep_store_clear_figure(struct oche_sweep_store *store)
{
    oche_sweep_sql(store, forget_findings);
}

uint32_t oche_sweep_store_claim(struct oche_sweep_store *store,
                                const struct oche_sweep_claim *claim)
{
    sqlite3_stmt *add = oche_sweep_row(store, ADD_CLAIM);

    if (add == NULL)
        return 0;
    oche_sweep_bind_text(add, 1, claim->name);
    oche_sweep_bind_text(add, 2, claim->text);
    oche_sweep_bind_text(add, 3, claim->quantity);
    oche_sweep_bind_text(add, 4, claim->condition);
    oche_sweep_bind_real(add, 5, claim->published);
    oche_sweep_bind_text(add, 6, claim->published_text);
    oche_sweep_bind_text(add, 7, claim->unit);
    oche_sweep_bind_text(add, 8, claim->place);
    oche_sweep_bind_text(add, 9, claim->tolerance);
    oche_sweep_bind_text(add, 10, claim->confidence);
    oche_sweep_bind_real(add, 11, claim->measured);
    oche_sweep_bind_real(add, 12, claim->low);
    oche_sweep_bind_real(add, 13, claim->high);
    oche_sweep_bind_real(add, 14, claim->spread);
    oche_sweep_bind_text(add, 15, claim->verdict);
    oche_sweep_bind_text(add, 16, claim->explanation);
    oche_sweep_bind_text(add, 17, claim->interval);
    sqlite3_bind_int(add, 18, claim->unsure);
    oche_sweep_bind_text(add, 19, claim->source);
    oche_sweep_end_row(store, add);
    return (uint32_t)sqlite3_last_insert_rowid(store->database);
}

void oche_sweep_store_reading(struct oche_sweep_store *store, uint32_t claim,
                              const struct oche_sweep_reading *reading)
{
    sqlite3_stmt *add = oche_sweep_row(store, ADD_READING);

    if (add == NULL)
        return;
    sqlite3_bind_int64(add, 1, claim);
    oche_sweep_bind_text(add, 2, reading->label);
    oche_sweep_bind_real(add, 3, reading->measured);
    oche_sweep_bind_real(add, 4, reading->low);
    oche_sweep_bind_real(add, 5, reading->high);
    oche_sweep_bind_text(add, 6, reading->verdict);
    oche_sweep_end_row(store, add);
}

uint32_t oche_sweep_store_plot(struct oche_sweep_store *store, const struct oche_sweep_plot *plot)
{
    sqlite3_stmt *add = oche_sweep_row(store, ADD_PLOT);

    if (add == NULL)
        return 0;
    oche_sweep_bind_text(add, 1, plot->title);
    oche_sweep_bind_text(add, 2, plot->x_name);
    oche_sweep_bind_text(add, 3, plot->x_scale);
    oche_sweep_bind_text(add, 4, plot->y_name);
    oche_sweep_bind_text(add, 5, plot->y_scale);
    oche_sweep_end_row(store, add);
    return (uint32_t)sqlite3_last_insert_rowid(store->database);
}

uint32_t oche_sweep_store_curve(struct oche_sweep_store *store,
                                const struct oche_sweep_curve *curve)
{
    sqlite3_stmt *add = oche_sweep_row(store, ADD_CURVE);

    if (add == NULL)
        return 0;
    oche_sweep_bind_text(add, 1, curve->label);
    oche_sweep_bind_text(add, 2, curve->kind);
    oche_sweep_bind_text(add, 3, curve->x_name);
    oche_sweep_bind_text(add, 4, curve->y_name);
    oche_sweep_bind_text(add, 5, curve->x_unit);
    oche_sweep_bind_text(add, 6, curve->y_unit);
    sqlite3_bind_int64(add, 7, curve->plot);
    oche_sweep_end_row(store, add);
    return (uint32_t)sqlite3_last_insert_rowid(store->database);
}

void oche_sweep_store_curve_point(struct oche_sweep_store *store, uint32_t curve, double x,
                                  double y, double low, double high)
{
    sqlite3_stmt *add = oche_sweep_row(store, ADD_CURVE_POINT);

    if (add == NULL)
        return;
    sqlite3_bind_int64(add, 1, curve);
    oche_sweep_bind_real(add, 2, x);
    oche_sweep_bind_real(add, 3, y);
    oche_sweep_bind_real(add, 4, low);
    oche_sweep_bind_real(add, 5, high);
    oche_sweep_end_row(store, add);
}

void oche_sweep_store_difference(struct oche_sweep_store *store, const char *text)
{
    sqlite3_stmt *add = oche_sweep_row(store, ADD_DIFFERENCE);

    if (add == NULL)
        return;
    oche_sweep_bind_text(add, 1, text);
    oche_sweep_end_row(store, add);
}
