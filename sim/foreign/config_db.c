/* SPDX-License-Identifier: Apache-2.0 */
/* Translates SONiC's CONFIG_DB. Which field becomes which key is in docs/import.md. */
#include "sim/foreign/config_db.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/foreign/config_db_rows.h"

#define MOST_BYTES        INT64_C(0x7fffffff)
#define LEAST_TH          (-8)
#define MOST_TH           7
#define LEAST_PRIORITIES  2    /* data, and ACKs and CNPs, are lossless here */
#define USUAL_MASK        0x18 /* priorities 3 and 4 */
#define USUAL_MS          200  /* SONiC's times of the watchdog */
#define MOST_SPEED_MBPS   8000000
#define DEFAULT_HOSTS     9
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

/* ---- marking ---- */

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

    if (!green(db, profile, "ecn_green_min_threshold", "green_min_threshold", MOST_BYTES, &has_min,
               &least, &from_min) ||
        !green(db, profile, "ecn_green_max_threshold", "green_max_threshold", MOST_BYTES, &has_max,
               &most, &from_max) ||
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

static bool translate_marking(const struct oche_db *db, uint32_t lossless)
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
                              "all packets are green: thresholds of yellow and red have no place");
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

/* ---- buffers and PFC ---- */

/* The lossless priority groups: their profile, how many ports have them. */
struct groups {
    const struct oche_yaml *profile; /* NULL: not in the file */
    uint32_t ports;
    unsigned priorities;
};

static bool find_groups(const struct oche_db *db, uint32_t lossless, struct groups *groups)
{
    const struct oche_yaml *rows = oche_db_table(db, "BUFFER_PG");
    struct oche_db_ballot ballot = {.count = 0};
    uint32_t mask, winner;

    *groups = (struct groups){.priorities = (unsigned)__builtin_popcount(lossless & 0xff)};
    if (groups->priorities < LEAST_PRIORITIES)
        groups->priorities = LEAST_PRIORITIES;
    for (uint32_t i = 0; rows != NULL && i < rows->count; i++) {
        const struct oche_yaml *row = rows->child[i];
        const char *name = oche_db_field(row, "profile");

        if (!oche_db_priorities(db, row, &mask))
            return false;
        if ((mask & lossless) == 0)
            continue;
        groups->ports += oche_db_ports(row);
        if (name != NULL && oche_db_named(db, "BUFFER_PROFILE", name) != NULL)
            oche_db_vote(&ballot, name, oche_db_named(db, "BUFFER_PROFILE", name),
                         oche_db_ports(row));
    }
    winner = oche_db_winner(&ballot);
    if (winner != UINT32_MAX)
        groups->profile = ballot.choice[winner].row;
    oche_db_note_others(db, &ballot, "BUFFER_PG: profile");
    if (winner == UINT32_MAX)
        oche_translation_note(db->to, OCHE_NOTE_ASSUMED,
                              "PFC by default: no row of BUFFER_PG names a BUFFER_PROFILE that is "
                              "in the file for the lossless priorities");
    return true;
}

/* Sets when a paused group resumes. `limit` is the static threshold, or -1. */
static bool set_resume(const struct oche_db *db, const struct oche_yaml *profile, int64_t limit)
{
    int64_t offset = 0, xon = 0;
    bool has_offset, has_xon;
    char from[200];

    if (!oche_db_number(db, profile, "xon_offset", 0, MOST_BYTES, &has_offset, &offset) ||
        !oche_db_number(db, profile, "xon", 0, MOST_BYTES, &has_xon, &xon))
        return false;
    if (has_offset) {
        snprintf(from, sizeof(from), "%s.xon_offset", profile->path);
        oche_translation_set_unit(db->to, "switch", "xon_offset", from, OCHE_UNIT_BYTES,
                                  (uint64_t)offset);
    } else if (has_xon && limit >= xon) {
        snprintf(from, sizeof(from), "%s: static_th less xon", profile->path);
        oche_translation_set_unit(db->to, "switch", "xon_offset", from, OCHE_UNIT_BYTES,
                                  (uint64_t)(limit - xon));
        return true;
    }
    if (has_xon)
        oche_translation_note(db->to, OCHE_NOTE_NO_COUNTERPART,
                              "%s.xon %lld: RESUME comes %s below the threshold here",
                              profile->path, (long long)xon,
                              has_offset ? "xon_offset" : "two packets");
    return true;
}

