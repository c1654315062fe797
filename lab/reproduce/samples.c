/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the metrics of runs, by quantity, and computes statistics over repeats. */
#include "lab/reproduce/samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/measures/interval.h"

/* A quantity at one combination: its dividend and its divisor, each with one number per repeat. */
struct series {
    double *top,
        /*
         * arrays of combination->repeats numbers; NAN: there is no such run, or the run lacks a
         * metric
         */
        *bottom;
    /* top / bottom in each repeat; if the quantity is relative, divided by the reference's value */
    double *value;
    /* combination to which a relative quantity refers; NULL: the quantity is not relative */
    const struct oche_combination *reference;
};

struct oche_samples {
    const struct oche_study *study;
    struct series *series; /* one series per quantity and combination: all of quantity 0 first */
    const char **metrics;  /* names of the metrics that quantities need */
    size_t metric_count;
    /* index: metric * number of combinations + combination; each has one number per repeat */
    double **raw;
    bool stale; /* the series' `value` must be computed again */
};

static struct series *series_of(const struct oche_samples *samples,
                                const struct oche_quantity *quantity,
                                const struct oche_combination *combination)
{
    const struct oche_study *study = samples->study;

    return &samples->series[(size_t)(quantity - study->quantities) * study->combination_count +
                            (size_t)(combination - study->combinations)];
}

static const struct oche_combination *reference_of(const struct oche_study *study,
                                                   const struct oche_quantity *quantity,
                                                   const struct oche_combination *combination)
{
    size_t *value = malloc((study->axis_count + 1) * sizeof(*value));
    const struct oche_combination *found;

    OCHE_GOT(value != NULL);
    for (size_t a = 0; a < study->axis_count; a++)
        value[a] = quantity->relative_to.axis[a].count > 0 ? quantity->relative_to.axis[a].values[0]
                                                           : combination->value[a];
    found = oche_study_find(study, value);
    free(value);
    return found;
}

static void add_metrics(struct oche_samples *samples, const char **names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t m = 0;

        while (m < samples->metric_count && strcmp(samples->metrics[m], names[i]) != 0)
            m++;
        if (m < samples->metric_count)
            continue;
        samples->metrics =
            realloc(samples->metrics, (samples->metric_count + 1) * sizeof(*samples->metrics));
        OCHE_GOT(samples->metrics != NULL);
        samples->metrics[samples->metric_count++] = names[i];
    }
}

static double *no_numbers(uint32_t count)
{
    double *numbers = malloc((count + 1) * sizeof(*numbers));

    OCHE_GOT(numbers != NULL);
    for (uint32_t r = 0; r < count; r++)
        numbers[r] = NAN;
    return numbers;
}

struct oche_samples *oche_samples_create(const struct oche_study *study)
{
    struct oche_samples *samples = calloc(1, sizeof(*samples));
    size_t combinations = study->combination_count;

    OCHE_GOT(samples != NULL);
    samples->study = study;
    samples->stale = true;
    samples->series = calloc(study->quantity_count * combinations + 1, sizeof(*samples->series));
    OCHE_GOT(samples->series != NULL);
    for (size_t q = 0; q < study->quantity_count; q++) {
        const struct oche_quantity *quantity = &study->quantities[q];

        add_metrics(samples, quantity->metrics, quantity->metric_count);
        add_metrics(samples, quantity->over, quantity->over_count);
        for (size_t c = 0; c < combinations; c++) {
            const struct oche_combination *combination = &study->combinations[c];
            struct series *series = series_of(samples, quantity, combination);

            series->top = no_numbers(combination->repeats);
            series->bottom = no_numbers(combination->repeats);
            series->value = no_numbers(combination->repeats);
            if (quantity->relative)
                series->reference = reference_of(study, quantity, combination);
        }
    }
    samples->raw = calloc(samples->metric_count * combinations + 1, sizeof(*samples->raw));
    OCHE_GOT(samples->raw != NULL);
    for (size_t i = 0; i < samples->metric_count * combinations; i++)
        samples->raw[i] = no_numbers(study->combinations[i % combinations].repeats);
    return samples;
}

