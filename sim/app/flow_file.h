/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads lists of flows, in one of two forms; comments, blanks and numbers are as in
 * params/text_input.h.
 *
 * As ns-3 programs read them (workloads.md#flow-files): the number of flows alone on the first
 * line, then as many lines, with the columns of sim/app/flow_columns.h. What follows is not read,
 * as there; a remark says so. Priority group (pg), port (dport) and stop are checked and not used.
 *
 * CSV, as people, spreadsheets and pandas write it: a line with the column names src, dst, bytes
 * and start in any order and case, then one flow per line; start is in seconds, bytes in bytes, or
 * they have a unit; a host is a number or a name. The separator is a comma, a semicolon or a tab.
 * Columns of other names, and the one without a name, which is the index that pandas writes, are
 * not read.
 */
#ifndef OCHE_SIM_APP_FLOW_FILE_H
#define OCHE_SIM_APP_FLOW_FILE_H

#include "sim/app/app.h"

struct oche_flow_file {
    const char *name; /* for messages */
    const char *text;
    size_t bytes;
    oche_time origin; /* the time in the file at which the run begins */
};

/*
 * Adds the file's flows to the list. Returns false, with "NAME:LINE: what is wrong; what would be
 * right", if something is wrong with it.
 */
bool oche_flow_file_read(const struct oche_flow_file *file, const struct oche_workload_facts *facts,
                         struct oche_flow_list *list, struct oche_error *error);

#endif
