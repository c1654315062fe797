/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that are being written and mean nothing before they are complete: when SIGINT, SIGTERM or
 * SIGHUP ends the program, they are removed. A signal that was ignored before stays ignored.
 */
#ifndef OCHE_CLI_INTERRUPTED_H
#define OCHE_CLI_INTERRUPTED_H

/* There is one of each at a time. */
enum oche_unfinished { OCHE_UNFINISHED_CAPTURE, OCHE_UNFINISHED_RESULTS, OCHE_UNFINISHED };

/* `path` stays the caller's until the next call for the same kind; NULL: none any more. */
void oche_remove_if_interrupted(enum oche_unfinished which, const char *path);

#endif
