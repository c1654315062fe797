/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the report's data is written with: json-c, with numbers as short as a chart needs them, and
 * text that may stand inside an HTML page.
 */
#ifndef OCHE_REPORT_JSON_H
#define OCHE_REPORT_JSON_H

#include <json-c/json.h>

#include "core/base.h"

/* A number with five significant digits; null when it is not finite. */
struct json_object *oche_json_real(double value);
/* Likewise with nine, for numbers that are read and not drawn: they are rounded once. */
struct json_object *oche_json_exact(double value);
/* A text, or null for NULL. */
struct json_object *oche_json_text(const char *text);

/* Adds to an object; `key` is a constant that the object has not yet. The value is taken over. */
void oche_json_add(struct json_object *object, const char *key, struct json_object *value);
void oche_json_add_text(struct json_object *object, const char *key, const char *text);
void oche_json_add_real(struct json_object *object, const char *key, double value);
void oche_json_add_int(struct json_object *object, const char *key, uint64_t value);
/* Adds to an array. */
void oche_json_push(struct json_object *array, struct json_object *value);
void oche_json_push_real(struct json_object *array, double value);

/*
 * The whole as text without a '<' in it, so that nothing in it can end the element of HTML that it
 * stands in. malloc'd; *bytes long, and ended by a NUL.
 */
char *oche_json_for_html(struct json_object *json, size_t *bytes);

#endif
