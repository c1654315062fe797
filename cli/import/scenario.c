/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a scenario of what was read, after it has been checked as `oche run` checks it. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/import/import.h"
#include "cli/whole_file.h"
#include "params/printable.h"
#include "params/text_stream.h"
#include "sim/scenario/scenario.h"
#include "sim/world/world.h"

#define STAR_HOSTS   64 /* at most; more have leaves and spines */
#define LEAF_HOSTS   32
#define SPINES       16
#define LINE_COLUMNS 90 /* of comments */
#define SHOWN_PATH   300

void oche_import_network(struct oche_translation *to, uint64_t hosts, uint64_t rate_bps)
{
    hosts = hosts < 2 ? 2 : hosts;
    if (hosts <= STAR_HOSTS) {
        oche_translation_set(to, "topology", "type", "not in the file: yours", "star");
        oche_translation_set(to, "topology", "hosts", NULL, "%llu", (unsigned long long)hosts);
    } else {
        const unsigned long long per_leaf = hosts > 1024 * LEAF_HOSTS ? 2 * LEAF_HOSTS : LEAF_HOSTS;

        oche_translation_set(to, "topology", "type", "not in the file: yours", "leaf_spine");
        oche_translation_set(to, "topology", "leaves", NULL, "%llu",
                             (hosts + per_leaf - 1) / per_leaf);
        oche_translation_set(to, "topology", "hosts_per_leaf", NULL, "%llu", per_leaf);
        oche_translation_set(to, "topology", "spines", NULL, "%d", SPINES);
    }
    oche_translation_set_unit(to, "topology", "host_rate", NULL, OCHE_UNIT_BPS,
                              rate_bps == 0 ? OCHE_IMPORT_RATE : rate_bps);
    oche_translation_note(to, OCHE_NOTE_ASSUMED, "a %s for %llu hosts: the file has no network",
                          hosts <= STAR_HOSTS ? "star" : "network of leaves and spines",
                          (unsigned long long)hosts);
}

/* ---- paths ---- */

/* Returns the real path (malloc'd) of the folder that a file is in; NULL: there is none. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder, *real;

    if (slash == NULL)
        return realpath(".", NULL);
    folder = strndup(path, slash == path ? 1 : (size_t)(slash - path));
    OCHE_GOT(folder != NULL);
    real = realpath(folder, NULL);
    free(folder);
    return real;
}

/* Returns `target` as seen from `folder`; both are real paths. malloc'd. */
static char *relative(const char *folder, const char *target)
{
    size_t common = 0, length = strlen(folder);
    char *text;
    size_t bytes;
    FILE *out = oche_text_stream_open(&text, &bytes);

    for (size_t i = 0; folder[i] != '\0' && folder[i] == target[i]; i++)
        if (folder[i] == '/')
            common = i + 1;
    if (strncmp(folder, target, length) == 0 && target[length] == '/')
        common = length + 1;
    for (const char *c = common <= length ? folder + common : ""; *c != '\0';) {
        fputs("../", out);
        c += strcspn(c, "/");
        c += *c == '/';
    }
    fputs(target + common, out);
    oche_text_stream_close(out);
    return text;
}

static void keep_name(struct oche_import *import, const char *path)
{
    for (size_t i = 0; i < OCHE_COUNT_OF(import->named); i++)
        if (import->named[i] == NULL) {
            import->named[i] = path;
            return;
        }
}

bool oche_import_set_file(struct oche_import *import, const char *section, const char *key,
                          const char *from, const char *path, struct oche_error *error)
{
    char *target = realpath(path, NULL);
    char *folder = folder_of(import->out != NULL ? import->out : "x");
    char *name = NULL;
    bool good = true;

    if (target == NULL || folder == NULL)
        good = oche_fail(error, "%s: %s", target == NULL ? path : import->out,
                         target == NULL ? "cannot be found" : "its folder is not there");
    else if (import->out != NULL && !oche_input_is_regular(path))
        good = oche_fail(error, "%s: is a pipe, which a scenario cannot name; write it to a file",
                         path);
    if (good) {
        name = relative(folder, target);
        if (!oche_is_printable(name) || strpbrk(name, "\n\t") != NULL)
            good = oche_fail(error,
                             "%s: its name has characters that a scenario cannot have; "
                             "rename it",
                             path);
    }
    if (good) {
        oche_translation_set_text(&import->to, section, key, from, name);
        keep_name(import, path);
    }
    free(name);
    free(target);
    free(folder);
    return good;
}

