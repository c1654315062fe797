/* SPDX-License-Identifier: Apache-2.0 */
/* Reads files of measurements. */
#include "lab/reproduce/measured.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measures/metrics.h"
#include "lab/sweep/file_digest.h"
#include "params/input_file.h"

/* One column: the values of an axis, or of a metric. */
struct column {
    const char *metric; /* NULL: the column is an axis */
    size_t axis;
};

struct row {
    size_t *value;  /* by column: index into the axis' values */
    double *number; /* by column: of a metric */
};

struct oche_measured {
    const char *path;
    const char *facts; /* facts about the measurement: when and where */
    uint64_t digest;
    struct column *columns;
    size_t column_count;
    struct row *rows;
    size_t row_count, row_room;
};

/* The state of reading one file. */
struct reading {
    const struct oche_reader *reader;
    const struct oche_study *study;
    struct oche_measured *measured;
    unsigned line;
};

static bool __attribute__((format(printf, 2, 3)))
line_fail(const struct reading *reading, const char *format, ...)
{
    struct oche_error *error = reading->reader->error;
    char text[256];
    va_list words;

    va_start(words, format);
    vsnprintf(text, sizeof(text), format, words);
    va_end(words);
    return oche_fail(error, "%s:%u: %s", reading->measured->path, reading->line, text);
}

/* ---- lines ---- */

/* Adds a line with time and place to those before. */
static void add_facts(const struct reading *reading, const char *text)
{
    struct oche_measured *measured = reading->measured;

    text += strspn(text, "# ");
    measured->facts = oche_document_print(reading->reader->memory, "%s%s%s", measured->facts,
                                          measured->facts[0] != '\0' ? "; " : "", text);
}

static bool read_column(const struct reading *reading, const char *name, struct column *column)
{
    const struct oche_study *study = reading->study;
    struct oche_error wrong;

    for (size_t a = 0; a < study->axis_count; a++)
        if (strcmp(study->axes[a].key, name) == 0) {
            *column = (struct column){.axis = a};
            return true;
        }
    if (!oche_metric_check(name, &wrong))
        return line_fail(reading, "%s: is neither an axis of the figure nor a metric", name);
    *column = (struct column){.metric = oche_document_print(reading->reader->memory, "%s", name)};
    return true;
}

static bool same_column(const struct column *a, const struct column *b)
{
    if (a->metric == NULL || b->metric == NULL)
        return a->metric == b->metric && a->axis == b->axis;
    return strcmp(a->metric, b->metric) == 0;
}

static bool read_head(const struct reading *reading, char *text)
{
    struct oche_measured *measured = reading->measured;
    size_t count = 1;
    char *name;

    for (const char *c = text; *c != '\0'; c++)
        count += *c == ',';
    measured->columns = oche_read_alloc(reading->reader, count, sizeof(*measured->columns));
    while ((name = strsep(&text, ",")) != NULL) {
        struct column *column = &measured->columns[measured->column_count];

        if (!read_column(reading, name, column))
            return false;
        for (size_t c = 0; c < measured->column_count; c++)
            if (same_column(&measured->columns[c], column))
                return line_fail(reading, "%s: is there twice", name);
        measured->column_count++;
    }
    return true;
}

static bool read_number(const char *text, double *number)
{
    char *end;

    *number = NAN;
    if (text[0] == '\0')
        return true;
    *number = INFINITY;
    if (strcmp(text, "never") == 0)
        return true;
    *number = strtod(text, &end);
    return *end == '\0' && isfinite(*number);
}

static bool read_label(const struct oche_study_axis *axis, const char *label, size_t *value)
{
    for (*value = 0; *value < axis->count; (*value)++)
        if (strcmp(axis->values[*value].label, label) == 0)
            return true;
    return false;
}

static struct row *add_row(const struct reading *reading)
{
    struct oche_measured *measured = reading->measured;
    const size_t columns = measured->column_count;

