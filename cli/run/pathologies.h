/* SPDX-License-Identifier: Apache-2.0 */
/* What PFC did to the network of one run, in words and as a tree. */
#ifndef OCHE_CLI_RUN_PATHOLOGIES_H
#define OCHE_CLI_RUN_PATHOLOGIES_H

#include <stdio.h>

#include "lab/measures/pathologies.h"

/*
 * Prints what is wrong with routes from the start, as sentences; the texts are from
 * sim/world/world.h, or NULL.
 */
void oche_print_route_faults(const char *lost_flows, const char *circle, FILE *out);
/*
 * Prints deadlock, flows that cannot arrive, and routes that allow a deadlock, before all tables.
 */
void oche_print_stops(const struct oche_pathologies *pathologies, FILE *out);
/*
 * Prints where PAUSEs began, what they held, and which flows they hurt; nothing if there were none.
 */
void oche_print_pause_tree(const struct oche_pathologies *pathologies, FILE *out);

#endif
