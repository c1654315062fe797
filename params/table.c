/* SPDX-License-Identifier: Apache-2.0 */
/* Aligned columns for the terminal. */
#include "params/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"

#define GAP 2 /* spaces between columns */

struct oche_table {
    /* count: number of cells so far; capacity: number of cells allocated */
    size_t columns, count, capacity;
    char **cells;
    bool *rules; /* by row: whether a rule is drawn before the row */
    size_t rule_rows;
};

struct oche_table *oche_table_create(size_t columns)
{
    struct oche_table *table = calloc(1, sizeof(*table));

    OCHE_GOT(table != NULL && columns > 0);
    table->columns = columns;
    return table;
}

void oche_table_free(struct oche_table *table)
{
    if (table == NULL)
        return;
    for (size_t i = 0; i < table->count; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table->rules);
    free(table);
}

void oche_table_cell(struct oche_table *table, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;

    if (table->count == table->capacity) {
        table->capacity = table->capacity == 0 ? 64 : 2 * table->capacity;
        table->cells = realloc(table->cells, table->capacity * sizeof(*table->cells));
        OCHE_GOT(table->cells != NULL);
    }
    va_start(arguments, format);
    OCHE_GOT(vasprintf(&text, format, arguments) >= 0);
    va_end(arguments);
    table->cells[table->count++] = text;
}

void oche_table_rule(struct oche_table *table)
{
    size_t row = (table->count + table->columns - 1) / table->columns;

    if (row >= table->rule_rows) {
        table->rules = realloc(table->rules, (row + 1) * sizeof(*table->rules));
        OCHE_GOT(table->rules != NULL);
        for (size_t i = table->rule_rows; i <= row; i++)
            table->rules[i] = false;
        table->rule_rows = row + 1;
    }
    table->rules[row] = true;
}

/*
 * Returns the number of characters of a UTF-8 text: that of the bytes that do not continue a
 * character.
 */
static size_t width_of(const char *text)
{
    size_t width = 0;

    for (; *text != '\0'; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static const char *cell_at(const struct oche_table *table, size_t row, size_t column)
{
    size_t i = row * table->columns + column;

    return i < table->count ? table->cells[i] : "";
}

static void print_row(const struct oche_table *table, size_t row, const size_t *widths, FILE *out)
{
    size_t last = table->columns;

    while (last > 0 && cell_at(table, row, last - 1)[0] == '\0')
        last--; /* no spaces at the end of a line */
    for (size_t column = 0; column < last; column++) {
        const char *text = cell_at(table, row, column);
        int pad = (int)(widths[column] - width_of(text));

        if (column == 0)
            fprintf(out, "%s%*s", text, last > 1 ? pad : 0, "");
        else
            fprintf(out, "%*s%s", pad + GAP, "", text);
    }
    fputc('\n', out);
}

void oche_table_print(const struct oche_table *table, FILE *out)
{
    size_t rows = (table->count + table->columns - 1) / table->columns;
    size_t *widths = calloc(table->columns, sizeof(*widths));
    size_t line = 0;

    OCHE_GOT(widths != NULL);
    for (size_t i = 0; i < table->count; i++) {
        size_t width = width_of(table->cells[i]);

        if (width > widths[i % table->columns])
            widths[i % table->columns] = width;
    }
    for (size_t column = 0; column < table->columns; column++)
        line += widths[column] + (column > 0 ? GAP : 0);
    for (size_t row = 0; row < rows; row++) {
        if (row < table->rule_rows && table->rules[row]) {
            for (size_t i = 0; i < line; i++)
                fputc('-', out);
            fputc('\n', out);
        }
        print_row(table, row, widths, out);
    }
    free(widths);
}
