/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The effects of PAUSEs: where they began and which ports they held, the flows that lost most to
 * congestion that was not on their path, and the ports of a deadlock.
 */
#include "report/json.h"
#include "report/parts.h"
#include "report/report.sql.h"

/* Returns the nodes of the forest of PAUSEs that are shown, each after its parent. */
static struct json_object *tree_json(struct oche_report_source *source)
{
    struct json_object *list = oche_json_array(0);
    sqlite3_stmt *row = oche_report_query(source, shown_pauses);

    while (oche_report_row(source, row)) {
        struct json_object *node = oche_json_object();

        oche_json_add_int(node, "id", oche_report_u64(row, 0));
        oche_json_add(
            node, "parent",
            oche_report_is_null(row, 1) ? NULL : oche_json_int((int64_t)oche_report_u64(row, 1)));
        oche_json_add(node, "port",
                      oche_report_is_null(row, 2) ? NULL
                                                  : oche_json_text(oche_report_text(row, 2)));
        oche_json_add_int(node, "class", oche_report_u64(row, 3));
        oche_json_add_int(node, "pauses", oche_report_u64(row, 4));
        oche_json_add(node, "held_s", oche_json_exact(oche_report_real(row, 5) / 1e12));
        oche_json_add(node, "first_s", oche_json_exact(oche_report_real(row, 6) / 1e12));
        oche_json_add(node, "last_s", oche_json_exact(oche_report_real(row, 7) / 1e12));
        oche_json_add_int(node, "senders", oche_report_u64(row, 8));
        oche_json_add(node, "returns", oche_json_truth(oche_report_u64(row, 9) != 0));
        oche_json_add_int(node, "branches", oche_report_u64(row, 10));
        oche_json_push(list, node);
    }
    return list;
}

static struct json_object *victims_json(struct oche_report_source *source)
{
    struct json_object *list = oche_json_array(0);
    sqlite3_stmt *row = oche_report_query(source, shown_victims);

    while (oche_report_row(source, row)) {
        struct json_object *flow = oche_json_object();

        oche_json_add_int(flow, "id", oche_report_u64(row, 0));
        oche_json_add_text(flow, "src", oche_report_text(row, 1));
        oche_json_add_text(flow, "dst", oche_report_text(row, 2));
        oche_json_add_int(flow, "bytes", oche_report_u64(row, 3));
        oche_json_add(flow, "life_s", oche_json_exact(oche_report_real(row, 4) / 1e12));
        oche_json_add(flow, "held_s", oche_json_exact(oche_report_real(row, 5) / 1e12));
        oche_json_add(flow, "lost_s", oche_json_exact(oche_report_real(row, 6) / 1e12));
        oche_json_add_text(flow, "root", oche_report_text(row, 7));
        oche_json_add(flow, "victim", oche_json_truth(oche_report_u64(row, 8) != 0));
        oche_json_push(list, flow);
    }
    return list;
}

/* Returns the hosts that sent PAUSEs themselves, those that held their ports longest first. */
static struct json_object *hosts_json(struct oche_report_source *source)
{
    struct json_object *list = oche_json_array(0);
    sqlite3_stmt *row = oche_report_query(source, pausing_hosts);

    while (oche_report_row(source, row)) {
        struct json_object *host = oche_json_object();

        oche_json_add_text(host, "host", oche_report_text(row, 0));
        oche_json_add_text(host, "port", oche_report_text(row, 1));
        oche_json_add_int(host, "pauses", oche_report_u64(row, 2));
        oche_json_add(host, "held_s", oche_json_exact(oche_report_real(row, 3) / 1e12));
        oche_json_add(host, "slow", oche_json_truth(oche_report_u64(row, 4) != 0));
        oche_json_push(list, host);
    }
    return list;
}

static struct json_object *deadlock_json(struct oche_report_source *source)
{
    struct json_object *list = oche_json_array(0);
    sqlite3_stmt *row = oche_report_query(source, "SELECT port FROM deadlock ORDER BY position");

    while (oche_report_row(source, row))
        oche_json_push(list, oche_json_text(oche_report_text(row, 0)));
    return list;
}

struct json_object *oche_report_pauses(struct oche_report_source *source)
{
    struct json_object *pauses = oche_json_object();

    oche_json_add_int(
        pauses, "hot_spots",
        oche_report_number(source, "SELECT count(*) FROM pause_tree WHERE parent IS NULL"));
    oche_json_add_int(pauses, "nodes",
                      oche_report_number(source, "SELECT count(*) FROM pause_tree"));
    oche_json_add(pauses, "tree", tree_json(source));
    oche_json_add(pauses, "hosts", hosts_json(source));
    oche_json_add_int(
        pauses, "victims",
        oche_report_number(source, "SELECT count(*) FROM flows WHERE measured AND victim"));
    oche_json_add(pauses, "flows", victims_json(source));
    oche_json_add(pauses, "deadlock", deadlock_json(source));
    return pauses;
}
