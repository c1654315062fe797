/* SPDX-License-Identifier: Apache-2.0 */
/* CONFIG_DB: the PFC watchdog, whose times and action most ports share. */
#include <stdio.h>
#include <string.h>

#include "sim/foreign/config_db_rows.h"

#define USUAL_MS            200 /* SONiC's times */
#define MOST_DETECTION_MS   5000
#define MOST_RESTORATION_MS 60000
#define MOST_POLL_MS        1000

/* Reads a time in milliseconds; without the field it is USUAL_MS. */
static bool read_ms(const struct oche_db *db, const struct oche_yaml *row, const char *name,
                    int64_t most, int64_t *ms)
{
    bool given = false;

    if (row != NULL && !oche_db_number(db, row, name, 1, most, &given, ms))
        return false;
    if (!given)
        *ms = USUAL_MS;
    return true;
}

static void set_ms(const struct oche_db *db, const struct oche_yaml *row, const char *name,
                   const char *ours, int64_t ms)
{
    char from[200];

    snprintf(from, sizeof(from), "%s.%s", row == NULL ? "PFC_WD" : row->path, name);
    oche_translation_set_unit(db->to, "pfc_watchdog", ours,
                              row != NULL && oche_db_field(row, name) != NULL ? from
                                                                              : "SONiC's default",
                              OCHE_UNIT_TIME, (uint64_t)ms * OCHE_MS);
}

/* Sets the times of the watchdog, of which the interval is the shortest. */
static bool set_times(const struct oche_db *db, const struct oche_yaml *row,
                      const struct oche_yaml *global)
{
    int64_t detection = 0, restoration = 0, poll = 0, shorter;

    if (!read_ms(db, row, "detection_time", MOST_DETECTION_MS, &detection) ||
        !read_ms(db, row, "restoration_time", MOST_RESTORATION_MS, &restoration) ||
        !read_ms(db, global, "POLL_INTERVAL", MOST_POLL_MS, &poll))
        return false;
    shorter = detection < restoration ? detection : restoration;
    if (poll > shorter && global != NULL && oche_db_field(global, "POLL_INTERVAL") != NULL)
        return oche_document_fail(db->document, oche_yaml_find(global, "POLL_INTERVAL"), NULL,
                                  db->error,
                                  "%lld ms is above the times of %s, %lld ms; at most that",
                                  (long long)poll, row->path, (long long)shorter);
    set_ms(db, row, "detection_time", "detection_time", detection);
    set_ms(db, row, "restoration_time", "restoration_time", restoration);
    set_ms(db, global, "POLL_INTERVAL", "poll_interval", poll < shorter ? poll : shorter);
    return true;
}

bool oche_db_watchdog(const struct oche_db *db)
{
    static const char *const known[] = {"action", "detection_time", "restoration_time",
                                        "pfc_stat_history", NULL};
    const struct oche_yaml *rows = oche_db_table(db, "PFC_WD"), *row;
    struct oche_db_ballot ballot = {.count = 0};
    const char *action;
    char votes[OCHE_DB_CHOICE_BYTES];

    for (uint32_t i = 0; rows != NULL && i < rows->count; i++) {
        row = rows->child[i];
        if (strcmp(row->key, "GLOBAL") == 0)
            continue;
        action = oche_db_field(row, "action");
        snprintf(votes, sizeof(votes), "%.30s after %.30s ms", action != NULL ? action : "drop",
                 oche_db_field(row, "detection_time") != NULL ? oche_db_field(row, "detection_time")
                                                              : "200");
        oche_db_vote(&ballot, votes, row, oche_db_ports(row));
    }
    if (ballot.count == 0)
        return true;
    row = ballot.choice[oche_db_winner(&ballot)].row;
    oche_db_note_others(db, &ballot, "PFC_WD");
    oche_db_check_fields(db, row, known);
    action = oche_db_field(row, "action");
    if (action != NULL && strcmp(action, "drop") != 0 && strcmp(action, "forward") != 0 &&
        strcmp(action, "alert") != 0)
        return oche_document_fail(db->document, oche_yaml_find(row, "action"), NULL, db->error,
                                  "\"%.40s\"; drop, forward or alert", action);
    oche_translation_set(db->to, "switch", "mechanisms", "PFC_WD", "pfc_watchdog");
    if (action != NULL)
        oche_translation_set(db->to, "pfc_watchdog", "action", "PFC_WD", "%s", action);
    oche_translation_note(
        db->to, OCHE_NOTE_ASSUMED,
        "the watchdog is on every port; runs shorter than its times never see it act");
    return set_times(db, row, oche_yaml_find(rows, "GLOBAL"));
}
