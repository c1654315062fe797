/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A report's data: everything that a page shows of the results in a folder, as JSON. Curves,
 * percentiles and time series are made here, so that the page stays small however many flows a run
 * has.
 *
 * The folder and two levels of folders below it are searched for files that end in .sqlite and are
 * oche's: runs (those of one scenario are shown side by side), sweeps, reproduced figures. Instead
 * of a folder, one such file may be given, whatever its name.
 */
#ifndef OCHE_REPORT_REPORT_H
#define OCHE_REPORT_REPORT_H

#include "core/base.h"
#include "params/error.h"

#define OCHE_REPORT_MARK "@OCHE-REPORT-DATA@" /* the place in the page where the data goes */

/*
 * Returns the data: malloc'd, *bytes long, ended by a NUL, without a '<'. `program` and `command`
 * tell what made it. Returns NULL, with one line in `error`, if there is nothing or something
 * cannot be read.
 */
char *oche_report_data(const char *place, const char *program, const char *command, size_t *bytes,
                       struct oche_error *error);

/* Writes `page`, with its mark replaced by the data, to `path`, completely or not at all. */
bool oche_report_write(const char *path, const char *page, const char *data,
                       struct oche_error *error);

#endif
