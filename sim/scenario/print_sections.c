/* SPDX-License-Identifier: Apache-2.0 */
/* Lists everything that a scenario can contain. */
#include <stdio.h>
#include <string.h>

#include "params/units.h"
#include "sim/scenario/bind.h"

static void print_table(const struct oche_param_table *table, const char *indent, FILE *out)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct oche_param *param = &table->params[i];
        char preset[1024], paper[512], range[512];

        oche_value_format(param, oche_param_default(table, param, OCHE_PRESET_DEPLOYED), preset,
                          sizeof(preset));
        oche_value_format(param, param->preset, paper, sizeof(paper));
        oche_value_range(param, range, sizeof(range));
        bool differs = strcmp(preset, paper) != 0 && strcmp(param->name, OCHE_PRESET) != 0;

        fprintf(out, "%s%-24s %-7s default %s%s%s%s%s\n", indent, param->name,
                oche_unit_name(param->unit), preset[0] != '\0' ? preset : "(none)",
                differs ? "; paper " : "", differs ? paper : "", range[0] != '\0' ? "; " : "",
                range);
        if (param->help != NULL || param->where != NULL)
            fprintf(out, "%s    %s%s%s%s%s\n", indent, param->help != NULL ? param->help : "",
                    param->help != NULL && param->where != NULL ? " " : "",
                    param->where != NULL ? "[" : "", param->where != NULL ? param->where : "",
                    param->where != NULL ? "]" : "");
    }
}

/* Says which keys a section within another has. */
static void print_inner(const struct oche_section *section, FILE *out)
{
    const char *before = " but ";

    fprintf(out, "      every key of %s", section->within->name);
    for (size_t i = 0; i < section->table->count; i++)
        if (section->table->params[i].of_all) {
            fprintf(out, "%s%s", before, section->table->params[i].name);
            before = ", ";
        }
    fprintf(out, "; what is not given is as there\n");
}

void oche_sections_print(const struct oche_section *sections, size_t section_count, FILE *out)
{
    for (size_t i = 0; i < section_count; i++) {
        const struct oche_section *section = &sections[i];

        if (i > 0)
            fputc('\n', out);
        if (section->name[0] != '\0')
            fprintf(out, "%s: %s%s\n", section->name, section->list ? "(a list) " : "",
                    section->help);
        else
            fprintf(out, "%s\n", section->help);
        if (section->within != NULL)
            print_inner(section, out);
        else if (section->table != NULL)
            print_table(section->table, "    ", out);
        for (size_t j = 0; j < section->variant_count; j++) {
            const struct oche_variant *variant = &section->variants[j];
            bool preset = section->preset != NULL && strcmp(section->preset, variant->name) == 0;

            fprintf(out, "  %s: %s%s\n", section->selector, variant->name,
                    preset ? "  (default)" : "");
            if (variant->help != NULL)
                fprintf(out, "      %s\n", variant->help);
            if (variant->more != NULL)
                fprintf(out, "      %s\n", variant->more);
            print_table(variant->table, "    ", out);
            if (variant->wire != NULL)
                print_table(variant->wire, "    ", out);
        }
    }
}
