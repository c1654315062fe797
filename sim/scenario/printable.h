/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes text from a file, an argument or a name fit for one line of a terminal: control characters,
 * and bytes that are not UTF-8, become escape sequences such as "\n", "\t" or "\x1b".
 */
#ifndef OCHE_SIM_SCENARIO_PRINTABLE_H
#define OCHE_SIM_SCENARIO_PRINTABLE_H

#include <stddef.h>

/*
 * Writes `text` to `to` (room for `bytes`, including the final zero), cut after a whole character
 * if it does not fit. `to` must not be `text`.
 */
void oche_printable(const char *text, char *to, size_t bytes);

#endif
