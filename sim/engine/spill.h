/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves memory that is hardly used any more into a file without a name, and puts the file in its
 * place: code that reads or writes there works as before, and the system may use the memory for
 * something else. The file is in $TMPDIR, or else in /var/tmp, and is gone with the process.
 */
#ifndef OCHE_SIM_ENGINE_SPILL_H
#define OCHE_SIM_ENGINE_SPILL_H

#include <stdbool.h>
#include <stddef.h>

struct oche_spill {
    int file; /* -1: there is none, and everything stays in memory */
    size_t bytes;
};

void oche_spill_open(struct oche_spill *spill);
void oche_spill_close(struct oche_spill *spill);
/*
 * Moves the whole pages of a piece of memory, which must lie in one of oche_sparse_take. Returns
 * false if that cannot be; then it is as it was.
 */
bool oche_spill_move(struct oche_spill *spill, void *memory, size_t bytes);
/* Gives back the memory that the reading of moved pages has taken. */
void oche_spill_rest(void *memory, size_t bytes);

#endif
