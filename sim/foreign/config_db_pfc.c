/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CONFIG_DB: the buffer profile of the lossless priority groups becomes PFC's threshold and
 * headroom, and its pool the memory, to which headroom is added: here it is a part of the memory.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/foreign/config_db_rows.h"

#define LEAST_TH         (-8)
#define MOST_TH          7
#define LEAST_PRIORITIES 2 /* data, and ACKs and CNPs, are lossless here */

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

    if (!oche_db_number(db, profile, "xon_offset", 0, OCHE_DB_MOST_BYTES, &has_offset, &offset) ||
        !oche_db_number(db, profile, "xon", 0, OCHE_DB_MOST_BYTES, &has_xon, &xon))
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
        !oche_db_number(db, profile, "static_th", 1, OCHE_DB_MOST_BYTES, &has_limit, &limit))
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
    const int64_t ports = groups->ports > OCHE_DB_HOSTS ? groups->ports : OCHE_DB_HOSTS;
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
    if (!oche_db_number(db, pool, "size", 1, OCHE_DB_MOST_BYTES, &has_size, &size) ||
        !oche_db_number(db, pool, "xoff", 0, OCHE_DB_MOST_BYTES, &has_shared, &shared))
        return false;
    headroom *= ports * groups->priorities;
    if (size + headroom > OCHE_DB_MOST_BYTES)
        return oche_document_fail(db->document, pool, "size", db->error,
                                  "%lld bytes, and %lld of headroom; at most %lld together",
                                  (long long)size, (long long)headroom,
                                  (long long)OCHE_DB_MOST_BYTES);
    snprintf(from, sizeof(from), "%s.size%s", pool->path,
             headroom > 0 ? ", and headroom of all ports" : "");
    oche_translation_set_unit(db->to, "switch", "buffer", from, OCHE_UNIT_BYTES,
                              (uint64_t)(size + headroom));
    if (headroom > 0)
        oche_translation_set(db->to, "switch", "chip_ports",
                             groups->ports > OCHE_DB_HOSTS
                                 ? "ports with lossless priorities in BUFFER_PG"
                                 : "those of the star; BUFFER_PG has no more",
                             "%lld", (long long)ports);
    if (has_shared && shared > 0)
        oche_translation_note(db->to, OCHE_NOTE_NO_COUNTERPART,
                              "%s.xoff: headroom that ports share; here each has its own",
                              pool->path);
    return true;
}

bool oche_db_pfc(const struct oche_db *db, uint32_t lossless)
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
    if (!oche_db_number(db, groups.profile, "xoff", 0, OCHE_DB_MOST_BYTES, &has_headroom,
                        &headroom) ||
        !oche_db_number(db, groups.profile, "size", 0, OCHE_DB_MOST_BYTES, &has_reserved,
                        &reserved))
        return false;
    if (has_headroom) {
        snprintf(from, sizeof(from), "%s.xoff", groups.profile->path);
        oche_translation_set_unit(db->to, "switch", "headroom", from, OCHE_UNIT_BYTES,
                                  (uint64_t)headroom);
    }
    if (has_reserved && reserved > 0)
        oche_translation_note(db->to, OCHE_NOTE_NO_COUNTERPART,
                              "%s.size: memory of a group alone; all is shared here",
                              groups.profile->path);
    return set_threshold(db, &groups) && set_memory(db, &groups, headroom);
}
