/* SPDX-License-Identifier: Apache-2.0 */
/* A stream into memory (fopencookie). */
#include "params/text_stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "core/base.h"

#define LEAST_BYTES 256

struct text {
    char **text;
    size_t *bytes, capacity;
};

static ssize_t add(void *cookie, const char *data, size_t bytes)
{
    struct text *to = cookie;

    if (to->capacity - *to->bytes <= bytes) {
        to->capacity = 2 * (to->capacity + bytes);
        *to->text = realloc(*to->text, to->capacity);
        OCHE_GOT(*to->text != NULL);
    }
    memcpy(*to->text + *to->bytes, data, bytes);
    *to->bytes += bytes;
    (*to->text)[*to->bytes] = '\0';
    return (ssize_t)bytes;
}

static int end(void *cookie)
{
    free(cookie);
    return 0;
}

FILE *oche_text_stream_open(char **text, size_t *bytes)
{
    struct text *to = malloc(sizeof(*to));
    FILE *out;

    OCHE_GOT(to != NULL && (*text = calloc(1, LEAST_BYTES)) != NULL);
    *bytes = 0;
    *to = (struct text){.text = text, .bytes = bytes, .capacity = LEAST_BYTES};
    out = fopencookie(to, "w", (cookie_io_functions_t){.write = add, .close = end});
    OCHE_GOT(out != NULL);
    return out;
}

void oche_text_stream_close(FILE *out)
{
    OCHE_GOT(fclose(out) == 0);
}
