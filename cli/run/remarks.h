/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a comparison says, in a few sentences that are made from its numbers: which run pauses
 * more and by how much, whose short and long flows are slower in the tail, who carries more. Where
 * the runs are alike, that is what they say.
 */
#ifndef OCHE_CLI_RUN_REMARKS_H
#define OCHE_CLI_RUN_REMARKS_H

#include <stdio.h>

#include "lab/measures/outcome.h"

void oche_remarks_print(const struct oche_outcome *outcomes, size_t count, FILE *out);

#endif
