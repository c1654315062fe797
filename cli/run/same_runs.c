/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/same_runs.h"

#include <stdio.h>
#include <stdlib.h>

#include "report/json.h"

char *oche_same_runs_member(const struct oche_outcome *outcomes, size_t count)
{
    if (count < 2)
        return NULL;
    size_t *first = oche_outcomes_same(outcomes, count);
    struct json_object *groups = oche_json_array(0);
    char *member = NULL;

    for (size_t i = 0; i < count; i++) {
        struct json_object *labels = oche_json_array(0);

        for (size_t j = i; j < count; j++)
            if (first[j] == i)
                oche_json_push(labels, oche_json_text(outcomes[j].label));
        if (json_object_array_length(labels) > 1)
            oche_json_push(groups, labels);
        else
            json_object_put(labels);
    }
    OCHE_GOT(asprintf(&member, "\"same_runs\":%s",
                      json_object_to_json_string_ext(groups, JSON_C_TO_STRING_PLAIN)) >= 0);
    json_object_put(groups);
    free(first);
    return member;
}
