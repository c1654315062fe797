/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing the fields that a parameter table describes. */
#include "core/param.h"

#include <string.h>

void oche_param_set(const struct oche_param *param, void *values, union oche_value value)
{
    char *field = (char *)values + param->offset;

    switch (param->unit) {
    case OCHE_UNIT_COUNT:
    case OCHE_UNIT_BYTES:
    case OCHE_UNIT_BPS:
    case OCHE_UNIT_TIME:
        memcpy(field, &value.u, sizeof(value.u));
        return;
    case OCHE_UNIT_REAL:
        memcpy(field, &value.real, sizeof(value.real));
        return;
    case OCHE_UNIT_BOOL: {
        bool flag = value.u != 0;
        memcpy(field, &flag, sizeof(flag));
        return;
    }
    case OCHE_UNIT_CHOICE: {
        uint32_t index = (uint32_t)value.u;
        memcpy(field, &index, sizeof(index));
        return;
    }
    case OCHE_UNIT_TEXT:
        memcpy(field, &value.text, sizeof(value.text));
        return;
    }
}

union oche_value oche_param_get(const struct oche_param *param, const void *values)
{
    const char *field = (const char *)values + param->offset;
    union oche_value value = {.u = 0};

    switch (param->unit) {
    case OCHE_UNIT_COUNT:
    case OCHE_UNIT_BYTES:
    case OCHE_UNIT_BPS:
    case OCHE_UNIT_TIME:
        memcpy(&value.u, field, sizeof(value.u));
        break;
    case OCHE_UNIT_REAL:
        memcpy(&value.real, field, sizeof(value.real));
        break;
    case OCHE_UNIT_BOOL: {
        bool flag;
        memcpy(&flag, field, sizeof(flag));
        value.u = flag;
        break;
    }
    case OCHE_UNIT_CHOICE: {
        uint32_t index;
        memcpy(&index, field, sizeof(index));
        value.u = index;
        break;
    }
    case OCHE_UNIT_TEXT:
        memcpy(&value.text, field, sizeof(value.text));
        break;
    }
    return value;
}

void oche_param_defaults(const struct oche_param_table *table, void *values)
{
    oche_param_preset(table, OCHE_PRESET_PAPER, values);
}

const char *const oche_preset_names[] = {
    [OCHE_PRESET_PAPER] = "paper", [OCHE_PRESET_DEPLOYED] = "deployed", NULL};

union oche_value oche_param_default(const struct oche_param_table *table,
                                    const struct oche_param *param, enum oche_preset preset)
{
    if (preset == OCHE_PRESET_DEPLOYED && table->deployed_count > 0) {
        if (strcmp(param->name, OCHE_PRESET) == 0)
            return (union oche_value){.u = OCHE_PRESET_DEPLOYED};
        for (size_t i = 0; i < table->deployed_count; i++)
            if (strcmp(table->deployed[i].name, param->name) == 0)
                return table->deployed[i].value;
    }
    return param->preset;
}

void oche_param_preset(const struct oche_param_table *table, enum oche_preset preset, void *values)
{
    memset(values, 0, table->struct_bytes);
    for (size_t i = 0; i < table->count; i++)
        oche_param_set(&table->params[i], values,
                       oche_param_default(table, &table->params[i], preset));
}

const struct oche_param *oche_param_find(const struct oche_param_table *table, const char *name)
{
    for (size_t i = 0; i < table->count; i++)
        if (strcmp(table->params[i].name, name) == 0)
            return &table->params[i];
    return NULL;
}

bool oche_param_is_free(const struct oche_param_table *table, uint64_t free, const char *name)
{
    const struct oche_param *param = oche_param_find(table, name);

    return param != NULL && (free >> (param - table->params) & 1) != 0;
}

void oche_param_fit(const struct oche_param_table *table, void *values, uint64_t free,
                    const char *name, uint64_t value)
{
    const struct oche_param *param = oche_param_find(table, name);

    OCHE_MUST(param != NULL && table->count <= 64);
    if (!oche_param_is_free(table, free, name))
        return;
    if (param->unit != OCHE_UNIT_BOOL && value < param->minimum.u)
        value = param->minimum.u;
    if (param->unit != OCHE_UNIT_BOOL && value > param->maximum.u)
        value = param->maximum.u;
    oche_param_set(param, values, (union oche_value){.u = value});
}

bool oche_param_in_range(const struct oche_param *param, union oche_value value)
{
    switch (param->unit) {
    case OCHE_UNIT_COUNT:
    case OCHE_UNIT_BYTES:
    case OCHE_UNIT_BPS:
    case OCHE_UNIT_TIME:
        if ((param->automatic && value.u == UINT64_MAX) || (param->zero_is_auto && value.u == 0))
            return true;
        return value.u >= param->minimum.u && value.u <= param->maximum.u;
    case OCHE_UNIT_REAL:
        return value.real >= param->minimum.real && value.real <= param->maximum.real;
    case OCHE_UNIT_BOOL:
    case OCHE_UNIT_CHOICE:
    case OCHE_UNIT_TEXT:
        return true;
    }
    return false;
}
