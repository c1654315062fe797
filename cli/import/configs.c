/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configurations: of HPCC's ns-3 simulator, with the files that they name, and SONiC's CONFIG_DB.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/import/import.h"
#include "params/printable.h"
#include "sim/foreign/config_db.h"
#include "sim/foreign/ns3_scenario.h"

#define USUAL_HOSTS 16
#define USUAL_MTU   1000
#define MOST_MTU    9000
#define MOST_JSON   (16 * OCHE_INPUT_MIB)

/*
 * Finds a file that a configuration names: its paths are relative to the folder from which the
 * simulator is started. That is the working directory, or a folder above the configuration.
 * Returns a malloc'd path; NULL: it is in none of them.
 */
static char *find_file(const char *config, const char *name)
{
    char *folder = strdup(config), *path = NULL;

    OCHE_GOT(folder != NULL);
    if (access(name, R_OK) == 0 || *name == '/') {
        free(folder);
        path = access(name, R_OK) == 0 ? strdup(name) : NULL;
        OCHE_GOT(path != NULL || *name == '/');
        return path;
    }
    while (strrchr(folder, '/') != NULL && strrchr(folder, '/') != folder) {
        *strrchr(folder, '/') = '\0';
        OCHE_GOT(asprintf(&path, "%s/%s", folder, name) >= 0);
        if (access(path, R_OK) == 0)
            break;
        free(path);
        path = NULL;
    }
    if (path == NULL && *config != '/') {
        OCHE_GOT(asprintf(&path, "../%s", name) >= 0);
        if (access(path, R_OK) != 0) {
            free(path);
            path = NULL;
        }
    }
    free(folder);
    return path;
}

/* The files of a configuration. */
struct files {
    char *topology, *flows; /* paths; NULL: not named, or not there */
    struct oche_topology network;
    struct oche_import_list list;
    struct oche_ns3_files facts;
};

static void free_files(struct files *files)
{
    if (files->facts.network != NULL)
        oche_topology_free(&files->network);
}

/* Finds a file that the configuration names, or notes that it is not there. */
static char *named_file(struct oche_import *import, const struct oche_ns3_config *config,
                        enum oche_ns3_key key)
{
    const struct oche_ns3_value *value = &config->value[key];
    char name[200], *path;

    if (value->line == 0)
        return NULL;
    path = find_file(import->path, value->word);
    oche_printable(value->word, name, sizeof(name));
    if (path == NULL)
        oche_translation_note(&import->to, OCHE_NOTE_FOUND,
                              "%s %s: not there, seen from this folder, from that of the "
                              "configuration, and from those above it",
                              oche_ns3_key_name(key), name);
    return path;
}

static bool read_network(struct oche_import *import, struct files *files, struct oche_error *error)
{
    if (files->topology == NULL)
        return true;
    if (!oche_import_build(files->topology, &files->network, error))
        return false;
    files->facts.network = &files->network;
    oche_translation_note(&import->to, OCHE_NOTE_FOUND, "%s", files->network.summary);
    oche_translation_set(&import->to, "topology", "type", "TOPOLOGY_FILE", "from_file");
    return oche_import_set_file(import, "topology", "file", "TOPOLOGY_FILE", files->topology,
                                error);
}

static bool read_flows(struct oche_import *import, const struct oche_ns3_config *config,
                       struct files *files, struct oche_error *error)
{
    const struct oche_ns3_value *size = &config->value[OCHE_NS3_PACKET_PAYLOAD_SIZE];
    const uint32_t mtu = size->line != 0 && size->count > 0 && size->count <= MOST_MTU
                             ? (uint32_t)size->count
                             : USUAL_MTU;

    if (files->flows == NULL)
        return true;
    if (!oche_import_read_list(files->flows, files->facts.network, mtu, &files->list, error))
        return false;
    files->facts.has_flows = true;
    files->facts.first_start = files->list.first;
    oche_import_note_list(&import->to, files->flows, &files->list);
    return true;
}

