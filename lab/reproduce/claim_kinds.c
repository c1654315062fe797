/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of claims: one small function each, and a table of all. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reproduce/claim.h"
#include "lab/reproduce/yardstick.h"

const char *const oche_source_names[] = {"text", "plot", "memory", "own", NULL};

static const struct oche_reading_of no_data = {.shown = NAN, .finding = OCHE_FINDING_NO_DATA};
/*
 * The value of an event that never happened. It is neither near any number nor above or below a
 * bound. Only a claim of kind `order` can use it: the event is later than all others.
 */
static const struct oche_reading_of never = {.shown = INFINITY,
                                             .finding = OCHE_FINDING_NOT_REPRODUCED};

/* True if a value is infinite (the event never happened) and none is missing. */
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

static enum oche_finding near_published(const struct oche_claim *claim, double shown)
{
    if (isinf(shown))
        return OCHE_FINDING_NOT_REPRODUCED;
    return oche_verdict_about(claim, claim->published, shown);
}

static struct oche_reading_of read_value(const struct oche_claim *claim,
                                         const struct oche_study *study, const double *values)
{
    (void)study;
    return (struct oche_reading_of){.shown = values[0],
                                    .finding = near_published(claim, values[0])};
}

/* A ratio with a negative denominator, such as a reduction that was an increase, has no meaning. */
static struct oche_reading_of read_ratio(const struct oche_claim *claim,
                                         const struct oche_study *study, const double *values)
{
    double shown = values[1] == 0 ? NAN : values[0] / values[1];

    (void)study;
    if (any_never(values, 2))
        return never;
    return (struct oche_reading_of){.shown = shown,
                                    .finding = values[1] < 0 ? OCHE_FINDING_NOT_REPRODUCED
                                                             : near_published(claim, shown)};
}

static struct oche_reading_of read_difference(const struct oche_claim *claim,
                                              const struct oche_study *study, const double *values)
{
    double shown = values[0] - values[1];

    (void)study;
    if (any_never(values, 2))
        return never;
    return (struct oche_reading_of){.shown = shown, .finding = near_published(claim, shown)};
}

/* ---- a bound ---- */

static enum oche_finding not_above(const struct oche_claim *claim, double bound, double shown)
{
    if (shown <= bound)
        return OCHE_FINDING_REPRODUCED;
    return oche_verdict_about(claim, bound, shown);
}

static enum oche_finding below_bound(const struct oche_claim *claim, double shown)
{
    return not_above(claim, claim->published, shown);
}

/* Judges a number that must be above the bound, and not above the limit if there is one. */
static enum oche_finding above_bound(const struct oche_claim *claim, double shown)
{
    if (shown >= claim->published)
        return isnan(claim->limit) ? OCHE_FINDING_REPRODUCED
                                   : not_above(claim, claim->limit, shown);
    return oche_verdict_about(claim, claim->published, shown);
}

static struct oche_reading_of read_at_most(const struct oche_claim *claim,
                                           const struct oche_study *study, const double *values)
{
    (void)study;
    if (any_never(values, 1))
        return never;
    return (struct oche_reading_of){.shown = values[0], .finding = below_bound(claim, values[0])};
}

static struct oche_reading_of read_at_least(const struct oche_claim *claim,
                                            const struct oche_study *study, const double *values)
{
    (void)study;
    if (any_never(values, 1))
        return never;
    return (struct oche_reading_of){.shown = values[0], .finding = above_bound(claim, values[0])};
}

static struct oche_reading_of read_ratio_at_least(const struct oche_claim *claim,
                                                  const struct oche_study *study,
                                                  const double *values)
{
    double shown = values[1] == 0 ? NAN : values[0] / values[1];

    (void)study;
    if (any_never(values, 2))
        return never;
    return (struct oche_reading_of){.shown = shown,
                                    .finding = values[1] < 0 ? OCHE_FINDING_NOT_REPRODUCED
                                                             : above_bound(claim, shown)};
}

/* ---- several conditions ---- */

/* Returns by how much one value is above another. Two events that never happened are tied. */
static double lead(double above, double below)
{
    return above == below ? 0 : above - below;
}

/*
 * Judges the smallest lead of a condition over the next. Each must exceed the margin. In shape,
 * none may be reversed by more than the wider band, and the first must lead the last.
 */