void oche_samples_free(struct oche_samples *samples)
{
    if (samples == NULL)
        return;
    const struct oche_study *study = samples->study;

    for (size_t i = 0; i < study->quantity_count * study->combination_count; i++) {
        free(samples->series[i].top);
        free(samples->series[i].bottom);
        free(samples->series[i].value);
    }
    for (size_t i = 0; i < samples->metric_count * study->combination_count; i++)
        free(samples->raw[i]);
    free(samples->raw);
    free(samples->metrics);
    free(samples->series);
    free(samples);
}

/* ---- input ---- */

const char *const *oche_samples_metrics(const struct oche_samples *samples, size_t *count)
{
    *count = samples->metric_count;
    return samples->metrics;
}

void oche_samples_put(struct oche_samples *samples, size_t metric,
                      const struct oche_combination *combination, uint32_t repeat, double value)
{
    const struct oche_study *study = samples->study;
    size_t number = (size_t)(combination - study->combinations);

    OCHE_MUST(metric < samples->metric_count && repeat < combination->repeats);
    samples->raw[metric * study->combination_count + number][repeat] = value;
    samples->stale = true;
}

/* Returns the sum of some metrics in one run; NAN if the run lacks one of them. */
static double sum_of(const struct oche_samples *samples, const char **names, size_t count,
                     size_t combination, uint32_t repeat)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        size_t metric = 0;

        while (strcmp(samples->metrics[metric], names[i]) != 0)
            metric++;
        sum += samples->raw[metric * samples->study->combination_count + combination][repeat];
    }
    return sum;
}

static void find_quotients(struct oche_samples *samples, const struct oche_quantity *quantity,
                           const struct oche_combination *combination)
{
    struct series *series = series_of(samples, quantity, combination);
    size_t number = (size_t)(combination - samples->study->combinations);

    for (uint32_t r = 0; r < combination->repeats; r++) {
        series->top[r] =
            sum_of(samples, quantity->metrics, quantity->metric_count, number, r) - quantity->since;
        series->bottom[r] = quantity->over_count == 0
                                ? 1
                                : sum_of(samples, quantity->over, quantity->over_count, number, r);
    }
}

/* ---- output ---- */

/* Returns a quotient; NAN if the divisor is 0. */
static double divide(double top, double bottom)
{
    return bottom == 0 ? NAN : top / bottom;
}

static double mean_of_quotients(const struct series *series, uint32_t count)
{
    double sum = 0;
    uint32_t good = 0;

    for (uint32_t r = 0; r < count; r++) {
        double value = divide(series->top[r], series->bottom[r]);

        if (isnan(value))
            continue;
        sum += value;
        good++;
    }
    return good > 0 ? sum / good : NAN;
}

static void find_values(const struct oche_samples *samples, const struct oche_quantity *quantity,
                        const struct oche_combination *combination)
{
    struct series *series = series_of(samples, quantity, combination);
    const struct oche_combination *to = series->reference;
    const struct series *reference = to != NULL ? series_of(samples, quantity, to) : NULL;
    double all = to != NULL ? mean_of_quotients(reference, to->repeats) : NAN;

    for (uint32_t r = 0; r < combination->repeats; r++) {
        series->value[r] = divide(series->top[r], series->bottom[r]);
        if (!quantity->relative)
            continue;
        /*
         * If both have the same number of repeats, the repeats have the same seeds. Otherwise each
         * repeat is compared with the mean of the reference.
         */
        if (to != NULL && to->repeats == combination->repeats)
            series->value[r] =
                divide(series->value[r], divide(reference->top[r], reference->bottom[r]));
        else
            series->value[r] = divide(series->value[r], all);
    }
}

void oche_samples_ready(struct oche_samples *samples)
{
    const struct oche_study *study = samples->study;

    for (size_t q = 0; samples->stale && q < study->quantity_count; q++)
        for (size_t c = 0; c < study->combination_count; c++)
            find_quotients(samples, &study->quantities[q], &study->combinations[c]);
    for (size_t q = 0; samples->stale && q < study->quantity_count; q++)
        for (size_t c = 0; c < study->combination_count; c++)
            find_values(samples, &study->quantities[q], &study->combinations[c]);
    samples->stale = false;
}

const double *oche_samples_values(const struct oche_samples *samples,
                                  const struct oche_quantity *quantity,
                                  const struct oche_combination *combination)
{
    OCHE_MUST(!samples->stale);
    return series_of(samples, quantity, combination)->value;
}

