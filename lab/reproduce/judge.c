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
#include "lab/measures/interval.h"

#define BOOTSTRAP_SEED 1
/* a verdict is unsure if this share of the draws gives another verdict */
#define UNSURE_SHARE 0.05
#define FEW_SEEDS    6
#define LOOKS        64 /* numbers of an interval that are judged */

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
    const struct oche_reading *reading; /* NULL: as judged */
    const struct oche_samples *samples;
    struct place *places; /* one place per condition: claim->at_count */
    double *values;       /* scratch space for one value per condition */
    uint32_t repeats;     /* most repeats of any combination */
    uint32_t runs;        /* fewest runs of a combination, of those that are run at all */
};

/* ---- where to look ---- */

/* Returns the quantity that is measured for the condition. */
static const struct oche_quantity *quantity_of(const struct judge *judge, size_t condition)
{
    return oche_reading_quantity(judge->reading, oche_claim_quantity(judge->claim, condition));
}

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
        uint32_t runs = oche_samples_count(judge->samples, quantity_of(judge, condition), point);

        if (point->repeats > judge->repeats)
            judge->repeats = point->repeats;
        if (runs < judge->runs)
            judge->runs = runs;
    }
    free(value);
}

/* True if the reading changes the place of some condition of the claim, or what is measured. */
static bool is_replaced(const struct oche_study *study, const struct oche_claim *claim,
                        const struct oche_reading *reading)
{
    for (size_t i = 0; i < claim->at_count; i++) {
        const struct oche_quantity *quantity = oche_claim_quantity(claim, i);

        if (oche_reading_quantity(reading, quantity) != quantity)
            return true;
        for (size_t a = 0; a < study->axis_count; a++) {
            const struct oche_condition_term *term = &claim->at[i].axis[a];

            for (size_t v = 0; v < term->count; v++)
                if (oche_reading_value(reading, a, term->values[v]) != term->values[v])
                    return true;
        }
    }
    return false;
}

/*
 * True if the claim has a meaning under the reading. A reading may replace some values of the
 * figure's `at`: then all conditions of the claim must have these values. Or it replaces values
 * wherever they occur (`instead`), or quantities: then at least one condition must have one.
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
        judge->values[i] = value_of(judge, quantity_of(judge, i), i, draw);
    return judge->claim->kind->read(judge->claim, judge->study, judge->values);
}

/*
 * True if the claim's second conditions hold at every place where it is measured, or if it has
 * none. Uses all runs (`draw` NULL) or those drawn.
 */
static bool conditions_hold(const struct judge *judge, const uint32_t *draw)
{
    const struct oche_claim *claim = judge->claim;

    for (size_t p = 0; p < claim->proviso_count; p++)
        for (size_t i = 0; i < claim->at_count; i++) {
            const struct oche_proviso *proviso = &claim->provided[p];
            const double value = value_of(judge, proviso->quantity, i, draw);

            if (!(proviso->least ? value >= proviso->bound : value <= proviso->bound))
                return false;
        }
    return true;
}

/* Returns the verdict on the measured number, with the second conditions. */
static enum oche_finding whole_finding(const struct judge *judge, enum oche_finding read,
                                       const uint32_t *draw)
{
    return read < OCHE_FINDING_NOT_REPRODUCED && !conditions_hold(judge, draw)
               ? OCHE_FINDING_NOT_REPRODUCED
               : read;
}

/* ---- the influence of chance ---- */

/* True if the number is a plain mean over repeats, so that Student's t applies. */
static bool is_plain_mean(const struct judge *judge)
{
    const struct oche_quantity *quantity = quantity_of(judge, 0);

    return judge->claim->kind->conditions == OCHE_CONDITIONS_ONE && judge->places[0].count == 1 &&
           quantity->statistic == OCHE_STATISTIC_MEAN && quantity->shape != OCHE_SHAPE_FACTOR;
}

