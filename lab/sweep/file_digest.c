/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/sweep/file_digest.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/input_file.h"
#include "sim/graph/schedule_file.h"

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);

    return length >= tail && strcmp(text + length - tail, end) == 0;
}

bool oche_names_file(const char *key)
{
    /* an adapter's name is no file; if it names a file, the file is what counts */
    return ends_with(key, ".file") || ends_with(key, "_file") || ends_with(key, ".nic");
}

static void mix(uint64_t *hash, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *hash = (*hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
}

static bool mix_file(uint64_t *hash, const char *path)
{
    char bytes[4096];
    size_t count;
    FILE *in = oche_input_is_regular(path) ? fopen(path, "rb") : NULL;

    if (in == NULL)
        return false;
    while ((count = fread(bytes, 1, sizeof(bytes), in)) > 0)
        mix(hash, bytes, count);
    bool ok = !ferror(in);

    fclose(in);
    return ok;
}

/* Mixes the files of all ranks. */
static bool mix_traces(uint64_t *hash, const char *path)
{
    bool good = true;
    char *file;

    for (uint32_t rank = 0; good && (file = oche_chakra_file(path, rank)) != NULL; rank++) {
        good = mix_file(hash, file);
        free(file);
    }
    return good;
}

bool oche_file_digest(const char *path, uint64_t *hash)
{
    const struct oche_input_file *pipe = oche_input_of_pipe(path);

    *hash = UINT64_C(0xcbf29ce484222325);
    if (pipe != NULL) {
        mix(hash, pipe->text, pipe->bytes);
        return true;
    }
    return oche_chakra_is_trace(path) ? mix_traces(hash, path) : mix_file(hash, path);
}
