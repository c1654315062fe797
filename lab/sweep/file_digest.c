/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/sweep/file_digest.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);

    return length >= tail && strcmp(text + length - tail, end) == 0;
}

bool oche_names_file(const char *key)
{
    return ends_with(key, ".file") || ends_with(key, "_file");
}

bool oche_file_digest(const char *path, uint64_t *hash)
{
    struct stat status;

    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) /* a pipe can be read once only */
        return false;
    FILE *in = fopen(path, "rb");
    unsigned char bytes[4096];
    size_t count;

    if (in == NULL)
        return false;
    *hash = UINT64_C(0xcbf29ce484222325);
    while ((count = fread(bytes, 1, sizeof(bytes), in)) > 0)
        for (size_t i = 0; i < count; i++)
            *hash = (*hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    bool ok = !ferror(in);

    fclose(in);
    return ok;
}
