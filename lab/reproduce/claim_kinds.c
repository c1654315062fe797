/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of claims: one small function each, and a table of all. */
#include <math.h>
#include <string.h>

#include "lab/reproduce/claim.h"

static const struct oche_reading_of no_data = {.shown = NAN, .distance = NAN};
/*
 * The reading of an event that never happened. It is not near any number, nor above or below a
 * bound. Only a claim of kind `order` can use it: the event is later than all others.
 */
static const struct oche_reading_of never = {.shown = INFINITY, .distance = INFINITY};

/* True if a value is infinite, as the time of what never happened, and none is missing. */
static bool any_never(const double *values, size_t count)
{
    bool any = false;

    for (size_t i = 0; i < count; i++) {
        if (isnan(values[i]))
            return false;
        any |= isinf(values[i]) != 0;
    }
    return any;
}

/* ---- a number ---- */

static double from_published(const struct oche_claim *claim, double shown)
{
    double distance = fabs(shown - claim->published);

    return claim->tolerance.relative ? distance / fabs(claim->published) : distance;
}

static struct oche_reading_of read_value(const struct oche_claim *claim,
                                         const struct oche_study *study, const double *values)
{
    (void)study;
    return (struct oche_reading_of){.shown = values[0],
                                    .distance = from_published(claim, values[0])};
}

static struct oche_reading_of read_ratio(const struct oche_claim *claim,
                                         const struct oche_study *study, const double *values)
{
    double shown = values[1] == 0 ? NAN : values[0] / values[1];

    (void)study;
    if (any_never(values, 2))
        return never;
    return (struct oche_reading_of){.shown = shown, .distance = from_published(claim, shown)};
}

static struct oche_reading_of read_difference(const struct oche_claim *claim,
                                              const struct oche_study *study, const double *values)
{
    double shown = values[0] - values[1];

    (void)study;
    if (any_never(values, 2))
        return never;
    return (struct oche_reading_of){.shown = shown, .distance = from_published(claim, shown)};
}

/* ---- a bound ---- */

static double above_bound(const struct oche_claim *claim, double shown)
{
    if (isnan(shown))
        return NAN;
    return shown > claim->published ? from_published(claim, shown) : 0;
}

static double below_bound(const struct oche_claim *claim, double shown)
{
    if (isnan(shown))
        return NAN;
    return shown < claim->published ? from_published(claim, shown) : 0;
}

static struct oche_reading_of read_at_most(const struct oche_claim *claim,
                                           const struct oche_study *study, const double *values)
{
    (void)study;
    if (any_never(values, 1))
        return never;
    return (struct oche_reading_of){.shown = values[0], .distance = above_bound(claim, values[0])};
}

static struct oche_reading_of read_at_least(const struct oche_claim *claim,
                                            const struct oche_study *study, const double *values)
{
    (void)study;
    if (any_never(values, 1))
        return never;
    return (struct oche_reading_of){.shown = values[0], .distance = below_bound(claim, values[0])};
}

static struct oche_reading_of read_ratio_at_least(const struct oche_claim *claim,
                                                  const struct oche_study *study,
                                                  const double *values)
{
    double shown = values[1] == 0 ? NAN : values[0] / values[1];

    (void)study;
    if (any_never(values, 2))
        return never;
    return (struct oche_reading_of){.shown = shown, .distance = below_bound(claim, shown)};
}

/* ---- several conditions ---- */

/* Returns by how much one value is above another; two that never happened are tied. */
static double lead(double above, double below)
{
    return above == below ? 0 : above - below;
}

/*
 * Shows the smallest lead of a condition over the next; it is below 0 if two conditions are in the
 * wrong order. If all conditions are tied there is no order, so the first must lead the last by
 * more than the margin.
 */
static struct oche_reading_of read_order(const struct oche_claim *claim,
                                         const struct oche_study *study, const double *values)
{
    size_t last = claim->at_count - 1;
    double least = INFINITY, ends = lead(values[0], values[last]);
    struct oche_reading_of reading;

    (void)study;
    for (size_t i = 0; i <= last; i++)
        if (isnan(values[i]))
            return no_data;
    for (size_t i = 0; i < last; i++)
        least = fmin(least, lead(values[i], values[i + 1]));
    reading.shown = least;
    reading.distance = fmax(0, -least);
    if (ends <= 0)
        reading.distance = INFINITY;
    else if (ends <= claim->tolerance.reproduced)
        reading.distance = fmax(reading.distance, nextafter(claim->tolerance.reproduced, INFINITY));
    return reading;
}

