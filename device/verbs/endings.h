/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libibverbs.so.1 (ending.c) and liboche-endings.so (endings.c) have of each other. The latter
 * exports oche_endings, and is there only if `oche exec` has loaded it.
 */
#ifndef OCHE_DEVICE_VERBS_ENDINGS_H
#define OCHE_DEVICE_VERBS_ENDINGS_H

#include <signal.h>

struct oche_endings {
    /* Of endings.c: the C library's function, which stands behind that of endings.c. */
    int (*sigaction)(int number, const struct sigaction *given, struct sigaction *before);
    /*
     * Of endings.c: from now on `before_exit` is called before _exit, and `end_by` is the handler
     * of these signals whenever the program wants their default action.
     */
    void (*watch)(const sigset_t *signals, void (*end_by)(int number), void (*before_exit)(void));
};

#endif
