/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a program before it is run: can it use oche's devices at all? */
#ifndef OCHE_CLI_PREFLIGHT_H
#define OCHE_CLI_PREFLIGHT_H

#include <stdbool.h>

#include "params/error.h"

/* Libraries that the program would take from folders of its own, before LD_LIBRARY_PATH. */
struct preflight {
    bool verbs, rdmacm;
};

/*
 * Finds the command as execvp does, and checks how it is linked. `folder` is that of oche's
 * libraries; `files`: the program finds the devices' files. Returns false, with a line for the user
 * in `line`, if the program cannot use oche's devices: the dynamic linker is not used or ignores
 * LD_LIBRARY_PATH, or the program asks the kernel. Also returns true if that is unknown.
 */
bool oche_preflight(const char *command, const char *folder, bool files, struct preflight *found,
                    struct oche_error *line);

#endif
