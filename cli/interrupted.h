/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are being written and are useless until they are complete: they are removed when
 * SIGINT, SIGTERM or SIGHUP ends the program. A signal that was ignored before stays ignored.
 */
#ifndef OCHE_CLI_INTERRUPTED_H
#define OCHE_CLI_INTERRUPTED_H

/* At most one of each kind at a time. */
enum oche_unfinished { OCHE_UNFINISHED_CAPTURE, OCHE_UNFINISHED_RESULTS, OCHE_UNFINISHED };

/*
 * `path` remains the caller's until the next call for the same kind; NULL: there is none any more.
 */
void oche_remove_if_interrupted(enum oche_unfinished which, const char *path);

#endif
