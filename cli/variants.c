/* SPDX-License-Identifier: Apache-2.0 */
/* Parses --compare. */
#include "cli/variants.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"
#include "params/error.h"
#include "params/units.h"

static bool is_known(const struct oche_variants *variants, const char *value)
{
    for (size_t i = 0; i < variants->count; i++)
        if (strcmp(variants->values[i], value) == 0)
            return true;
    return false;
}

/* Adds the values in `text`. Returns NULL, or the error in them. */
static const char *add_values(struct oche_variants *variants, const char *text)
{
    for (;;) {
        size_t length = oche_value_length(text);
        char *value = strndup(text, length);

        OCHE_GOT(value != NULL);
        if (length == 0 || is_known(variants, value)) {
            free(value);
            return length == 0 ? "has an empty value" : "has the same value twice";
        }
        variants->values =
            realloc(variants->values, (variants->count + 1) * sizeof(*variants->values));
        OCHE_GOT(variants->values != NULL);
        variants->values[variants->count++] = value;
        if (text[length] == '\0')
            return variants->count < 2 ? "has only one value" : NULL;
        text += length + 1;
    }
}

bool oche_variants_read(struct oche_variants *variants, const char *argument,
                        struct oche_error *error)
{
    const char *equals = strchr(argument, '='), *wrong = "has no key or no values";

    *variants = (struct oche_variants){.count = 0};
    if (equals != NULL && equals != argument) {
        variants->key = strndup(argument, (size_t)(equals - argument));
        OCHE_GOT(variants->key != NULL);
        wrong = add_values(variants, equals + 1);
    }
    if (wrong == NULL)
        return true;
    oche_fail(error, "--compare %s: %s; write it as congestion_control=dcqcn,none", argument,
              wrong);
    oche_variants_free(variants);
    return false;
}

void oche_variants_free(struct oche_variants *variants)
{
    for (size_t i = 0; i < variants->count; i++)
        free(variants->values[i]);
    free(variants->values);
    free(variants->key);
    *variants = (struct oche_variants){.count = 0};
}

char *oche_file_name_of(const char *text)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+=";
    char *name = strdup(text[0] != '\0' ? text : "_");

    OCHE_GOT(name != NULL);
    for (char *c = name; *c != '\0'; c++)
        if (strchr(plain, *c) == NULL || (c == name && (*c == '.' || *c == '-')))
            *c = '_';
    return name;
}
