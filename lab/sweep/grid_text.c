/* SPDX-License-Identifier: Apache-2.0 */
/* Writes grids and points as text. */
#include "lab/sweep/grid_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "params/text_stream.h"

void oche_shell_word(const char *text, FILE *out)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+=/:,%@";

    if (text[0] != '\0' && text[strspn(text, plain)] == '\0') {
        fputs(text, out);
        return;
    }
    fputc('\'', out);
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fputc(*text, out);
    }
    fputc('\'', out);
}

char *oche_grid_text(const struct oche_grid *grid)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = oche_text_stream_open(&text, &bytes);

    for (size_t i = 0; i < grid->set_count; i++) {
        fputs("--set ", out);
        oche_shell_word(grid->sets[i], out);
        fputc(' ', out);
    }
    for (size_t i = 0; i < grid->axis_count; i++) {
        const struct oche_axis *axis = &grid->axes[i];
        char *argument = NULL;
        size_t length;
        FILE *word = oche_text_stream_open(&argument, &length);

        fprintf(word, "%s=", axis->key);
        for (size_t k = 0; k < axis->count; k++)
            fprintf(word, "%s%s", k > 0 ? "," : "", axis->values[k]);
        oche_text_stream_close(word);
        fputs("--vary ", out);
        oche_shell_word(argument, out);
        fputc(' ', out);
        free(argument);
    }
    if (grid->zipped)
        fputs("--zip ", out);
    fprintf(out, "--repeat %" PRIu32, grid->repeats);
    oche_text_stream_close(out);
    return text;
}

char *oche_grid_command(const struct oche_grid *grid, size_t point)
{
    char *text = NULL;
    size_t bytes, count;
    FILE *out = oche_text_stream_open(&text, &bytes);
    char **sets = oche_grid_sets(grid, point, &count);

    fputs("oche run ", out);
    oche_shell_word(grid->scenario, out);
    for (size_t i = 0; i < count; i++) {
        fputs(" --set ", out);
        oche_shell_word(sets[i], out);
    }
    oche_text_stream_close(out);
    oche_grid_sets_free(sets, count);
    return text;
}

char *oche_grid_values(const struct oche_grid *grid, size_t point)
{
    struct oche_grid_place place = oche_grid_place(grid, point);
    char *text = NULL;
    size_t bytes;
    FILE *out = oche_text_stream_open(&text, &bytes);

    for (size_t i = 0; i < grid->axis_count; i++)
        fprintf(out, "%s%s=%s", i > 0 ? ", " : "", grid->axes[i].key,
                grid->axes[i].values[place.value[i]]);
    oche_text_stream_close(out);
    return text;
}

char *oche_grid_label(const struct oche_grid *grid, size_t point)
{
    char *values = oche_grid_values(grid, point), *label = NULL;

    OCHE_GOT(asprintf(&label, "%s%sseed %" PRIu64, values, values[0] != '\0' ? ", " : "",
                      oche_grid_seed(grid, point)) >= 0);
    free(values);
    return label;
}
