/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/place.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"
#include "params/text_stream.h"

#define LONGEST_NAME 100 /* bytes of a name, without its digest */

struct name {
    FILE *out;
    size_t length;
    char last;
    bool changed; /* a character was left out or replaced */
};

static void add(struct name *name, char c)
{
    if (name->length == LONGEST_NAME) {
        name->changed = true;
        return;
    }
    fputc(c, name->out);
    name->length++;
    name->last = c;
}

/*
 * Adds an override. "workload[0].load=70%" becomes "workload.0.load=70%", which means the same.
 * Other characters that are not plain become one "_".
 */
static void add_override(struct name *name, const char *set)
{
    bool in_key = true;

    for (const char *c = set; *c != '\0'; c++) {
        in_key = in_key && *c != '=';
        if (isalnum((unsigned char)*c) || strchr(".-+=%_", *c) != NULL) {
            add(name, *c);
        } else if (in_key && *c == '[' && isdigit((unsigned char)c[1])) {
            add(name, '.');
        } else if (!in_key || *c != ']') {
            name->changed = true;
            if (name->last != '_')
                add(name, '_');
        }
    }
}

static uint64_t digest_of(const char *const *sets, size_t count)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < count; i++)
        for (const char *c = sets[i];; c++) {
            hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
            if (*c == '\0')
                break;
        }
    return hash;
}

char *oche_overrides_name(const char *const *sets, size_t count)
{
    char *text = NULL;
    size_t bytes;
    struct name name = {.out = oche_text_stream_open(&text, &bytes)};

    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            add(&name, ',');
        add_override(&name, sets[i]);
    }
    if (name.changed)
        fprintf(name.out, "%s%08" PRIx64, name.last == '_' ? "" : "_",
                digest_of(sets, count) >> 32);
    oche_text_stream_close(name.out);
    return text;
}

char *oche_overrides_folder(const char *base, const char *const *sets, size_t count)
{
    char *name = count > 0 ? oche_overrides_name(sets, count) : NULL, *folder = NULL;

    OCHE_GOT(asprintf(&folder, "%s%s%s", base, name != NULL ? "/" : "", name != NULL ? name : "") >=
             0);
    free(name);
    return folder;
}

char *oche_repeat_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = NULL;

    OCHE_GOT(asprintf(&folder, "%.*srepeat", slash != NULL ? (int)(slash + 1 - path) : 0, path) >=
             0);
    return folder;
}
