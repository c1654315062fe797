/* SPDX-License-Identifier: Apache-2.0 */
/* The models of `oche fluid`, and their keys. */
#include "lab/fluid/model.h"

#include <stdlib.h>
#include <string.h>

#include "core/cc/cc.h"
#include "params/error.h"
#include "params/units.h"

#define LINE_COLUMNS 78

const char *const oche_fluid_names[OCHE_FLUID_NAMES + 1] = {
    [OCHE_FLUID_DCQCN] = "dcqcn",
    [OCHE_FLUID_TIMELY] = "timely",
    [OCHE_FLUID_TIMELY_PATCHED] = "timely_patched",
};

/* ---- rows ---- */

/*
 * Adds the rows of a table, with their defaults. From DCQCN's tables, takes only the parameters
 * that the model has.
 */
static void add_rows(struct oche_fluid_model *model, const struct oche_param_table *table,
                     void *values)
{
    oche_param_defaults(table, values);
    for (size_t i = 0; i < table->count; i++) {
        struct oche_dcqcn_model scratch = {0};
        const struct oche_param *param = &table->params[i];

        if (model->name == OCHE_FLUID_DCQCN &&
            !oche_dcqcn_model_set(&scratch, param, param->preset))
            continue;
        OCHE_MUST(model->row_count < OCHE_FLUID_MOST_ROWS);
        model->rows[model->row_count++] = (struct oche_fluid_row){param, values, NULL};
    }
}

void oche_fluid_model_init(struct oche_fluid_model *model, enum oche_fluid_name name)
{
    const struct oche_param_table *scheme = &oche_cc_find("dcqcn")->table;

    *model = (struct oche_fluid_model){.name = name};
    model->scheme = calloc(1, scheme->struct_bytes);
    OCHE_GOT(model->scheme != NULL);
    if (name == OCHE_FLUID_DCQCN) {
        add_rows(model, &oche_dcqcn_link_params, &model->link);
        add_rows(model, &oche_switch_params, &model->switches);
        add_rows(model, scheme, model->scheme);
    } else {
        add_rows(model,
                 name == OCHE_FLUID_TIMELY ? &oche_timely_params : &oche_timely_patched_params,
                 &model->timely_params);
    }
}

void oche_fluid_model_free(struct oche_fluid_model *model)
{
    free(model->scheme);
    model->scheme = NULL;
}

static struct oche_fluid_row *find(struct oche_fluid_model *model, const char *key, size_t length)
{
    for (size_t i = 0; i < model->row_count; i++)
        if (strlen(model->rows[i].param->name) == length &&
            memcmp(model->rows[i].param->name, key, length) == 0)
            return &model->rows[i];
    return NULL;
}

bool oche_fluid_model_has(const struct oche_fluid_model *model, const char *key)
{
    for (size_t i = 0; i < model->row_count; i++)
        if (strcmp(model->rows[i].param->name, key) == 0)
            return true;
    return false;
}

static void unknown_key(const struct oche_fluid_model *model, const char *assignment,
                        const char *key, struct oche_error *error)
{
    const char *names[OCHE_FLUID_MOST_ROWS];

    for (size_t i = 0; i < model->row_count; i++)
        names[i] = model->rows[i].param->name;
    const char *nearest = oche_nearest_word(key, names, model->row_count);

    if (nearest != NULL)
        oche_fail(error, "--set %s: the model %s has no %s; did you mean \"%s\"?", assignment,
                  oche_fluid_names[model->name], key, nearest);
    else
        oche_fail(error, "--set %s: the model %s has no %s; --show-defaults lists all", assignment,
                  oche_fluid_names[model->name], key);
}

bool oche_fluid_model_set(struct oche_fluid_model *model, const char *assignment,
                          struct oche_error *error)
{
    const char *equals = strchr(assignment, '=');
    union oche_value value;
    struct oche_error why;

    if (equals == NULL || equals == assignment)
        return oche_fail(error, "--set %s: not KEY=VALUE; write it as kmin=10KB", assignment);
    struct oche_fluid_row *row = find(model, assignment, (size_t)(equals - assignment));

    if (row == NULL) {
        char *key = strndup(assignment, (size_t)(equals - assignment));

        OCHE_GOT(key != NULL);
        unknown_key(model, assignment, key, error);
        free(key);
        return false;
    }
    if (!oche_value_parse(row->param, equals + 1, &value, &why))
        return oche_fail(error, "--set %s: %s", assignment, why.text);
    oche_param_set(row->param, row->values, value);
    row->given = assignment;
    return true;
}

