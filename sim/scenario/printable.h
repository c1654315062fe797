/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes text from a file, an argument or a name fit for a terminal and for one line: what does not
 * print (control characters, bytes that are not UTF-8) is shown as "\n", "\t" or "\x1b".
 */
#ifndef OCHE_SIM_SCENARIO_PRINTABLE_H
#define OCHE_SIM_SCENARIO_PRINTABLE_H

#include <stddef.h>

/*
 * Writes as much of `text` as fits, in whole characters, with a zero at the end. `to` must not be
 * `text`.
 */
void oche_printable(const char *text, char *to, size_t bytes);

#endif
