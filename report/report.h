/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report's data as JSON: everything that the page shows of the results in a folder. Curves,
 * percentiles and time series are computed here, so that the page stays small however many flows a
 * run has.
 *
 * The folder and three levels of folders below it are searched for files that end in .sqlite and
 * were written by oche: runs (those of one scenario, and those of one
 * comparison, are shown side by side), sweeps, reproduced figures.
 * Instead of a folder, a single results file of any name may be given.
 */
#ifndef OCHE_REPORT_REPORT_H
#define OCHE_REPORT_REPORT_H

#include "core/base.h"
#include "params/error.h"

#define OCHE_REPORT_MARK "@OCHE-REPORT-DATA@" /* the text in the page that the data replaces */

/*
 * Makes the JSON of all papers' recorded verdicts, which the overview of figures shows: a list of
 * {paper, title, claims, seeds: [least, most], recorded: [{claims, commit, date}, …], verdicts:
 * [{source, verdict, unsure, count}, …], counts, statements}; docs/reproduce.md describes the last
 * two. Sets *json to NULL if there are none. Returns false, with one line in `error`, if they
 * cannot be read.
 */
struct json_object;
typedef bool oche_report_recorded(struct json_object **json, struct oche_error *error);

/*
 * Returns the data as text (malloc'd, *bytes long, ended by a NUL, without a '<'). `program` and
 * `command` are stored in it as its origin. `recorded` is called if there are reproduced figures;
 * it may be NULL. Returns NULL, with one line in `error`, if there are no results or something
 * cannot be read.
 */
char *oche_report_data(const char *place, const char *program, const char *command,
                       oche_report_recorded *recorded, size_t *bytes, struct oche_error *error);

/*
 * Writes the page to `path`, with the data in place of OCHE_REPORT_MARK, completely or not at all.
 */
bool oche_report_write(const char *path, const char *page, const char *data,
                       struct oche_error *error);

#endif
