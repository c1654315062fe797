/* SPDX-License-Identifier: Apache-2.0 */
/* Translates SONiC's CONFIG_DB. Which field becomes which key is in docs/import.md. */
#include "sim/foreign/config_db.h"

#include <stdio.h>
#include <string.h>

#include "sim/foreign/config_db_rows.h"

#define USUAL_MASK        0x18 /* priorities 3 and 4 */
#define MOST_SPEED_MBPS   8000000
#define MOST_OTHER_TABLES 6

static const char *const tables[] = {"WRED_PROFILE",   "QUEUE",     "BUFFER_POOL",
                                     "BUFFER_PROFILE", "BUFFER_PG", "PORT_QOS_MAP",
                                     "PFC_WD",         NULL};

bool oche_config_db_is_one(const struct oche_document *document)
{
    const struct oche_yaml *root = oche_document_root(document);

    for (size_t i = 0; tables[i] != NULL; i++)
        if (oche_yaml_find(root, tables[i]) != NULL)
            return true;
    return false;
}

/* Checks that every table is a map of maps of plain values. */
static bool check_shape(const struct oche_db *db)
{
    for (size_t t = 0; tables[t] != NULL; t++) {
        const struct oche_yaml *table = oche_yaml_find(oche_document_root(db->document), tables[t]);

        if (table == NULL)
            continue;
        if (table->kind != OCHE_YAML_MAP)
            return oche_document_fail(db->document, table, NULL, db->error,
                                      "no table; an object of rows");
        for (uint32_t i = 0; i < table->count; i++) {
            const struct oche_yaml *row = table->child[i];

            if (row->kind != OCHE_YAML_MAP)
                return oche_document_fail(db->document, row, NULL, db->error,
                                          "no row; an object of fields");
        }
    }
    return true;
}

/* ---- which priorities are lossless ---- */

static bool find_lossless(const struct oche_db *db, uint32_t *mask)
{
    const struct oche_yaml *maps = oche_db_table(db, "PORT_QOS_MAP");
    struct oche_db_ballot ballot = {.count = 0};
    uint32_t winner;

    for (uint32_t i = 0; maps != NULL && i < maps->count; i++) {
        const struct oche_yaml *row = maps->child[i];
        const struct oche_yaml *field = oche_yaml_find(row, "pfc_enable");
        const char *enable = field == NULL ? "" : field->text;

        if (field == NULL)
            continue;
        if (field->kind != OCHE_YAML_SCALAR || !oche_db_mask(enable, mask))
            return oche_document_fail(db->document, field, NULL, db->error,
                                      "\"%.40s\"; priorities, as in 3,4", enable);
        oche_db_vote(&ballot, enable, row, oche_db_ports(row));
    }
    winner = oche_db_winner(&ballot);
    if (winner == UINT32_MAX) {
        *mask = USUAL_MASK;
        oche_translation_note(db->to, OCHE_NOTE_ASSUMED,
                              "priorities 3 and 4 are lossless: no PORT_QOS_MAP has pfc_enable");
        return true;
    }
    oche_db_note_others(db, &ballot, "pfc_enable");
    return oche_db_mask(ballot.choice[winner].name, mask);
}

/* ---- the network ---- */

static bool translate_network(const struct oche_db *db)
{
    const struct oche_yaml *ports = oche_db_table(db, "PORT");
    struct oche_db_ballot ballot = {.count = 0};
    int64_t speed = 0;
    bool given;

    for (uint32_t i = 0; ports != NULL && i < ports->count; i++)
        if (oche_db_field(ports->child[i], "speed") != NULL) {
            if (!oche_db_number(db, ports->child[i], "speed", 1, MOST_SPEED_MBPS, &given, &speed))
                return false;
            oche_db_vote(&ballot, oche_db_field(ports->child[i], "speed"), ports->child[i], 1);
        }
    oche_translation_set(db->to, "topology", "type", "not in a CONFIG_DB: yours", "star");
    oche_translation_set(db->to, "topology", "hosts", NULL, "%d", OCHE_DB_HOSTS);
    if (ballot.count > 0) {
        if (!oche_db_number(db, ballot.choice[oche_db_winner(&ballot)].row, "speed", 1,
                            MOST_SPEED_MBPS, &given, &speed))
            return false;
        oche_translation_set_unit(db->to, "topology", "host_rate", "PORT: speed", OCHE_UNIT_BPS,
                                  (uint64_t)speed * OCHE_MBPS);
        oche_db_note_others(db, &ballot, "PORT: speed in Mbit/s");
    }
    oche_translation_set(db->to, "workload", "type", "not in a CONFIG_DB: yours", "incast");
    oche_translation_set(db->to, "workload", "degree", NULL, "%d", OCHE_DB_HOSTS - 1);
    oche_translation_set(db->to, "workload", "bytes", NULL, "1MB");
    oche_translation_note(
        db->to, OCHE_NOTE_ASSUMED,
        "a star of %d hosts%s and an incast of 1 MB: a CONFIG_DB has no network, no traffic",
        OCHE_DB_HOSTS, ballot.count > 0 ? "" : ", at 100 Gbit/s,");
    return true;
}

