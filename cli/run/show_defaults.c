/* SPDX-License-Identifier: Apache-2.0 */
/* Prints all parameters, or the effective values of a scenario. */
#include "cli/run/show_defaults.h"

#include <stdlib.h>
#include <string.h>

#include "lab/measures/unfit.h"
#include "params/units.h"
#include "sim/world/derived.h"
#include "params/printable.h"
#include "sim/scenario/idle_keys.h"

void oche_show_schema(FILE *out)
{
    struct oche_schema *schema = calloc(1, sizeof(*schema));

    OCHE_GOT(schema != NULL);
    oche_schema_make(schema);
    oche_sections_print(schema->sections, schema->section_count, out);
    free(schema);
}

struct show {
    const struct oche_world *world;
    FILE *out;
};

const char *oche_show_value(const struct oche_world *world, const char *key, const char *value,
                            char *text, size_t bytes)
{
    char derived[128];

    if (strcmp(key, "duration") == 0 && strcmp(value, "0") == 0) {
        snprintf(text, bytes, "0 (until delivered)");
        return text;
    }
    bool may_be_derived = strcmp(value, "auto") == 0 || strcmp(value, "0") == 0;

    if (world != NULL && may_be_derived &&
        oche_world_derived(world, key, derived, sizeof(derived)) && strcmp(derived, value) != 0)
        snprintf(text, bytes, "%s (%s)", value, derived);
    else
        snprintf(text, bytes, "%s", value);
    return text;
}

static void print_line(void *context, const char *key, const char *value, const char *unit,
                       bool given)
{
    const struct show *show = context;
    char text[1024], shown[1024];

    oche_show_value(show->world, key, value[0] != '\0' ? value : "–", text, sizeof(text));
    oche_printable(text, shown, sizeof(shown));
    fprintf(show->out, "%-48s %-24s %-7s%s\n", key, shown, unit, given ? " given" : "");
}

/* Prints the mode that decides a scheme's `auto`. */
static void print_mode(const struct oche_world_config *config, FILE *out)
{
    const struct oche_param *mode =
        config->endpoint == NULL ? oche_param_find(&config->cc->table, "mode") : NULL;
    char value[OCHE_VALUE_BYTES];

    if (mode == NULL)
        return;
    oche_value_show(mode, oche_param_get(mode, config->cc_params), value, sizeof(value));
    fprintf(out, "\ncongestion_control.mode, here %s: %s [%s]\n", value, mode->help, mode->where);
}

/* Prints for each workload if it ends by itself, and the effect on the run. */
static void print_ends(const struct oche_world_config *config, FILE *out)
{
    for (uint32_t i = 0; i < config->workload_count; i++) {
        const struct oche_workload_config *workload = &config->workloads[i];
        bool goes_on = oche_workload_endless(workload->type, workload->params) != NULL;

        fprintf(out, "%sworkload[%u], %s: %s%s\n", i == 0 ? "\n" : "", i, workload->type->name,
                goes_on ? "goes on for as long as the run" : "ends by itself",
                config->run.duration > 0 ? ""
                : goes_on                ? ", which ends with the others"
                                         : ", and the run with it");
    }
}

void oche_show_effective(const struct oche_scenario *scenario, const struct oche_world *world,
                         FILE *out)
{
    fprintf(out, "%-48s %-24s %-7s\n", "key, as for --set", "value", "unit");
    oche_bindings_each(&scenario->bindings, print_line, &(struct show){world, out});
    print_mode(&scenario->config, out);
    print_ends(&scenario->config, out);

    struct oche_unfit unfit;
    struct oche_idle_keys idle;

    if (world == NULL)
        return;
    oche_unfit_take(&unfit, world);
    for (unsigned i = 0; i < unfit.count; i++)
        fprintf(out, "%s%s.\n", i == 0 ? "\n" : "", unfit.text[i]);
    oche_idle_keys_find(scenario, &idle);
    for (unsigned i = 0; i < idle.count; i++)
        fprintf(out, "%s%s.\n", i == 0 && unfit.count == 0 ? "\n" : "", idle.text[i]);
}
