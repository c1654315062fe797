/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of another program as keys of a scenario, each with the place in the file that it is from,
 * and notes on everything else. It is filled by the readers in this folder, and
 * printed or written as a scenario by `oche import`.
 */
#ifndef OCHE_SIM_FOREIGN_TRANSLATION_H
#define OCHE_SIM_FOREIGN_TRANSLATION_H

#include <stddef.h>
#include <stdio.h>

#include "core/base.h"
#include "core/param.h"

/* A key of the scenario. All texts are malloc'd. */
struct oche_setting {
    char *section; /* "", "switch", "switch.tor" */
    char *key;     /* NULL: the value is an entry of a list */
    char *value;   /* as YAML */
    char *text;    /* the value without the quotes of YAML; NULL: it has none */
    char *from;    /* "KMIN_MAP"; NULL: it is nobody's but ours */
};

enum oche_note_kind {
    OCHE_NOTE_FOUND,          /* what the file has */
    OCHE_NOTE_NOT_NEEDED,     /* understood, and without a meaning for a scenario: output files */
    OCHE_NOTE_NO_COUNTERPART, /* understood, and missing here */
    OCHE_NOTE_NOT_KNOWN,      /* not understood */
    OCHE_NOTE_ASSUMED,        /* decided by us, as the file does not say it or says it otherwise */
    OCHE_NOTE_KINDS
};

struct oche_note {
    enum oche_note_kind kind;
    char *text; /* malloc'd, one line */
};

/* Zeroed at first. */
struct oche_translation {
    struct oche_setting *settings;
    struct oche_note *notes;
    size_t setting_count, setting_room, note_count, note_room;
};

/*
 * Adds a key. A key that is there already gets the new value. `from` may be NULL. The value is
 * written to the scenario as it is.
 */
void oche_translation_set(struct oche_translation *translation, const char *section,
                          const char *key, const char *from, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* As oche_translation_set, for a text that needs quotes, such as a path. */
void oche_translation_set_text(struct oche_translation *translation, const char *section,
                               const char *key, const char *from, const char *text);
/* As oche_translation_set, for a number of bytes, bits per second or picoseconds. */
void oche_translation_set_unit(struct oche_translation *translation, const char *section,
                               const char *key, const char *from, enum oche_unit unit,
                               uint64_t value);
/* As oche_translation_set, for a number that needs no unit. */
void oche_translation_set_real(struct oche_translation *translation, const char *section,
                               const char *key, const char *from, double value);

/* Adds a note. */
void oche_translation_note(struct oche_translation *translation, enum oche_note_kind kind,
                           const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Returns the setting, or NULL. */
const struct oche_setting *oche_translation_find(const struct oche_translation *translation,
                                                 const char *section, const char *key);

/* Writes the keys as YAML: sections in the order of their first keys, each within its parent. */
void oche_translation_write(const struct oche_translation *translation, FILE *out);

void oche_translation_free(struct oche_translation *translation);

#endif