/* Notes tables that are not read. */
static void note_tables(const struct oche_db *db)
{
    const struct oche_yaml *root = oche_document_root(db->document);
    char names[600];
    size_t used = 0;
    unsigned others = 0;

    for (uint32_t i = 0; i < root->count; i++) {
        size_t t = 0;

        while (tables[t] != NULL && strcmp(tables[t], root->child[i]->key) != 0)
            t++;
        if (tables[t] != NULL || strcmp(root->child[i]->key, "PORT") == 0)
            continue;
        if (others++ < MOST_OTHER_TABLES)
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%.60s",
                                     used > 0 ? ", " : "", root->child[i]->key);
    }
    if (others > MOST_OTHER_TABLES)
        oche_translation_note(db->to, OCHE_NOTE_NOT_NEEDED, "tables %s and %u more", names,
                              others - MOST_OTHER_TABLES);
    else if (others > 0)
        oche_translation_note(db->to, OCHE_NOTE_NOT_NEEDED, "table%s %s", others > 1 ? "s" : "",
                              names);
}

/* Notes what was found. */
static void note_found(const struct oche_db *db, uint32_t lossless)
{
    const struct oche_yaml *root = oche_document_root(db->document);
    const struct oche_setting *kmin = oche_translation_find(db->to, "switch", "kmin");
    const struct oche_setting *alpha = oche_translation_find(db->to, "switch", "beta");
    char names[200], priorities[100];
    size_t used = 0, digits = 0;

    for (size_t t = 0; tables[t] != NULL; t++)
        if (oche_yaml_find(root, tables[t]) != NULL)
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
                                     used > 0 ? ", " : "", tables[t]);
    for (unsigned i = 0; i <= OCHE_DB_MOST_PRIORITY; i++)
        if (lossless >> i & 1)
            digits += (size_t)snprintf(priorities + digits, sizeof(priorities) - digits, "%s%u",
                                       digits > 0 ? ", " : "", i);
    oche_translation_note(db->to, OCHE_NOTE_FOUND, "%s", names);
    oche_translation_note(db->to, OCHE_NOTE_FOUND, "lossless priorities: %s",
                          digits > 0 ? priorities : "none");
    if (kmin != NULL)
        oche_translation_note(db->to, OCHE_NOTE_FOUND, "marking: %.*s",
                              (int)(strrchr(kmin->from, '.') - kmin->from), kmin->from);
    if (alpha != NULL) {
        const char *field = strstr(alpha->from, ".dynamic_th");

        oche_translation_note(db->to, OCHE_NOTE_FOUND, "PFC: %.*s",
                              (int)(field != NULL ? field - alpha->from : 0), alpha->from);
    }
}

bool oche_config_db_translate(const struct oche_document *document,
                              struct oche_translation *translation, struct oche_error *error)
{
    const struct oche_db db = {.document = document, .to = translation, .error = error};
    uint32_t lossless;

    if (!check_shape(&db) || !translate_network(&db) || !find_lossless(&db, &lossless) ||
        !oche_db_marking(&db, lossless) || !oche_db_pfc(&db, lossless) || !oche_db_watchdog(&db))
        return false;
    note_found(&db, lossless);
    note_tables(&db);
    return true;
}
