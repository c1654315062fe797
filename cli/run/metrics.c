/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the rows of cli/run/rows.c. */
#include "cli/run/metrics.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/run/rows.h"
#include "lab/measures/few.h"
#include "lab/measures/metrics.h"

/*
 * Appends a figure, which may have characters of several bytes, to a cell of OCHE_CELL_BYTES,
 * right-aligned.
 */
static void add_text(char *cell, size_t *length, const char *text, unsigned width)
{
    unsigned columns = 0;

    for (const char *c = text; *c != '\0'; c++)
        columns += ((unsigned char)*c & 0xc0) != 0x80;
    *length += (size_t)snprintf(cell + *length, OCHE_CELL_BYTES - *length, "%*s%s",
                                columns < width ? (int)(width - columns) : 0, "", text);
    OCHE_MUST(*length < OCHE_CELL_BYTES);
}

bool oche_metric_cell(char *cell, size_t *length, const struct oche_outcome *outcome,
                      const char *name, unsigned which, unsigned width)
{
    const double value = oche_metric_value(outcome, name, which);

    add_text(cell, length,
             oche_few(outcome, name, which) ? OCHE_NO_FIGURE : oche_metric_figure(name, value).text,
             width);
    return !isnan(value);
}

static double sum_of(const struct oche_row *row, const struct oche_outcome *outcome, unsigned which)
{
    double sum = 0;

    for (unsigned i = 0; i < OCHE_ROW_METRICS && row->metrics[i] != NULL; i++)
        sum += oche_metric_value(outcome, row->metrics[i], which);
    return sum;
}

static void make_cell(char cell[OCHE_CELL_BYTES], const struct oche_row *row,
                      const struct oche_outcome *outcome, unsigned which)
{
    const char *between = row->cell == OCHE_CELL_PART ? " of " : " ";
    size_t length = 0;
    bool known = true;

    cell[0] = '\0';
    if (row->text != NULL) {
        row->text(cell, outcome);
        return;
    }
    if (row->cell == OCHE_CELL_SUM) {
        add_text(cell, &length,
                 oche_metric_figure(row->metrics[0], sum_of(row, outcome, which)).text, 0);
        return;
    }
    for (unsigned i = 0; known && i < OCHE_ROW_METRICS && row->metrics[i] != NULL; i++) {
        if (i > 0)
            add_text(cell, &length, between, 0);
        known =
            oche_metric_cell(cell, &length, outcome, row->metrics[i], which, row->widths[i > 0]);
    }
    if (known && row->note != NULL)
        add_text(cell, &length, row->note(outcome, which), 0);
    if (!known)
        snprintf(cell, OCHE_CELL_BYTES, "%s", OCHE_NO_FIGURE);
}

/* True if the row's cell contains only 0 or a dash. */
static bool is_nothing(const struct oche_row *row, const struct oche_outcome *outcome,
                       unsigned which)
{
    char cell[OCHE_CELL_BYTES];

    if (row->text != NULL) {
        row->text(cell, outcome);
        return strcmp(cell, OCHE_NO_FIGURE) == 0;
    }
    for (unsigned i = 0; i < OCHE_ROW_METRICS && row->metrics[i] != NULL; i++) {
        const double value = oche_metric_value(outcome, row->metrics[i], which);

        if (!isnan(value) && value != 0 && !oche_few(outcome, row->metrics[i], which))
            return false;
    }
    return true;
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

/* True if these runs can have the row, even if it is empty. */
static bool is_there(const struct oche_row *row, const struct oche_subject *subject,
                     const struct oche_outcome *outcomes, size_t count)
{
    bool only = row->only == NULL, each = row->only_each == NULL,
         any = row->shown == OCHE_SHOWN_ALWAYS;

    for (size_t i = 0; i < count && !only; i++)
        only = row->only(&outcomes[i]);
    for (size_t i = 0; i < count && !each; i++)
        each = row->only_each(&outcomes[i], oche_subject_in(subject, &outcomes[i]));
    for (unsigned i = 0; i < OCHE_ROW_METRICS && row->metrics[i] != NULL && !any; i++)
        any = is_above(row->metrics[i], subject, -INFINITY, outcomes, count);
    return only && each && any &&
           (row->where == NULL || is_above(row->where, subject, 0, outcomes, count));
}

/* True if the row is 0, or a dash, in all columns, unless that is information by itself. */
static bool is_empty(const struct oche_row *row, const struct oche_subject *subject,
                     const struct oche_outcome *outcomes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_nothing(row, &outcomes[i], oche_subject_in(subject, &outcomes[i])))
            return false;
    return !row->zero_tells;
}

