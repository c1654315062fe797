/* SPDX-License-Identifier: Apache-2.0 */
/* A file for the duration of a test. */
#ifndef OCHE_TESTS_TEMPORARY_H
#define OCHE_TESTS_TEMPORARY_H

/* Writes `text` to a new file; returns its path, which is good until the next call. */
const char *temporary_file(const char *text);
/* Removes the last one. */
void temporary_remove(void);

/* Whether `error` is the path of the last one followed by `rest`; fails the test if not. */
void temporary_expect_error(const char *error, const char *rest);

#endif
