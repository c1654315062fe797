/* SPDX-License-Identifier: Apache-2.0 */
/* Prints JSON that was made with report/json.h. */
#ifndef OCHE_CLI_JSON_LINE_H
#define OCHE_CLI_JSON_LINE_H

#include <stdio.h>

#include "report/json.h"

/* Prints the object on one line, without a newline, and frees it. */
void oche_json_print(struct json_object *object, FILE *out);

#endif
