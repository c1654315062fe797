/* SPDX-License-Identifier: Apache-2.0 */
/* Prints all parameters, or the effective values of a scenario. */
#include "cli/run/show_defaults.h"

#include <stdlib.h>

void oche_show_schema(FILE *out)
{
    struct oche_schema *schema = calloc(1, sizeof(*schema));

    OCHE_GOT(schema != NULL);
    oche_schema_make(schema);
    oche_sections_print(schema->sections, schema->section_count, out);
    free(schema);
}

static void print_line(void *context, const char *key, const char *value, const char *unit,
                       bool given)
{
    FILE *out = context;

    fprintf(out, "%-48s %-24s %-7s%s\n", key, value[0] != '\0' ? value : "–", unit,
            given ? " given" : "");
}

void oche_show_effective(const struct oche_scenario *scenario, FILE *out)
{
    fprintf(out, "%-48s %-24s %-7s\n", "key, as for --set", "value", "unit");
    oche_bindings_each(&scenario->bindings, print_line, out);
}