/* ---- the model itself ---- */

bool oche_fluid_model_check(struct oche_fluid_model *model, struct oche_error *error)
{
    const char *wrong;

    if (model->name == OCHE_FLUID_DCQCN) {
        model->dcqcn = (struct oche_dcqcn_model){0};
        for (size_t i = 0; i < model->row_count; i++)
            oche_dcqcn_model_set(&model->dcqcn, model->rows[i].param,
                                 oche_param_get(model->rows[i].param, model->rows[i].values));
        wrong = oche_dcqcn_model_check(&model->dcqcn);
    } else {
        model->timely =
            oche_timely_model(&model->timely_params, model->name == OCHE_FLUID_TIMELY_PATCHED);
        wrong = oche_timely_params_check(&model->timely_params);
    }
    if (wrong == NULL)
        return true;
    const struct oche_fluid_row *row = find(model, wrong, strcspn(wrong, ":"));

    return oche_fail(error, "%s%s%s%s", row != NULL && row->given != NULL ? "--set " : "",
                     row != NULL && row->given != NULL ? row->given : "",
                     row != NULL && row->given != NULL ? ": " : "", wrong);
}

double oche_fluid_model_capacity(const struct oche_fluid_model *model)
{
    return model->name == OCHE_FLUID_DCQCN ? model->dcqcn.capacity : model->timely.capacity;
}

double oche_fluid_model_packet(const struct oche_fluid_model *model)
{
    return model->name == OCHE_FLUID_DCQCN ? model->dcqcn.packet : model->timely.packet;
}

double oche_fluid_model_delay(const struct oche_fluid_model *model)
{
    return model->name == OCHE_FLUID_DCQCN ? model->dcqcn.delay : model->timely.delay;
}

void oche_fluid_model_set_delay(struct oche_fluid_model *model, double delay_s)
{
    model->dcqcn.delay = model->timely.delay = delay_s;
}

struct oche_fluid *oche_fluid_model_create(const struct oche_fluid_model *model,
                                           const struct oche_fluid_flow *flows, size_t count,
                                           const struct oche_fluid_options *options)
{
    if (model->name == OCHE_FLUID_DCQCN)
        return oche_dcqcn_fluid_create(&model->dcqcn, flows, count, options);
    return oche_timely_fluid_create(&model->timely, flows, count, options);
}

/* ---- output ---- */

void oche_fluid_row_value(const struct oche_fluid_row *row, char *text, size_t bytes)
{
    oche_value_format(row->param, oche_param_get(row->param, row->values), text, bytes);
}

const char *oche_fluid_row_unit(const struct oche_fluid_row *row)
{
    return oche_unit_name(row->param->unit);
}

void oche_fluid_model_show(const struct oche_fluid_model *model, FILE *out)
{
    fprintf(out, "%s: keys for --set\n", oche_fluid_names[model->name]);
    for (size_t i = 0; i < model->row_count; i++) {
        const struct oche_param *param = model->rows[i].param;
        char value[OCHE_VALUE_BYTES], range[4 * OCHE_VALUE_BYTES];

        oche_fluid_row_value(&model->rows[i], value, sizeof(value));
        oche_value_range(param, range, sizeof(range));
        fprintf(out, "  %-20s %-10s %-6s %-22s %s\n      %s\n", param->name, value,
                oche_unit_name(param->unit), range, param->where, param->help);
    }
}

void oche_fluid_model_print(const struct oche_fluid_model *model, FILE *out)
{
    size_t column = 0;

    for (size_t i = 0; i < model->row_count; i++) {
        const char *name = model->rows[i].param->name;
        char value[OCHE_VALUE_BYTES], word[2 * OCHE_VALUE_BYTES];

        if (strcmp(name, "capacity") == 0 || strcmp(name, "packet") == 0 ||
            strcmp(name, "delay") == 0)
            continue;
        oche_fluid_row_value(&model->rows[i], value, sizeof(value));
        size_t length = (size_t)snprintf(word, sizeof(word), "%s %s%s", name, value,
                                         i + 1 < model->row_count ? "," : "");

        if (column == 0 || column + length + 1 > LINE_COLUMNS) {
            fputs(column == 0 ? "  " : "\n  ", out);
            column = 1;
        } else {
            fputc(' ', out);
        }
        fputs(word, out);
        column += length + 1;
    }
    fputc('\n', out);
}
