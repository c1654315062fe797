/* SPDX-License-Identifier: Apache-2.0 */
/* Writes arguments on one line, for a shell. */
#include "cli/command_line.h"

#include <stdio.h>

#include "core/base.h"
#include "lab/sweep/grid_text.h"

char *oche_command_line(int argc, char **argv)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    OCHE_GOT(out != NULL);
    fputs(argv[0], out); /* without quotes: argv[0] is two words, "oche sweep" */
    for (int i = 1; i < argc; i++) {
        fputc(' ', out);
        oche_shell_word(argv[i], out);
    }
    OCHE_MUST(fclose(out) == 0);
    return text;
}
