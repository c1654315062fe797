/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a scenario's parameters name, and the digests that show their changes. */
#ifndef OCHE_LAB_SWEEP_FILE_DIGEST_H
#define OCHE_LAB_SWEEP_FILE_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

/*
 * True if the parameter's value is the name of a file. Such parameters are recognised by their
 * names, as in sim/scenario/bind.c.
 */
bool oche_names_file(const char *key);

/*
 * Computes FNV-1a over the file's content; of a trace of Chakra, over the files of all ranks.
 * Returns false if it is not a readable file.
 */
bool oche_file_digest(const char *path, uint64_t *hash);

#endif
