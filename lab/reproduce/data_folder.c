/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/reproduce/data_folder.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"

/* Returns the folder of the running program (malloc'd); NULL if the folder is unknown. */
static char *program_folder(void)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

    if (length <= 0)
        return NULL;
    path[length] = '\0';
    *strrchr(path, '/') = '\0';
    return strdup(path);
}

static bool is_folder(const char *path)
{
    struct stat facts;

    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

/*
 * Returns the folder `name` of the sources (malloc'd) if the program in the folder `program` was
 * built from them: at their place at that time or, if the whole tree was copied, in the copy. NULL
 * for a program elsewhere.
 */
static char *folder_of_sources(const char *program, const char *name)
{
    const char *below = OCHE_BUILD_ROOT;
    const size_t length = strlen(OCHE_SOURCE_ROOT), whole = strlen(program);
    char *path = NULL, *file = NULL;

    OCHE_GOT(asprintf(&path, OCHE_SOURCE_ROOT "/%s", name) >= 0);
    if (strcmp(program, OCHE_BUILD_ROOT) == 0 && is_folder(path))
        return path;
    free(path);
    if (strncmp(below, OCHE_SOURCE_ROOT "/", length + 1) != 0)
        return NULL;
    below += length;
    const size_t end = strlen(below);
    if (whole < end || strcmp(program + whole - end, below) != 0)
        return NULL;
    OCHE_GOT(asprintf(&path, "%.*s/%s", (int)(whole - end), program, name) >= 0);
    OCHE_GOT(asprintf(&file, "%.*s/meson.build", (int)(whole - end), program) >= 0);
    if (!is_folder(path) || access(file, R_OK) != 0) {
        free(path);
        path = NULL;
    }
    free(file);
    return path;
}

char *oche_data_folder(const char *name)
{
    char *program = program_folder(), *path = NULL;

    if (program != NULL) {
        path = folder_of_sources(program, name);
        if (path == NULL) {
            OCHE_GOT(asprintf(&path, "%s/../share/oche/%s", program, name) >= 0);
            if (!is_folder(path)) {
                free(path);
                path = NULL;
            }
        }
        free(program);
    }
    if (path == NULL)
        OCHE_GOT(asprintf(&path, OCHE_DATA_FOLDER "/oche/%s", name) >= 0);
    return path;
}
