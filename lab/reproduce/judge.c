/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Judges a claim: takes the values of the claim's quantity at its conditions, derives the verdict
 * from their mean, and estimates how far chance may have moved the mean. The interval is Student's
 * t if the number is a plain mean over repeats; otherwise it is by bootstrap, with random numbers
 * from a stream of the claim's name.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reproduce/claim.h"
#include "lab/reproduce/interval.h"

#define BOOTSTRAP_SEED 1
/* a verdict is unsure if this share of the draws gives another verdict */
#define UNSURE_SHARE 0.05

const char *oche_finding_name(enum oche_finding finding)
{
    static const char *const names[] = {
        [OCHE_FINDING_REPRODUCED] = "reproduced",         [OCHE_FINDING_IN_SHAPE] = "in shape",
        [OCHE_FINDING_NOT_REPRODUCED] = "not reproduced", [OCHE_FINDING_NO_DATA] = "no data",
        [OCHE_FINDING_NOT_TESTABLE] = "not testable",     [OCHE_FINDING_NOT_JUDGED] = "not judged",
    };

    return names[finding];
}

/* The combinations that a condition names. The value at the condition is the mean over them. */
struct place {
    const struct oche_combination **points;
    size_t count;
};

struct judge {
    const struct oche_study *study;
    const struct oche_claim *claim;
    const struct oche_samples *samples;
    struct place *places; /* one place per condition: claim->at_count */
    double *values;       /* scratch space for one value per condition */
    uint32_t repeats;     /* most repeats of any combination */
    uint32_t runs;        /* fewest runs of a combination, of those that are run at all */
};

/* ---- where to look ---- */

static const struct oche_condition_term *term_of(const struct judge *judge,
                                                 const struct oche_reading *reading,
                                                 size_t condition, size_t axis)
{
    if (reading != NULL && reading->at.axis[axis].count > 0)
        return &reading->at.axis[axis];
    return &judge->claim->at[condition].axis[axis];
}

static void find_place(struct judge *judge, const struct oche_reading *reading, size_t condition)
{
    const struct oche_study *study = judge->study;
    struct place *place = &judge->places[condition];
    size_t total = 1, *value = malloc((study->axis_count + 1) * sizeof(*value));

    for (size_t a = 0; a < study->axis_count; a++)
        total *= term_of(judge, reading, condition, a)->count;
    place->points = malloc((total + 1) * sizeof(*place->points));
    OCHE_GOT(value != NULL && place->points != NULL);
    place->count = total;
    for (size_t i = 0; i < total; i++) {
        size_t rest = i;

        for (size_t a = 0; a < study->axis_count; a++) {
            const struct oche_condition_term *term = term_of(judge, reading, condition, a);

            value[a] = oche_reading_value(reading, a, term->values[rest % term->count]);
            rest /= term->count;
        }
        const struct oche_combination *point = oche_study_find(study, value);

        place->points[i] = point;
        if (point == NULL || point->repeats == 0)
            continue;
        uint32_t runs =
            oche_samples_count(judge->samples, oche_claim_quantity(judge->claim, condition), point);

        if (point->repeats > judge->repeats)
            judge->repeats = point->repeats;
        if (runs < judge->runs)
            judge->runs = runs;
    }
    free(value);
}

/* True if the reading measures some condition of the claim elsewhere than the claim says. */
static bool is_replaced(const struct oche_study *study, const struct oche_claim *claim,
                        const struct oche_reading *reading)
{
    for (size_t i = 0; i < claim->at_count; i++)
        for (size_t a = 0; a < study->axis_count; a++) {
            const struct oche_condition_term *term = &claim->at[i].axis[a];

            for (size_t v = 0; v < term->count; v++)
                if (oche_reading_value(reading, a, term->values[v]) != term->values[v])
                    return true;
        }
    return false;
}

/*
 * True if the claim has a meaning under the reading. The reading replaces some values of the
 * figure's `at`; all conditions of the claim must have these values. Or it replaces values wherever
 * they are (`instead`); then some condition must have one.
 */
static bool can_be_read(const struct oche_study *study, const struct oche_claim *claim,
                        const struct oche_reading *reading)
{
    bool given = false;

    if (reading == NULL)
        return true;
    for (size_t a = 0; a < study->axis_count; a++) {
        given |= reading->at.axis[a].count > 0;
        for (size_t i = 0; reading->at.axis[a].count > 0 && i < claim->at_count; i++) {
            const struct oche_condition_term *term = &claim->at[i].axis[a];
            const struct oche_condition_term *usual = &study->at.axis[a];

            if (term->count != 1 || usual->count != 1 || term->values[0] != usual->values[0])
                return false;
        }
    }
    return given || is_replaced(study, claim, reading);
}

/* ---- one reading ---- */

static double value_of(const struct judge *judge, const struct oche_quantity *quantity,
                       size_t condition, const uint32_t *draw)
{
    const struct place *place = &judge->places[condition];
    double sum = 0;

    for (size_t i = 0; i < place->count; i++) {
        const struct oche_combination *point = place->points[i];

        if (point == NULL || point->repeats == 0)
            return NAN;
        sum += oche_samples_value(judge->samples, quantity, point, draw, judge->repeats);
    }
    return sum / (double)place->count;
}

static struct oche_reading_of read_claim(struct judge *judge, const uint32_t *draw)
{
    for (size_t i = 0; i < judge->claim->at_count; i++)
        judge->values[i] = value_of(judge, oche_claim_quantity(judge->claim, i), i, draw);
    return judge->claim->kind->read(judge->claim, judge->study, judge->values);
}

