/* SPDX-License-Identifier: Apache-2.0 */
/* CONFIG_DB: the WRED profile of the lossless queues becomes kmin, kmax and pmax. */
#include <stdio.h>
#include <string.h>

#include "sim/foreign/config_db_rows.h"

/* Finds the profile that the lossless queues name; NULL: there is none. */
static bool find_wred(const struct oche_db *db, uint32_t lossless, const struct oche_yaml **profile)
{
    const struct oche_yaml *queues = oche_db_table(db, "QUEUE");
    const struct oche_yaml *profiles = oche_db_table(db, "WRED_PROFILE");
    struct oche_db_ballot ballot = {.count = 0};
    uint32_t mask, winner;

    *profile = NULL;
    for (uint32_t i = 0; queues != NULL && i < queues->count; i++) {
        const struct oche_yaml *row = queues->child[i];
        const char *name = oche_db_field(row, "wred_profile");

        if (name == NULL)
            continue;
        if (!oche_db_priorities(db, row, &mask))
            return false;
        if ((mask & lossless) == 0)
            continue;
        if (oche_db_named(db, "WRED_PROFILE", name) == NULL)
            return oche_document_fail(db->document, oche_yaml_find(row, "wred_profile"), NULL,
                                      db->error, "WRED_PROFILE has no \"%.40s\"", name);
        oche_db_vote(&ballot, name, oche_db_named(db, "WRED_PROFILE", name), oche_db_ports(row));
    }
    winner = oche_db_winner(&ballot);
    if (winner != UINT32_MAX) {
        *profile = ballot.choice[winner].row;
        oche_db_note_others(db, &ballot, "QUEUE: wred_profile");
    } else if (profiles != NULL && profiles->count > 0) {
        *profile = profiles->child[0];
        oche_translation_note(db->to, OCHE_NOTE_ASSUMED,
                              "WRED_PROFILE %s is that of the lossless queues: no row of QUEUE "
                              "names one",
                              (*profile)->key);
    }
    return true;
}

/* Reads a number of green packets: of marking alone if the file has it, else of WRED. */
static bool green(const struct oche_db *db, const struct oche_yaml *profile, const char *marking,
                  const char *wred, int64_t most, bool *given, int64_t *value, const char **from)
{
    *from = marking;
    if (!oche_db_number(db, profile, marking, 0, most, given, value))
        return false;
    if (*given)
        return true;
    *from = wred;
    return oche_db_number(db, profile, wred, 0, most, given, value);
}

static bool set_marking(const struct oche_db *db, const struct oche_yaml *profile)
{
    const char *from_min, *from_max, *from_share;
    bool has_min, has_max, has_share;
    int64_t least = 0, most = 0, share = 0;
    char from[200];

    if (!green(db, profile, "ecn_green_min_threshold", "green_min_threshold", OCHE_DB_MOST_BYTES,
               &has_min, &least, &from_min) ||
        !green(db, profile, "ecn_green_max_threshold", "green_max_threshold", OCHE_DB_MOST_BYTES,
               &has_max, &most, &from_max) ||
        !green(db, profile, "ecn_green_mark_probability", "green_drop_probability", 100, &has_share,
               &share, &from_share))
        return false;
    if (!has_min || !has_max)
        return oche_document_fail(db->document, profile, NULL, db->error,
                                  "%s is missing; both thresholds are needed",
                                  has_min ? from_max : from_min);
    if (least > most)
        return oche_document_fail(db->document, profile, from_min, db->error,
                                  "%lld is above %s, %lld; at most that", (long long)least,
                                  from_max, (long long)most);
    snprintf(from, sizeof(from), "%s.%s", profile->path, from_min);
    oche_translation_set_unit(db->to, "switch", "kmin", from, OCHE_UNIT_BYTES, (uint64_t)least);
    snprintf(from, sizeof(from), "%s.%s", profile->path, from_max);
    oche_translation_set_unit(db->to, "switch", "kmax", from, OCHE_UNIT_BYTES, (uint64_t)most);
    snprintf(from, sizeof(from), "%s.%s", profile->path, from_share);
    oche_translation_set(db->to, "switch", "pmax", from, "%lld%%",
                         has_share ? (long long)share : 100LL);
    if (!has_share)
        oche_translation_note(db->to, OCHE_NOTE_ASSUMED, "%s is 100 %%, its default", from);
    return true;
}

static bool marks_green(const char *ecn)
{
    return ecn != NULL && (strcmp(ecn, "ecn_all") == 0 || strstr(ecn, "green") != NULL);
}

static bool is_true(const char *text)
{
    return text != NULL && strcmp(text, "true") == 0;
}

bool oche_db_marking(const struct oche_db *db, uint32_t lossless)
{
    static const char *const known[] = {"ecn",
                                        "wred_green_enable",
                                        "wred_yellow_enable",
                                        "wred_red_enable",
                                        "green_min_threshold",
                                        "green_max_threshold",
                                        "green_drop_probability",
                                        "yellow_min_threshold",
                                        "yellow_max_threshold",
                                        "yellow_drop_probability",
                                        "red_min_threshold",
                                        "red_max_threshold",
                                        "red_drop_probability",
                                        "ecn_green_min_threshold",
                                        "ecn_green_max_threshold",
                                        "ecn_green_mark_probability",
                                        "ecn_yellow_min_threshold",
                                        "ecn_yellow_max_threshold",
                                        "ecn_yellow_mark_probability",
                                        "ecn_red_min_threshold",
                                        "ecn_red_max_threshold",
                                        "ecn_red_mark_probability",
                                        NULL};
    const struct oche_yaml *profile;
    char from[200];

    if (!find_wred(db, lossless, &profile))
        return false;
    if (profile == NULL) {
        oche_translation_note(db->to, OCHE_NOTE_ASSUMED,
                              "marking by default: there is no WRED_PROFILE");
        return true;
    }
    oche_db_check_fields(db, profile, known);
    if (marks_green(oche_db_field(profile, "ecn")) &&
        (is_true(oche_db_field(profile, "wred_green_enable")) ||
         oche_db_field(profile, "ecn_green_min_threshold") != NULL)) {
        oche_translation_note(db->to, OCHE_NOTE_ASSUMED,
                              "all packets are green; yellow and red have no place");
        return set_marking(db, profile);
    }
    snprintf(from, sizeof(from), "%s.%s", profile->path,
             marks_green(oche_db_field(profile, "ecn")) ? "wred_green_enable" : "ecn");
    oche_translation_set(db->to, "switch", "ecn", from, "false");
    oche_translation_set(db->to, "congestion_control", "name", "DCQCN needs marks", "none");
    oche_translation_note(db->to, OCHE_NOTE_ASSUMED,
                          "no marks: %s does not say ecn_all, or another that has green, and "
                          "wred_green_enable true",
                          profile->path);
    return true;
}