/* ---- the text ---- */

/* Writes a comment in lines of LINE_COLUMNS. */
static void write_comment(FILE *out, const char *label, const char *text)
{
    char *copy = strdup(text), *rest = copy, *word;
    size_t column = 0;

    OCHE_GOT(copy != NULL);
    while ((word = strsep(&rest, " ")) != NULL) {
        if (column > 0 && column + 1 + strlen(word) > LINE_COLUMNS) {
            fputc('\n', out);
            column = 0;
        }
        column += (size_t)(column == 0
                               ? fprintf(out, rest != NULL && word == copy ? "# %s%s" : "#   %s%s",
                                         word == copy ? label : "", word)
                               : fprintf(out, " %s", word));
    }
    fputc('\n', out);
    free(copy);
}

static void write_notes(const struct oche_import *import, FILE *out)
{
    static const char *const labels[OCHE_NOTE_KINDS] = {
        [OCHE_NOTE_NO_COUNTERPART] = "No counterpart: ",
        [OCHE_NOTE_NOT_KNOWN] = "Not understood: ",
        [OCHE_NOTE_ASSUMED] = "Assumed: ",
    };

    for (size_t i = 0; i < import->to.note_count; i++) {
        const struct oche_note *note = &import->to.notes[i];
        char *shown = oche_printable_lines(note->text);

        OCHE_GOT(shown != NULL);
        if (labels[note->kind] != NULL)
            write_comment(out, labels[note->kind], shown);
        free(shown);
    }
}

static char *make_text(const struct oche_import *import, size_t *bytes)
{
    char path[SHOWN_PATH], scenario[SHOWN_PATH], *text;
    FILE *out = oche_text_stream_open(&text, bytes);

    oche_printable(import->path, path, sizeof(path));
    oche_printable(import->out, scenario, sizeof(scenario));
    fprintf(out,
            "# Made of %s (%s) by oche import.\n#\n"
            "#     oche run %s\n#\n",
            path, import->format, scenario);
    write_notes(import, out);
    oche_translation_write(&import->to, out);
    oche_text_stream_close(out);
    return text;
}

/* ---- checks ---- */

static bool same_file(const char *a, const char *b)
{
    struct stat one, other;

    return a != NULL && b != NULL && stat(a, &one) == 0 && stat(b, &other) == 0 &&
           one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

static bool check_place(struct oche_import *import, struct oche_error *error)
{
    const char *const files[] = {import->path, import->named[0], import->named[1]};

    for (size_t i = 0; i < OCHE_COUNT_OF(files); i++)
        if (same_file(import->out, files[i]))
            return oche_fail(error, "--out %s: would replace %s; another name", import->out,
                             files[i]);
    import->replaced = access(import->out, F_OK) == 0;
    return true;
}

/* True if `oche run` takes the scenario. */
static bool check_text(const struct oche_import *import, const char *text, size_t bytes,
                       struct oche_error *error)
{
    struct oche_error why = {""}, placed;
    struct oche_scenario *scenario = oche_scenario_parse(import->out, text, bytes, &why);
    struct oche_world *world = NULL;

    if (scenario != NULL) {
        world = oche_world_create(&scenario->config, &why);
        if (world == NULL) {
            oche_scenario_place(scenario, why.text, &placed);
            why = placed;
        }
        oche_world_free(world);
        oche_scenario_close(scenario);
    }
    return world != NULL || oche_fail(error,
                                      "no scenario was written, as oche run would refuse it: "
                                      "%.350s",
                                      why.text);
}

bool oche_import_write(struct oche_import *import, struct oche_error *error)
{
    struct oche_whole_file file;
    size_t bytes;
    char *text;
    bool good;

    if (import->out == NULL)
        return true;
    if (!check_place(import, error))
        return false;
    text = make_text(import, &bytes);
    good = oche_whole_file_begin(&file, import->out, error);
    if (good) {
        good = check_text(import, text, bytes, error);
        fwrite(text, 1, bytes, file.out);
        if (good)
            good = oche_whole_file_end(&file, error);
        else
            oche_whole_file_abandon(&file);
    }
    free(text);
    return good;
}