/* True if the claim's second conditions hold wherever it is measured, or it has none. */
static bool conditions_hold(const struct judge *judge)
{
    const struct oche_claim *claim = judge->claim;

    for (size_t p = 0; p < claim->proviso_count; p++)
        for (size_t i = 0; i < claim->at_count; i++) {
            const struct oche_proviso *proviso = &claim->provided[p];
            const double value = value_of(judge, proviso->quantity, i, NULL);

            if (!(proviso->least ? value >= proviso->bound : value <= proviso->bound))
                return false;
        }
    return true;
}

/* ---- the influence of chance ---- */

/* True if the number is a plain mean over repeats, so that Student's t applies. */
static bool is_plain_mean(const struct judge *judge)
{
    const struct oche_quantity *quantity = judge->claim->quantity;

    return judge->claim->kind->conditions == OCHE_CONDITIONS_ONE && judge->places[0].count == 1 &&
           quantity->statistic == OCHE_STATISTIC_MEAN && quantity->shape != OCHE_SHAPE_FACTOR;
}

static void by_t(const struct judge *judge, struct oche_judgement *judgement)
{
    const struct oche_combination *point = judge->places[0].points[0];
    const double *all = oche_samples_values(judge->samples, judge->claim->quantity, point);
    double *values = malloc(point->repeats * sizeof(*values));
    size_t count = 0;

    OCHE_GOT(values != NULL);
    for (uint32_t r = 0; r < point->repeats; r++)
        if (!isnan(all[r]))
            values[count++] = all[r];
    double spread = oche_mean_spread(values, count);

    free(values);
    judgement->interval = OCHE_INTERVAL_T;
    judgement->low = judgement->measured - spread;
    judgement->high = judgement->measured + spread;
    judgement->unsure =
        judge->claim->kind->judge(judge->claim, judgement->low) != judgement->finding ||
        judge->claim->kind->judge(judge->claim, judgement->high) != judgement->finding;
}

static void by_bootstrap(struct judge *judge, struct oche_judgement *judgement)
{
    struct oche_random random = oche_random_stream(BOOTSTRAP_SEED, judge->claim->name, 0);
    uint32_t *draw = malloc(judge->repeats * sizeof(*draw)), others = 0;
    double *shown = malloc(OCHE_BOOTSTRAP_DRAWS * sizeof(*shown));
    size_t count = 0;

    OCHE_GOT(draw != NULL && shown != NULL);
    for (size_t i = 0; i < OCHE_BOOTSTRAP_DRAWS; i++) {
        oche_draw(&random, draw, judge->repeats);
        struct oche_reading_of reading = read_claim(judge, draw);

        if (reading.finding == OCHE_FINDING_NO_DATA)
            continue;
        shown[count++] = reading.shown;
        others += reading.finding != judgement->finding;
    }
    if (count > 0) {
        oche_middle(shown, count, &judgement->low, &judgement->high);
        judgement->interval = OCHE_INTERVAL_BOOTSTRAP;
        judgement->unsure = others > UNSURE_SHARE * (double)count;
    }
    free(draw);
    free(shown);
}

/* ---- judging ---- */

struct oche_judgement oche_judge(const struct oche_study *study, const struct oche_claim *claim,
                                 const struct oche_reading *reading,
                                 const struct oche_samples *samples)
{
    struct oche_judgement judgement = {
        .finding = OCHE_FINDING_NOT_JUDGED, .measured = NAN, .low = NAN, .high = NAN};

    if (claim->kind->conditions == OCHE_CONDITIONS_NONE)
        return judgement;
    struct judge judge = {.study = study,
                          .claim = claim,
                          .samples = samples,
                          .places = calloc(claim->at_count, sizeof(struct place)),
                          .values = calloc(claim->at_count, sizeof(double)),
                          .runs = UINT32_MAX};

    OCHE_GOT(judge.places != NULL && judge.values != NULL);
    if (!can_be_read(study, claim, reading)) {
        judgement.finding = OCHE_FINDING_NO_DATA;
        free(judge.places);
        free(judge.values);
        return judgement;
    }
    for (size_t i = 0; i < claim->at_count; i++)
        find_place(&judge, reading, i);
    struct oche_reading_of measured = read_claim(&judge, NULL);

    judgement.finding = measured.finding;
    judgement.runs = judge.runs == UINT32_MAX ? 0 : judge.runs;
    if (judgement.finding != OCHE_FINDING_NO_DATA) {
        judgement.measured = measured.shown;
        if (is_plain_mean(&judge) && isfinite(judgement.measured)) {
            if (judgement.runs > 1)
                by_t(&judge, &judgement);
        } else if (judge.repeats > 1) {
            by_bootstrap(&judge, &judgement);
        }
    }
    if (judgement.finding < OCHE_FINDING_NOT_REPRODUCED && !conditions_hold(&judge)) {
        judgement.finding = OCHE_FINDING_NOT_REPRODUCED;
        judgement.unsure = false;
    }
    if (claim->not_testable != NULL && judgement.finding != OCHE_FINDING_NO_DATA) {
        judgement.finding = OCHE_FINDING_NOT_TESTABLE;
        judgement.unsure = false;
    }
    for (size_t i = 0; i < claim->at_count; i++)
        free(judge.places[i].points);
    free(judge.places);
    free(judge.values);
    return judgement;
}

double oche_judgement_spread(const struct oche_judgement *judgement)
{
    return (judgement->high - judgement->low) / 2;
}
