/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Claims of a paper in a form that can be measured, and their verdicts. A kind of claim is one row
 * of the table in claim_kinds.c. It takes the values of the claim's quantity at one or more
 * conditions, and computes the number that is shown and the verdict. The time of what never
 * happened is infinite.
 *
 *     value       the quantity is about `published`
 *     at_most     it is at most `bound`
 *     at_least    it is at least `bound`, and at most `limit` if there is one
 *     ratio       its value at `at`, divided by its value at `than`, is `published`
 *     ratio_at_least  that quotient is at least `bound`
 *     difference  its value at `at` minus its value at `than` is `published`
 *     order       it falls from each condition of `of` to the next, by more than a margin
 *     near        it is the same at all conditions of `of`, within a margin
 *     outside     cannot be measured here: listed with the reason, and not judged
 *     falls_from  along an axis, the first value at which it is below `below` is `published`
 *     ordering    along an axis, curve after curve of `of` is below the one before, by a margin
 *     factor      along an axis, the first curve of `of` over the second is `published`: the median
 *                 of the points, or the smallest or largest
 */
#ifndef OCHE_LAB_REPRODUCE_CLAIM_H
#define OCHE_LAB_REPRODUCE_CLAIM_H

#include "lab/reproduce/study.h"
#include "lab/reproduce/samples.h"

enum oche_conditions {
    OCHE_CONDITIONS_NONE,   /* no quantity, place or tolerance */
    OCHE_CONDITIONS_ONE,    /* key: at */
    OCHE_CONDITIONS_TWO,    /* keys: at, than */
    OCHE_CONDITIONS_LIST,   /* key: of */
    OCHE_CONDITIONS_ALONG,  /* all values of an axis that are run, in ascending order */
    OCHE_CONDITIONS_CURVES, /* keys: of, along; the curves at each value of an axis */
};

/* How a tolerance is given, which determines the keys it may have. */
enum oche_band {
    OCHE_BAND_DISTANCE,
    OCHE_BAND_MARGIN,
    OCHE_BAND_FACTOR,
    OCHE_BAND_POINTS, /* a margin at each point; in shape: the share of points that suffices */
};

enum oche_finding {
    OCHE_FINDING_REPRODUCED,
    OCHE_FINDING_IN_SHAPE,
    OCHE_FINDING_NOT_REPRODUCED,
    OCHE_FINDING_NO_DATA,
    OCHE_FINDING_NOT_TESTABLE, /* measured, but the paper's number is too rough to be a test */
    OCHE_FINDING_NOT_JUDGED,   /* the claim is about something that is not simulated */
    OCHE_FINDINGS
};
const char *oche_finding_name(enum oche_finding finding); /* Returns the finding in words */

struct oche_reading_of {
    double shown;
    enum oche_finding finding;
};

struct oche_claim_kind {
    const char *name;
    enum oche_conditions conditions;
    enum oche_band band;
    /* key that holds the paper's number: "published" or "bound"; NULL: the kind has no number */
    const char *published;
    bool limited; /* it may have the key "limit" */
    bool takes;   /* it may have the key "take" */
    /*
     * Computes the shown number and its verdict. `values` has one value per condition (or per
     * quantity, if the claim compares several); NAN: no data. NULL for CONDITIONS_NONE.
     */
    struct oche_reading_of (*read)(const struct oche_claim *claim, const struct oche_study *study,
                                   const double *values);
    /* Judges the shown number, if that suffices for a verdict; NULL if other values are needed. */
    enum oche_finding (*judge)(const struct oche_claim *claim, double shown);
};

extern const struct oche_claim_kind oche_claim_kinds[];
extern const size_t oche_claim_kind_count;
const struct oche_claim_kind *oche_claim_kind_find(const char *name);

/* Returns the quantity that the claim measures at condition number `condition`. */
const struct oche_quantity *oche_claim_quantity(const struct oche_claim *claim, size_t condition);

/*
 * Returns how many points the curves have that the claim is about; those that this mode does not
 * run are left out.
 */
size_t oche_claim_points(const struct oche_study *study, const struct oche_claim *claim);

/*
 * Returns the unit of the shown number: the unit of the quantity or of an axis, or "ratio", or
 * "factor".
 */
const char *oche_claim_unit(const struct oche_study *study, const struct oche_claim *claim);

enum oche_interval_kind { OCHE_INTERVAL_NONE, OCHE_INTERVAL_T, OCHE_INTERVAL_BOOTSTRAP };

/* The verdict on a claim. */
struct oche_judgement {
    enum oche_finding finding;
    double measured;  /* the number that is shown; NAN: no data */
    double low, high; /* 95 % interval of `measured`; NAN: none */
    enum oche_interval_kind interval;
    bool unsure;   /* the interval extends into the range of another verdict */
    uint32_t runs; /* number of runs at the point that has the fewest runs */
};

/*
 * Judges the claim by the samples at its conditions. If `reading` is not NULL, it replaces some of
 * these conditions. The same samples give the same judgement, bit for bit.
 */
struct oche_judgement oche_judge(const struct oche_study *study, const struct oche_claim *claim,
                                 const struct oche_reading *reading,
                                 const struct oche_samples *samples);

/* Returns half the width of the judgement's interval; NAN if there is no interval. */
double oche_judgement_spread(const struct oche_judgement *judgement);

#endif
