/* SPDX-License-Identifier: Apache-2.0 */
/* Parses schemes and their parameters from text. */
#include "params/scheme.h"

#include <stdio.h>
#include <string.h>

#include "core/cc/cc_advice.h"
#include "params/error.h"
#include "params/units.h"

#define TEXT_BYTES    1024
#define WORDS         64
#define MESSAGE_BYTES 300

/* The parameters of a scheme. */
struct tables {
    const struct oche_param_table *table;
    const struct oche_param_table *wire; /* the wire's, or NULL */
};

/* Returns the number of rows. Those of `wire` follow those of `table`. */
static size_t row_count(const struct tables *tables)
{
    return tables->table->count + (tables->wire != NULL ? tables->wire->count : 0);
}

static const struct oche_param *row_at(const struct tables *tables, size_t row)
{
    const size_t count = tables->table->count;

    return row < count ? &tables->table->params[row] : &tables->wire->params[row - count];
}

/*
 * Writes the error that the tables have no parameter `name`. The error names the parameter that was
 * probably meant or, if no parameter is similar, all parameters.
 */
static void no_parameter(const char *scheme, const struct tables *tables, const char *name,
                         struct oche_error *error)
{
    const char *words[WORDS], *near;
    size_t count = row_count(tables);

    for (size_t i = 0; i < count; i++)
        words[i] = row_at(tables, i)->name;
    if (count == 0) {
        oche_fail(error, "%s has no parameters", scheme);
        return;
    }
    near = oche_nearest_word(name, words, count);
    if (near != NULL)
        oche_fail(error, "%s has no parameter %s; did you mean %s?", scheme, name, near);
    else
        oche_fail(error, "%s has no parameter %s; docs/scenario-reference.md has them", scheme,
                  name);
}

/* Sets one parameter. `given` notes which parameters the text had before. */
static bool set_param(const char *scheme, const struct tables *tables, void *params, char *text,
                      uint64_t *given, struct oche_error *error)
{
    const size_t rows = row_count(tables);
    char *equals = strchr(text, '=');
    struct oche_error what;
    size_t row = 0;
    union oche_value value;

    if (equals != NULL)
        *equals = '\0';
    while (row < rows && strcmp(row_at(tables, row)->name, text) != 0)
        row++;
    if (row == rows) {
        no_parameter(scheme, tables, text, error);
        return false;
    }
    const struct oche_param *param = row_at(tables, row);
    if (equals == NULL)
        return oche_fail(error, "%s: no value; %s=VALUE is meant", text, text);
    if (param->unit == OCHE_UNIT_TEXT) /* nothing here would own the text */
        return oche_fail(error, "%s can only be set in a scenario", text);
    if (!oche_value_parse(param, equals + 1, &value, &what))
        return oche_fail(error, "%s: %s", text, what.text);
    const uint64_t bit = UINT64_C(1) << row;
    if (*given & bit)
        return oche_fail(error, "%s is there twice; give it once", text);
    *given |= bit;
    oche_param_set(param, params, value);
    return true;
}

/*
 * Fills in the defaults: the papers', unless `text` has preset=deployed. (Its times are for
 * networks where a mark is answered within microseconds; the wire's are a thousand times as long.)
 * set_param rejects a wrong preset.
 */
static void read_defaults(const struct oche_param_table *table, union oche_scheme_params *params,
                          const char *text)
{
    static const char key[] = OCHE_PRESET "=";
    const char *deployed = oche_preset_names[OCHE_PRESET_DEPLOYED];
    enum oche_preset preset = OCHE_PRESET_PAPER;

    for (const char *at = text; (at = strstr(at, key)) != NULL; at += strlen(key)) {
        const char *value = at + strlen(key);
        size_t length = strcspn(value, ",");

        if ((at == text || at[-1] == ',') && length == strlen(deployed) &&
            memcmp(value, deployed, length) == 0)
            preset = OCHE_PRESET_DEPLOYED;
    }
    oche_param_preset(table, preset, params);
}

/* Fills in the defaults and the values in `rest` of the text. `given`: bit i: it has row i. */
static bool read_params(const char *scheme, const struct tables *tables,
                        union oche_scheme_params *params, char *rest, uint64_t *given,
                        struct oche_error *error)
{
    *given = 0;
    if (tables->table->struct_bytes > sizeof(*params) || row_count(tables) > WORDS)
        return oche_fail(error, "%s: too many parameters", scheme);
    read_defaults(tables->table, params, rest != NULL ? rest : "");
    for (char *next; (next = strtok_r(NULL, ",", &rest)) != NULL;)
        if (!set_param(scheme, tables, params, next, given, error))
            return false;
    return true;
}

