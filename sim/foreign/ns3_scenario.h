/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translates a configuration of HPCC's ns-3 simulator to keys of a scenario, with the meaning that
 * its programs give to the keys (mix/config_doc.txt and the sources of HPCC's simulator). The page
 * docs/import.md lists the decisions.
 */
#ifndef OCHE_SIM_FOREIGN_NS3_SCENARIO_H
#define OCHE_SIM_FOREIGN_NS3_SCENARIO_H

#include "sim/foreign/ns3_config.h"
#include "sim/foreign/translation.h"
#include "sim/topology/topology.h"

/* Facts from the files that the configuration names. */
struct oche_ns3_files {
    const struct oche_topology *network; /* NULL: there is none, and the default is taken */
    uint64_t host_rate_bps;              /* of the default, if `network` is NULL */
    bool has_flows;                      /* first_start is known */
    oche_time first_start;               /* the earliest flow's */
};

/*
 * Adds settings and notes for all keys but TOPOLOGY_FILE and FLOW_FILE. Returns false, with
 * "NAME:LINE: …", if a value does not fit here. The translation is to be freed in any case.
 */
bool oche_ns3_translate(const struct oche_ns3_config *config, const char *name,
                        const struct oche_ns3_files *files, struct oche_translation *translation,
                        struct oche_error *error);

#endif
