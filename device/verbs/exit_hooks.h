/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between libibverbs.so.1 (process_exit.c) and liboche-exit.so (exit_hooks.c). The
 * latter exports oche_exit_hooks, and is present only if `oche exec` has loaded it.
 */
#ifndef OCHE_DEVICE_VERBS_EXIT_HOOKS_H
#define OCHE_DEVICE_VERBS_EXIT_HOOKS_H

#include <signal.h>

/* Functions of process_exit.c. A signal handler may call each of them. */
struct oche_exit_calls {
    void (*before_exit)(void); /* before _exit */
    void (*before_exec)(void); /* before each attempt to run another program in this process */
    void (*exec_failed)(void); /* if that attempt failed */
};

struct oche_exit_hooks {
    /* The C library's sigaction, which exit_hooks.c replaces. */
    int (*sigaction)(int number, const struct sigaction *given, struct sigaction *before);
    /*
     * A function of exit_hooks.c. It sets the functions that are called from then on: `calls`, and
     * `end_by` for these signals whenever the program wants their default action.
     */
    void (*watch)(const sigset_t *signals, void (*end_by)(int number),
                  const struct oche_exit_calls *calls);
};

#endif
