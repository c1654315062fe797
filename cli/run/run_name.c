/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/run_name.h"

#include <stdio.h>
#include <string.h>

#include "lab/measures/outcome.h"

struct oche_run_name oche_run_name(const char *key, const char *value)
{
    struct oche_run_name name = {.text = ""};

    if (key == NULL)
        return name;
    if (strcmp(key, "congestion_control") == 0 || strcmp(key, "congestion_control.name") == 0)
        snprintf(name.text, sizeof(name.text), "%s", value);
    else
        snprintf(name.text, sizeof(name.text), "%s=%s", key, value);
    return name;
}

static bool is_none(const struct oche_outcome *outcome)
{
    return strcmp(outcome->scheme, "none") == 0;
}

struct oche_run_name oche_run_name_of(const char *key, const struct oche_outcome *outcome)
{
    struct oche_run_name name = oche_run_name(key, outcome->label);

    if (strcmp(name.text, "none") == 0 && is_none(outcome))
        snprintf(name.text, sizeof(name.text), "%s",
                 outcome->pfc ? "PFC alone" : "no congestion control");
    return name;
}

struct oche_run_name oche_run_scheme_name(const struct oche_outcome *outcome)
{
    struct oche_run_name name;

    snprintf(name.text, sizeof(name.text), "%s%s", outcome->scheme,
             is_none(outcome) && outcome->pfc ? " (PFC alone)" : "");
    return name;
}
