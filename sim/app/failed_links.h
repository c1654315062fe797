/* SPDX-License-Identifier: Apache-2.0 */
/* Links that fail as a workload's file says, and not the scenario's list `failures`. */
#ifndef OCHE_SIM_APP_FAILED_LINKS_H
#define OCHE_SIM_APP_FAILED_LINKS_H

#include "sim/app/app.h"
#include "sim/graph/schedule_file.h"

/*
 * Finds the links of a matrix's failures in the topology, and adds them to the list. Returns false,
 * with "PATH:LINE: …" in `error`, if the topology has no such switch or link.
 */
bool oche_failed_links_add(const char *path, const struct oche_schedule_file *about,
                           const struct oche_workload_facts *facts, struct oche_flow_list *list,
                           struct oche_error *error);

#endif