/* Adds the title with the names of all parts. */
static void add_title(struct oche_table *table, const struct oche_row *row)
{
    char title[OCHE_CELL_BYTES];
    size_t length = (size_t)snprintf(title, sizeof(title), "%s", row->title);

    for (unsigned i = 0; i < OCHE_ROW_METRICS && row->parts[i] != NULL; i++)
        length += (size_t)snprintf(title + length, sizeof(title) - length, "%s%s",
                                   i == 0 ? ": " : ", ", row->parts[i]);
    OCHE_MUST(length < sizeof(title));
    oche_table_title(table, title);
}

/* Returns the end of the row's name, after the subject's. */
static const char *after_of(const struct oche_row *row, const struct oche_subject *subject)
{
    const bool hosts = row->each == OCHE_EACH_TIER && subject->which == OCHE_NODE_HOST;
    const char *after = hosts && row->after_host != NULL ? row->after_host : row->after;

    return after != NULL ? after : "";
}

/* Writes " (n 812)", or " (n 801 to 812)", after the name of a row of samples. */
static void add_samples(char *name, size_t bytes, const struct oche_row *row,
                        const struct oche_subject *subject, const struct oche_outcome *outcomes,
                        size_t count)
{
    double least = INFINITY, most = 0;
    const size_t length = strlen(name);

    for (size_t i = 0; row->samples != NULL && i < count; i++) {
        const double value =
            oche_metric_value(&outcomes[i], row->samples, oche_subject_in(subject, &outcomes[i]));

        least = fmin(least, value);
        most = fmax(most, value);
    }
    if (row->samples == NULL || isinf(least))
        return;
    snprintf(name + length, bytes - length, " (n %s%s%s)", oche_figure_count((uint64_t)least).text,
             least < most ? " to " : "",
             least < most ? oche_figure_count((uint64_t)most).text : "");
}

static void add_cells(struct oche_table *table, const struct oche_row *row,
                      const struct oche_subject *subject, const struct oche_outcome *outcomes,
                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char cell[OCHE_CELL_BYTES];

        make_cell(cell, row, &outcomes[i], oche_subject_in(subject, &outcomes[i]));
        oche_table_cell(table, "%s", cell);
    }
}

/*
 * Returns subject `number` if it has a row in these runs that is shown, and draws the rule before
 * the group's first row. `begun`: the group has rows already.
 */
static bool begin_row(struct oche_table *table, const struct oche_row *row,
                      struct oche_subject *subject, unsigned number,
                      const struct oche_outcome *outcomes, size_t count,
                      struct oche_rows_shown *shown, bool *begun)
{
    if (!oche_subject_take(subject, row->each, number, outcomes, count) ||
        !is_there(row, subject, outcomes, count))
        return false;
    if (row->by_size && !shown->by_size) {
        shown->hidden_sizes++;
        return false;
    }
    if (!shown->all && is_empty(row, subject, outcomes, count)) {
        shown->hidden++;
        return false;
    }
    if (!*begun)
        oche_table_rule(table);
    *begun = true;
    return true;
}

/* Draws the rows of all subjects. `begun`: the group has rows already. Returns true if it has. */
static bool draw(struct oche_table *table, const struct oche_row *row,
                 const struct oche_outcome *outcomes, size_t count, struct oche_rows_shown *shown,
                 bool begun)
{
    bool titled = row->title == NULL;
    struct oche_subject subject;
    char name[2 * OCHE_CELL_BYTES];

    for (unsigned n = 0; n < oche_subject_count(row->each, outcomes, count); n++) {
        if (!begin_row(table, row, &subject, n, outcomes, count, shown, &begun))
            continue;
        if (!titled)
            add_title(table, row);
        titled = true;
        snprintf(name, sizeof(name), "%s%s%s", row->label, subject.name, after_of(row, &subject));
        add_samples(name, sizeof(name), row, &subject, outcomes, count);
        oche_table_cell(table, "%s", name);
        add_cells(table, row, &subject, outcomes, count);
    }
    return begun;
}

