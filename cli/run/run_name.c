/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/run_name.h"

#include <stdio.h>
#include <string.h>

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
