/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the flows that were deflected most often, each with its actual and its ordinary path. */
#include <math.h>

#include "report/json.h"
#include "report/parts.h"
#include "report/report.sql.h"

/*
 * Returns the ports of one path in order, each with its node and the node's kind; at the end, the
 * node to which the last port leads.
 */
static struct json_object *way_json(struct oche_report_source *source, uint64_t flow,
                                    const char *way)
{
    struct json_object *list = oche_json_array(0);
    sqlite3_stmt *row = oche_report_query(
        source, "SELECT n.name, n.kind, p.port, p.deflected, p.lane, p.tokens, p.time_ps FROM "
                "paths p JOIN nodes n ON n.id = p.node WHERE flow = ? AND way = ? ORDER BY hop");

    if (row != NULL) {
        sqlite3_bind_int64(row, 1, (sqlite3_int64)flow);
        sqlite3_bind_text(row, 2, way, -1, SQLITE_STATIC);
    }
    while (oche_report_row(source, row)) {
        struct json_object *hop = oche_json_object();

        oche_json_add_text(hop, "node", oche_report_text(row, 0));
        oche_json_add_text(hop, "kind", oche_report_text(row, 1));
        oche_json_add_text(hop, "port", oche_report_text(row, 2));
        oche_json_add(hop, "deflected", oche_json_truth(oche_report_u64(row, 3) != 0));
        if (!oche_report_is_null(row, 4))
            oche_json_add_int(hop, "lane", oche_report_u64(row, 4));
        if (!oche_report_is_null(row, 5))
            oche_json_add_int(hop, "tokens", oche_report_u64(row, 5));
        if (!oche_report_is_null(row, 6))
            oche_json_add(hop, "time_s", oche_json_exact(oche_report_real(row, 6) / 1e12));
        oche_json_push(list, hop);
    }
    return list;
}

static struct json_object *listed_json(struct oche_report_source *source)
{
    struct json_object *list = oche_json_array(0);
    sqlite3_stmt *row = oche_report_query(source, shown_deflected);

    while (oche_report_row(source, row)) {
        struct json_object *flow = oche_json_object();
        uint64_t id = oche_report_u64(row, 0);

        oche_json_add_int(flow, "flow", id);
        oche_json_add_text(flow, "src", oche_report_text(row, 1));
        oche_json_add_text(flow, "dst", oche_report_text(row, 2));
        oche_json_add_int(flow, "bytes", oche_report_u64(row, 3));
        oche_json_add_int(flow, "deflections", oche_report_u64(row, 4));
        oche_json_add(
            flow, "took_s",
            oche_json_exact(oche_report_is_null(row, 5) ? NAN : oche_report_real(row, 5)));
        oche_json_add(
            flow, "slowdown",
            oche_json_exact(oche_report_is_null(row, 6) ? NAN : oche_report_real(row, 6)));
        oche_json_add(flow, "ordinary", way_json(source, id, "ordinary"));
        oche_json_add(flow, "taken", way_json(source, id, "taken"));
        oche_json_push(list, flow);
    }
    return list;
}

struct json_object *oche_report_deflections(struct oche_report_source *source)
{
    struct json_object *deflected = oche_json_object();
    bool known =
        /* false: the file is from an earlier version */
        oche_report_has_column(source, "paths", "hop");

    oche_json_add_int(deflected, "flows",
                      known ? oche_report_number(source, "SELECT count(DISTINCT flow) FROM paths")
                            : 0);
    oche_json_add_int(deflected, "deflections",
                      known ? oche_report_number(source, "SELECT count(*) FROM deflections") : 0);
    oche_json_add(deflected, "listed", known ? listed_json(source) : oche_json_array(0));
    return deflected;
}
