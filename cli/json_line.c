/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/json_line.h"

#include <stdlib.h>

void oche_json_print(struct json_object *object, FILE *out)
{
    size_t bytes;
    char *text = oche_json_for_html(object, &bytes);

    fputs(text, out);
    free(text);
    json_object_put(object);
}
