/* SPDX-License-Identifier: Apache-2.0 */
/* Writes and reads the files of points. */
#include "lab/sweep/point_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/sweep/grid_files.h"
#include "lab/sweep/grid_text.h"
#include "params/error.h"
#include "params/part_file.h"
#include "store/store.h"
#include "sim/scenario/scenario.h"
#include "params/input_file.h"

#define HEAD_BYTES 64

/* FNV-1a, including the text's terminating 0. */
static uint64_t mix(uint64_t hash, const char *text)
{
    do {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    } while (*text++ != '\0');
    return hash;
}

static uint64_t identity_of(const struct oche_grid *grid, const char *program,
                            const struct oche_scenario *scenario)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    char *text = oche_grid_text(grid), *files = oche_grid_files(grid), seed[32];

    snprintf(seed, sizeof(seed), "%" PRIu64, grid->seed_base);
    hash = mix(hash, program);
    hash = mix(hash, oche_document_text(scenario->document));
    hash = mix(hash, text);
    hash = mix(hash, files);
    hash = mix(hash, seed);
    free(text);
    free(files);
    return hash;
}

bool oche_point_files_open(struct oche_point_files *files, const struct oche_grid *grid,
                           const char *program, const char *folder, struct oche_error *error)
{
    size_t count;
    char **sets = oche_grid_sets(grid, 0, &count);
    struct oche_scenario *scenario =
        oche_scenario_open(grid->scenario, (const char *const *)sets, count, error);

    oche_grid_sets_free(sets, count);
    *files = (struct oche_point_files){.grid = grid};
    if (scenario == NULL)
        return false;
    files->identity = identity_of(grid, program, scenario);
    OCHE_GOT(asprintf(&files->folder, "%s/points", folder) >= 0);
    oche_scenario_close(scenario);
    return true;
}

void oche_point_files_close(struct oche_point_files *files)
{
    free(files->folder);
    files->folder = NULL;
}

static char *path_of(const struct oche_point_files *files, size_t point)
{
    char *path = NULL;

    OCHE_GOT(asprintf(&path, "%s/%zu.point", files->folder, point) >= 0);
    return path;
}

static void head_of(const struct oche_point_files *files, size_t point, char *head)
{
    snprintf(head, HEAD_BYTES, "point %zu of grid %016" PRIx64 "\n", point, files->identity);
}

/* Writes the file under its temporary name. Returns true if it is complete and on the disk. */
static bool write_part(const struct oche_point_files *files, size_t point,
                       const struct oche_point_result *result, const char *part)
{
    char head[HEAD_BYTES];
    FILE *out = oche_part_create(part);

    if (out == NULL)
        return false;
    head_of(files, point, head);
    bool ok = fputs(head, out) >= 0 && oche_point_write(result, out) && fsync(fileno(out)) == 0;

    return fclose(out) == 0 && ok;
}

bool oche_point_files_write(const struct oche_point_files *files, size_t point,
                            const struct oche_point_result *result, struct oche_error *error)
{
    char *path = path_of(files, point), *part = NULL, host[64] = "";

    if (!oche_results_folder(files->folder, error)) {
        free(path);
        return false;
    }
    /* the host's name is part of the temporary name, because two machines may run the same point */
    gethostname(host, sizeof(host) - 1);
    OCHE_GOT(asprintf(&part, "%s.%s.%d.part", path, host, (int)getpid()) >= 0);
    bool ok = write_part(files, point, result, part) && rename(part, path) == 0;

    if (!ok) {
        oche_fail(error, "%s: cannot be written: %s", path, strerror(errno));
        unlink(part);
    }
    free(part);
    free(path);
    return ok;
}

/* Reads the first line, which identifies the grid and point of the file. */
static enum oche_point_file look_at_head(const struct oche_point_files *files, size_t point,
                                         FILE *in)
{
    char head[HEAD_BYTES], line[HEAD_BYTES] = "";
    const char *grid;

    head_of(files, point, head);
    if (fgets(line, sizeof(line), in) == NULL)
        return OCHE_POINT_FILE_BROKEN;
    if (strcmp(line, head) == 0)
        return OCHE_POINT_FILE_READ;
    grid = strstr(head, " of grid");
    if (strlen(line) >= strlen(grid) && strcmp(line + strlen(line) - strlen(grid), grid) == 0)
        return OCHE_POINT_FILE_BROKEN;
    return OCHE_POINT_FILE_FOREIGN;
}

enum oche_point_file oche_point_files_read(const struct oche_point_files *files, size_t point,
                                           struct oche_point_result *result)
{
    char *path = path_of(files, point);
    struct oche_error reason;
    FILE *in = oche_input_stream(path, &reason);
    enum oche_point_file state = OCHE_POINT_FILE_NONE;

    free(path);
    if (in == NULL)
        return state;
    state = look_at_head(files, point, in);
    if (state == OCHE_POINT_FILE_READ && !oche_point_read(result, in))
        state = OCHE_POINT_FILE_BROKEN;
    fclose(in);
    return state;
}

bool oche_point_files_free(const struct oche_point_files *files, size_t point,
                           struct oche_error *error)
{
    char *path = path_of(files, point);
    struct oche_error reason;
    FILE *in = oche_input_stream(path, &reason);
    bool ok = in == NULL || look_at_head(files, point, in) != OCHE_POINT_FILE_FOREIGN;

    if (!ok)
        oche_fail(error,
                  "%s: is of another grid, scenario or program; give another --out, or remove it",
                  path);
    if (in != NULL)
        fclose(in);
    free(path);
    return ok;
}