/* Returns a row of one part. */
static struct oche_row part_of(const struct oche_row *row, unsigned i)
{
    struct oche_row part = *row;

    memset(part.metrics, 0, sizeof(part.metrics));
    memset(part.parts, 0, sizeof(part.parts));
    part.metrics[0] = row->metrics[i];
    part.parts[0] = row->parts[i];
    part.widths[0] = 0;
    return part;
}

static bool draw_parts(struct oche_table *table, const struct oche_row *row,
                       const struct oche_outcome *outcomes, size_t count,
                       struct oche_rows_shown *shown, bool begun)
{
    for (unsigned i = 0; i < OCHE_ROW_METRICS && row->parts[i] != NULL; i++) {
        const struct oche_row part = part_of(row, i);

        begun = draw(table, &part, outcomes, count, shown, begun);
    }
    return begun;
}

static bool draw_subjects(struct oche_table *table, const struct oche_row *row,
                          const struct oche_outcome *outcomes, size_t count,
                          struct oche_rows_shown *shown, bool begun)
{
    struct oche_subject subject;
    char title[2 * OCHE_CELL_BYTES];

    for (unsigned n = 0; n < oche_subject_count(row->each, outcomes, count); n++) {
        if (!begin_row(table, row, &subject, n, outcomes, count, shown, &begun))
            continue;
        snprintf(title, sizeof(title), "%s: %s", row->title, subject.name);
        oche_table_title(table, title);
        for (unsigned i = 0; i < OCHE_ROW_METRICS && row->parts[i] != NULL; i++) {
            const struct oche_row part = part_of(row, i);

            oche_table_cell(table, "%s%s", row->label, row->parts[i]);
            add_cells(table, &part, &subject, outcomes, count);
        }
    }
    return begun;
}

static void add_left_out(struct oche_table *table, const struct oche_row *row,
                         const struct oche_outcome *outcomes, size_t count)
{
    const unsigned left_out = oche_subjects_left_out(row->each, outcomes, count);

    if (left_out == 0)
        return;
    oche_table_cell(table, "%sand %u shorter ones", row->label, left_out);
    for (size_t i = 0; i < count; i++)
        oche_table_cell(table, "%s", "");
}

void oche_metric_rows(struct oche_table *table, enum oche_metric_group group,
                      const struct oche_outcome *outcomes, size_t count,
                      struct oche_rows_shown *shown)
{
    bool begun = false;

    for (size_t i = 0; i < oche_row_count; i++) {
        const struct oche_row *row = &oche_rows[i];

        if (row->group != group)
            continue;
        if (row->draw != NULL)
            begun = row->draw(table, outcomes, count, shown, begun);
        else if (count == 1 || row->parts[0] == NULL)
            begun = draw(table, row, outcomes, count, shown, begun);
        else if (row->by_subject)
            begun = draw_subjects(table, row, outcomes, count, shown, begun);
        else
            begun = draw_parts(table, row, outcomes, count, shown, begun);
        if (begun && row->each == OCHE_EACH_QUEUE)
            add_left_out(table, row, outcomes, count);
    }
}

void oche_rows_hidden_print(const struct oche_rows_shown *shown, size_t runs, FILE *out)
{
    if (shown->hidden > 0)
        fprintf(out, "%u row%s hidden that %s 0%s; --all shows %s.\n", shown->hidden,
                shown->hidden == 1 ? " is" : "s are", shown->hidden == 1 ? "is" : "are",
                runs > 1 ? " in all runs" : "", shown->hidden == 1 ? "it" : "them");
    if (shown->hidden_sizes > 0)
        fprintf(out, "%u more row%s by flow size; --by-size shows %s.\n", shown->hidden_sizes,
                shown->hidden_sizes == 1 ? "" : "s", shown->hidden_sizes == 1 ? "it" : "them");
}