/* True if some number of the interval has another verdict than the measured one. */
static bool interval_differs(const struct judge *judge, double low, double high,
                             enum oche_finding finding)
{
    const struct oche_claim *claim = judge->claim;

    if (claim->published > low && claim->published < high &&
        claim->kind->judge(claim, claim->published) != finding)
        return true; /* the band around it may lie inside */
    for (unsigned i = 0; i <= LOOKS; i++)
        if (claim->kind->judge(claim, low + (high - low) * i / LOOKS) != finding)
            return true;
    return false;
}

static void by_t(const struct judge *judge, enum oche_finding read,
                 struct oche_judgement *judgement)
{
    const struct oche_combination *point = judge->places[0].points[0];
    const double *all = oche_samples_values(judge->samples, quantity_of(judge, 0), point);
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
    judgement->unsure = interval_differs(judge, judgement->low, judgement->high, read);
}

/* How the verdicts of many draws compare with the verdict on all runs. */
struct drawn {
    double *shown; /* the number shown for each draw */
    size_t count;
    uint32_t others; /* draws with another verdict */
};

static struct drawn draw_often(struct judge *judge, enum oche_finding finding)
{
    struct oche_random random = oche_random_stream(BOOTSTRAP_SEED, judge->claim->name, 0);
    uint32_t *draw = malloc(judge->repeats * sizeof(*draw));
    struct drawn drawn = {.shown = malloc(OCHE_BOOTSTRAP_DRAWS * sizeof(*drawn.shown))};

    OCHE_GOT(draw != NULL && drawn.shown != NULL);
    for (size_t i = 0; i < OCHE_BOOTSTRAP_DRAWS; i++) {
        oche_draw(&random, draw, judge->repeats);
        struct oche_reading_of reading = read_claim(judge, draw);

        if (reading.finding == OCHE_FINDING_NO_DATA)
            continue;
        drawn.shown[drawn.count++] = reading.shown;
        drawn.others += whole_finding(judge, reading.finding, draw) != finding;
    }
    free(draw);
    return drawn;
}

/* With few seeds, one deviating seed is in few draws, but it is the only sign of doubt. */
static bool too_many(const struct judge *judge, const struct drawn *drawn)
{
    const double share = judge->repeats < FEW_SEEDS ? 0 : UNSURE_SHARE;

    return drawn->others > share * (double)drawn->count;
}

static void by_bootstrap(struct judge *judge, struct oche_judgement *judgement)
{
    struct drawn drawn = draw_often(judge, judgement->finding);

    if (drawn.count > 0) {
        oche_middle(drawn.shown, drawn.count, &judgement->low, &judgement->high);
        judgement->interval = OCHE_INTERVAL_BOOTSTRAP;
        judgement->unsure = too_many(judge, &drawn);
    }
    free(drawn.shown);
}

/* Computes the interval, and if other runs might give another verdict. */
static void find_doubt(struct judge *judge, enum oche_finding read,
                       struct oche_judgement *judgement)
{
    if (!is_plain_mean(judge) || !isfinite(judgement->measured)) {
        if (judge->repeats > 1)
            by_bootstrap(judge, judgement);
        return;
    }
    if (judgement->runs < 2)
        return;
    by_t(judge, read, judgement);
    if (judge->claim->proviso_count > 0) {
        struct drawn drawn = draw_often(judge, judgement->finding);

        /* where the conditions fail, a number in doubt matters only if they might hold */
        judgement->unsure =
            too_many(judge, &drawn) || (judgement->unsure && judgement->finding == read);
        free(drawn.shown);
    }
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
                          .reading = reading,
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

    judgement.finding = whole_finding(&judge, measured.finding, NULL);
    judgement.runs = judge.runs == UINT32_MAX ? 0 : judge.runs;
    if (judgement.finding != OCHE_FINDING_NO_DATA) {
        judgement.measured = measured.shown;
        find_doubt(&judge, measured.finding, &judgement);
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
