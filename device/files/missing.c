/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that looks for a file which our devices do not have may fail with a message that does
 * not name it. So a line does. There is no line for files that programs only try, and do without:
 * those of the list below, and further entries of a table (gids/1).
 */
#include "device/files/missing.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "core/base.h"
#include "device/files/contents.h"
#include "device/files/tree.h"

#define LONGEST 512

/* Last parts of paths that are only tried. */
static const char *const tried[] = {
    "current_link_speed", "current_link_width", /* UCX: no limit by a bus, then */
    "modalias",                                 /* rdma-core's libibverbs, to find a driver */
};

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static bool is_optional(const char *name)
{
    if (strspn(name, "0123456789") == strlen(name))
        return true;
    for (size_t i = 0; i < OCHE_COUNT_OF(tried); i++)
        if (strcmp(name, tried[i]) == 0)
            return true;
    return false;
}

void oche_files_missing(const char *path, const char *asked)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const size_t above = strlen(OCHE_DEVICES_FOLDER);
    char shown[LONGEST];
    const char *name, *below;

    if (strncmp(path, OCHE_DEVICES_FOLDER "/", above + 1) != 0)
        return;
    name = path + above + 1;
    below = strchr(name, '/');
    if (below == NULL || is_optional(last_part(path)) || atomic_flag_test_and_set(&said))
        return;
    snprintf(shown, sizeof(shown), "%s", asked);
    for (char *at = shown; *at != '\0'; at++)
        if (*at < ' ' || *at > '~')
            *at = '?';
    oche_files_say("the program looks for %s, which oche's devices do not have", shown);
}
