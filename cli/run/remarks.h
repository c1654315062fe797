/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Describes a comparison in a few sentences made from its numbers: equal runs, missing data, the
 * run with slower tails for short and long flows, the delivered part of the load, the run that
 * pauses more and by what factor. If the runs are similar, the sentences state that.
 */
#ifndef OCHE_CLI_RUN_REMARKS_H
#define OCHE_CLI_RUN_REMARKS_H

#include <stdio.h>

#include "lab/measures/outcome.h"

/*
 * `key` is the parameter that differs; "switch.pfc" is written before its values, true and false.
 */
void oche_remarks_print(const char *key, const struct oche_outcome *outcomes, size_t count,
                        FILE *out);

#endif
