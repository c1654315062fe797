/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery schemes, parameters and times from text. */
#include "tests/support/scheme.h"

#include <stdio.h>
#include <string.h>

#include "sim/scenario/units.h"

static bool set_param(struct scheme *scheme, char *text, char *error, size_t error_bytes)
{
    char *equals = strchr(text, '=');
    union oche_value value;

    if (equals == NULL) {
        snprintf(error, error_bytes, "%s: no value; KEY=VALUE", text);
        return false;
    }
    *equals = '\0';
    const struct oche_param *param = oche_param_find(&scheme->recovery->table, text);
    if (param == NULL) {
        snprintf(error, error_bytes, "%s has no parameter %s", scheme->recovery->name, text);
        return false;
    }
    if (!oche_value_parse(param, equals + 1, &value, error, error_bytes))
        return false;
    oche_param_set(param, &scheme->params, value);
    return true;
}

bool scheme_parse(struct scheme *scheme, char *text, char *error, size_t error_bytes)
{
    char *rest = NULL;
    const char *name = strtok_r(text, ",", &rest);

    scheme->recovery = name != NULL ? oche_recovery_find(name) : NULL;
    if (scheme->recovery == NULL) {
        snprintf(error, error_bytes, "%s: no such recovery", name != NULL ? name : "");
        return false;
    }
    if (scheme->recovery->table.struct_bytes > sizeof(scheme->params)) {
        snprintf(error, error_bytes, "%s: too many parameters", name);
        return false;
    }
    oche_param_defaults(&scheme->recovery->table, &scheme->params);
    for (char *next; (next = strtok_r(NULL, ",", &rest)) != NULL;)
        if (!set_param(scheme, next, error, error_bytes))
            return false;
    return true;
}

bool time_parse(const char *text, oche_time *time, char *error, size_t error_bytes)
{
    static const struct oche_param param = {
        .name = "time", .unit = OCHE_UNIT_TIME, .minimum.u = 0, .maximum.u = OCHE_NEVER};
    union oche_value value;

    if (!oche_value_parse(&param, text, &value, error, error_bytes))
        return false;
    *time = value.u;
    return true;
}
