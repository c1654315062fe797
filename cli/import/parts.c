/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies, lists of flows, and distributions: each is a part of a scenario. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/import.h"
#include "params/figures.h"
#include "sim/app/cdf.h"
#include "sim/topology/topology.h"

#define USUAL_HOSTS 16
#define USUAL_MTU   1024

bool oche_import_build(const char *path, struct oche_topology *network, struct oche_error *error)
{
    const struct oche_topology_type *type = oche_topology_type_find("from_file");
    void *params = calloc(1, type->table->struct_bytes);
    bool good;

    OCHE_GOT(params != NULL);
    oche_param_set(oche_param_find(type->table, "file"), params, (union oche_value){.text = path});
    good = type->build(params, network, error);
    free(params);
    return good;
}

static void set_load(struct oche_translation *to)
{
    oche_translation_set(to, "workload", "load", NULL, "30%%");
    oche_translation_set(to, "workload", "stop", NULL, "10ms");
}

bool oche_import_topology(struct oche_import *import, struct oche_error *error)
{
    struct oche_topology network;

    import->format = import->file.text[strspn(import->file.text, " \t\r\n")] >= '0' &&
                             import->file.text[strspn(import->file.text, " \t\r\n")] <= '9'
                         ? "topology of HPCC's ns-3 simulator"
                         : "topology";
    if (!oche_import_build(import->path, &network, error))
        return false;
    oche_translation_note(&import->to, OCHE_NOTE_FOUND, "%s", network.summary);
    oche_topology_free(&network);
    oche_translation_set(&import->to, "topology", "type", NULL, "from_file");
    if (!oche_import_set_file(import, "topology", "file", NULL, import->path, error))
        return false;
    oche_translation_set(&import->to, "workload", "type", "not in the file: yours", "poisson_cdf");
    oche_translation_set(&import->to, "workload", "cdf", NULL, "websearch");
    set_load(&import->to);
    oche_translation_note(&import->to, OCHE_NOTE_ASSUMED,
                          "a load of 30 %% with the sizes of websearch: the file has no traffic");
    return true;
}

bool oche_import_flows(struct oche_import *import, struct oche_error *error)
{
    struct oche_import_list list;

    import->format = "list of flows";
    if (!oche_import_read_list(import->path, NULL, USUAL_MTU, &list, error))
        return false;
    oche_import_note_list(&import->to, import->path, &list);
    oche_import_network(&import->to, list.hosts, 0);
    oche_translation_set(&import->to, "workload", "type", NULL, "from_file");
    if (!oche_import_set_file(import, "workload", "file", NULL, import->path, error))
        return false;
    if (list.first >= OCHE_MS)
        oche_translation_set_unit(&import->to, "workload", "origin", "the first flow's start",
                                  OCHE_UNIT_TIME, list.first / OCHE_MS * OCHE_MS);
    return true;
}

bool oche_import_cdf(struct oche_import *import, struct oche_error *error)
{
    struct oche_cdf cdf;

    import->format = "distribution of flow sizes";
    if (!oche_cdf_read_file(&cdf, import->path, error))
        return false;
    oche_translation_note(&import->to, OCHE_NOTE_FOUND, "%u rows, mean %s, median %s, largest %s",
                          cdf.count, oche_figure_bytes((uint64_t)cdf.mean).text,
                          oche_figure_bytes(oche_cdf_size(&cdf, 0.5)).text,
                          oche_figure_bytes(oche_cdf_size(&cdf, 1)).text);
    oche_cdf_free(&cdf);
    oche_import_network(&import->to, USUAL_HOSTS, 0);
    oche_translation_set(&import->to, "workload", "type", NULL, "poisson_cdf");
    if (!oche_import_set_file(import, "workload", "cdf_file", NULL, import->path, error))
        return false;
    set_load(&import->to);
    oche_translation_note(&import->to, OCHE_NOTE_ASSUMED, "a load of 30 %% for 10 ms");
    return true;
}