static struct oche_reading_of read_order(const struct oche_claim *claim,
                                         const struct oche_study *study, const double *values)
{
    const struct oche_tolerance *tolerance = &claim->tolerance;
    size_t last = claim->at_count - 1;
    double least = INFINITY;
    struct oche_reading_of reading = {.finding = OCHE_FINDING_NOT_REPRODUCED};

    (void)study;
    for (size_t i = 0; i <= last; i++)
        if (isnan(values[i]))
            return no_data;
    for (size_t i = 0; i < last; i++)
        least = fmin(least, lead(values[i], values[i + 1]));
    reading.shown = least;
    if (least > tolerance->reproduced)
        reading.finding = OCHE_FINDING_REPRODUCED;
    else if (least >= -tolerance->in_shape && lead(values[0], values[last]) > 0)
        reading.finding = OCHE_FINDING_IN_SHAPE;
    return reading;
}

static enum oche_finding small_enough(const struct oche_claim *claim, double spread)
{
    return oche_verdict(fabs(spread), claim->tolerance.reproduced, claim->tolerance.in_shape);
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
    return (struct oche_reading_of){.shown = most - least,
                                    .finding = small_enough(claim, most - least)};
}

/* ---- along an axis ---- */

/* Judges a position by its factor from the published one, which is above 0. */
static enum oche_finding near_position(const struct oche_claim *claim, double shown)
{
    const double factor = fmax(shown / claim->published, claim->published / shown);

    return oche_verdict(factor, claim->tolerance.reproduced, claim->tolerance.in_shape);
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

        return (struct oche_reading_of){.shown = x, .finding = near_position(claim, x)};
    }
    return any ? never : no_data;
}

/* ---- curves ---- */

/* True if this mode runs all combinations of the condition. */
static bool is_run(const struct oche_study *study, const struct oche_condition *at)
{
    for (size_t c = 0; c < study->combination_count; c++) {
        const struct oche_combination *combination = &study->combinations[c];
        bool part = combination->repeats == 0;

        for (size_t a = 0; part && a < study->axis_count; a++) {
            bool named = false;

            for (size_t v = 0; v < at->axis[a].count; v++)
                named |= at->axis[a].values[v] == combination->value[a];
            part = named;
        }
        if (part)
            return false;
    }
    return true;
}

/* True if all curves have the point that begins at this condition. */
static bool is_point(const struct oche_study *study, const struct oche_claim *claim, size_t first)
{
    for (size_t c = 0; c < claim->curves; c++)
        if (!is_run(study, &claim->at[first + c]))
            return false;
    return true;
}

size_t oche_claim_points(const struct oche_study *study, const struct oche_claim *claim)
{
    size_t count = 0;

    for (size_t i = 0; i < claim->at_count; i += claim->curves)
        count += is_point(study, claim, i);
    return count;
}

/* True if each curve is above the next by more than the margin, a share of the larger value. */
static bool is_ordered(const double *values, size_t count, double margin)
{
    for (size_t i = 0; i + 1 < count; i++) {
        const double most = fmax(fabs(values[i]), fabs(values[i + 1]));

        if (!(lead(values[i], values[i + 1]) > (isinf(most) ? 0 : margin * most)))
            return false;
    }
    return true;
}

/* Shows at which share of the points the curves have this order. */
static struct oche_reading_of read_ordering(const struct oche_claim *claim,
                                            const struct oche_study *study, const double *values)
{
    const size_t points = oche_claim_points(study, claim);
    size_t ordered = 0;

    if (points == 0)
        return no_data;
    for (size_t i = 0; i < claim->at_count; i += claim->curves) {
        if (!is_point(study, claim, i))
            continue;
        for (size_t c = 0; c < claim->curves; c++)
            if (isnan(values[i + c]))
                return no_data;
        ordered += is_ordered(&values[i], claim->curves, claim->tolerance.reproduced);
    }
    const double share = (double)ordered / (double)points;

    return (struct oche_reading_of){.shown = share,
                                    .finding = ordered == points ? OCHE_FINDING_REPRODUCED
                                               : share >= claim->tolerance.in_shape
                                                   ? OCHE_FINDING_IN_SHAPE
                                                   : OCHE_FINDING_NOT_REPRODUCED};
}