static bool set_threshold(const struct oche_db *db, const struct groups *groups)
{
    const struct oche_yaml *profile = groups->profile;
    bool has_alpha, has_limit;
    int64_t alpha = 0, limit = 0;
    char from[200];

    if (!oche_db_number(db, profile, "dynamic_th", LEAST_TH, MOST_TH, &has_alpha, &alpha) ||
        !oche_db_number(db, profile, "static_th", 1, MOST_BYTES, &has_limit, &limit))
        return false;
    oche_translation_set(db->to, "switch", "pfc_priorities", "priorities with PFC, two at least",
                         "%u", groups->priorities);
    if (has_alpha) {
        snprintf(from, sizeof(from), "%s.dynamic_th %lld: alpha is 2 to that, times pfc_priorities",
                 profile->path, (long long)alpha);
        oche_translation_set_real(db->to, "switch", "beta", from,
                                  ldexp(groups->priorities, (int)alpha));
    } else if (has_limit) {
        snprintf(from, sizeof(from), "%s.static_th", profile->path);
        oche_translation_set(db->to, "switch", "threshold", from, "static");
        oche_translation_set_unit(db->to, "switch", "xoff", from, OCHE_UNIT_BYTES, (uint64_t)limit);
    } else {
        oche_translation_note(db->to, OCHE_NOTE_ASSUMED,
                              "alpha is 1: %s has neither dynamic_th nor static_th", profile->path);
    }
    return set_resume(db, profile, !has_alpha && has_limit ? limit : -1);
}

/* Sets the memory: the pool's, and the headroom that SONiC counts apart. */
static bool set_memory(const struct oche_db *db, const struct groups *groups, int64_t headroom)
{
    const char *name = oche_db_field(groups->profile, "pool");
    const struct oche_yaml *pool =
        oche_db_named(db, "BUFFER_POOL", name != NULL ? name : "ingress_lossless_pool");
    const int64_t ports = groups->ports > DEFAULT_HOSTS ? groups->ports : DEFAULT_HOSTS;
    int64_t size = 0, shared = 0;
    bool has_size, has_shared;
    char from[200];

    if (pool == NULL || oche_db_field(pool, "size") == NULL) {
        oche_translation_note(db->to, OCHE_NOTE_ASSUMED,
                              "the buffer by default: the pool of %s, or its size, is not in the "
                              "file",
                              groups->profile->path);
        return true;
    }
    if (!oche_db_number(db, pool, "size", 1, MOST_BYTES, &has_size, &size) ||
        !oche_db_number(db, pool, "xoff", 0, MOST_BYTES, &has_shared, &shared))
        return false;
    headroom *= ports * groups->priorities;
    if (size + headroom > MOST_BYTES)
        return oche_document_fail(db->document, pool, "size", db->error,
                                  "%lld bytes, and %lld of headroom; at most %lld together",
                                  (long long)size, (long long)headroom, (long long)MOST_BYTES);
    snprintf(from, sizeof(from), "%s.size%s", pool->path,
             headroom > 0 ? ", and headroom of all ports" : "");
    oche_translation_set_unit(db->to, "switch", "buffer", from, OCHE_UNIT_BYTES,
                              (uint64_t)(size + headroom));
    if (headroom > 0)
        oche_translation_set(db->to, "switch", "chip_ports",
                             groups->ports > DEFAULT_HOSTS
                                 ? "ports with lossless priorities in BUFFER_PG"
                                 : "those of the star; BUFFER_PG has no more",
                             "%lld", (long long)ports);
    if (has_shared && shared > 0)
        oche_translation_note(db->to, OCHE_NOTE_NO_COUNTERPART,
                              "%s.xoff: headroom that ports share; here each has its own",
                              pool->path);
    return true;
}

