/* SPDX-License-Identifier: Apache-2.0 */
/* Collects keys and notes, and writes the keys as a scenario. */
#include "sim/foreign/translation.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "params/number.h"
#include "params/printable.h"
#include "params/units.h"

#define INDENT         2
#define COMMENT_COLUMN 40

static char *printed(const char *format, va_list arguments)
{
    char *text;

    OCHE_GOT(vasprintf(&text, format, arguments) >= 0);
    return text;
}

static char *copied(const char *text)
{
    char *copy = text == NULL ? NULL : strdup(text);

    OCHE_GOT(text == NULL || copy != NULL);
    return copy;
}

static void *with_room(void *list, size_t count, size_t *room, size_t bytes)
{
    if (count < *room)
        return list;
    *room = *room == 0 ? 32 : 2 * *room;
    list = realloc(list, *room * bytes);
    OCHE_GOT(list != NULL);
    return list;
}

const struct oche_setting *oche_translation_find(const struct oche_translation *translation,
                                                 const char *section, const char *key)
{
    for (size_t i = 0; i < translation->setting_count; i++) {
        const struct oche_setting *setting = &translation->settings[i];

        if (setting->key != NULL && strcmp(setting->section, section) == 0 &&
            strcmp(setting->key, key) == 0)
            return setting;
    }
    return NULL;
}

/* Takes over `value`. */
static void add(struct oche_translation *t, const char *section, const char *key, const char *from,
                char *value, const char *text)
{
    struct oche_setting *setting =
        key == NULL ? NULL : (struct oche_setting *)oche_translation_find(t, section, key);

    if (setting != NULL) {
        free(setting->value);
        free(setting->from);
        free(setting->text);
        setting->value = value;
        setting->text = copied(text);
        setting->from = copied(from);
        return;
    }
    t->settings = with_room(t->settings, t->setting_count, &t->setting_room, sizeof(*t->settings));
    t->settings[t->setting_count++] = (struct oche_setting){.section = copied(section),
                                                            .key = copied(key),
                                                            .value = value,
                                                            .text = copied(text),
                                                            .from = copied(from)};
}

void oche_translation_set(struct oche_translation *translation, const char *section,
                          const char *key, const char *from, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    add(translation, section, key, from, printed(format, arguments), NULL);
    va_end(arguments);
}

void oche_translation_set_text(struct oche_translation *translation, const char *section,
                               const char *key, const char *from, const char *text)
{
    char *quoted = malloc(2 * strlen(text) + 3), *to = quoted;

    OCHE_GOT(quoted != NULL);
    *to++ = '"';
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\')
            *to++ = '\\';
        *to++ = *c;
    }
    *to++ = '"';
    *to = '\0';
    add(translation, section, key, from, quoted, text);
}

void oche_translation_set_unit(struct oche_translation *translation, const char *section,
                               const char *key, const char *from, enum oche_unit unit,
                               uint64_t value)
{
    const struct oche_param param = {
        .name = key, .unit = unit, .minimum.u = 0, .maximum.u = OCHE_NEVER};
    char text[OCHE_VALUE_BYTES];

    oche_value_show(&param, (union oche_value){.u = value}, text, sizeof(text));
    oche_translation_set(translation, section, key, from, "%s", text);
}

void oche_translation_set_real(struct oche_translation *translation, const char *section,
                               const char *key, const char *from, double value)
{
    char text[OCHE_NUMBER_BYTES];

    oche_number_format(value, text);
    oche_translation_set(translation, section, key, from, "%s", text);
}

void oche_translation_note(struct oche_translation *translation, enum oche_note_kind kind,
                           const char *format, ...)
{
    va_list arguments;

    translation->notes = with_room(translation->notes, translation->note_count,
                                   &translation->note_room, sizeof(*translation->notes));
    va_start(arguments, format);
    translation->notes[translation->note_count++] =
        (struct oche_note){.kind = kind, .text = printed(format, arguments)};
    va_end(arguments);
}

/* ---- YAML ---- */

/* True if `section` is directly below `parent`, as "switch.tor" is below "switch". */
static bool is_below(const char *section, const char *parent)
{
    const size_t length = strlen(parent);

    if (length == 0)
        return *section != '\0' && strchr(section, '.') == NULL;
    return strncmp(section, parent, length) == 0 && section[length] == '.' &&
           strchr(section + length + 1, '.') == NULL;
}

static void write_line(FILE *out, unsigned depth, const struct oche_setting *setting)
{
    char from[200];
    int width;

    if (setting->key == NULL)
        width = fprintf(out, "%*s- %s", (int)(INDENT * depth), "", setting->value);
    else
        width = fprintf(out, "%*s%s: %s", (int)(INDENT * depth), "", setting->key, setting->value);
    if (setting->from != NULL) {
        oche_printable(setting->from, from, sizeof(from));
        fprintf(out, "%*s # %s", width < COMMENT_COLUMN ? COMMENT_COLUMN - width : 0, "", from);
    }
    fputc('\n', out);
}

/* Writes the keys of a section, and then the sections below it. */
static void write_section(const struct oche_translation *t, const char *section, unsigned depth,
                          FILE *out)
{
    for (size_t i = 0; i < t->setting_count; i++)
        if (strcmp(t->settings[i].section, section) == 0)
            write_line(out, depth, &t->settings[i]);
    for (size_t i = 0; i < t->setting_count; i++) {
        const char *below = t->settings[i].section;
        size_t first = 0;

        if (!is_below(below, section))
            continue;
        while (strcmp(t->settings[first].section, below) != 0)
            first++;
        if (first < i)
            continue;
        fprintf(out, "%*s%s:\n", (int)(INDENT * depth), "",
                *section == '\0' ? below : below + strlen(section) + 1);
        write_section(t, below, depth + 1, out);
    }
}

void oche_translation_write(const struct oche_translation *translation, FILE *out)
{
    write_section(translation, "", 0, out);
}

void oche_translation_free(struct oche_translation *translation)
{
    for (size_t i = 0; i < translation->setting_count; i++) {
        free(translation->settings[i].section);
        free(translation->settings[i].key);
        free(translation->settings[i].value);
        free(translation->settings[i].text);
        free(translation->settings[i].from);
    }
    for (size_t i = 0; i < translation->note_count; i++)
        free(translation->notes[i].text);
    free(translation->settings);
    free(translation->notes);
    *translation = (struct oche_translation){.settings = NULL};
}
