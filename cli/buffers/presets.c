/* SPDX-License-Identifier: Apache-2.0 */
/* The chips of fabric/chips.c, and the paper's switch, for the command line. */
#include "cli/buffers/presets.h"

#include <string.h>

#include "params/figures.h"
#include "params/table.h"
#include "params/units.h"

#define PAPER_CHIP "trident2"
#define PAPER_IS   "the switch of DCQCN sec 4: 8 priorities, beta 8, headroom of 22.4 KB, MTU 1500"

const struct oche_chip *oche_buffers_preset_find(const char *name, const char **nearest)
{
    const char *names[32];

    OCHE_MUST(oche_chip_count < OCHE_COUNT_OF(names));
    if (strcmp(name, OCHE_BUFFERS_PAPER) == 0)
        return oche_chip_find(PAPER_CHIP);
    for (size_t i = 0; i < oche_chip_count; i++) {
        if (strcmp(oche_chips[i].name, name) == 0)
            return &oche_chips[i];
        names[i] = oche_chips[i].name;
    }
    names[oche_chip_count] = OCHE_BUFFERS_PAPER;
    *nearest = oche_nearest_word(name, names, oche_chip_count + 1);
    return NULL;
}

/* Returns the preset as an object. */
static struct json_object *preset_json(const char *name, const struct oche_chip *chip,
                                       const char *note)
{
    struct json_object *one = oche_json_object();

    oche_json_add_text(one, "preset", name);
    oche_json_add_text(one, "chip", chip->chip);
    oche_json_add(one, "buffer_bytes",
                  chip->buffer_bytes > 0 ? oche_json_int((int64_t)chip->buffer_bytes) : NULL);
    oche_json_add(one, "hbm_bytes",
                  chip->hbm_bytes > 0 ? oche_json_int((int64_t)chip->hbm_bytes) : NULL);
    oche_json_add(one, "ports", chip->ports > 0 ? oche_json_int(chip->ports) : NULL);
    oche_json_add_int(one, "rate_bps", chip->rate_bps);
    oche_json_add(one, "sure", oche_json_truth(chip->sure));
    oche_json_add_text(one, "source", chip->source);
    oche_json_add_text(one, "note", note);
    return one;
}

struct json_object *oche_buffers_presets_json(void)
{
    struct json_object *json = oche_json_object(), *list = oche_json_array(0);

    for (size_t i = 0; i < oche_chip_count; i++)
        oche_json_push(list, preset_json(oche_chips[i].name, &oche_chips[i], oche_chips[i].note));
    oche_json_push(list, preset_json(OCHE_BUFFERS_PAPER, oche_chip_find(PAPER_CHIP), PAPER_IS));
    oche_json_add_text(json, "kind", "presets");
    oche_json_add(json, "presets", list);
    return json;
}

static void add_row(struct oche_table *table, const char *name, const struct oche_chip *chip)
{
    oche_table_cell(table, "%s", name);
    if (chip->buffer_bytes > 0)
        oche_table_cell(table, "%s", oche_figure_bytes(chip->buffer_bytes).text);
    else
        oche_table_cell(table, "unknown");
    oche_table_cell(table, "%s",
                    chip->hbm_bytes > 0 ? oche_figure_bytes(chip->hbm_bytes).text : "");
    if (chip->ports > 0)
        oche_table_cell(table, "%u x %s", chip->ports, oche_figure_rate(chip->rate_bps).text);
    else
        oche_table_cell(table, "unknown");
    oche_table_cell(table, "%s", chip->sure ? "yes" : "no");
}

void oche_buffers_presets_print(FILE *out)
{
    static const char *const heading[] = {"preset", "memory", "and HBM", "ports", "sure"};
    struct oche_table *table = oche_table_create(OCHE_COUNT_OF(heading));

    for (size_t i = 0; i < OCHE_COUNT_OF(heading); i++)
        oche_table_cell(table, "%s", heading[i]);
    oche_table_rule(table);
    for (size_t i = 0; i < oche_chip_count; i++)
        add_row(table, oche_chips[i].name, &oche_chips[i]);
    add_row(table, OCHE_BUFFERS_PAPER, oche_chip_find(PAPER_CHIP));
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
    fprintf(out, "  %-10s %s\n             %s\n", OCHE_BUFFERS_PAPER,
            oche_chip_find(PAPER_CHIP)->chip, PAPER_IS);
}
