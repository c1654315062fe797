/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the report's data is written: with json-c, numbers no longer than a chart needs, and text
 * that is safe inside an HTML page.
 */
#ifndef OCHE_REPORT_JSON_H
#define OCHE_REPORT_JSON_H

#include <json-c/json.h>

#include "core/base.h"

/* Returns a number with five significant digits; null if it is not finite. */
struct json_object *oche_json_real(double value);
/*
 * Likewise with nine digits, for numbers that are read and not drawn: these are rounded only once.
 */
struct json_object *oche_json_exact(double value);
/* Returns a text, or null for NULL. */
struct json_object *oche_json_text(const char *text);

/*
 * Add to an object; `key` is a constant that the object does not have yet. The value is taken over.
 */
void oche_json_add(struct json_object *object, const char *key, struct json_object *value);
void oche_json_add_text(struct json_object *object, const char *key, const char *text);
void oche_json_add_real(struct json_object *object, const char *key, double value);
void oche_json_add_int(struct json_object *object, const char *key, uint64_t value);
/* Add to an array. */
void oche_json_push(struct json_object *array, struct json_object *value);
void oche_json_push_real(struct json_object *array, double value);

/*
 * Returns the whole as text (malloc'd, *bytes long, ended by a NUL) without a '<', so that nothing
 * in it can end the HTML element that contains it.
 */
char *oche_json_for_html(struct json_object *json, size_t *bytes);

#endif