    if (measured->row_count == measured->row_room) {
        const size_t room = measured->row_room == 0 ? 64 : 2 * measured->row_room;
        struct row *grown = oche_read_alloc(reading->reader, room, sizeof(*grown));

        if (measured->row_count > 0)
            memcpy(grown, measured->rows, measured->row_count * sizeof(*grown));
        measured->rows = grown;
        measured->row_room = room;
    }
    struct row *row = &measured->rows[measured->row_count++];

    row->value = oche_read_alloc(reading->reader, columns, sizeof(*row->value));
    row->number = oche_read_alloc(reading->reader, columns, sizeof(*row->number));
    return row;
}

static bool read_row(const struct reading *reading, char *text)
{
    const struct oche_measured *measured = reading->measured;
    struct row *row = add_row(reading);
    size_t c = 0;
    char *cell;

    for (; (cell = strsep(&text, ",")) != NULL && c < measured->column_count; c++) {
        const struct column *column = &measured->columns[c];

        if (column->metric != NULL) {
            if (!read_number(cell, &row->number[c]))
                return line_fail(reading, "\"%s\" is no number; a number, never, or nothing", cell);
            continue;
        }
        const struct oche_study_axis *axis = &reading->study->axes[column->axis];

        if (!read_label(axis, cell, &row->value[c]))
            return line_fail(reading, "\"%s\" is no value of the figure's %s", cell, axis->key);
    }
    if (c < measured->column_count || cell != NULL)
        return line_fail(reading, "has not the %zu columns of the first line",
                         measured->column_count);
    return true;
}

static bool read_lines(struct reading *reading, FILE *in)
{
    char *text = NULL;
    size_t room = 0;
    bool ok = true;

    while (ok && getline(&text, &room, in) >= 0) {
        reading->line++;
        text[strcspn(text, "\r\n")] = '\0';
        if (text[0] == '#')
            add_facts(reading, text);
        else
            ok = reading->measured->columns == NULL ? read_head(reading, text)
                                                    : read_row(reading, text);
    }
    free(text);
    return ok;
}

/* ---- the file ---- */

static const char *path_of(const struct oche_reader *reader, const struct oche_study *study,
                           const char *name)
{
    const struct oche_paper *paper = study->paper;

    if (paper == NULL)
        return oche_document_print(reader->memory, "%s.csv", name);
    if (paper->measured != NULL)
        return oche_document_print(reader->memory, "%s/%s.csv", paper->measured, name);
    return oche_document_print(reader->memory, "%s/measured/%s.csv", paper->folder, name);
}

static struct oche_measured *open_file(const struct oche_reader *reader,
                                       const struct oche_study *study, const struct oche_yaml *node,
                                       const char *name)
{
    struct oche_measured *measured = oche_read_alloc(reader, 1, sizeof(*measured));
    struct reading reading = {.reader = reader, .study = study, .measured = measured};
    bool ok;

    measured->path = path_of(reader, study, name);
    measured->facts = "";
    struct oche_error reason;
    FILE *in = oche_input_stream(measured->path, &reason);

    if (in == NULL) {
        OCHE_READ_FAIL(reader, node, "measured",
                       "%s cannot be read: %s; oche reproduce --measure writes it", measured->path,
                       reason.text);
        return NULL;
    }
    ok = read_lines(&reading, in) && oche_file_digest(measured->path, &measured->digest);
    fclose(in);
    return ok ? measured : NULL;
}

static bool fits(const struct oche_measured *measured, const struct row *row,
                 const struct oche_combination *combination)
{
    for (size_t c = 0; c < measured->column_count; c++)
        if (measured->columns[c].metric == NULL &&
            row->value[c] != combination->value[measured->columns[c].axis])
            return false;
    return true;
}

static bool has_axis(const struct oche_measured *measured, size_t axis)
{
    for (size_t c = 0; c < measured->column_count; c++)
        if (measured->columns[c].metric == NULL && measured->columns[c].axis == axis)
            return true;
    return false;
}

