/* SPDX-License-Identifier: Apache-2.0 */
/* Schemes, their parameters and times from text. */
#include "tests/support/scheme.h"

#include <stdio.h>
#include <string.h>

#include "sim/scenario/units.h"

static bool set_param(const char *scheme, const struct oche_param_table *table,
                      union scheme_params *params, char *text, char *error, size_t error_bytes)
{
    char *equals = strchr(text, '=');
    union oche_value value;

    if (equals == NULL) {
        snprintf(error, error_bytes, "%s: no value; KEY=VALUE", text);
        return false;
    }
    *equals = '\0';
    const struct oche_param *param = oche_param_find(table, text);
    if (param == NULL) {
        snprintf(error, error_bytes, "%s has no parameter %s", scheme, text);
        return false;
    }
    if (!oche_value_parse(param, equals + 1, &value, error, error_bytes))
        return false;
    oche_param_set(param, params, value);
    return true;
}

/* The defaults, and what `rest` of the text says. */
static bool read_params(const char *scheme, const struct oche_param_table *table,
                        union scheme_params *params, char *rest, char *error, size_t error_bytes)
{
    if (table->struct_bytes > sizeof(*params)) {
        snprintf(error, error_bytes, "%s: too many parameters", scheme);
        return false;
    }
    oche_param_defaults(table, params);
    for (char *next; (next = strtok_r(NULL, ",", &rest)) != NULL;)
        if (!set_param(scheme, table, params, next, error, error_bytes))
            return false;
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
    return read_params(name, &scheme->recovery->table, &scheme->params, rest, error, error_bytes);
}

bool congestion_parse(struct congestion_scheme *scheme, char *text, char *error, size_t error_bytes)
{
    char *rest = NULL;
    const char *name = strtok_r(text, ",", &rest);

    scheme->cc = name != NULL ? oche_cc_find(name) : NULL;
    if (scheme->cc == NULL) {
        snprintf(error, error_bytes, "%s: no such congestion control", name != NULL ? name : "");
        return false;
    }
    return read_params(name, &scheme->cc->table, &scheme->params, rest, error, error_bytes);
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
