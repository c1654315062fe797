/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/foreign/config_db_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "params/printable.h"

const struct oche_yaml *oche_db_table(const struct oche_db *db, const char *name)
{
    const struct oche_yaml *table = oche_yaml_find(oche_document_root(db->document), name);

    return table != NULL && table->kind == OCHE_YAML_MAP ? table : NULL;
}

const char *oche_db_field(const struct oche_yaml *row, const char *name)
{
    const struct oche_yaml *field = oche_yaml_find(row, name);

    return field != NULL && field->kind == OCHE_YAML_SCALAR && *field->text != '\0' ? field->text
                                                                                    : NULL;
}

bool oche_db_number(const struct oche_db *db, const struct oche_yaml *row, const char *name,
                    int64_t least, int64_t most, bool *given, int64_t *value)
{
    const char *text = oche_db_field(row, name);
    char *end;

    *given = text != NULL;
    if (text == NULL)
        return true;
    errno = 0;
    *value = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || *value < least || *value > most)
        return oche_document_fail(db->document, oche_yaml_find(row, name), NULL, db->error,
                                  "\"%.40s\"; a whole number from %lld to %lld", text,
                                  (long long)least, (long long)most);
    return true;
}

const struct oche_yaml *oche_db_named(const struct oche_db *db, const char *table,
                                      const char *reference)
{
    const struct oche_yaml *rows = oche_db_table(db, table);
    const char *bar = strrchr(reference, '|');
    const char *name = *reference == '[' && bar != NULL ? bar + 1 : reference;
    size_t length = strlen(name);

    if (*reference == '[' && length > 0 && name[length - 1] == ']')
        length--;
    for (uint32_t i = 0; rows != NULL && i < rows->count; i++)
        if (strlen(rows->child[i]->key) == length && memcmp(rows->child[i]->key, name, length) == 0)
            return rows->child[i];
    return NULL;
}

bool oche_db_mask(const char *text, uint32_t *mask)
{
    *mask = 0;
    while (*text != '\0') {
        char *end;
        long first = strtol(text, &end, 10), last = first;

        if (end == text || first < 0 || first > OCHE_DB_MOST_PRIORITY)
            return false;
        if (*end == '-') {
            text = end + 1;
            last = strtol(text, &end, 10);
            if (end == text || last < first || last > OCHE_DB_MOST_PRIORITY)
                return false;
        }
        for (; first <= last; first++)
            *mask |= UINT32_C(1) << first;
        if (*end != ',' && *end != '\0')
            return false;
        text = *end == ',' ? end + 1 : end;
    }
    return true;
}

bool oche_db_priorities(const struct oche_db *db, const struct oche_yaml *row, uint32_t *mask)
{
    const char *bar = strrchr(row->key, '|');

    return (bar != NULL && oche_db_mask(bar + 1, mask)) ||
           oche_document_fail(db->document, row, NULL, db->error,
                              "no port and priorities; as in Ethernet0|3-4");
}

uint32_t oche_db_ports(const struct oche_yaml *row)
{
    uint32_t ports = 1;

    for (const char *c = row->key; *c != '\0' && *c != '|'; c++)
        ports += *c == ',';
    return ports;
}

void oche_db_check_fields(const struct oche_db *db, const struct oche_yaml *row,
                          const char *const *known)
{
    for (uint32_t i = 0; i < row->count; i++) {
        const char *const *name = known;
        char path[120];

        while (*name != NULL && strcmp(*name, row->child[i]->key) != 0)
            name++;
        if (*name != NULL)
            continue;
        oche_printable(row->child[i]->path, path, sizeof(path));
        oche_translation_note(db->to, OCHE_NOTE_NOT_KNOWN, "%s (line %u)", path,
                              row->child[i]->line);
    }
}

/* ---- majorities ---- */

void oche_db_vote(struct oche_db_ballot *ballot, const char *name, const struct oche_yaml *row,
                  uint32_t votes)
{
    char shown[OCHE_DB_CHOICE_BYTES];
    uint32_t i = 0;

    oche_printable(name, shown, sizeof(shown));
    while (i < ballot->count && strcmp(ballot->choice[i].name, shown) != 0)
        i++;
    ballot->votes += votes;
    if (i == OCHE_DB_MOST_CHOICES)
        return;
    if (i == ballot->count) {
        memcpy(ballot->choice[i].name, shown, sizeof(shown));
        ballot->choice[i].row = row;
        ballot->count++;
    }
    ballot->choice[i].votes += votes;
}

uint32_t oche_db_winner(const struct oche_db_ballot *ballot)
{
    uint32_t winner = ballot->count == 0 ? UINT32_MAX : 0;

    for (uint32_t i = 1; i < ballot->count; i++)
        if (ballot->choice[i].votes > ballot->choice[winner].votes)
            winner = i;
    return winner;
}

void oche_db_note_others(const struct oche_db *db, const struct oche_db_ballot *ballot,
                         const char *what)
{
    const uint32_t winner = oche_db_winner(ballot);

    if (ballot->count > 1)
        oche_translation_note(db->to, OCHE_NOTE_ASSUMED, "%s of all ports: %s, which %u of %u have",
                              what, ballot->choice[winner].name, ballot->choice[winner].votes,
                              ballot->votes);
}
