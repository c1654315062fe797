/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the effects of PFC on the network of one run, in words and as a tree. */
#ifndef OCHE_CLI_RUN_PATHOLOGIES_H
#define OCHE_CLI_RUN_PATHOLOGIES_H

#include <stdio.h>

#include "lab/measures/pathologies.h"
#include "lab/measures/pausing_hosts.h"

/*
 * Prints faults of the routes as sentences. The two texts come from oche_route_faults_lost_text and
 * oche_route_faults_circle_text; NULL: no such fault.
 */
void oche_print_route_faults(const char *lost_flows, const char *circle, FILE *out);
/*
 * Prints a deadlock, flows that cannot arrive, and routes that can lead to a deadlock. These lines
 * come before all tables.
 */
void oche_print_stops(const struct oche_pathologies *pathologies, FILE *out);
/* Prints a sentence about each host that sent PAUSEs itself; nothing if there is none. */
void oche_print_pausing_hosts(const struct oche_pausing_hosts *hosts, FILE *out);
/*
 * Prints where PAUSEs began, what they held, and which flows they hurt. Prints nothing if there
 * were no PAUSEs.
 */
void oche_print_pause_tree(const struct oche_pathologies *pathologies, FILE *out);

#endif
