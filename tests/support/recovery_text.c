/* SPDX-License-Identifier: Apache-2.0 */
/* A scheme and its parameters from text. */
#include "tests/support/recovery_text.h"

#include <stdio.h>
#include <string.h>

#include "sim/scenario/units.h"

static bool set_one(struct recovery_choice *choice, char *pair, char *error, size_t error_bytes)
{
    char *equals = strchr(pair, '='), why[200];
    union oche_value value;

    if (equals != NULL)
        *equals = '\0';
    const struct oche_param *param = oche_param_find(&choice->scheme->table, pair);
    if (param == NULL || equals == NULL) {
        snprintf(error, error_bytes, "%s: %s has no such parameter, or it has no value", pair,
                 choice->scheme->name);
        return false;
    }
    if (!oche_value_parse(param, equals + 1, &value, why, sizeof(why))) {
        snprintf(error, error_bytes, "%s: %s", pair, why);
        return false;
    }
    oche_param_set(param, &choice->params, value);
    return true;
}

bool recovery_text_parse(const char *text, struct recovery_choice *choice, char *error,
                         size_t error_bytes)
{
    char copy[256], *rest = copy;

    if (strlen(text) >= sizeof(copy)) {
        snprintf(error, error_bytes, "too long");
        return false;
    }
    strcpy(copy, text);
    const char *name = strsep(&rest, ":");
    *choice = (struct recovery_choice){.scheme = oche_recovery_find(name)};
    if (choice->scheme == NULL) {
        snprintf(error, error_bytes, "%s: no such recovery scheme", name);
        return false;
    }
    OCHE_MUST(choice->scheme->table.struct_bytes <= sizeof(choice->params));
    oche_param_defaults(&choice->scheme->table, &choice->params);
    while (rest != NULL)
        if (!set_one(choice, strsep(&rest, ","), error, error_bytes))
            return false;
    return true;
}
