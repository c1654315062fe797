/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a results file as one JSON object, for other programs. */
#ifndef OCHE_STORE_JSON_H
#define OCHE_STORE_JSON_H

#include <stdio.h>

#include "core/base.h"
#include "params/error.h"

/*
 * Writes the results of a run, a sweep or a reproduced figure in the file `path`, without a newline
 * at its end. `results` is a further member of the object: the path. Returns false, with one line
 * in `error`, if the file is none of these; whether `out` took all the caller has to see by
 * ferror().
 */
bool oche_results_json(const char *path, FILE *out, struct oche_error *error);

#endif
