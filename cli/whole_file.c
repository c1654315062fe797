/* SPDX-License-Identifier: Apache-2.0 */
/* Files that are never seen half written. */
#include "cli/whole_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base.h"

static void forget(struct oche_whole_file *file)
{
    free(file->path);
    free(file->part);
    *file = (struct oche_whole_file){.out = NULL};
}

bool oche_whole_file_begin(struct oche_whole_file *file, const char *path, char *error,
                           size_t error_bytes)
{
    struct stat there;

    *file = (struct oche_whole_file){.out = NULL};
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode)) {
        snprintf(error, error_bytes, "%s: not a plain file; give the name of a new one", path);
        return false;
    }
    file->path = strdup(path);
    OCHE_MUST(file->path != NULL && asprintf(&file->part, "%s.part", path) >= 0);
    file->out = fopen(file->part, "w");
    if (file->out != NULL)
        return true;
    snprintf(error, error_bytes, "%s: cannot be written: %s; give a place that can be", path,
             strerror(errno));
    forget(file);
    return false;
}

bool oche_whole_file_end(struct oche_whole_file *file, char *error, size_t error_bytes)
{
    bool failed = ferror(file->out) != 0;
    bool fine = fclose(file->out) == 0 && !failed && rename(file->part, file->path) == 0;

    if (!fine) {
        snprintf(error, error_bytes, "%s: cannot be written: %s; give a place that can be",
                 file->path, strerror(errno));
        unlink(file->part);
    }
    forget(file);
    return fine;
}

void oche_whole_file_abandon(struct oche_whole_file *file)
{
    if (file->out == NULL)
        return;
    fclose(file->out);
    unlink(file->part);
    forget(file);
}
