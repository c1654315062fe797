/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the rows of cli/run/rows.c. */
#include "cli/run/metrics.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/run/rows.h"
#include "lab/measures/metrics.h"

#define CELL_BYTES 256

/* Appends the metric's value as text. Returns false if the value is unknown (NAN). */
static bool add_figure(char *cell, size_t *length, const char *name, double value, unsigned width)
{
    const struct oche_figure figure = oche_metric_figure(name, value);

    *length +=
        (size_t)snprintf(cell + *length, CELL_BYTES - *length, "%*s", (int)width, figure.text);
    OCHE_MUST(*length < CELL_BYTES);
    return !isnan(value);
}

static double sum_of(const struct oche_row *row, const struct oche_outcome *outcome, unsigned which)
{
    double sum = 0;

    for (unsigned i = 0; i < OCHE_ROW_METRICS && row->metrics[i] != NULL; i++)
        sum += oche_metric_value(outcome, row->metrics[i], which);
    return sum;
}

static void add_cell(struct oche_table *table, const struct oche_row *row,
                     const struct oche_outcome *outcome, unsigned which)
{
    const char *between = row->cell == OCHE_CELL_PART ? " of " : " ";
    char cell[CELL_BYTES] = "";
    size_t length = 0;
    bool known = true;

    if (row->text != NULL) {
        row->text(table, outcome);
        return;
    }
    if (row->cell == OCHE_CELL_SUM) {
        known = add_figure(cell, &length, row->metrics[0], sum_of(row, outcome, which), 0);
        oche_table_cell(table, "%s", cell);
        return;
    }
    for (unsigned i = 0; known && i < OCHE_ROW_METRICS && row->metrics[i] != NULL; i++) {
        if (i > 0)
            length += (size_t)snprintf(cell + length, sizeof(cell) - length, "%s", between);
        known = add_figure(cell, &length, row->metrics[i],
                           oche_metric_value(outcome, row->metrics[i], which), row->widths[i > 0]);
    }
    oche_table_cell(table, "%s%s", known ? cell : OCHE_NO_FIGURE,
                    known && row->note != NULL ? row->note(outcome, which) : "");
}

/* True if the metric is above `least` in at least one run. */
static bool is_above(const char *name, const struct oche_subject *subject, double least,
                     const struct oche_outcome *outcomes, size_t count)
{
    for (size_t i = 0; i < count; i++) /* NAN is never above */
        if (oche_metric_value(&outcomes[i], name, oche_subject_in(subject, &outcomes[i])) > least)
            return true;
    return false;
}

static bool is_shown(const struct oche_row *row, const struct oche_subject *subject,
                     const struct oche_outcome *outcomes, size_t count)
{
    bool only = row->only == NULL, any = row->shown == OCHE_SHOWN_ALWAYS;

    for (size_t i = 0; i < count && !only; i++)
        only = row->only(&outcomes[i]);
    for (unsigned i = 0; i < OCHE_ROW_METRICS && row->metrics[i] != NULL && !any; i++)
        any = is_above(row->metrics[i], subject, row->shown == OCHE_SHOWN_IF_ANY ? 0 : -INFINITY,
                       outcomes, count);
    return only && any && (row->where == NULL || is_above(row->where, subject, 0, outcomes, count));
}

/* Adds a rule before the row and, if the row has a title, the title. */
static void add_title(struct oche_table *table, const char *title, size_t count)
{
    oche_table_rule(table);
    if (title[0] == '\0')
        return;
    oche_table_cell(table, "%s", title);
    for (size_t i = 0; i < count; i++)
        oche_table_cell(table, "%s", "");
}

/* Returns the end of the row's name, after the subject's. */
static const char *after_of(const struct oche_row *row, const struct oche_subject *subject)
{
    const bool hosts = row->each == OCHE_EACH_TIER && subject->which == OCHE_NODE_HOST;
    const char *after = hosts && row->after_host != NULL ? row->after_host : row->after;

    return after != NULL ? after : "";
}

static void draw(struct oche_table *table, const struct oche_row *row,
                 const struct oche_outcome *outcomes, size_t count)
{
    bool titled = row->title == NULL;
    struct oche_subject subject;

    for (unsigned n = 0; n < oche_subject_count(row->each, outcomes, count); n++) {
        if (!oche_subject_take(&subject, row->each, n, outcomes, count) ||
            !is_shown(row, &subject, outcomes, count))
            continue;
        if (!titled)
            add_title(table, row->title, count);
        titled = true;
        oche_table_cell(table, "%s%s%s", row->label, subject.name, after_of(row, &subject));
        for (size_t i = 0; i < count; i++)
            add_cell(table, row, &outcomes[i], oche_subject_in(&subject, &outcomes[i]));
    }
    unsigned left_out = oche_subjects_left_out(row->each, outcomes, count);

    if (!titled || left_out == 0)
        return;
    oche_table_cell(table, "%sand %u shorter ones", row->label, left_out);
    for (size_t i = 0; i < count; i++)
        oche_table_cell(table, "%s", "");
}

void oche_metric_rows(struct oche_table *table, enum oche_metric_group group,
                      const struct oche_outcome *outcomes, size_t count)
{
    for (size_t i = 0; i < oche_row_count; i++) {
        if (oche_rows[i].group != group)
            continue;
        if (oche_rows[i].draw != NULL)
            oche_rows[i].draw(table, outcomes, count);
        else
            draw(table, &oche_rows[i], outcomes, count);
    }
}
