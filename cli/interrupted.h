/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes unfinished files, which would be useless, when SIGINT, SIGTERM, SIGHUP or SIGPIPE ends
 * the program. A signal that was ignored before stays ignored.
 */
#ifndef OCHE_CLI_INTERRUPTED_H
#define OCHE_CLI_INTERRUPTED_H

#include <signal.h>
#include <stdbool.h>

/* Kinds of unfinished files; at most one file of each kind exists at a time. */
enum oche_unfinished {
    OCHE_UNFINISHED_CAPTURE,
    OCHE_UNFINISHED_RESULTS,
    OCHE_UNFINISHED_TABLE, /* struct oche_whole_file */
    OCHE_UNFINISHED
};

/*
 * Sets the unfinished file of a kind; `path` NULL: there is no such file any more. The caller owns
 * `path` and keeps it valid until the next call for the same kind.
 */
void oche_remove_if_interrupted(enum oche_unfinished which, const char *path);
/*
 * If `gently`, the next SIGINT does not end the program but sets the returned flag to 1; the one
 * after it ends the program.
 */
const volatile sig_atomic_t *oche_interrupt_gently(bool gently);
/*
 * `hurriedly`: the program does something that does not read the flag and has no results. A SIGINT
 * that sets the flag then gives it OCHE_PATIENCE_MS to be done; after that the program ends with
 * status 130, without unfinished files. Call it with false when that is done.
 */
#define OCHE_PATIENCE_MS 500
void oche_interrupt_hurriedly(bool hurriedly);
/*
 * For a process that mpirun has started. SIGUSR1 acts like SIGINT, because mpirun passes on only
 * SIGUSR1. SIGTERM does, too: Ctrl-C at mpirun becomes SIGTERM. mpirun kills the process a second
 * later, so the process ends before that, without unfinished files.
 */
void oche_interrupt_by_mpirun(void);
/* Removes the unfinished files now, because the program is about to end. */
void oche_remove_unfinished(void);

#endif
