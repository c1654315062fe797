/* SPDX-License-Identifier: Apache-2.0 */
/* Writes arguments on one line, for a shell. */
#include "cli/command_line.h"

#include <stdio.h>

#include "core/base.h"
#include "lab/sweep/grid_text.h"
#include "params/text_stream.h"

char *oche_command_line(int argc, char **argv)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = oche_text_stream_open(&text, &bytes);

    fputs(argv[0], out); /* without quotes: argv[0] is two words, "oche sweep" */
    for (int i = 1; i < argc; i++) {
        fputc(' ', out);
        oche_shell_word(argv[i], out);
    }
    oche_text_stream_close(out);
    return text;
}
