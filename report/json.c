/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the report's data as JSON. */
#include "report/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/printable.h"

static struct json_object *made(struct json_object *object)
{
    OCHE_GOT(object != NULL);
    return object;
}

struct json_object *oche_json_object(void)
{
    return made(json_object_new_object());
}

struct json_object *oche_json_array(int count)
{
    return made(count > 0 ? json_object_new_array_ext(count) : json_object_new_array());
}

struct json_object *oche_json_int(int64_t value)
{
    return made(json_object_new_int64(value));
}

struct json_object *oche_json_truth(bool value)
{
    return made(json_object_new_boolean(value));
}

static struct json_object *number(double value, int digits)
{
    char text[32];

    if (!isfinite(value))
        return NULL;
    snprintf(text, sizeof(text), "%.*g", digits, value);
    return made(json_object_new_double_s(value, text));
}

struct json_object *oche_json_real(double value)
{
    return number(value, 5);
}

struct json_object *oche_json_exact(double value)
{
    return number(value, 9);
}

struct json_object *oche_json_text(const char *text)
{
    if (text == NULL)
        return NULL;
    char *lines = oche_printable_lines(text);

    OCHE_GOT(lines != NULL);
    struct json_object *object = made(json_object_new_string(lines));

    free(lines);
    return object;
}

void oche_json_add(struct json_object *object, const char *key, struct json_object *value)
{
    char *lines = oche_printable_lines(key);

    OCHE_GOT(lines != NULL && json_object_object_add(object, lines, value) == 0);
    free(lines);
}

void oche_json_add_text(struct json_object *object, const char *key, const char *text)
{
    oche_json_add(object, key, oche_json_text(text));
}

void oche_json_add_real(struct json_object *object, const char *key, double value)
{
    oche_json_add(object, key, oche_json_real(value));
}

void oche_json_add_int(struct json_object *object, const char *key, uint64_t value)
{
    int64_t fits = value > INT64_MAX ? INT64_MAX : (int64_t)value;

    oche_json_add(object, key, oche_json_int(fits));
}

void oche_json_push(struct json_object *array, struct json_object *value)
{
    OCHE_GOT(json_object_array_add(array, value) == 0);
}

void oche_json_push_real(struct json_object *array, double value)
{
    oche_json_push(array, oche_json_real(value));
}

char *oche_json_for_html(struct json_object *json, size_t *bytes)
{
    static const char escape[] = "\\u003c";
    size_t before, length, extra = 0;

    /*
     * Without memory json-c leaves out a part, and reports no error. Nothing was left out if the
     * text is complete, and has the same length a second time, when its memory exists.
     */
    OCHE_GOT(json_object_to_json_string_length(json, JSON_C_TO_STRING_PLAIN, &before) != NULL);
    const char *text = json_object_to_json_string_length(json, JSON_C_TO_STRING_PLAIN, &length);

    OCHE_GOT(text != NULL && length == before && length > 0 && text[length - 1] == '}');
    for (size_t i = 0; i < length; i++)
        extra += text[i] == '<' ? sizeof(escape) - 2 : 0;
    char *out = malloc(length + extra + 1), *to = out;

    OCHE_GOT(out != NULL);
    /* In JSON a '<' can only be in a string. */
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '<') {
            memcpy(to, escape, sizeof(escape) - 1);
            to += sizeof(escape) - 1;
        } else {
            *to++ = text[i];
        }
    }
    *to = '\0';
    *bytes = length + extra;
    return out;
}
