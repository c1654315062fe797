/* SPDX-License-Identifier: Apache-2.0 */
/* Aligned columns for the terminal. */
#include "params/table.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"

#define GAP 2 /* spaces between columns */

struct form {
    bool rule;  /* a rule is drawn before the row */
    bool title; /* the row is a title, which does not widen the first column */
};

struct oche_table {
    /* count: number of cells so far; capacity: number of cells allocated */
    size_t columns, count, capacity;
    char **cells;
    struct form *forms; /* by row; rows from form_rows on have none */
    size_t form_rows;
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
    free(table->forms);
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

static struct form *form_of_next(struct oche_table *table)
{
    size_t row = (table->count + table->columns - 1) / table->columns;

    if (row >= table->form_rows) {
        table->forms = realloc(table->forms, (row + 1) * sizeof(*table->forms));
        OCHE_GOT(table->forms != NULL);
        for (size_t i = table->form_rows; i <= row; i++)
            table->forms[i] = (struct form){.rule = false};
        table->form_rows = row + 1;
    }
    return &table->forms[row];
}

void oche_table_rule(struct oche_table *table)
{
    form_of_next(table)->rule = true;
}

void oche_table_title(struct oche_table *table, const char *text)
{
    OCHE_MUST(table->count % table->columns == 0);
    form_of_next(table)->title = true;
    oche_table_cell(table, "%s", text);
    for (size_t column = 1; column < table->columns; column++)
        oche_table_cell(table, "%s", "");
}

/* Returns the number of characters of a UTF-8 text: its bytes without continuation bytes. */
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

static bool is_title(const struct oche_table *table, size_t row)
{
    return row < table->form_rows && table->forms[row].title;
}

static size_t row_count(const struct oche_table *table)
{
    return (table->count + table->columns - 1) / table->columns;
}

/* Returns the columns' widths (malloc'd). */
static size_t *widths_of(const struct oche_table *table)
{
    size_t *widths = calloc(table->columns, sizeof(*widths));

    OCHE_GOT(widths != NULL);
    for (size_t i = 0; i < table->count; i++) {
        size_t width = is_title(table, i / table->columns) ? 0 : width_of(table->cells[i]);

        if (width > widths[i % table->columns])
            widths[i % table->columns] = width;
    }
    return widths;
}

/* Returns the length of a line with the first column and columns `from` to `to` - 1. */
static size_t line_of(const size_t *widths, size_t from, size_t to)
{
    size_t line = widths[0];

    for (size_t column = from; column < to; column++)
        line += GAP + widths[column];
    return line;
}

size_t oche_table_width(const struct oche_table *table)
{
    size_t *widths = widths_of(table);
    size_t longest = line_of(widths, 1, table->columns);

    free(widths);
    for (size_t row = 0; row < table->form_rows; row++)
        if (is_title(table, row) && width_of(cell_at(table, row, 0)) > longest)
            longest = width_of(cell_at(table, row, 0));
    return longest;
}

static void print_row(const struct oche_table *table, size_t row, const size_t *widths, size_t from,
                      size_t to, FILE *out)
{
    const char *first = cell_at(table, row, 0);

    while (to > from && cell_at(table, row, to - 1)[0] == '\0')
        to--; /* no spaces at the end of a line */
    fprintf(out, "%s%*s", first, to > from ? (int)(widths[0] - width_of(first)) : 0, "");
    for (size_t column = from; column < to; column++) {
        const char *text = cell_at(table, row, column);

        fprintf(out, "%*s%s", (int)(widths[column] - width_of(text)) + GAP, "", text);
    }
    fputc('\n', out);
}

/* Prints the first column, and columns `from` to `to` - 1. */
static void print_columns(const struct oche_table *table, const size_t *widths, size_t from,
                          size_t to, FILE *out)
{
    const size_t rows = row_count(table), line = line_of(widths, from, to);

    for (size_t row = 0; row < rows; row++) {
        if (row < table->form_rows && table->forms[row].rule) {
            for (size_t i = 0; i < line; i++)
                fputc('-', out);
            fputc('\n', out);
        }
        print_row(table, row, widths, from, to, out);
    }
}

void oche_table_print(const struct oche_table *table, FILE *out)
{
    size_t *widths = widths_of(table);

    print_columns(table, widths, 1, table->columns, out);
    free(widths);
}

/* Returns the end of the columns from `from` on that fit: at least one, at most `most`. */
static size_t end_of_fitting(const size_t *widths, size_t columns, size_t from, size_t most,
                             size_t width)
{
    size_t to = from + 1;

    while (to < columns && to - from < most && line_of(widths, from, to + 1) <= width)
        to++;
    return to;
}

/* Returns the number of tables with at most `most` columns that the columns need. */
static size_t tables_of(const size_t *widths, size_t columns, size_t most, size_t width)
{
    size_t tables = 0;

    for (size_t from = 1; from < columns; tables++)
        from = end_of_fitting(widths, columns, from, most, width);
    return tables;
}

void oche_table_print_within(const struct oche_table *table, size_t width, FILE *out)
{
    size_t *widths = widths_of(table);
    const size_t columns = table->columns, least = tables_of(widths, columns, columns, width);
    size_t most = 1; /* columns of a table: the fewest that need no further table */

    while (tables_of(widths, columns, most, width) > least)
        most++;
    for (size_t from = 1, to; from < columns; from = to) {
        to = end_of_fitting(widths, columns, from, most, width);
        if (from > 1)
            fputc('\n', out);
        print_columns(table, widths, from, to, out);
    }
    free(widths);
}
