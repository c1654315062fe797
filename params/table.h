/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table for the terminal: columns are as wide as needed, the first one left-aligned, the others
 * right-aligned.
 */
#ifndef OCHE_PARAMS_TABLE_H
#define OCHE_PARAMS_TABLE_H

#include <stddef.h>
#include <stdio.h>

struct oche_table;

struct oche_table *oche_table_create(size_t columns);
void oche_table_free(struct oche_table *table);

/* Adds the next cell, row by row; the first row is the heading. UTF-8, one column per character. */
void oche_table_cell(struct oche_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3), nonnull(2)));

/* Draws a horizontal rule before the next row. */
void oche_table_rule(struct oche_table *table);

/*
 * Adds a title as the next row. It may be longer than the first column is wide. The row before it
 * must have all its cells.
 */
void oche_table_title(struct oche_table *table, const char *text);

/* Returns the length of the longest line. */
size_t oche_table_width(const struct oche_table *table);

/* Prints all rows; if the last row lacks cells, they are empty. */
void oche_table_print(const struct oche_table *table, FILE *out);

/*
 * The same in at most `width` characters a line: columns that do not fit follow in further tables,
 * each with the first column. A table has at least one column beside the first.
 */
void oche_table_print_within(const struct oche_table *table, size_t width, FILE *out);

#endif
