/* SPDX-License-Identifier: Apache-2.0 */
/* Finds results in a folder and puts the parts of a report together. */
#include "report/report.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "params/error.h"
#include "params/part_file.h"
#include "params/text_stream.h"
#include "report/json.h"
#include "report/parts.h"
#include "report/sample.h"
#include "report/source.h"
#include "store/sweep_store.h"

#define ENDING ".sqlite"
#define GIVE   "give a folder or a file that " OCHE_REPORT_SOURCES " has written"
/* levels of folders that are searched: out/NAME/OVERRIDES/VALUE/run.sqlite is found from out */
#define DEEP 3

struct files {
    char **paths;
    size_t count;
};

/* ---- which files ---- */

static char *joined(const char *folder, const char *name)
{
    char *path = NULL;

    OCHE_GOT(asprintf(&path, "%s/%s", folder, name) >= 0);
    return path;
}

static bool is_folder(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static void add_file(struct files *files, char *path)
{
    files->paths = realloc(files->paths, (files->count + 1) * sizeof(*files->paths));
    OCHE_GOT(files->paths != NULL);
    files->paths[files->count++] = path;
}

/*
 * Adds the results files in `folder`, and in folders up to `deep` levels below it. Returns false if
 * `folder` cannot be read.
 */
static bool find_files(const char *folder, unsigned deep, struct files *files)
{
    DIR *directory = opendir(folder);

    if (directory == NULL)
        return false;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        size_t length = strlen(entry->d_name);
        char *path;

        if (entry->d_name[0] == '.')
            continue;
        path = joined(folder, entry->d_name);
        if (is_folder(path)) {
            if (deep > 0)
                find_files(path, deep - 1, files); /* a subfolder that cannot be read is left out */
            free(path);
        } else if (length > strlen(ENDING) &&
                   strcmp(entry->d_name + length - strlen(ENDING), ENDING) == 0) {
            add_file(files, path);
        } else {
            free(path);
        }
    }
    closedir(directory);
    return true;
}

/* Sorts fig2 before fig10. */
static int by_name(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b);
}

static void free_files(struct files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->paths[i]);
    free(files->paths);
}

/* ---- their contents ---- */

enum kind { FOREIGN, RUN, SWEEP, FIGURE };

static enum kind kind_of(struct oche_report_source *source)
{
    uint64_t tables = oche_report_number(source, "SELECT count(*) FROM sqlite_master WHERE type = "
                                                 "'table' AND name IN ('info', 'flows')");
    enum kind kind = FOREIGN;

    if (oche_report_number(source, "PRAGMA application_id") == OCHE_SWEEP_APPLICATION) {
        char *name = oche_report_info(source, "kind");

        kind = name != NULL && strcmp(name, "figure") == 0 ? FIGURE : SWEEP;
        free(name);
    } else if (tables == 2) {
        kind = RUN;
    }
    return source->failed ? FOREIGN : kind;
}

static const char *text_of(struct json_object *object, const char *key)
{
    struct json_object *value = json_object_object_get(object, key);

    return value == NULL ? "" : json_object_get_string(value);
}

static struct json_object *document_of(const char *kind)
{
    struct json_object *document = oche_json_object();

    oche_json_add_text(document, "kind", kind);
    return document;
}

/*
 * Returns the overrides that the runs of one comparison share, in one line (malloc'd): all but the
 * last, which is the compared value. "" for a run that was not compared.
 */
static char *shared_overrides(struct json_object *run)
{
    struct json_object *overrides = json_object_object_get(run, "overrides");
    size_t count = json_object_array_length(overrides), bytes;
    bool compared = text_of(json_object_object_get(run, "info"), "compared")[0] != '\0';
    char *text = NULL;
    FILE *out = oche_text_stream_open(&text, &bytes);

    for (size_t i = 0; compared && i + 1 < count; i++)
        fprintf(out, "%s%s", i > 0 ? ", " : "",
                json_object_get_string(json_object_array_get_idx(overrides, i)));
    oche_text_stream_close(out);
    return text;
}

/*
 * Adds a run to the document of its scenario; the runs of a comparison have a document of their
 * own. The first run makes the document.
 */
static void add_run(struct json_object *documents, struct json_object *run)
{
    struct json_object *info = json_object_object_get(run, "info"), *document = NULL;
    const char *scenario = text_of(info, "scenario"), *compared = text_of(info, "compared");
    char *overrides = shared_overrides(run);

    for (size_t i = 0; document == NULL && i < json_object_array_length(documents); i++) {
        struct json_object *one = json_object_array_get_idx(documents, i);

        if (strcmp(text_of(one, "kind"), "runs") == 0 &&
            strcmp(text_of(one, "scenario"), scenario) == 0 &&
            strcmp(text_of(one, "compared"), compared) == 0 &&
            strcmp(text_of(one, "overrides"), overrides) == 0)
            document = one;
    }
    if (document == NULL) {
        document = document_of("runs");
        oche_json_add_text(document, "scenario", scenario);
        oche_json_add_text(document, "compared", compared);
        oche_json_add_text(document, "overrides", overrides);
        oche_json_add(document, "runs", oche_json_array(0));
        oche_json_push(documents, document);
    }
    oche_json_push(json_object_object_get(document, "runs"), run);
    free(overrides);
}

