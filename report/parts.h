/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a report's data, one file each: the contents of a results file, made small enough
 * for a page. Each function returns JSON (owned by the caller); errors are kept in the source.
 */
#ifndef OCHE_REPORT_PARTS_H
#define OCHE_REPORT_PARTS_H

#include "report/source.h"

#define OCHE_REPORT_SPANS      480 /* most points of a time series */
#define OCHE_REPORT_HELD_PORTS 48  /* most ports on the timeline of pauses */

/* report/flows.c: flow completion times, slowdowns and goodputs by size. */
struct json_object *oche_report_flows(struct oche_report_source *source);

/* report/series.c: time series; ports held by PAUSE; watched queues. */
struct json_object *oche_report_series(struct oche_report_source *source);
struct json_object *oche_report_held(struct oche_report_source *source);
struct json_object *oche_report_queues(struct oche_report_source *source);

/* report/pauses.c: ports where PAUSEs began, flows that they hurt, and ports that they stopped. */
struct json_object *oche_report_pauses(struct oche_report_source *source);

/* report/congestion.c: marks, waiting and PAUSE by kind of link. */
struct json_object *oche_report_congestion(struct oche_report_source *source);

/* report/deflections.c: the flows deflected most often, and their paths. */
struct json_object *oche_report_deflections(struct oche_report_source *source);

/* report/jobs.c: jobs, their repetitions and phases, and what their ranks did. */
struct json_object *oche_report_jobs(struct oche_report_source *source);

/* report/topology.c: nodes and links with their utilisation; large networks in groups of nodes. */
struct json_object *oche_report_topology(struct oche_report_source *source);

/* report/run.c: one run, with all parts above. */
struct json_object *oche_report_run(struct oche_report_source *source);

/* report/sweep.c: a sweep, or the runs of a reproduced figure. */
struct json_object *oche_report_sweep(struct oche_report_source *source);

/* report/figure.c: a reproduced figure. */
struct json_object *oche_report_figure(struct oche_report_source *source);

#endif