/* Sets the flows, or, if there are none, a load. */
static bool set_traffic(struct oche_import *import, const struct files *files,
                        struct oche_error *error)
{
    if (files->flows != NULL) {
        oche_translation_set(&import->to, "workload", "type", "FLOW_FILE", "from_file");
        return oche_import_set_file(import, "workload", "file", "FLOW_FILE", files->flows, error);
    }
    oche_translation_set(&import->to, "workload", "type", "not in the file: yours", "poisson_cdf");
    oche_translation_set(&import->to, "workload", "cdf", NULL, "websearch");
    oche_translation_set(&import->to, "workload", "load", NULL, "30%%");
    oche_translation_set(&import->to, "workload", "stop", NULL, "10ms");
    oche_translation_note(&import->to, OCHE_NOTE_ASSUMED,
                          "a load of 30 %% with the sizes of websearch: there is no FLOW_FILE");
    return true;
}

/* Returns the rate of hosts for a configuration without a topology: 100 Gbit/s, if marks have it.
 */
static uint64_t usual_rate(const struct oche_ns3_config *config)
{
    double kmin;

    if (config->entry_count == 0 ||
        oche_ns3_config_entry(config, OCHE_NS3_KMIN_MAP, OCHE_IMPORT_RATE, &kmin) ||
        config->entries[0].rate_bps < OCHE_MBPS || config->entries[0].rate_bps > 8000 * OCHE_GBPS)
        return OCHE_IMPORT_RATE;
    return config->entries[0].rate_bps;
}

static bool translate(struct oche_import *import, const struct oche_ns3_config *config,
                      struct files *files, struct oche_error *error)
{
    oche_translation_note(&import->to, OCHE_NOTE_FOUND, "%u keys that are known", config->keys);
    if (!read_network(import, files, error) || !read_flows(import, config, files, error))
        return false;
    files->facts.host_rate_bps = usual_rate(config);
    if (files->topology == NULL)
        oche_import_network(&import->to,
                            files->flows != NULL && files->list.hosts > USUAL_HOSTS
                                ? files->list.hosts
                                : USUAL_HOSTS,
                            files->facts.host_rate_bps);
    return set_traffic(import, files, error) &&
           oche_ns3_translate(config, import->path, &files->facts, &import->to, error);
}

bool oche_import_ns3_config(struct oche_import *import, struct oche_error *error)
{
    struct files files = {.topology = NULL};
    struct oche_ns3_config config;
    bool good;

    import->format = "configuration of HPCC's ns-3 simulator";
    if (!oche_ns3_config_read(&config, import->path, import->file.text, import->file.bytes, error))
        return false;
    files.topology = named_file(import, &config, OCHE_NS3_TOPOLOGY_FILE);
    files.flows = named_file(import, &config, OCHE_NS3_FLOW_FILE);
    import->owned[0] = files.topology;
    import->owned[1] = files.flows;
    good = translate(import, &config, &files, error);
    free_files(&files);
    oche_ns3_config_free(&config);
    return good;
}

/* Says "not JSON" where the reader of YAML says "not YAML". */
static void speak_of_json(struct oche_error *error)
{
    static const char yaml[] = ": not YAML: ";
    const char *at = strstr(error->text, yaml), *advice;
    struct oche_error said = *error;

    if (at == NULL)
        return;
    advice = strstr(at, "Unicode") != NULL
                 ? "write the character itself in place of \\u escapes above U+FFFF"
                 : "check commas, quotes and brackets here and on the line before";
    oche_fail(error, "%.*s: not JSON: %.*s; %s", (int)(at - error->text), said.text,
              (int)strcspn(at + strlen(yaml), ";"), said.text + (at - error->text) + strlen(yaml),
              advice);
}

bool oche_import_config_db(struct oche_import *import, struct oche_error *error)
{
    struct oche_document *document;
    bool good;

    import->format = "SONiC's CONFIG_DB";
    if (import->file.bytes > MOST_JSON)
        return oche_fail(error, "%s: is larger than 16 MiB, as no CONFIG_DB is", import->path);
    document = oche_document_parse(import->path, import->file.text, import->file.bytes, error);
    if (document == NULL) {
        speak_of_json(error);
        return false;
    }
    good = oche_config_db_is_one(document) ||
           oche_fail(error,
                     "%s: is JSON without a table that is read: WRED_PROFILE, QUEUE, BUFFER_POOL, "
                     "BUFFER_PROFILE, BUFFER_PG, PORT_QOS_MAP, PFC_WD",
                     import->path);
    good = good && oche_config_db_translate(document, &import->to, error);
    oche_document_close(document);
    return good;
}
