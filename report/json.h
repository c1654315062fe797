/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds the report's data with json-c: numbers have only the digits that a chart needs, and texts
 * cannot break the HTML page that contains them.
 */
#ifndef OCHE_REPORT_JSON_H
#define OCHE_REPORT_JSON_H

#include <json-c/json.h>

#include "core/base.h"

/* These return a new object, array (with room for `count` values; 0: unknown), number or truth. */
struct json_object *oche_json_object(void);
struct json_object *oche_json_array(int count);
struct json_object *oche_json_int(int64_t value);
struct json_object *oche_json_truth(bool value);
/* Returns a number with five significant digits; null if it is not finite. */
struct json_object *oche_json_real(double value);
/*
 * Returns a number with nine significant digits, for numbers that people read; null if it is not
 * finite. They are rounded only once, when they are shown.
 */
struct json_object *oche_json_exact(double value);
/* Returns a text as JSON; null if `text` is NULL. */
struct json_object *oche_json_text(const char *text);

/*
 * Add a value to an object, which then owns the value. `key` is a constant that the object does not
 * have yet.
 */
void oche_json_add(struct json_object *object, const char *key, struct json_object *value);
void oche_json_add_text(struct json_object *object, const char *key, const char *text);
void oche_json_add_real(struct json_object *object, const char *key, double value);
void oche_json_add_int(struct json_object *object, const char *key, uint64_t value);
/* Add a value to an array, which then owns the value. */
void oche_json_push(struct json_object *array, struct json_object *value);
void oche_json_push_real(struct json_object *array, double value);

/*
 * Returns the JSON as text (malloc'd, *bytes long, ended by a NUL). The text contains no '<', so it
 * cannot end the HTML element that contains it.
 */
char *oche_json_for_html(struct json_object *json, size_t *bytes);

#endif
