/* SPDX-License-Identifier: Apache-2.0 */
/* Writes files that are never visible half written. */
#include "cli/whole_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/interrupted.h"
#include "core/base.h"
#include "params/error.h"
#include "params/part_file.h"

static void forget(struct oche_whole_file *file)
{
    oche_remove_if_interrupted(OCHE_UNFINISHED_TABLE, NULL);
    free(file->path);
    free(file->part);
    *file = (struct oche_whole_file){.out = NULL};
}

bool oche_whole_file_begin(struct oche_whole_file *file, const char *path, struct oche_error *error)
{
    struct stat there;

    *file = (struct oche_whole_file){.out = NULL};
    if (stat(path, &there) == 0 && !S_ISREG(there.st_mode))
        return oche_fail(error, "%s: not a plain file; give the name of a new one", path);
    file->path = strdup(path);
    OCHE_GOT(file->path != NULL && asprintf(&file->part, "%s.part", path) >= 0);
    oche_remove_if_interrupted(OCHE_UNFINISHED_TABLE, file->part);
    file->out = oche_part_create(file->part);
    if (file->out != NULL)
        return true;
    oche_fail(error, "%s: cannot be written: %s; give a place that can be", path, strerror(errno));
    forget(file);
    return false;
}

bool oche_whole_file_end(struct oche_whole_file *file, struct oche_error *error)
{
    bool failed = ferror(file->out) != 0;
    bool fine = fclose(file->out) == 0 && !failed && rename(file->part, file->path) == 0;

    if (!fine) {
        oche_fail(error, "%s: cannot be written: %s; give a place that can be", file->path,
                  strerror(errno));
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
