/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/stat/grid.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"

#define GAP         2
#define NOTE_INDENT 8
#define LEAST_LAST  12 /* the last column has at least this much room */
#define REVERSE     "\033[7m"
#define FAINT       "\033[2m"
#define YELLOW      "\033[33m"
#define PLAIN       "\033[0m"

struct row {
    bool dim;
    char *note;
    char cells[GRID_COLUMNS][GRID_CELL_BYTES];
};

struct grid {
    struct grid_column columns[GRID_COLUMNS];
    unsigned column_count;
    bool hidden[GRID_COLUMNS];
    struct row *rows;
    size_t row_count;
};

struct grid *grid_create(const struct grid_column *columns, unsigned count)
{
    struct grid *grid = calloc(1, sizeof(*grid));

    OCHE_GOT(grid != NULL && count <= GRID_COLUMNS);
    memcpy(grid->columns, columns, count * sizeof(*columns));
    grid->column_count = count;
    return grid;
}

void grid_free(struct grid *grid)
{
    for (size_t i = 0; i < grid->row_count; i++)
        free(grid->rows[i].note);
    free(grid->rows);
    free(grid);
}

void grid_row(struct grid *grid, bool dim)
{
    grid->rows = realloc(grid->rows, (grid->row_count + 1) * sizeof(grid->rows[0]));
    OCHE_GOT(grid->rows != NULL);
    memset(&grid->rows[grid->row_count], 0, sizeof(grid->rows[0]));
    grid->rows[grid->row_count++].dim = dim;
}

void grid_cell(struct grid *grid, unsigned column, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(grid->rows[grid->row_count - 1].cells[column], GRID_CELL_BYTES, format, arguments);
    va_end(arguments);
}

void grid_note(struct grid *grid, const char *note)
{
    char *copy = strdup(note);

    OCHE_GOT(copy != NULL);
    free(grid->rows[grid->row_count - 1].note);
    grid->rows[grid->row_count - 1].note = copy;
}

void grid_hide(struct grid *grid, unsigned column)
{
    grid->hidden[column] = true;
}

/* ---- printing ---- */

static unsigned width_of(const struct grid *grid, unsigned column)
{
    size_t width = strlen(grid->columns[column].header);

    for (size_t i = 0; i < grid->row_count; i++)
        if (strlen(grid->rows[i].cells[column]) > width)
            width = strlen(grid->rows[i].cells[column]);
    return (unsigned)width;
}

/* Returns the width of all shown columns, with the minimum of the last one. */
static unsigned total(const struct grid *grid, const unsigned *widths)
{
    const unsigned last = grid->column_count - 1;
    unsigned sum = 0;

    for (unsigned i = 0; i < last; i++)
        sum += grid->hidden[i] ? 0 : widths[i] + GAP;
    return sum + (widths[last] < LEAST_LAST ? widths[last] : LEAST_LAST);
}

/* Hides columns until the others fit. */
static void fit(struct grid *grid, const unsigned *widths, unsigned width)
{
    while (width > 0 && total(grid, widths) > width) {
        unsigned worst = 0;

        for (unsigned i = 1; i + 1 < grid->column_count; i++)
            if (!grid->hidden[i] &&
                (grid->columns[i].priority > grid->columns[worst].priority || grid->hidden[worst]))
                worst = i;
        if (grid->hidden[worst] || grid->columns[worst].priority == 0)
            return;
        grid->hidden[worst] = true;
    }
}

/* Writes a line of cells into `line`, cut to the width. */
static void make_line(const struct grid *grid, const unsigned *widths, unsigned width, char *line,
                      size_t bytes, const char *(*cell)(const void *from, unsigned column),
                      const void *from)
{
    size_t at = 0;

    line[0] = '\0';
    for (unsigned i = 0; i < grid->column_count && at < bytes; i++) {
        const bool last = i + 1 == grid->column_count;

        if (grid->hidden[i])
            continue;
        at += (size_t)snprintf(line + at, bytes - at, grid->columns[i].left ? "%-*s%s" : "%*s%s",
                               last && grid->columns[i].left ? 0 : (int)widths[i], cell(from, i),
                               last ? "" : "  ");
    }
    if (width > 0 && strlen(line) > width)
        line[width] = '\0';
}

static const char *header_cell(const void *from, unsigned column)
{
    return ((const struct grid *)from)->columns[column].header;
}

static const char *row_cell(const void *from, unsigned column)
{
    return ((const struct row *)from)->cells[column];
}

static void print_note(FILE *out, const char *note, unsigned width, const char *colour,
                       const char *plain)
{
    const size_t room = width > NOTE_INDENT + LEAST_LAST ? width - NOTE_INDENT : SIZE_MAX;

    while (*note != '\0') {
        size_t bytes = strlen(note);

        if (bytes > room) {
            bytes = room;
            while (bytes > 1 && note[bytes] != ' ')
                bytes--;
            bytes = note[bytes] == ' ' ? bytes : room;
        }
        fprintf(out, "%*s%s%.*s%s\n", NOTE_INDENT, "", colour, (int)bytes, note, plain);
        note += bytes;
        note += strspn(note, " ");
    }
}

void grid_print(struct grid *grid, FILE *out, unsigned width, bool colours)
{
    const char *plain = colours ? PLAIN : "";
    unsigned widths[GRID_COLUMNS];
    char line[GRID_COLUMNS * 32 + GRID_CELL_BYTES];

    for (unsigned i = 0; i < grid->column_count; i++)
        widths[i] = width_of(grid, i);
    fit(grid, widths, width);
    make_line(grid, widths, width, line, sizeof(line), header_cell, grid);
    if (colours)
        fprintf(out, REVERSE "%-*s" PLAIN "\n", (int)width, line);
    else
        fprintf(out, "%s\n", line);
    for (size_t i = 0; i < grid->row_count; i++) {
        const struct row *row = &grid->rows[i];

        make_line(grid, widths, width, line, sizeof(line), row_cell, row);
        fprintf(out, "%s%s%s\n", colours && row->dim ? FAINT : "", line, row->dim ? plain : "");
        if (row->note != NULL)
            print_note(out, row->note, width, colours ? YELLOW : "", plain);
    }
}
