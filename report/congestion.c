/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the places of congestion in a run: by kind of link, in the order of the results file. */
#include <math.h>

#include "report/json.h"
#include "report/parts.h"

static struct json_object *place_json(sqlite3_stmt *row, double data_packets)
{
    struct json_object *place = oche_json_object();
    const double packets = oche_report_real(row, 2), queueing = oche_report_real(row, 4);
    const double worst = oche_report_real(row, 5);

    oche_json_add_text(place, "place", oche_report_text(row, 0));
    oche_json_add_int(place, "ports", oche_report_u64(row, 1));
    oche_json_add_int(place, "packets", oche_report_u64(row, 2));
    oche_json_add_int(place, "marks", oche_report_u64(row, 3));
    oche_json_add(place, "queueing",
                  oche_json_exact(data_packets > 0 ? queueing / data_packets / 1e12 : NAN));
    oche_json_add(place, "queueing_mean",
                  oche_json_exact(packets > 0 ? queueing / packets / 1e12 : NAN));
    oche_json_add(place, "queueing_worst",
                  oche_json_exact(oche_report_is_null(row, 5) ? NAN : worst / 1e12));
    oche_json_add(place, "worst_port",
                  oche_report_is_null(row, 6) ? NULL : oche_json_text(oche_report_text(row, 6)));
    oche_json_add(place, "queue_max",
                  oche_report_is_null(row, 7) ? NULL
                                              : oche_json_int((int64_t)oche_report_u64(row, 7)));
    oche_json_add(place, "pause_time", oche_json_exact(oche_report_real(row, 8) / 1e12));
    return place;
}

struct json_object *oche_report_congestion(struct oche_report_source *source)
{
    struct json_object *list = oche_json_array(0);
    sqlite3_stmt *row;

    if (!oche_report_has_column(source, "congestion", "place"))
        return list; /* the file is from an earlier version, which stored no congestion */
    const double data_packets =
        (double)oche_report_number(source, "SELECT value FROM metrics WHERE name = 'data_packets'");

    row = oche_report_query(source, "SELECT place, ports, packets, marks, queueing_ps, worst_ps, "
                                    "worst_port, queue_max, paused_ps FROM congestion ORDER BY "
                                    "place");
    while (oche_report_row(source, row))
        oche_json_push(list, place_json(row, data_packets));
    return list;
}