static int compare_numbers(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Returns the number that the claim takes of `count` ratios, which it sorts. */
static double take_of(const struct oche_claim *claim, double *ratios, size_t count)
{
    qsort(ratios, count, sizeof(*ratios), compare_numbers);
    switch (claim->take) {
    case OCHE_TAKE_SMALLEST:
        return ratios[0];
    case OCHE_TAKE_LARGEST:
        return ratios[count - 1];
    default:
        return (ratios[(count - 1) / 2] + ratios[count / 2]) / 2;
    }
}

/* As for a ratio: without a meaning if a divisor is negative, and none if it is 0. */
static struct oche_reading_of read_factor(const struct oche_claim *claim,
                                          const struct oche_study *study, const double *values)
{
    double *ratios = malloc((claim->at_count / 2 + 1) * sizeof(*ratios));
    struct oche_reading_of reading = no_data;
    size_t count = 0;
    bool missing = false, negative = false, infinite = false;

    OCHE_GOT(ratios != NULL);
    for (size_t i = 0; i < claim->at_count; i += 2) {
        if (!is_point(study, claim, i))
            continue;
        missing |= isnan(values[i]) || isnan(values[i + 1]) || values[i + 1] == 0;
        negative |= values[i + 1] < 0;
        infinite |= any_never(&values[i], 2);
        ratios[count++] = values[i] / values[i + 1];
    }
    if (infinite && !missing) {
        reading = never;
    } else if (count > 0 && !missing) {
        reading.shown = take_of(claim, ratios, count);
        reading.finding =
            negative ? OCHE_FINDING_NOT_REPRODUCED : near_published(claim, reading.shown);
    }
    free(ratios);
    return reading;
}

/* ---- the table ---- */

const struct oche_claim_kind oche_claim_kinds[] = {
    {.name = "value",
     .conditions = OCHE_CONDITIONS_ONE,
     .published = "published",
     .read = read_value,
     .judge = near_published},
    {.name = "at_most",
     .conditions = OCHE_CONDITIONS_ONE,
     .published = "bound",
     .read = read_at_most,
     .judge = below_bound},
    {.name = "at_least",
     .conditions = OCHE_CONDITIONS_ONE,
     .published = "bound",
     .limited = true,
     .read = read_at_least,
     .judge = above_bound},
    {.name = "ratio",
     .conditions = OCHE_CONDITIONS_TWO,
     .published = "published",
     .read = read_ratio,
     .judge = near_published},
    {.name = "ratio_at_least",
     .conditions = OCHE_CONDITIONS_TWO,
     .published = "bound",
     .limited = true,
     .read = read_ratio_at_least,
     .judge = above_bound},
    {.name = "difference",
     .conditions = OCHE_CONDITIONS_TWO,
     .published = "published",
     .read = read_difference,
     .judge = near_published},
    {.name = "order",
     .conditions = OCHE_CONDITIONS_LIST,
     .band = OCHE_BAND_MARGIN,
     .read = read_order},
    {.name = "near",
     .conditions = OCHE_CONDITIONS_LIST,
     .band = OCHE_BAND_MARGIN,
     .read = read_near,
     .judge = small_enough},
    {.name = "falls_from",
     .conditions = OCHE_CONDITIONS_ALONG,
     .band = OCHE_BAND_FACTOR,
     .published = "published",
     .read = read_falls_from,
     .judge = near_position},
    {.name = "ordering",
     .conditions = OCHE_CONDITIONS_CURVES,
     .band = OCHE_BAND_POINTS,
     .read = read_ordering},
    {.name = "factor",
     .conditions = OCHE_CONDITIONS_CURVES,
     .published = "published",
     .takes = true,
     .read = read_factor,
     .judge = near_published},
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
    if (claim->kind->read == read_ordering)
        return "ratio";
    if (claim->kind->read == read_ratio || claim->kind->read == read_ratio_at_least ||
        claim->kind->read == read_factor)
        return "factor";
    return claim->quantity->unit;
}

const struct oche_quantity *oche_claim_quantity(const struct oche_claim *claim, size_t condition)
{
    return claim->each != NULL ? claim->each[condition] : claim->quantity;
}
