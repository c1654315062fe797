/* SPDX-License-Identifier: Apache-2.0 */
/* Computes percentiles and spans. */
#include "report/sample.h"

#include <math.h>
#include <stdlib.h>

#include "report/json.h"

#define WHOLE 100000 /* 100 % */

void oche_sample_add(struct oche_sample *sample, double value)
{
    if (sample->count == sample->capacity) {
        sample->capacity = sample->capacity == 0 ? 256 : sample->capacity * 2;
        sample->values = realloc(sample->values, sample->capacity * sizeof(double));
        OCHE_GOT(sample->values != NULL);
    }
    sample->values[sample->count++] = value;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void oche_sample_sort(struct oche_sample *sample)
{
    if (sample->count > 0)
        qsort(sample->values, sample->count, sizeof(double), compare);
}

void oche_sample_free(struct oche_sample *sample)
{
    free(sample->values);
    *sample = (struct oche_sample){.values = NULL};
}

double oche_sample_percentile(const struct oche_sample *sample, uint32_t p)
{
    if (sample->count == 0)
        return NAN;
    unsigned __int128 rank = ((unsigned __int128)sample->count * p + WHOLE - 1) / WHOLE;

    return sample->values[rank == 0 ? 0 : (size_t)rank - 1];
}

double oche_sample_mean(const struct oche_sample *sample)
{
    double sum = 0;

    for (size_t i = 0; i < sample->count; i++)
        sum += sample->values[i];
    return sample->count == 0 ? NAN : sum / (double)sample->count;
}

/*
 * The percentiles are every half per cent up to 99, then nine steps for each further digit 9, then
 * the largest value.
 */
uint32_t oche_sample_grid(uint32_t number)
{
    const uint32_t body = 199;

    OCHE_MUST(number < OCHE_SAMPLE_GRID);
    if (number < body)
        return number * 500;
    if (number == OCHE_SAMPLE_GRID - 1)
        return WHOLE;
    uint32_t step = 100, from = 99000, at = number - body;

    for (; at >= 9; at -= 9) {
        from += 9 * step;
        step /= 10;
    }
    return from + (at + 1) * step;
}

struct json_object *oche_sample_grid_json(void)
{
    struct json_object *grid = oche_json_array(OCHE_SAMPLE_GRID);

    for (uint32_t i = 0; i < OCHE_SAMPLE_GRID; i++)
        oche_json_push_real(grid, oche_sample_grid(i) / 1000.0);
    return grid;
}

struct json_object *oche_sample_curve_json(const struct oche_sample *sample)
{
    struct json_object *curve = oche_json_array(OCHE_SAMPLE_GRID);

    for (uint32_t i = 0; i < OCHE_SAMPLE_GRID; i++)
        oche_json_push_real(curve, oche_sample_percentile(sample, oche_sample_grid(i)));
    return curve;
}

struct json_object *oche_sample_summary_json(const struct oche_sample *sample)
{
    static const uint32_t shown[] = {50000, 90000, 99000, 99900, WHOLE};
    struct json_object *summary = oche_json_array(6);

    for (size_t i = 0; i < OCHE_COUNT_OF(shown); i++)
        oche_json_push(summary, oche_json_exact(oche_sample_percentile(sample, shown[i])));
    oche_json_push(summary, oche_json_exact(oche_sample_mean(sample)));
    return summary;
}

size_t oche_span_width(size_t count, size_t most)
{
    return count <= most ? 1 : (count + most - 1) / most;
}

size_t oche_spans(const double *values, size_t count, size_t width, struct oche_span *spans)
{
    size_t made = 0;

    for (size_t from = 0; from < count; from += width) {
        struct oche_span span = {.mean = 0, .least = NAN, .most = NAN};
        size_t to = count - from < width ? count : from + width, used = 0;

        for (size_t i = from; i < to; i++) {
            if (isnan(values[i]))
                continue;
            span.least = fmin(span.least, values[i]);
            span.most = fmax(span.most, values[i]);
            span.mean += values[i];
            used++;
        }
        span.mean = used == 0 ? NAN : span.mean / (double)used;
        spans[made++] = span;
    }
    return made;
}
