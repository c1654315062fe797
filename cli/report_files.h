/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that oche report needs beside the program: the page, and the script that draws charts
 * as SVG. If the program is not installed they are in report/page/ beside it, otherwise where `make
 * install` puts them.
 */
#ifndef OCHE_CLI_REPORT_FILES_H
#define OCHE_CLI_REPORT_FILES_H

#include "params/error.h"

#include <stdbool.h>
#include <stddef.h>

#define OCHE_REPORT_PAGE   "report.html"
#define OCHE_REPORT_SCRIPT "report-svg.mjs"

/*
 * Returns the path of the file called `name` (malloc'd), or NULL, with one line in `error`, if
 * there is no such file.
 */
char *oche_report_file(const char *name, struct oche_error *error);

/* Returns a file's text (malloc'd, ended by a NUL), or NULL, with one line in `error`. */
char *oche_report_read(const char *path, struct oche_error *error);

/*
 * Runs node on the script, with `data` as its standard input. The script makes `folder` if
 * necessary and writes the charts into it. Returns false on failure, with one line in `error`,
 * which is empty if the script has printed the error itself.
 */
bool oche_report_draw(const char *script, const char *folder, const char *data, size_t bytes,
                      struct oche_error *error);

#endif
