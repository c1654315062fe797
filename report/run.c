/* SPDX-License-Identifier: Apache-2.0 */
/* Shows one run, from its file run.sqlite (store/store.h). */
#include <math.h>

#include "report/json.h"
#include "report/parts.h"
#include "store/store.h"

static struct json_object *number_json(double value)
{
    return value == floor(value) && fabs(value) < 1e15 ? oche_json_int((int64_t)value)
                                                       : oche_json_exact(value);
}

/* Returns all metrics as {name: [value, unit], …}. */
static struct json_object *metrics_json(struct oche_report_source *source)
{
    struct json_object *metrics = oche_json_object();
    sqlite3_stmt *row = oche_report_query(
        source, "SELECT name, value, unit FROM metrics JOIN metric_names USING (name)");

    while (oche_report_row(source, row)) {
        struct json_object *metric = oche_json_array(0);

        oche_json_push(metric, number_json(oche_report_real(row, 1)));
        oche_json_push(metric, oche_json_text(oche_report_text(row, 2)));
        oche_json_add(metrics, oche_report_text(row, 0), metric);
    }
    return metrics;
}

/* Returns the run's overrides in order; a file of an earlier version has none. */
static struct json_object *overrides_json(struct oche_report_source *source)
{
    struct json_object *list = oche_json_array(0);
    sqlite3_stmt *row;

    if (!oche_report_has_column(source, "overrides", "assignment"))
        return list;
    row = oche_report_query(source, "SELECT assignment FROM overrides ORDER BY position");
    while (oche_report_row(source, row))
        oche_json_push(list, oche_json_text(oche_report_text(row, 0)));
    return list;
}

struct json_object *oche_report_run(struct oche_report_source *source)
{
    struct json_object *run = oche_json_object();

    if (!oche_report_is_of_schema(source, OCHE_RESULTS_SCHEMA, OCHE_RESULTS_SCHEMA, "oche run"))
        return run;
    oche_json_add(run, "info", oche_report_info_json(source));
    oche_json_add(run, "overrides", overrides_json(source));
    oche_json_add(run, "parameters", oche_report_parameters_json(source));
    oche_json_add(run, "metrics", metrics_json(source));
    oche_json_add(run, "flows", oche_report_flows(source));
    oche_json_add(run, "series", oche_report_series(source));
    oche_json_add(run, "held", oche_report_held(source));
    oche_json_add(run, "pauses", oche_report_pauses(source));
    oche_json_add(run, "congestion", oche_report_congestion(source));
    oche_json_add(run, "deflected", oche_report_deflections(source));
    oche_json_add(run, "queues", oche_report_queues(source));
    oche_json_add(run, "jobs", oche_report_jobs(source));
    oche_json_add(run, "topology", oche_report_topology(source));
    return run;
}