static bool translate_pfc(const struct oche_db *db, uint32_t lossless)
{
    static const char *const known[] = {"pool", "size", "dynamic_th", "static_th",
                                        "xon",  "xoff", "xon_offset", "packet_discard_action",
                                        NULL};
    struct groups groups;
    int64_t headroom = 0, reserved = 0;
    bool has_headroom, has_reserved;
    char from[200];

    if (lossless == 0) {
        oche_translation_set(db->to, "switch", "pfc", "PORT_QOS_MAP: pfc_enable", "false");
        return true;
    }
    if (!find_groups(db, lossless, &groups))
        return false;
    if (groups.profile == NULL)
        return true;
    oche_db_check_fields(db, groups.profile, known);
    if (!oche_db_number(db, groups.profile, "xoff", 0, MOST_BYTES, &has_headroom, &headroom) ||
        !oche_db_number(db, groups.profile, "size", 0, MOST_BYTES, &has_reserved, &reserved))
        return false;
    if (has_headroom) {
        snprintf(from, sizeof(from), "%s.xoff", groups.profile->path);
        oche_translation_set_unit(db->to, "switch", "headroom", from, OCHE_UNIT_BYTES,
                                  (uint64_t)headroom);
    }
    if (has_reserved && reserved > 0)
        oche_translation_note(db->to, OCHE_NOTE_NO_COUNTERPART,
                              "%s.size: memory that is kept for a priority group; all is shared "
                              "here, but for headroom",
                              groups.profile->path);
    return set_threshold(db, &groups) && set_memory(db, &groups, headroom);
}

/* ---- the watchdog ---- */

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

    if (!read_ms(db, row, "detection_time", 5000, &detection) ||
        !read_ms(db, row, "restoration_time", 60000, &restoration) ||
        !read_ms(db, global, "POLL_INTERVAL", 1000, &poll))
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

static bool translate_watchdog(const struct oche_db *db)
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
    oche_translation_note(db->to, OCHE_NOTE_ASSUMED,
                          "the watchdog is on every port; its times are long for a simulation: a "
                          "run that is shorter never sees it act");
    return set_times(db, row, oche_yaml_find(rows, "GLOBAL"));
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
    oche_translation_set(db->to, "topology", "hosts", NULL, "%d", DEFAULT_HOSTS);
    if (ballot.count > 0) {
        if (!oche_db_number(db, ballot.choice[oche_db_winner(&ballot)].row, "speed", 1,
                            MOST_SPEED_MBPS, &given, &speed))
            return false;
        oche_translation_set_unit(db->to, "topology", "host_rate", "PORT: speed", OCHE_UNIT_BPS,
                                  (uint64_t)speed * OCHE_MBPS);
        oche_db_note_others(db, &ballot, "PORT: speed in Mbit/s");
    }
    oche_translation_set(db->to, "workload", "type", "not in a CONFIG_DB: yours", "incast");
    oche_translation_set(db->to, "workload", "degree", NULL, "%d", DEFAULT_HOSTS - 1);
    oche_translation_set(db->to, "workload", "bytes", NULL, "1MB");
    oche_translation_note(db->to, OCHE_NOTE_ASSUMED,
                          "a star of %d hosts%s and an incast of 1 MB: a CONFIG_DB has one switch, "
                          "no network and no traffic",
                          DEFAULT_HOSTS, ballot.count > 0 ? "" : ", at 100 Gbit/s,");
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
    if (alpha != NULL)
        oche_translation_note(db->to, OCHE_NOTE_FOUND, "PFC: %.*s",
                              (int)(strstr(alpha->from, ".dynamic_th") - alpha->from), alpha->from);
}

bool oche_config_db_translate(const struct oche_document *document,
                              struct oche_translation *translation, struct oche_error *error)
{
    const struct oche_db db = {.document = document, .to = translation, .error = error};
    uint32_t lossless;

    if (!check_shape(&db) || !translate_network(&db) || !find_lossless(&db, &lossless) ||
        !translate_marking(&db, lossless) || !translate_pfc(&db, lossless) ||
        !translate_watchdog(&db))
        return false;
    note_found(&db, lossless);
    note_tables(&db);
    return true;
}
