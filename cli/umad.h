/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises programs that want management datagrams (umad) and no verbs. */
#ifndef OCHE_CLI_UMAD_H
#define OCHE_CLI_UMAD_H

#include <stdbool.h>

/*
 * True if the command, looked for as execvp does, is a program that is linked with libibumad and
 * not with libibverbs, as ibstat and the like are. False also if that cannot be told.
 */
bool oche_is_for_umad(const char *command);
/* True if the kernel has devices for such programs. */
bool oche_has_umad(void);

#endif
