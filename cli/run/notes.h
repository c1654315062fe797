/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes on runs that must be known before their numbers are read: a deadlock, settings that do not
 * fit the network, keys without effect. They are printed before a table, numbered, and the runs'
 * columns name them.
 */
#ifndef OCHE_CLI_RUN_NOTES_H
#define OCHE_CLI_RUN_NOTES_H

#include <stdio.h>

#include "lab/measures/outcome.h"

/* Prints the notes: "[1] dcqcn: …". A note that several runs have is printed once. */
void oche_notes_print(const char *key, const struct oche_outcome *outcomes, size_t count,
                      FILE *out);

#define OCHE_NOTE_MARK_BYTES 128
/* Writes the numbers of the notes on one run, such as " [1][3]"; "": it has none. */
void oche_notes_mark(const struct oche_outcome *outcomes, size_t count, size_t run,
                     char mark[OCHE_NOTE_MARK_BYTES]);

#endif
