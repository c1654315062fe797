/* SPDX-License-Identifier: Apache-2.0 */
/* Stores the tables that only figures have: claims, readings, plots, curves and differences. */
#include "store/sweep.sql.h"
#include "store/sweep_rows.h"

void oche_sweep_store_clear_figure(struct oche_sweep_store *store)
{
    oche_sweep_sql(store, forget_findings);
}

uint32_t oche_sweep_store_claim(struct oche_sweep_store *store,
                                const struct oche_sweep_claim *claim)
{
    oche_sweep_add(store, ADD_CLAIM,
                   OCHE_CELLS(TEXT(claim->name), TEXT(claim->text), TEXT(claim->quantity),
                              TEXT(claim->condition), REAL(claim->published),
                              TEXT(claim->published_text), TEXT(claim->unit), TEXT(claim->place),
                              TEXT(claim->tolerance), TEXT(claim->confidence),
                              REAL(claim->measured), REAL(claim->low), REAL(claim->high),
                              REAL(claim->spread), TEXT(claim->verdict), TEXT(claim->explanation),
                              TEXT(claim->interval), NUMBER(claim->unsure), TEXT(claim->source)));
    return (uint32_t)sqlite3_last_insert_rowid(store->database);
}

void oche_sweep_store_reading(struct oche_sweep_store *store, uint32_t claim,
                              const struct oche_sweep_reading *reading)
{
    oche_sweep_add(store, ADD_READING,
                   OCHE_CELLS(NUMBER(claim), TEXT(reading->label), REAL(reading->measured),
                              REAL(reading->low), REAL(reading->high), TEXT(reading->verdict)));
}

uint32_t oche_sweep_store_plot(struct oche_sweep_store *store, const struct oche_sweep_plot *plot)
{
    oche_sweep_add(store, ADD_PLOT,
                   OCHE_CELLS(TEXT(plot->title), TEXT(plot->x_name), TEXT(plot->x_scale),
                              TEXT(plot->y_name), TEXT(plot->y_scale)));
    return (uint32_t)sqlite3_last_insert_rowid(store->database);
}

uint32_t oche_sweep_store_curve(struct oche_sweep_store *store,
                                const struct oche_sweep_curve *curve)
{
    oche_sweep_add(store, ADD_CURVE,
                   OCHE_CELLS(TEXT(curve->label), TEXT(curve->kind), TEXT(curve->x_name),
                              TEXT(curve->y_name), TEXT(curve->x_unit), TEXT(curve->y_unit),
                              NUMBER(curve->plot)));
    return (uint32_t)sqlite3_last_insert_rowid(store->database);
}

void oche_sweep_store_curve_point(struct oche_sweep_store *store, uint32_t curve, double x,
                                  double y, double low, double high)
{
    oche_sweep_add(store, ADD_CURVE_POINT,
                   OCHE_CELLS(NUMBER(curve), REAL(x), REAL(y), REAL(low), REAL(high)));
}

void oche_sweep_store_difference(struct oche_sweep_store *store, const char *text)
{
    oche_sweep_add(store, ADD_DIFFERENCE, OCHE_CELLS(TEXT(text)));
}
