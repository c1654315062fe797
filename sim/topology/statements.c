/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a text file of statements, line by line. */
#include "sim/topology/statements.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "params/error.h"
#include "sim/topology/builder.h"

bool oche_statements_fail(struct oche_statements *statements, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    oche_fail_at(statements->error, statements->path, statements->line, format, args);
    va_end(args);
    return false;
}

/* Returns the whole file as a string, or NULL with an error. */
static char *slurp(struct oche_statements *statements, const char *key)
{
    FILE *file;
    char *text = NULL;
    size_t text_bytes = 0;

    errno = 0;
    file = fopen(statements->path, "r");
    if (file != NULL && getdelim(&text, &text_bytes, '\0', file) > 0 && *text != '\0') {
        fclose(file);
        return text;
    }
    if (errno != 0)
        oche_fail(statements->error, "%s: %s: %s; a readable file would be right", key,
                  statements->path, strerror(errno));
    else
        oche_statements_fail(statements, "empty");
    if (file != NULL)
        fclose(file);
    free(text);
    return NULL;
}

bool oche_statements_open(struct oche_statements *statements, const char *key, const char *path,
                          struct oche_error *error)
{
    *statements = (struct oche_statements){.path = path, .error = error};
    statements->whole = slurp(statements, key);
    if (statements->whole == NULL)
        return false;
    statements->file = fmemopen(statements->whole, strlen(statements->whole), "r");
    if (statements->file != NULL)
        return true;
    oche_statements_fail(statements, "%s", strerror(errno));
    oche_statements_close(statements);
    return false;
}

void oche_statements_close(struct oche_statements *statements)
{
    if (statements->file != NULL)
        fclose(statements->file);
    free(statements->text);
    free(statements->whole);
    *statements = (struct oche_statements){.path = statements->path};
}

bool oche_statements_next(struct oche_statements *statements)
{
    while (getline(&statements->text, &statements->text_bytes, statements->file) >= 0) {
        char *rest = statements->text, *word;

        statements->line++;
        statements->text[strcspn(statements->text, "#\r\n")] = '\0';
        statements->word_count = 0;
        while (statements->word_count <= OCHE_STATEMENT_WORDS &&
               (word = strsep(&rest, " \t")) != NULL)
            if (*word != '\0')
                statements->words[statements->word_count++] = word;
        if (statements->word_count > 0)
            return true;
    }
    return false;
}

void oche_statements_rewind(struct oche_statements *statements)
{
    rewind(statements->file);
    statements->line = 0;
}
