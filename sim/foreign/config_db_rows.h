/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of a CONFIG_DB: fields, references, ports and priorities in keys, and majorities. */
#ifndef OCHE_SIM_FOREIGN_CONFIG_DB_ROWS_H
#define OCHE_SIM_FOREIGN_CONFIG_DB_ROWS_H

#include "params/error.h"
#include "sim/foreign/translation.h"
#include "sim/scenario/document.h"

#define OCHE_DB_MOST_PRIORITY 31                  /* in keys and masks */
#define OCHE_DB_MOST_BYTES    INT64_C(0x7fffffff) /* of a switch's memory, and of thresholds */
#define OCHE_DB_HOSTS         9                   /* of the network to try the switch */

struct oche_db {
    const struct oche_document *document;
    struct oche_translation *to;
    struct oche_error *error;
};

/*
 * The parts: each adds settings and notes for the lossless priorities of a mask. They return false,
 * with an error, if a value is wrong.
 */
bool oche_db_marking(const struct oche_db *db, uint32_t lossless);
bool oche_db_pfc(const struct oche_db *db, uint32_t lossless);
bool oche_db_watchdog(const struct oche_db *db);

/* Returns a table, or NULL. */
const struct oche_yaml *oche_db_table(const struct oche_db *db, const char *name);
/* Returns the text of a row's field, or NULL. */
const char *oche_db_field(const struct oche_yaml *row, const char *name);
/*
 * Reads a field as a whole number from `least` to `most`. *given is false if there is no such
 * field. Returns false, with an error, if it is no such number.
 */
bool oche_db_number(const struct oche_db *db, const struct oche_yaml *row, const char *name,
                    int64_t least, int64_t most, bool *given, int64_t *value);
/*
 * Finds the row that a field names, "NAME" or, as in older files, "[TABLE|NAME]", in a table.
 * Returns NULL if there is none.
 */
const struct oche_yaml *oche_db_named(const struct oche_db *db, const char *table,
                                      const char *reference);

/* The part of a row's key behind its last "|", "3-4" or "3,4", as a mask of priorities. */
bool oche_db_priorities(const struct oche_db *db, const struct oche_yaml *row, uint32_t *mask);
/* Reads "3,4" or "3-4" as a mask. Returns false if it is none. */
bool oche_db_mask(const char *text, uint32_t *mask);
/* Returns how many ports a row's key names: "Ethernet0,Ethernet4|3" names two. */
uint32_t oche_db_ports(const struct oche_yaml *row);

/* Notes fields of a row that are not in `known`, which ends with NULL. */
void oche_db_check_fields(const struct oche_db *db, const struct oche_yaml *row,
                          const char *const *known);

/* ---- majorities ---- */

#define OCHE_DB_MOST_CHOICES 64
#define OCHE_DB_CHOICE_BYTES 128

/* Zeroed at first. */
struct oche_db_ballot {
    struct {
        char name[OCHE_DB_CHOICE_BYTES];
        const struct oche_yaml *row; /* the first that voted so */
        uint32_t votes;
    } choice[OCHE_DB_MOST_CHOICES];
    uint32_t count, votes;
};

void oche_db_vote(struct oche_db_ballot *ballot, const char *name, const struct oche_yaml *row,
                  uint32_t votes);
/* Returns the choice with most votes, the first of several; UINT32_MAX: there is none. */
uint32_t oche_db_winner(const struct oche_db_ballot *ballot);
/* Notes, if there are several choices, that the winner's was taken for all: "QUEUE: …". */
void oche_db_note_others(const struct oche_db *db, const struct oche_db_ballot *ballot,
                         const char *what);

#endif
