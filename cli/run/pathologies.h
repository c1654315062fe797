/* SPDX-License-Identifier: Apache-2.0 */
/* What PFC did to the network of one run, in words and as a tree. */
#ifndef OCHE_CLI_RUN_PATHOLOGIES_H
#define OCHE_CLI_RUN_PATHOLOGIES_H

#include <stdio.h>

#include "lab/measures/pathologies.h"

/*
 * What is wrong with routes from the start, as sentences; texts of sim/world/world.h, or NULL where
 * there is nothing to say.
 */
void oche_print_route_faults(const char *lost_flows, const char *circle, FILE *out);
/* Deadlock, flows that cannot arrive, routes that allow a deadlock: before all tables. */
void oche_print_stops(const struct oche_pathologies *pathologies, FILE *out);
/* Where PAUSEs began and what they held, and whom they hurt; nothing if there were none. */
void oche_print_pause_tree(const struct oche_pathologies *pathologies, FILE *out);

#endif
