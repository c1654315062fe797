/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/source.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/sweep/file_digest.h"
#include "params/text_stream.h"

#define PROGRAM "oche " OCHE_VERSION

/* ---- files that a scenario names ---- */

static bool is_same_file(const char *path, const char *digest, bool *readable)
{
    char text[32];
    uint64_t hash;

    if (!oche_file_digest(path, &hash))
        return false;
    *readable = true;
    snprintf(text, sizeof(text), "%016" PRIx64, hash);
    return strcmp(text, digest) == 0;
}

/* Returns the path of a file beside the results file (malloc'd). */
static char *beside(const char *results, const char *path)
{
    const char *slash = strrchr(results, '/'), *name = strrchr(path, '/');
    char *there = NULL;

    OCHE_GOT(asprintf(&there, "%.*s%s", slash != NULL ? (int)(slash + 1 - results) : 0, results,
                      name != NULL ? name + 1 : path) >= 0);
    return there;
}

/* Returns the override "KEY='PATH'" (malloc'd), quoted for YAML. */
static char *override_of(const char *key, const char *path)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = oche_text_stream_open(&text, &bytes);

    fprintf(out, "%s='", key);
    for (; *path != '\0'; path++)
        fprintf(out, "%s%c", *path == '\'' ? "'" : "", *path);
    fputc('\'', out);
    oche_text_stream_close(out);
    return text;
}

/*
 * Finds a recorded file at its old path, or beside the results. Returns NULL, with an error, if
 * there is none.
 */
static char *find_file(const char *results, const struct oche_recorded_file *file,
                       struct oche_error *error)
{
    char *there = beside(results, file->path), *found = NULL;
    bool readable = false;

    if (is_same_file(file->path, file->digest, &readable))
        found = override_of(file->key, file->path);
    else if (is_same_file(there, file->digest, &readable))
        found = override_of(file->key, there);
    else
        oche_fail(error, "%s: %s: %s %s; put the file of that run there, or beside the results",
                  results, file->key, file->path,
                  readable ? "has changed since that run" : "cannot be read");
    free(there);
    return found;
}

/* True if the override gives the key, or a section or an entry that contains it. */
static bool gives(const char *set, const char *key)
{
    for (; *set != '=' && *set != '\0'; set++, key++) {
        set += *set == ']'; /* workload[0].file is workload.0.file */
        key += *key == ']';
        if (*set == '=')
            break;
        if (*set != *key && !(strchr("[.", *set) != NULL && (*key == '[' || *key == '.')))
            return false;
    }
    key += *key == ']';
    return *key == '\0' || *key == '.' || *key == '[';
}

static bool is_given(const char *const *sets, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (gives(sets[i], key))
            return true;
    return false;
}

/* ---- opening ---- */

bool oche_run_source_read(struct oche_run_source *source, const char *path, const char *const *sets,
                          size_t count, struct oche_error *error)
{
    *source = (struct oche_run_source){.path = path, .is_recorded = oche_is_database(path)};
    if (!source->is_recorded)
        return true;
    if (!oche_recorded_read(&source->recorded, path, error))
        return false;
    source->files = calloc(source->recorded.file_count + 1, sizeof(*source->files));
    OCHE_GOT(source->files != NULL);
    for (size_t i = 0; i < source->recorded.file_count; i++) {
        if (is_given(sets, count, source->recorded.files[i].key))
            continue;
        source->files[i] = find_file(path, &source->recorded.files[i], error);
        if (source->files[i] == NULL)
            return false;
    }
    return true;
}

void oche_run_source_free(struct oche_run_source *source)
{
    for (size_t i = 0; source->files != NULL && i < source->recorded.file_count; i++)
        free(source->files[i]);
    free(source->files);
    oche_recorded_free(&source->recorded);
    *source = (struct oche_run_source){.path = NULL};
}

struct oche_scenario *oche_run_source_open(const struct oche_run_source *source,
                                           const char *const *sets, size_t count, bool refused_too,
                                           struct oche_mistakes *mistakes)
{
    const struct oche_recorded *recorded = &source->recorded;
    struct oche_scenario_input input = {
        .name = source->path, .sets = sets, .set_count = count, .refused_too = refused_too};

    if (!source->is_recorded)
        return oche_scenario_read(&input, mistakes);
    const char **all =
        calloc(recorded->override_count + recorded->file_count + count + 1, sizeof(*all));
    size_t made = 0;

    OCHE_GOT(all != NULL);
    for (size_t i = 0; i < recorded->override_count; i++)
        all[made++] = recorded->overrides[i];
    for (size_t i = 0; i < recorded->file_count; i++)
        if (source->files[i] != NULL)
            all[made++] = source->files[i];
    for (size_t i = 0; i < count; i++)
        all[made++] = sets[i];
    input.name = recorded->scenario_file;
    input.text = recorded->scenario_text;
    input.bytes = strlen(recorded->scenario_text);
    input.sets = all;
    input.set_count = made;
    struct oche_scenario *scenario = oche_scenario_read(&input, mistakes);

    free(all);
    return scenario;
}

/* ---- recording ---- */

static void store_file(void *context, const char *key, const char *value, const char *unit,
                       bool given)
{
    uint64_t digest;

    (void)unit;
    (void)given;
    if (!oche_names_file(key) || value[0] == '\0' || !oche_file_digest(value, &digest))
        return;
    char *whole = realpath(value, NULL);

    oche_results_file(context, key, whole != NULL ? whole : value, digest);
    free(whole);
}

void oche_run_source_store(const struct oche_run_source *source, const char *const *sets,
                           size_t count, const struct oche_scenario *scenario,
                           struct oche_results *results)
{
    for (size_t i = 0; i < source->recorded.override_count; i++)
        oche_results_override(results, source->recorded.overrides[i]);
    for (size_t i = 0; i < count; i++)
        oche_results_override(results, sets[i]);
    oche_bindings_each(&scenario->bindings, store_file, results);
}

/* ---- repeating ---- */

char *oche_run_source_compare(const struct oche_run_source *source,
                              const struct oche_outcome *outcome, bool *same)
{
    const struct oche_recorded *recorded = &source->recorded;
    char hash[32], *line = NULL;

    snprintf(hash, sizeof(hash), "%016" PRIx64, outcome->totals.hash);
    *same = strcmp(hash, recorded->trace_hash) == 0;
    if (*same)
        OCHE_GOT(asprintf(&line, "same hash as %s: %s", source->path, hash) >= 0);
    else if (outcome->end == OCHE_END_INTERRUPTED || strcmp(recorded->status, "interrupted") == 0)
        OCHE_GOT(asprintf(&line, "differs from %s: %s run was interrupted", source->path,
                          outcome->end == OCHE_END_INTERRUPTED ? "this" : "that") >= 0);
    else if (strcmp(recorded->program, PROGRAM) != 0)
        OCHE_GOT(asprintf(&line,
                          "differs from %s: version: this is " PROGRAM ", that was %s; "
                          "hash %s, was %s",
                          source->path, recorded->program, hash, recorded->trace_hash) >= 0);
    else
        OCHE_GOT(asprintf(&line, "differs from %s: hash %s, was %s, by the same version",
                          source->path, hash, recorded->trace_hash) >= 0);
    return line;
}
