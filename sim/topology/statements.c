/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a text file of statements, line by line. */
#include "sim/topology/statements.h"

#include <stdarg.h>
#include <string.h>

#include "params/error.h"

#define MOST_BYTES (256 * OCHE_INPUT_MIB)

bool oche_statements_fail(struct oche_statements *statements, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    oche_fail_at(statements->error, statements->path, statements->line, format, args);
    va_end(args);
    return false;
}

static bool open_text(struct oche_statements *statements, const char *name, const char *text,
                      size_t bytes, struct oche_error *error)
{
    *statements = (struct oche_statements){.path = name, .error = error};
    if (bytes == 0)
        return oche_statements_fail(statements, "empty");
    return oche_text_begin(&statements->input, name, text, bytes, error);
}

bool oche_statements_open(struct oche_statements *statements, const char *key, const char *path,
                          struct oche_error *error)
{
    struct oche_input_file whole;
    struct oche_error reason;

    if (!oche_input_read(&whole, path, MOST_BYTES, &reason))
        return oche_fail(error, "%s: %s: %s; a readable file would be right", key, path,
                         reason.text);
    bool good = open_text(statements, path, whole.text, whole.bytes, error);

    if (good)
        statements->whole = whole;
    else
        oche_input_free(&whole);
    return good;
}

void oche_statements_close(struct oche_statements *statements)
{
    oche_text_end(&statements->input);
    oche_input_free(&statements->whole);
    *statements = (struct oche_statements){.path = statements->path};
}

bool oche_statements_next(struct oche_statements *statements)
{
    char *rest, *word;

    while ((rest = oche_text_next(&statements->input)) != NULL) {
        statements->line = statements->input.line;
        statements->word_count = 0;
        while (statements->word_count <= OCHE_STATEMENT_WORDS &&
               (word = strsep(&rest, " \t,;")) != NULL)
            if (*word != '\0')
                statements->words[statements->word_count++] = word;
        if (statements->word_count > 0)
            return true;
    }
    statements->line = statements->input.line;
    return false;
}

void oche_statements_rewind(struct oche_statements *statements)
{
    oche_text_rewind(&statements->input);
    statements->line = 0;
}
