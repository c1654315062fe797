/* SPDX-License-Identifier: Apache-2.0 */
/* The chips of fabric/chips.c, for the command line. */
#include "cli/buffers/presets.h"

#include <string.h>

#include "params/figures.h"
#include "params/table.h"
#include "params/units.h"

const struct oche_chip *oche_buffers_preset_find(const char *name, const char **nearest)
{
    const char *names[32];

    OCHE_MUST(oche_chip_count <= OCHE_COUNT_OF(names));
    for (size_t i = 0; i < oche_chip_count; i++) {
        if (strcmp(oche_chips[i].name, name) == 0)
            return &oche_chips[i];
        names[i] = oche_chips[i].name;
    }
    *nearest = oche_nearest_word(name, names, oche_chip_count);
    return NULL;
}

struct json_object *oche_buffers_presets_json(void)
{
    struct json_object *json = oche_json_object(), *list = oche_json_array(0);

    for (size_t i = 0; i < oche_chip_count; i++) {
        const struct oche_chip *preset = &oche_chips[i];
        struct json_object *one = oche_json_object();

        oche_json_add_text(one, "preset", preset->name);
        oche_json_add_text(one, "chip", preset->chip);
        oche_json_add_int(one, "buffer_bytes", preset->buffer_bytes);
        oche_json_add_int(one, "ports", preset->ports);
        oche_json_add_int(one, "rate_bps", preset->rate_bps);
        oche_json_add(one, "sure", oche_json_truth(preset->sure));
        oche_json_add_text(one, "source", preset->source);
        oche_json_add_text(one, "note", preset->note);
        oche_json_push(list, one);
    }
    oche_json_add_text(json, "kind", "presets");
    oche_json_add(json, "presets", list);
    return json;
}

void oche_buffers_presets_print(FILE *out)
{
    struct oche_table *table = oche_table_create(4);

    oche_table_cell(table, "preset");
    oche_table_cell(table, "memory");
    oche_table_cell(table, "ports");
    oche_table_cell(table, "sure");
    oche_table_rule(table);
    for (size_t i = 0; i < oche_chip_count; i++) {
        const struct oche_chip *preset = &oche_chips[i];

        oche_table_cell(table, "%s", preset->name);
        oche_table_cell(table, "%s", oche_figure_bytes(preset->buffer_bytes).text);
        oche_table_cell(table, "%u x %s", preset->ports, oche_figure_rate(preset->rate_bps).text);
        oche_table_cell(table, "%s", preset->sure ? "yes" : "no");
    }
    oche_table_print(table, out);
    oche_table_free(table);
    fputs(
        "\nsure: yes is from the maker of the chip or of a switch with it, no is second hand. The\n"
        "chips, and where their memory's size stands:\n",
        out);
    for (size_t i = 0; i < oche_chip_count; i++) {
        fprintf(out, "  %-10s %s\n             %s\n", oche_chips[i].name, oche_chips[i].chip,
                oche_chips[i].source);
        if (oche_chips[i].note != NULL)
            fprintf(out, "             %s\n", oche_chips[i].note);
    }
}