/* Adds the file at `path`; `name` is the part of it that the report shows. */
static bool add_file_to(struct json_object *documents, const char *path, const char *name,
                        struct oche_error *error)
{
    struct oche_report_source source;
    enum kind kind = FOREIGN;
    struct json_object *json = NULL;

    if (oche_report_source_open(&source, path, error))
        kind = kind_of(&source);
    if (kind == RUN)
        json = oche_report_run(&source);
    else if (kind != FOREIGN)
        json = kind == FIGURE ? oche_report_figure(&source) : oche_report_sweep(&source);
    oche_report_source_close(&source);
    if (source.failed) {
        json_object_put(json);
        return false;
    }
    if (json == NULL)
        return true; /* a file of another program is left out */
    oche_json_add_text(json, "file", name);
    if (kind == RUN) {
        add_run(documents, json);
    } else {
        oche_json_add_text(json, "kind", kind == FIGURE ? "figure" : "sweep");
        oche_json_push(documents, json);
    }
    return true;
}

static bool is_file(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/*
 * Finds the results at `place`, which is a folder to search or one results file. Sets *skip to the
 * length of what all paths begin with: that folder, or the folder of that file.
 */
static bool find_in(const char *place, struct files *files, size_t *skip, struct oche_error *error)
{
    const char *slash = strrchr(place, '/');

    if (is_file(place)) {
        char *path = strdup(place);

        OCHE_GOT(path != NULL);
        add_file(files, path);
        *skip = slash != NULL ? (size_t)(slash + 1 - place) : 0;
        return true;
    }
    *skip = strlen(place) + 1;
    if (!find_files(place, DEEP, files))
        return oche_fail(error, "%s: cannot be read: %s; " GIVE, place, strerror(errno));
    if (files->count > 0)
        qsort(files->paths, files->count, sizeof(*files->paths), by_name);
    return true;
}

static bool has_figure(struct json_object *documents)
{
    for (size_t i = 0; i < json_object_array_length(documents); i++)
        if (strcmp(text_of(json_object_array_get_idx(documents, i), "kind"), "figure") == 0)
            return true;
    return false;
}

char *oche_report_data(const char *place, const char *program, const char *command,
                       oche_report_recorded *recorded, size_t *bytes, struct oche_error *error)
{
    struct files files = {0};
    struct json_object *data, *documents = oche_json_array(0), *verdicts = NULL;
    char *text = NULL;
    size_t skip;
    bool ok = find_in(place, &files, &skip, error);

    for (size_t i = 0; ok && i < files.count; i++)
        ok = add_file_to(documents, files.paths[i], files.paths[i] + skip, error);
    free_files(&files);
    if (ok && json_object_array_length(documents) == 0) {
        oche_fail(error, "%s: has no results; " GIVE, place);
        ok = false;
    }
    if (ok && recorded != NULL && has_figure(documents))
        ok = recorded(&verdicts, error);
    data = oche_json_object();
    oche_json_add_text(data, "program", program);
    oche_json_add_text(data, "command", command);
    oche_json_add(data, "grid", oche_sample_grid_json());
    oche_json_add(data, "documents", documents);
    if (verdicts != NULL)
        oche_json_add(data, "recorded", verdicts);
    if (ok)
        text = oche_json_for_html(data, bytes);
    json_object_put(data);
    return text;
}

bool oche_report_write(const char *path, const char *page, const char *data,
                       struct oche_error *error)
{
    const char *mark = strstr(page, OCHE_REPORT_MARK);
    struct stat status;
    char *part = NULL;

    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return oche_fail(error, "%s: is a folder; give a file, such as %s/report.html", path, path);
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        return oche_fail(error, "%s: is not a file; give the name of a file", path);
    if (mark == NULL)
        return oche_fail(error, "%s: cannot be made: the page has no place for data", path);
    OCHE_GOT(asprintf(&part, "%s.part", path) >= 0);
    FILE *out = oche_part_create(part);
    bool ok = out != NULL && fwrite(page, 1, (size_t)(mark - page), out) == (size_t)(mark - page) &&
              fputs(data, out) >= 0 && fputs(mark + strlen(OCHE_REPORT_MARK), out) >= 0;

    if (out != NULL && fclose(out) != 0)
        ok = false;
    ok = ok && rename(part, path) == 0;
    if (!ok) {
        oche_fail(error, "%s: cannot be written: %s; give a place that can be", path,
                  strerror(errno));
        if (out != NULL)
            unlink(part);
    }
    free(part);
    return ok;
}
