/* SPDX-License-Identifier: Apache-2.0 */
/* The option --events of `oche exec` (sim/scenario/events_file.h). */
#ifndef OCHE_CLI_EXEC_EVENTS_H
#define OCHE_CLI_EXEC_EVENTS_H

#include <argp.h>

/*
 * Reads the file `path`. Returns the events as the library reads them (device/link/event_text.h),
 * malloc'd. Refuses what is wrong, and does not return then.
 */
char *oche_events_option(const struct argp_state *state, const char *path);

/* Refuses a value of OCHE_EVENTS that the library would refuse later. */
void oche_events_check(const struct argp_state *state, const char *name, const char *text);

#endif
