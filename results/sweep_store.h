/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The results of a sweep or of a reproduced figure: one SQLite file, written by one process, a
 * transaction a point, so that whatever interrupts it, finished points stay and can be used.
 *
 *     info(key, value)                      program, command, kind ("sweep" or "figure"),
 *                                           scenario, scenario_text, seed, repeats, grid (its
 *                                           text; a sweep resumes only the same grid), began,
 *                                           ended, cores (of the host)
 *     parameters(key, value, unit, given)   effective, of the first point
 *     axes(id, key)                         in the order of the command
 *     axis_values(axis, number, value)      text, as typed
 *     points(id, repeat, seed, status, error, wall_s, trace_hash)
 *                                           status: done, failed, crashed
 *     point_values(point, axis, number)     number: of axis_values
 *     metric_names(name, unit, help)
 *     metrics(point, name, value)
 *     distributions(point, name, unit, samples, thousandth, value)   exact percentiles
 *   of a figure also
 *     claims(id, name, text, quantity, condition, published, published_text, unit, place,
 *            tolerance, confidence, measured, low, high, spread, verdict, explanation)
 *                                           verdict: reproduced, in shape, not reproduced, no data;
 *                                           low … high: 95 % interval of the mean over repeats
 *     curves(id, label, kind, x_name, y_name, x_unit, y_unit)        kind: measured, published
 *     curve_points(curve, x, y, low, high)
 *     differences(id, text)                 from the paper's set-up
 *   and info: paper, figure, title, place, x_scale, y_scale (linear, log), x_name, y_name, mode
 *   (quick, full), tolerances_commit (or "not committed")
 *
 * Units are s, bps, bytes, count, ratio. `PRAGMA user_version` is OCHE_SWEEP_SCHEMA, and
 * `PRAGMA application_id` OCHE_SWEEP_APPLICATION tells such a file from a run's.
 */
#ifndef OCHE_RESULTS_SWEEP_STORE_H
#define OCHE_RESULTS_SWEEP_STORE_H

#include "core/base.h"

#define OCHE_SWEEP_SCHEMA      1
#define OCHE_SWEEP_APPLICATION 0x6f636865 /* "oche" */

#endif
