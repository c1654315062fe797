/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/results_json.h"

#include <stdio.h>
#include <stdlib.h>

#include "params/text_stream.h"
#include "store/json.h"

bool oche_print_json(const char *list, char *const *paths, size_t count, const char *more,
                     struct oche_error *error)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = oche_text_stream_open(&text, &bytes);
    bool ok = true;

    if (list != NULL)
        fprintf(out, "{%s%s\"%s\":[", more != NULL ? more : "", more != NULL ? "," : "", list);
    for (size_t i = 0; ok && i < count; i++) {
        if (i > 0)
            fputc(',', out);
        ok = oche_results_json(paths[i], out, error);
    }
    fputs(list != NULL ? "]}\n" : "\n", out);
    oche_text_stream_close(out);
    if (ok)
        fputs(text, stdout);
    free(text);
    return ok;
}
