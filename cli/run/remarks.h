/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes a comparison in a few sentences made from its numbers: what is missing, which run has
 * slower short and long flows in the tail, what part of the load is delivered, which run pauses
 * more and by how much. If the runs are alike, the sentences say so.
 */
#ifndef OCHE_CLI_RUN_REMARKS_H
#define OCHE_CLI_RUN_REMARKS_H

#include <stdio.h>

#include "lab/measures/outcome.h"

/* `key` is what the runs differ by; "switch.pfc" is written before its values, true and false. */
void oche_remarks_print(const char *key, const struct oche_outcome *outcomes, size_t count,
                        FILE *out);

#endif
