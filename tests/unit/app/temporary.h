/* SPDX-License-Identifier: Apache-2.0 */
/* A file for the duration of a test. */
#ifndef OCHE_TESTS_TEMPORARY_H
#define OCHE_TESTS_TEMPORARY_H

/* Writes `text` to a new file. Returns its path, which is valid until the next call. */
const char *temporary_file(const char *text);
/* Removes the last one. */
void temporary_remove(void);

/* True if `error` is the path of the last file, followed by `rest`. Otherwise the test fails. */
void temporary_expect_error(const char *error, const char *rest);

#endif
