/* SPDX-License-Identifier: Apache-2.0 */
/* Prints what became of a file: as text, or as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/import.h"
#include "cli/json_line.h"
#include "params/printable.h"
#include "params/text_stream.h"

#define LABEL_COLUMNS 16
#define LINE_COLUMNS  100
#define SHOWN_BYTES   600

static const struct {
    const char *label, *key;
} kinds[OCHE_NOTE_KINDS] = {
    [OCHE_NOTE_FOUND] = {"found", "found"},
    [OCHE_NOTE_NOT_NEEDED] = {"not needed", "not_needed"},
    [OCHE_NOTE_NO_COUNTERPART] = {"no counterpart", "no_counterpart"},
    [OCHE_NOTE_NOT_KNOWN] = {"not understood", "not_understood"},
    [OCHE_NOTE_ASSUMED] = {"assumed", "assumed"},
};

/* Prints a text behind a label, in lines of LINE_COLUMNS. */
static void print_wrapped(const char *label, const char *text)
{
    char *shown = oche_printable_lines(text), *rest = shown, *word;
    size_t column = (size_t)printf("%-*s", LABEL_COLUMNS, label);
    bool first = true;

    OCHE_GOT(shown != NULL);
    while ((word = strsep(&rest, " ")) != NULL) {
        if (!first && column + 1 + strlen(word) > LINE_COLUMNS) {
            column = (size_t)printf("\n%*s", LABEL_COLUMNS, "") - 1;
            first = true;
        }
        column += (size_t)printf("%s%s", first ? "" : " ", word);
        first = false;
    }
    putchar('\n');
    free(shown);
}

static void print_notes(const struct oche_import *import, enum oche_note_kind kind)
{
    const char *label = kinds[kind].label;

    for (size_t i = 0; i < import->to.note_count; i++)
        if (import->to.notes[i].kind == kind) {
            print_wrapped(label, import->to.notes[i].text);
            label = "";
        }
}

/* Returns a setting's place in the scenario, "switch.tor.kmin". */
static const char *key_of(const struct oche_setting *setting, char *text, size_t bytes)
{
    snprintf(text, bytes, "%s%s%s", setting->section,
             *setting->section != '\0' && setting->key != NULL ? "." : "",
             setting->key != NULL ? setting->key : "");
    return text;
}

/* Prints how many settings there are, and of which sections. */
static void print_settings(const struct oche_import *import)
{
    const struct oche_translation *to = &import->to;
    char text[1000];
    size_t used = (size_t)snprintf(text, sizeof(text), "%zu keys of ", to->setting_count);
    unsigned sections = 0;

    for (size_t i = 0; i < to->setting_count && used < sizeof(text); i++) {
        size_t first = 0;

        while (strcmp(to->settings[first].section, to->settings[i].section) != 0)
            first++;
        if (first == i)
            used += (size_t)snprintf(
                text + used, sizeof(text) - used, "%s%s", sections++ > 0 ? ", " : "",
                *to->settings[i].section != '\0' ? to->settings[i].section : "the root");
    }
    if (import->out == NULL && used < sizeof(text))
        snprintf(text + used, sizeof(text) - used, "; -o scenario.yaml writes them");
    print_wrapped("becomes", text);
}

/* Prints the notes of a kind in one paragraph. */
static void print_together(const struct oche_import *import, enum oche_note_kind kind)
{
    char *text;
    size_t bytes, count = 0;
    FILE *out = oche_text_stream_open(&text, &bytes);

    for (size_t i = 0; i < import->to.note_count; i++)
        if (import->to.notes[i].kind == kind)
            fprintf(out, "%s%s", count++ > 0 ? "; " : "", import->to.notes[i].text);
    oche_text_stream_close(out);
    if (count > 0)
        print_wrapped(kinds[kind].label, text);
    free(text);
}

void oche_import_print_scenario(const struct oche_import *import)
{
    char out[SHOWN_BYTES];

    if (import->out == NULL)
        return;
    oche_printable(import->out, out, sizeof(out));
    printf("%-*s%s; next: oche run %s\n", LABEL_COLUMNS, import->replaced ? "replaced" : "wrote",
           out, out);
}

void oche_import_print(const struct oche_import *import)
{
    char path[SHOWN_BYTES];

    oche_printable(import->path, path, sizeof(path));
    printf("%s: %s\n", path, import->format);
    print_notes(import, OCHE_NOTE_FOUND);
    print_settings(import);
    print_notes(import, OCHE_NOTE_NO_COUNTERPART);
    print_notes(import, OCHE_NOTE_NOT_KNOWN);
    print_notes(import, OCHE_NOTE_ASSUMED);
    print_together(import, OCHE_NOTE_NOT_NEEDED);
    oche_import_print_scenario(import);
}

static struct json_object *settings_json(const struct oche_translation *to)
{
    struct json_object *array = oche_json_array((int)to->setting_count);
    char key[200];

    for (size_t i = 0; i < to->setting_count; i++) {
        struct json_object *setting = oche_json_object();

        oche_json_add_text(setting, "key", key_of(&to->settings[i], key, sizeof(key)));
        oche_json_add_text(setting, "value",
                           to->settings[i].text != NULL ? to->settings[i].text
                                                        : to->settings[i].value);
        oche_json_add_text(setting, "from", to->settings[i].from);
        oche_json_push(array, setting);
    }
    return array;
}

void oche_import_print_json(const struct oche_import *import)
{
    struct json_object *object = oche_json_object();

    oche_json_add_text(object, "file", import->path);
    oche_json_add_text(object, "format", import->format);
    oche_json_add(object, "settings", settings_json(&import->to));
    for (unsigned kind = 0; kind < OCHE_NOTE_KINDS; kind++) {
        struct json_object *notes = oche_json_array(0);

        for (size_t i = 0; i < import->to.note_count; i++)
            if (import->to.notes[i].kind == kind)
                oche_json_push(notes, oche_json_text(import->to.notes[i].text));
        oche_json_add(object, kinds[kind].key, notes);
    }
    oche_json_add_text(object, "scenario", import->out);
    oche_json_print(object, stdout);
    putchar('\n');
}
