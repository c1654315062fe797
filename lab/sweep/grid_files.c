/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files that a grid names and computes their digests. */
#include "lab/sweep/grid_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/sweep/file_digest.h"
#include "params/text_stream.h"
#include "sim/scenario/scenario.h"

struct files {
    char **texts; /* file name and digest: "flows.csv 5dbf0a1e6b2c3d4f" */
    size_t count;
};

/* Takes ownership of `text`. */
static void add(struct files *files, char *text)
{
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->texts[i], text) == 0) {
            free(text);
            return;
        }
    files->texts = realloc(files->texts, (files->count + 1) * sizeof(*files->texts));
    OCHE_GOT(files->texts != NULL);
    files->texts[files->count++] = text;
}

/* If the parameter names a file, adds the file. */
static void take_parameter(void *context, const char *key, const char *value, const char *unit,
                           bool given)
{
    const char *slash = strrchr(value, '/');
    char *text = NULL;
    uint64_t hash;

    (void)unit;
    (void)given;
    if (!oche_names_file(key) || value[0] == '\0' || !oche_file_digest(value, &hash))
        return;
    OCHE_GOT(asprintf(&text, "%s %016" PRIx64, slash != NULL ? slash + 1 : value, hash) >= 0);
    add(context, text);
}

static void look_at(struct files *files, const struct oche_grid *grid,
                    const struct oche_grid_place *place)
{
    struct oche_error ignored;
    size_t count;
    char **sets = oche_grid_sets(grid, oche_grid_number(grid, place), &count);
    struct oche_scenario *scenario =
        oche_scenario_open(grid->scenario, (const char *const *)sets, count, &ignored);

    oche_grid_sets_free(sets, count);
    if (scenario == NULL)
        return;
    oche_bindings_each(&scenario->bindings, take_parameter, files);
    oche_scenario_close(scenario);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

char *oche_grid_files(const struct oche_grid *grid)
{
    struct files files = {.count = 0};
    char *line = NULL;
    size_t bytes;
    FILE *out = oche_text_stream_open(&line, &bytes);

    look_at(&files, grid, &(struct oche_grid_place){.repeat = 0});
    for (size_t a = 0; a < grid->axis_count; a++)
        for (size_t v = 1; v < grid->axes[a].count; v++) {
            struct oche_grid_place place = {.repeat = 0};

            for (size_t i = 0; i < grid->axis_count; i++)
                place.value[i] = i == a || grid->zipped ? v : 0;
            look_at(&files, grid, &place);
        }
    if (files.count > 0)
        qsort(files.texts, files.count, sizeof(*files.texts), compare_texts);
    for (size_t i = 0; i < files.count; i++) {
        fprintf(out, "%s%s", i > 0 ? ", " : "", files.texts[i]);
        free(files.texts[i]);
    }
    free(files.texts);
    oche_text_stream_close(out);
    return line;
}