/*
 * Translates draw[r], a number below `draws`, to a repeat of a combination that has `repeats`
 * repeats, possibly fewer than `draws`.
 */
static uint32_t drawn(const uint32_t *draw, uint32_t draws, uint32_t repeats, uint32_t r)
{
    if (draw == NULL || repeats <= 1)
        return r;
    return (uint32_t)((uint64_t)draw[r % draws] * repeats / draws);
}

static double pooled(const struct oche_samples *samples, const struct oche_quantity *quantity,
                     const struct oche_combination *combination, const uint32_t *draw,
                     uint32_t draws)
{
    const struct series *series = series_of(samples, quantity, combination);
    double top = 0, bottom = 0;

    for (uint32_t r = 0; r < combination->repeats; r++) {
        uint32_t from = drawn(draw, draws, combination->repeats, r);

        if (isnan(series->top[from]) || isnan(series->bottom[from]))
            continue;
        top += series->top[from];
        bottom += series->bottom[from];
    }
    return divide(top, bottom);
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Returns the percentile by nearest rank (as in sim/measure/percentile.h). Sorts `values`. */
static double percentile(double *values, uint32_t count, uint32_t thousandths)
{
    uint64_t rank = ((uint64_t)count * thousandths + 999) / 1000;

    qsort(values, count, sizeof(*values), compare);
    return values[rank == 0 ? 0 : rank - 1];
}

static double statistic(const struct oche_quantity *quantity, double *values, uint32_t count)
{
    switch (quantity->statistic) {
    case OCHE_STATISTIC_MEDIAN:
        return percentile(values, count, 500);
    case OCHE_STATISTIC_PERCENTILE:
        return percentile(values, count, quantity->thousandths);
    case OCHE_STATISTIC_MINIMUM:
        return percentile(values, count, 0);
    case OCHE_STATISTIC_MAXIMUM:
        return percentile(values, count, 1000);
    default:
        return oche_mean(values, count);
    }
}

static double shaped(const struct oche_quantity *quantity, double value)
{
    switch (quantity->shape) {
    case OCHE_SHAPE_REDUCTION:
        return 1 - value;
    case OCHE_SHAPE_INCREASE:
        return value - 1;
    case OCHE_SHAPE_FACTOR:
        return divide(1, value);
    default:
        return value;
    }
}

/* Returns the quantity's statistic over the repeats that have a value. */
static double over_repeats(const struct oche_samples *samples, const struct oche_quantity *quantity,
                           const struct oche_combination *combination, const uint32_t *draw,
                           uint32_t draws)
{
    const double *all = oche_samples_values(samples, quantity, combination);
    double *taken = malloc((combination->repeats + 1) * sizeof(*taken));
    double result = NAN;
    uint32_t count = 0;

    OCHE_GOT(taken != NULL);
    for (uint32_t r = 0; r < combination->repeats; r++) {
        double value = all[drawn(draw, draws, combination->repeats, r)];

        if (!isnan(value))
            taken[count++] = value;
    }
    if (count > 0)
        result = statistic(quantity, taken, count);
    free(taken);
    return result;
}

double oche_samples_value(const struct oche_samples *samples, const struct oche_quantity *quantity,
                          const struct oche_combination *combination, const uint32_t *draw,
                          uint32_t draws)
{
    double value;

    if (quantity->statistic == OCHE_STATISTIC_POOLED) {
        value = pooled(samples, quantity, combination, draw, draws);
        if (quantity->relative) {
            const struct oche_combination *to =
                series_of(samples, quantity, combination)->reference;

            value = divide(value, to != NULL ? pooled(samples, quantity, to, draw, draws) : NAN);
        }
    } else {
        value = over_repeats(samples, quantity, combination, draw, draws);
    }
    return shaped(quantity, value);
}

uint32_t oche_samples_count(const struct oche_samples *samples,
                            const struct oche_quantity *quantity,
                            const struct oche_combination *combination)
{
    const struct series *series = series_of(samples, quantity, combination);
    uint32_t count = 0;

    for (uint32_t r = 0; r < combination->repeats; r++)
        count += isnan(series->value[r]) ? 0 : 1;
    return count;
}