/* Rejects a file without a column for an axis of which the grid has several values. */
static bool check_axes(const struct oche_reader *reader, const struct oche_study *study,
                       size_t grid)
{
    const struct oche_measured *measured = study->measured[grid];
    const struct oche_combination *first = NULL;

    for (size_t i = 0; i < study->combination_count; i++) {
        const struct oche_combination *combination = &study->combinations[i];

        if (combination->grid != grid)
            continue;
        if (first == NULL)
            first = combination;
        for (size_t a = 0; a < study->axis_count; a++)
            if (combination->value[a] != first->value[a] && !has_axis(measured, a))
                return oche_fail(reader->error, "%s: has no column %s, of which there are several",
                                 measured->path, study->axes[a].key);
    }
    return true;
}

static bool check_rows(const struct oche_reader *reader, const struct oche_study *study,
                       size_t grid)
{
    const struct oche_measured *measured = study->measured[grid];

    for (size_t i = 0; i < study->combination_count; i++) {
        const struct oche_combination *combination = &study->combinations[i];
        size_t rows = 0;

        if (combination->grid != grid)
            continue;
        for (size_t r = 0; r < measured->row_count; r++)
            rows += fits(measured, &measured->rows[r], combination);
        if (rows < combination->repeats)
            return oche_fail(reader->error,
                             "%s: has %zu rows of a combination that repeats %u times; measure "
                             "as many",
                             measured->path, rows, combination->repeats);
    }
    return true;
}

static void add_difference(const struct oche_reader *reader, struct oche_study *study,
                           const struct oche_measured *measured)
{
    const size_t count = study->difference_count;
    const char **grown = oche_read_alloc(reader, count + 1, sizeof(*grown));

    if (count > 0)
        memcpy(grown, study->differences, count * sizeof(*grown));
    grown[study->difference_count++] = oche_document_print(
        reader->memory, "Measured on the wire, not simulated: %s.", measured->facts);
    study->differences = grown;
}

bool oche_measured_read(const struct oche_reader *reader, struct oche_study *study)
{
    for (size_t g = 0; g < study->grid_count; g++) {
        const char *name = study->measured_names[g];
        size_t same = 0;

        if (name == NULL)
            continue;
        while (study->measured_names[same] == NULL ||
               strcmp(study->measured_names[same], name) != 0)
            same++;
        study->measured[g] = same < g ? study->measured[same]
                                      : open_file(reader, study, study->measured_nodes[g], name);
        if (study->measured[g] == NULL)
            return false;
        if (same == g)
            add_difference(reader, study, study->measured[g]);
        if (!check_axes(reader, study, g) || !check_rows(reader, study, g))
            return false;
    }
    return true;
}

bool oche_measured_in(const struct oche_paper *paper, const char *figure)
{
    struct oche_error ignored;
    char *path = NULL;
    bool found = false;

    OCHE_GOT(asprintf(&path, "%s/figures/%s.yaml", paper->folder, figure) >= 0);
    struct oche_document *document = oche_document_open(path, &ignored);
    const struct oche_yaml *grids =
        document != NULL ? oche_yaml_find(oche_document_root(document), "grids") : NULL;

    for (uint32_t g = 0; grids != NULL && g < grids->count; g++)
        found |= oche_yaml_find(grids->child[g], "measured") != NULL;
    oche_document_close(document);
    free(path);
    return found;
}

const struct oche_measured *oche_measured_of(const struct oche_study *study,
                                             const struct oche_combination *combination)
{
    return study->measured[combination->grid];
}

void oche_measured_values(const struct oche_measured *measured,
                          const struct oche_combination *combination, const char *metric,
                          double *values)
{
    size_t column = 0, repeat = 0;

    for (uint32_t r = 0; r < combination->repeats; r++)
        values[r] = NAN;
    while (column < measured->column_count &&
           (measured->columns[column].metric == NULL ||
            strcmp(measured->columns[column].metric, metric) != 0))
        column++;
    for (size_t r = 0; column < measured->column_count && r < measured->row_count; r++)
        if (repeat < combination->repeats && fits(measured, &measured->rows[r], combination))
            values[repeat++] = measured->rows[r].number[column];
}

uint64_t oche_measured_digest(const struct oche_measured *measured)
{
    return measured->digest;
}