static double itself(const struct oche_claim *claim, double shown)
{
    (void)claim;
    return shown;
}

/* Shows by how much the largest value exceeds the smallest. */
static struct oche_reading_of read_near(const struct oche_claim *claim,
                                        const struct oche_study *study, const double *values)
{
    double least = INFINITY, most = -INFINITY;

    (void)study;
    for (size_t i = 0; i < claim->at_count; i++) {
        if (isnan(values[i]))
            return no_data;
        least = fmin(least, values[i]);
        most = fmax(most, values[i]);
    }
    if (any_never(values, claim->at_count))
        return never;
    return (struct oche_reading_of){.shown = most - least, .distance = most - least};
}

/* ---- along an axis ---- */

/* Returns the factor between the shown number and the published one; it is at least 1. */
static double factor_off(const struct oche_claim *claim, double shown)
{
    if (isinf(shown))
        return INFINITY;
    return shown > claim->published ? shown / claim->published : claim->published / shown;
}

/*
 * Shows the first position on the axis where the curve is below `below`; infinity if there is none.
 * Skips positions that are not run in this mode.
 */
static struct oche_reading_of read_falls_from(const struct oche_claim *claim,
                                              const struct oche_study *study, const double *values)
{
    const struct oche_study_axis *axis = &study->axes[claim->along];
    bool any = false;

    for (size_t i = 0; i < claim->at_count; i++) {
        any |= !isnan(values[i]);
        if (!(values[i] < claim->below))
            continue;
        double x = axis->values[claim->at[i].axis[claim->along].values[0]].number;

        return (struct oche_reading_of){.shown = x, .distance = factor_off(claim, x)};
    }
    if (!any)
        return no_data;
    return (struct oche_reading_of){.shown = INFINITY, .distance = INFINITY};
}

/* ---- the table ---- */

const struct oche_claim_kind oche_claim_kinds[] = {
    {.name = "value",
     .conditions = OCHE_CONDITIONS_ONE,
     .published = "published",
     .read = read_value,
     .distance = from_published},
    {.name = "at_most",
     .conditions = OCHE_CONDITIONS_ONE,
     .published = "bound",
     .read = read_at_most,
     .distance = above_bound},
    {.name = "at_least",
     .conditions = OCHE_CONDITIONS_ONE,
     .published = "bound",
     .read = read_at_least,
     .distance = below_bound},
    {.name = "ratio",
     .conditions = OCHE_CONDITIONS_TWO,
     .published = "published",
     .read = read_ratio,
     .distance = from_published},
    {.name = "ratio_at_least",
     .conditions = OCHE_CONDITIONS_TWO,
     .published = "bound",
     .read = read_ratio_at_least,
     .distance = below_bound},
    {.name = "difference",
     .conditions = OCHE_CONDITIONS_TWO,
     .published = "published",
     .read = read_difference,
     .distance = from_published},
    {.name = "order",
     .conditions = OCHE_CONDITIONS_LIST,
     .band = OCHE_BAND_MARGIN,
     .read = read_order},
    {.name = "near",
     .conditions = OCHE_CONDITIONS_LIST,
     .band = OCHE_BAND_MARGIN,
     .read = read_near,
     .distance = itself},
    {.name = "falls_from",
     .conditions = OCHE_CONDITIONS_ALONG,
     .band = OCHE_BAND_FACTOR,
     .published = "published",
     .read = read_falls_from,
     .distance = factor_off},
    {.name = "outside", .conditions = OCHE_CONDITIONS_NONE},
};
const size_t oche_claim_kind_count = OCHE_COUNT_OF(oche_claim_kinds);

const struct oche_claim_kind *oche_claim_kind_find(const char *name)
{
    for (size_t i = 0; i < oche_claim_kind_count; i++)
        if (strcmp(oche_claim_kinds[i].name, name) == 0)
            return &oche_claim_kinds[i];
    return NULL;
}

const char *oche_claim_unit(const struct oche_study *study, const struct oche_claim *claim)
{
    if (claim->kind->conditions == OCHE_CONDITIONS_NONE)
        return "count";
    if (claim->kind->conditions == OCHE_CONDITIONS_ALONG)
        return study->axes[claim->along].unit;
    if (claim->kind->read == read_ratio || claim->kind->read == read_ratio_at_least)
        return "factor";
    return claim->quantity->unit;
}

const struct oche_quantity *oche_claim_quantity(const struct oche_claim *claim, size_t condition)
{
    return claim->each != NULL ? claim->each[condition] : claim->quantity;
}
