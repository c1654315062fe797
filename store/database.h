/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens results files. Anybody may have made them, so nothing in their schema is believed: views
 * and triggers do not work, virtual tables are refused, functions in the schema have no effects,
 * and a statement ends that takes more steps than a file of that size can need.
 */
#ifndef OCHE_STORE_DATABASE_H
#define OCHE_STORE_DATABASE_H

#include "params/error.h"

#include <stdbool.h>

#include <sqlite3.h>

/*
 * Opens a results file to read it. Returns NULL, with the reason but without the file's name in
 * `reason`, if it is no regular file or cannot be opened. An empty or damaged file is opened.
 */
sqlite3 *oche_database_read(const char *path, struct oche_error *reason);

/* Makes a new, empty file under a temporary name (params/part_file.h). NULL, and no file, as above.
 */
sqlite3 *oche_database_new(const char *part, struct oche_error *reason);

/*
 * Opens a results file that is written in place, and makes it if it is not there. A symbolic link
 * is refused: it may have been put there to have another file written to. NULL as above.
 */
sqlite3 *oche_database_keep(const char *path, struct oche_error *reason);

/*
 * True if the last page of the file is not there as a whole. SQLite would read zeros in its place.
 * While there is a write-ahead log, which may have the page, false.
 */
bool oche_database_is_cut(const char *path);
#define OCHE_DATABASE_CUT "its last page is cut"

/*
 * Explains a failure of SQLite's: "is damaged (…); WHAT_TO_DO", or what SQLite says.
 */
void oche_database_explain(sqlite3 *database, const char *what_to_do, struct oche_error *reason);

#endif