/* False, with an error, if `text` is too long, or has a comma with nothing before or after it. */
static bool is_list(const char *text, struct oche_error *error)
{
    size_t length = strlen(text);

    if (length >= TEXT_BYTES)
        return oche_fail(error, "more than %d characters", TEXT_BYTES - 1);
    if (length > 0 && (text[0] == ',' || text[length - 1] == ',' || strstr(text, ",,") != NULL))
        return oche_fail(error, "%.40s: a comma with nothing before or after it; leave it out",
                         text);
    return true;
}

/*
 * Returns the name at the beginning of `text`; *rest becomes the parameters. Returns NULL, with an
 * error, if `text` is no list.
 */
static const char *cut_name(const char *text, char *copy, char **rest, struct oche_error *error)
{
    const char *name;

    if (!is_list(text, error))
        return NULL;
    strcpy(copy, text);
    name = strtok_r(copy, ",", rest);
    return name != NULL ? name : "";
}

/* True if the table has a choice of presets, and its bit is set in `given`. */
static bool names_preset(const struct oche_param_table *table, uint64_t given)
{
    const struct oche_param *preset = oche_param_find(table, OCHE_PRESET);

    return preset != NULL && (given >> (preset - table->params) & 1) != 0;
}

bool oche_recovery_parse(struct oche_recovery_choice *choice, const char *text,
                         struct oche_error *error)
{
    char copy[TEXT_BYTES], names[OCHE_SCHEME_NAMES_BYTES], *rest = NULL;
    const char *name = cut_name(text, copy, &rest, error);
    uint64_t given;

    if (name == NULL)
        return false;
    choice->recovery = oche_recovery_find(name);
    if (choice->recovery == NULL)
        return oche_fail(error, "%s: no such loss recovery; there are %s", name,
                         oche_recovery_names(names, sizeof(names)));
    const struct tables tables = {&choice->recovery->table, &choice->recovery->wire_table};
    if (!read_params(name, &tables, &choice->params, rest, &given, error))
        return false;
    choice->free = names_preset(&choice->recovery->table, given) ? 0 : ~given;
    return true;
}

/*
 * Returns the error in the parameters, or NULL. Parameters that a device adapts to its network are
 * checked with their adapted values.
 */
static const char *wrong_with(const struct oche_cc_choice *choice)
{
    const struct oche_cc_network network = {.line_rate_bps = 100 * OCHE_GBPS};
    union oche_scheme_params fitted = choice->params;

    if (choice->cc->check == NULL)
        return NULL;
    if (choice->cc->advice != NULL && choice->cc->advice->fit != NULL)
        choice->cc->advice->fit(&fitted, choice->free, &network);
    return choice->cc->check(&fitted);
}

bool oche_cc_parse(struct oche_cc_choice *choice, const char *text, struct oche_error *error)
{
    char copy[TEXT_BYTES], names[OCHE_SCHEME_NAMES_BYTES], *rest = NULL;
    const char *name = cut_name(text, copy, &rest, error), *wrong;
    uint64_t given;

    if (name == NULL)
        return false;
    choice->cc = oche_cc_find(name);
    if (choice->cc == NULL || !choice->cc->runs_on_wire)
        return oche_fail(error, "%s%s; choose one of %s", name,
                         choice->cc == NULL ? ": no such congestion control"
                                            : " needs switches that no network has",
                         oche_cc_names(names, sizeof(names)));
    const struct tables tables = {&choice->cc->table, NULL};
    if (!read_params(name, &tables, &choice->params, rest, &given, error))
        return false;
    choice->free = names_preset(&choice->cc->table, given) ? 0 : ~given;
    wrong = wrong_with(choice);
    if (wrong != NULL)
        oche_fail(error, "%s: %s", name, wrong);
    return wrong == NULL;
}

bool oche_params_parse(const char *name, const struct oche_param_table *table,
                       union oche_scheme_params *params, const char *text, struct oche_error *error)
{
    const struct tables tables = {table, NULL};
    char copy[TEXT_BYTES];
    uint64_t given;

    if (!is_list(text, error))
        return false;
    strcpy(copy, text);
    return read_params(name, &tables, params, copy, &given, error);
}

/* ---- names ---- */

const char *oche_cc_names(char *names, size_t bytes)
{
    size_t at = 0;

    names[0] = '\0';
    for (size_t i = 0; i < oche_cc_scheme_count && at < bytes; i++)
        if (oche_cc_schemes[i]->runs_on_wire)
            at += (size_t)snprintf(names + at, bytes - at, "%s%s", at > 0 ? ", " : "",
                                   oche_cc_schemes[i]->name);
    return names;
}

const char *oche_recovery_names(char *names, size_t bytes)
{
    size_t at = 0;

    names[0] = '\0';
    for (size_t i = 0; i < oche_recovery_scheme_count && at < bytes; i++)
        at += (size_t)snprintf(names + at, bytes - at, "%s%s", at > 0 ? ", " : "",
                               oche_recovery_schemes[i]->name);
    return names;
}
