/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of text that fits a terminal. Columns are as wide as their content. If there is no room
 * for all, the least important ones are left out. The last column takes the remaining room, and its
 * text is cut.
 */
#ifndef OCHE_CLI_STAT_GRID_H
#define OCHE_CLI_STAT_GRID_H

#include <stdbool.h>
#include <stdio.h>

#define GRID_COLUMNS    24
#define GRID_CELL_BYTES 300

struct grid_column {
    const char *header;
    bool left;         /* aligned to the left; numbers are not */
    unsigned priority; /* the higher, the sooner it is left out; 0: never */
};

struct grid;

struct grid *grid_create(const struct grid_column *columns, unsigned count);
void grid_free(struct grid *grid);
/* Begins a row; `dim`: it is shown so. */
void grid_row(struct grid *grid, bool dim);
/* Writes the row's cell of this column. */
void grid_cell(struct grid *grid, unsigned column, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds a line below the row, which is broken at blanks if it is too long. */
void grid_note(struct grid *grid, const char *note);
/* Leaves the column out. */
void grid_hide(struct grid *grid, unsigned column);
/* `width`: columns of the terminal; 0: no limit. `colours`: with its sequences. */
void grid_print(struct grid *grid, FILE *out, unsigned width, bool colours);

#endif
