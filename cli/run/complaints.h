/* SPDX-License-Identifier: Apache-2.0 */
/* Lines on standard error about a run that is over: what a script must not miss. */
#ifndef OCHE_CLI_RUN_COMPLAINTS_H
#define OCHE_CLI_RUN_COMPLAINTS_H

#include "lab/measures/outcome.h"

/*
 * Prints a deadlock, a stalled run, a metric that was not stable in time, and with `must_happen`
 * scripted events that never happened. `name`: of the run among several, or "".
 */
void oche_run_complain(const char *name, const struct oche_outcome *outcome, bool must_happen);

#endif
