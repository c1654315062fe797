/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What oche report needs beside the program: its page and the script that draws charts as SVG. They
 * are in report/page/ beside a program that is not installed, and else where `make install` puts
 * them.
 */
#ifndef OCHE_CLI_REPORT_FILES_H
#define OCHE_CLI_REPORT_FILES_H

#include "params/error.h"

#include <stdbool.h>
#include <stddef.h>

#define OCHE_REPORT_PAGE   "report.html"
#define OCHE_REPORT_SCRIPT "report-svg.mjs"

/* The path of such a file, malloc'd. NULL and one line in `error` when there is none. */
char *oche_report_file(const char *name, struct oche_error *error);

/* A file's text, malloc'd and ended by a NUL. NULL and one line in `error`. */
char *oche_report_read(const char *path, struct oche_error *error);

/*
 * Runs node on the script, with `data` as its standard input: it makes `folder` if need be and
 * writes the charts into it. False and one line in `error`, or what the script itself has said.
 */
bool oche_report_draw(const char *script, const char *folder, const char *data, size_t bytes,
                      struct oche_error *error);

#endif
