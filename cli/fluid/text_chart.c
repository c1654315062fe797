/* SPDX-License-Identifier: Apache-2.0 */
/* Charts made of characters. */
#include "cli/fluid/text_chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base.h"

#define LABEL_BYTES 32
#define MARGIN      10 /* columns for the labels of the value axis */

void oche_text_chart_init(struct oche_text_chart *chart, size_t series, double until)
{
    size_t cells = series * OCHE_CHART_COLUMNS;

    *chart = (struct oche_text_chart){.series = series, .until = until};
    chart->low = malloc(cells * sizeof(*chart->low));
    chart->high = malloc(cells * sizeof(*chart->high));
    OCHE_GOT(chart->low != NULL && chart->high != NULL);
    for (size_t i = 0; i < cells; i++) {
        chart->low[i] = INFINITY;
        chart->high[i] = -INFINITY;
    }
}

void oche_text_chart_free(struct oche_text_chart *chart)
{
    free(chart->low);
    free(chart->high);
    *chart = (struct oche_text_chart){.series = 0};
}

void oche_text_chart_add(struct oche_text_chart *chart, size_t series, double time, double value)
{
    double column = time / chart->until * OCHE_CHART_COLUMNS;

    if (!(column >= 0 && time <= chart->until) || series >= chart->series)
        return;
    size_t at = series * OCHE_CHART_COLUMNS +
                (column < OCHE_CHART_COLUMNS ? (size_t)column : OCHE_CHART_COLUMNS - 1);

    chart->low[at] = fmin(chart->low[at], value);
    chart->high[at] = fmax(chart->high[at], value);
}

static double largest(const struct oche_text_chart *chart)
{
    double most = 0;

    for (size_t i = 0; i < chart->series * OCHE_CHART_COLUMNS; i++)
        most = fmax(most, chart->high[i]);
    return most;
}

/*
 * Returns a round number that is at least `value`: 1, 2 or 5 times a power of ten, or one of a few
 * values between.
 */
static double round_up(double value)
{
    static const double steps[] = {1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10};
    double unit = pow(10, floor(log10(value)));

    for (size_t i = 0; i < OCHE_COUNT_OF(steps); i++)
        if (steps[i] * unit >= value * (1 - 1e-9))
            return steps[i] * unit;
    return 10 * unit;
}

/* Returns the row in which the value lies, counted from the bottom. */
static long row_of(double value, double most)
{
    long row = (long)floor(value / most * OCHE_CHART_ROWS);

    return row < 0 ? 0 : row >= OCHE_CHART_ROWS ? OCHE_CHART_ROWS - 1 : row;
}

static void draw(const struct oche_text_chart *chart, const char *marks, double most,
                 char cells[OCHE_CHART_ROWS][OCHE_CHART_COLUMNS + 1])
{
    for (size_t row = 0; row < OCHE_CHART_ROWS; row++) {
        memset(cells[row], ' ', OCHE_CHART_COLUMNS);
        cells[row][OCHE_CHART_COLUMNS] = '\0';
    }
    for (size_t series = 0; series < chart->series; series++)
        for (size_t column = 0; column < OCHE_CHART_COLUMNS; column++) {
            size_t at = series * OCHE_CHART_COLUMNS + column;

            if (chart->high[at] < chart->low[at])
                continue; /* the column has no samples */
            long from = row_of(chart->low[at], most), to = row_of(chart->high[at], most);

            for (long row = from; row <= to; row++)
                cells[row][column] = marks[series];
        }
}

static void print_time_axis(const struct oche_text_chart *chart, oche_text_chart_label *time_label,
                            FILE *out)
{
    char middle[LABEL_BYTES], right[LABEL_BYTES];
    const int half = OCHE_CHART_COLUMNS / 2;

    time_label(middle, sizeof(middle), chart->until / 2);
    time_label(right, sizeof(right), chart->until);
    fprintf(out, "%*s+", MARGIN, "");
    for (int column = 0; column < OCHE_CHART_COLUMNS; column++)
        fputc(column == half || column == OCHE_CHART_COLUMNS - 1 ? '+' : '-', out);
    int before = half - (int)strlen(middle) / 2;
    int between = OCHE_CHART_COLUMNS - before - (int)strlen(middle) - (int)strlen(right);

    fprintf(out, "\n%*s0%*s%s%*s%s\n", MARGIN, "", before, "", middle, between, "", right);
}

void oche_text_chart_print(const struct oche_text_chart *chart, const char *title,
                           const char *marks, double most, oche_text_chart_label *value_label,
                           oche_text_chart_label *time_label, FILE *out)
{
    char cells[OCHE_CHART_ROWS][OCHE_CHART_COLUMNS + 1], label[LABEL_BYTES];

    if (most <= 0) {
        most = largest(chart);
        most = most > 0 ? round_up(most) : 1;
    }
    draw(chart, marks, most, cells);
    fprintf(out, "%s\n", title);
    for (long row = OCHE_CHART_ROWS - 1; row >= 0; row--) {
        size_t end = OCHE_CHART_COLUMNS;
        bool labelled = row == OCHE_CHART_ROWS - 1 || row == OCHE_CHART_ROWS / 2 - 1;

        /* A label is at the upper edge of its row. */
        value_label(label, sizeof(label), most * (double)(row + 1) / OCHE_CHART_ROWS);
        while (end > 0 && cells[row][end - 1] == ' ')
            end--;
        fprintf(out, "%*s %c%.*s\n", MARGIN - 1, labelled ? label : "", labelled ? '+' : '|',
                (int)end, cells[row]);
    }
    print_time_axis(chart, time_label, out);
}
