/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the habits of an adapter; see nic.h. */
#include "params/nic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "params/units.h"

bool oche_nic_start(struct oche_nic_habits *habits, const char *profile, struct oche_error *error)
{
    const struct oche_nic_profile *found = oche_nic_profile_find(profile);
    const char *names[32];
    char list[256] = "";
    size_t used = 0;

    if (found != NULL) {
        oche_param_defaults(&oche_nic_habits_table, habits);
        oche_nic_profile_apply(found, habits);
        return true;
    }
    OCHE_MUST(oche_nic_profile_count <= OCHE_COUNT_OF(names));
    for (size_t i = 0; i < oche_nic_profile_count; i++) {
        names[i] = oche_nic_profiles[i]->name;
        used += (size_t)snprintf(list + used, used < sizeof(list) ? sizeof(list) - used : 0, "%s%s",
                                 i > 0 ? ", " : "", names[i]);
    }
    const char *near = oche_nearest_word(profile, names, oche_nic_profile_count);

    if (near != NULL)
        return oche_fail(error, "\"%.64s\" is no adapter; did you mean \"%s\"?", profile, near);
    return oche_fail(error, "\"%.64s\" is no adapter; write one of %s", profile, list);
}

static bool no_habit(const char *key, struct oche_error *error)
{
    const char *names[64], *near;

    OCHE_MUST(oche_nic_habits_table.count <= OCHE_COUNT_OF(names));
    for (size_t i = 0; i < oche_nic_habits_table.count; i++)
        names[i] = oche_nic_habits_table.params[i].name;
    near = oche_nearest_word(key, names, oche_nic_habits_table.count);
    if (near != NULL)
        return oche_fail(error, "%.64s: adapters have no such habit; did you mean %s?", key, near);
    return oche_fail(error, "%.64s: adapters have no such habit; `oche nic ideal --all` lists all",
                     key);
}

bool oche_nic_set(struct oche_nic_habits *habits, const char *key, const char *value,
                  struct oche_error *error)
{
    const struct oche_param *param = oche_param_find(&oche_nic_habits_table, key);
    struct oche_error why;
    union oche_value parsed;

    if (param == NULL)
        return no_habit(key, error);
    if (!oche_value_parse(param, value, &parsed, &why))
        return oche_fail(error, "%s: %s", key, why.text);
    oche_param_set(param, habits, parsed);
    return true;
}

static bool set_pair(struct oche_nic_habits *habits, char *pair, struct oche_error *error)
{
    char *equals = strchr(pair, '=');

    if (equals == NULL || equals == pair || equals[1] == '\0')
        return oche_fail(error, "\"%.64s\" is no KEY=VALUE; write a habit as key=value", pair);
    *equals = '\0';
    return oche_nic_set(habits, pair, equals + 1, error);
}

bool oche_nic_parse(struct oche_nic_habits *habits, const char *text, struct oche_error *error)
{
    char *copy = strdup(text), *rest = copy, *item;
    bool fine = true, first = true;

    OCHE_GOT(copy != NULL);
    oche_param_defaults(&oche_nic_habits_table, habits);
    while (fine && (item = strsep(&rest, ",")) != NULL) {
        item += strspn(item, " ");
        if (first && strchr(item, '=') == NULL)
            fine = oche_nic_start(habits, item, error);
        else
            fine = set_pair(habits, item, error);
        first = false;
    }
    free(copy);
    const char *wrong = fine ? oche_nic_habits_check(habits) : NULL;

    return fine && (wrong == NULL || oche_fail(error, "%s", wrong));
}

bool oche_nic_write(const struct oche_nic_habits *habits, char *text, size_t bytes)
{
    size_t used = (size_t)snprintf(text, bytes, "ideal");

    for (size_t i = 0; i < oche_nic_habits_table.count && used < bytes; i++) {
        const struct oche_param *param = &oche_nic_habits_table.params[i];
        const union oche_value value = oche_param_get(param, habits);
        char shown[OCHE_VALUE_BYTES];

        if (value.u == oche_param_default(&oche_nic_habits_table, param, OCHE_PRESET_PAPER).u)
            continue;
        oche_value_format(param, value, shown, sizeof(shown));
        used += (size_t)snprintf(text + used, bytes - used, ",%s=%s", param->name, shown);
    }
    return used < bytes;
}
