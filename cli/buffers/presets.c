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
