/* SPDX-License-Identifier: Apache-2.0 */
/* A table on the terminal: columns as wide as they must be, first one left, others right. */
#ifndef OCHE_PARAMS_TABLE_H
#define OCHE_PARAMS_TABLE_H

#include <stddef.h>
#include <stdio.h>

struct oche_table;

struct oche_table *oche_table_create(size_t columns);
void oche_table_free(struct oche_table *table);

/* The next cell, row by row; the first row is the heading. UTF-8, one column a character. */
void oche_table_cell(struct oche_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3), nonnull(2)));

/* A line across, before the next row. */
void oche_table_rule(struct oche_table *table);

/* Prints all rows; a last row that is not full ends with empty cells. */
void oche_table_print(const struct oche_table *table, FILE *out);

#endif
