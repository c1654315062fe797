/* SPDX-License-Identifier: Apache-2.0 */
/* One run: run.sqlite, as store/store.h writes it. */
#include "report/json.h"
#include "report/parts.h"
#include "store/store.h"

/* Sums over the whole network: counters of "all". */
static struct json_object *totals_json(struct oche_report_source *source)
{
    struct json_object *totals = json_object_new_object();
    sqlite3_stmt *row = oche_report_query(
        source, "SELECT name, value FROM counters WHERE entity = 'all' ORDER BY name");

    while (oche_report_row(source, row))
        oche_json_add_int(totals, oche_report_text(row, 0), oche_report_u64(row, 1));
    return totals;
}

struct json_object *oche_report_run(struct oche_report_source *source)
{
    struct json_object *run = json_object_new_object();

    if (!oche_report_is_of_schema(source, OCHE_RESULTS_SCHEMA, OCHE_RESULTS_SCHEMA, "oche run"))
        return run;
    oche_json_add(run, "info", oche_report_info_json(source));
    oche_json_add(run, "parameters", oche_report_parameters_json(source));
    oche_json_add(run, "totals", totals_json(source));
    oche_json_add(run, "flows", oche_report_flows(source));
    oche_json_add(run, "series", oche_report_series(source));
    oche_json_add(run, "held", oche_report_held(source));
    oche_json_add(run, "pauses", oche_report_pauses(source));
    oche_json_add(run, "congestion", oche_report_congestion(source));
    oche_json_add(run, "deflected", oche_report_deflections(source));
    oche_json_add(run, "queues", oche_report_queues(source));
    oche_json_add(run, "topology", oche_report_topology(source));
    return run;
}
