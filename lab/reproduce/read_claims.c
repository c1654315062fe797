/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the claims of a figure. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reproduce/claim.h"
#include "lab/reproduce/read.h"
#include "lab/reproduce/yardstick.h"

/* ---- kinds and keys ---- */

static bool read_kind(const struct oche_reader *reader, const struct oche_yaml *map,
                      const struct oche_claim_kind **kind)
{
    const char *name, **names;

    if (!oche_read_text(reader, map, "kind", true, &name))
        return false;
    *kind = oche_claim_kind_find(name);
    if (*kind != NULL)
        return true;
    names = oche_read_alloc(reader, oche_claim_kind_count, sizeof(*names));
    for (size_t i = 0; i < oche_claim_kind_count; i++)
        names[i] = oche_claim_kinds[i].name;
    return oche_read_unknown(reader, oche_yaml_find(map, "kind"), NULL, name, "a kind of claim",
                             names, oche_claim_kind_count);
}

/* Checks that a claim has only the keys of its kind. */
static bool check_keys(const struct oche_reader *reader, const struct oche_yaml *map,
                       const struct oche_claim_kind *kind)
{
    static const char *const of_all[] = {
        "name",   "kind",     "text", "place",     "confidence",   "says",    "explanation",
        "source", "quantity", "at",   "tolerance", "not_testable", "provided"};
    /* number of keys that a claim may have if it is not judged: the first ones of the list */
    const size_t texts = 8;
    static const char *const of_conditions[] = {
        [OCHE_CONDITIONS_TWO] = "than",
        [OCHE_CONDITIONS_LIST] = "of",
        [OCHE_CONDITIONS_ALONG] = "along",
        [OCHE_CONDITIONS_CURVES] = "of",
    };
    const char *known[20];
    size_t count = 0;

    for (; count < OCHE_COUNT_OF(of_all); count++)
        known[count] = of_all[count];
    if (kind->conditions == OCHE_CONDITIONS_NONE)
        count = texts;
    if (kind->published != NULL)
        known[count++] = kind->published;
    if (kind->limited)
        known[count++] = "limit";
    if (kind->conditions > OCHE_CONDITIONS_ONE)
        known[count++] = of_conditions[kind->conditions];
    if (kind->conditions == OCHE_CONDITIONS_ALONG)
        known[count++] = "below";
    if (kind->conditions == OCHE_CONDITIONS_CURVES)
        known[count++] = "along";
    if (kind->takes)
        known[count++] = "take";
    known[count] = NULL;
    return oche_read_keys(reader, map, known);
}

/* Reads a key that has one of a few values, and that every claim has. */
static bool read_one_of(const struct oche_reader *reader, const struct oche_study *study,
                        const struct oche_yaml *map, const char *key, const char *const *values,
                        unsigned *choice)
{
    const char *list = values[0];

    for (size_t i = 1; values[i] != NULL; i++)
        list = oche_document_print(study->document, "%s, %s", list, values[i]);
    if (oche_yaml_find(map, key) == NULL)
        return OCHE_READ_FAIL(reader, map, NULL, "has no \"%s\"; one of %s", key, list);
    return oche_read_choice(reader, map, key, values, choice);
}

static bool read_texts(const struct oche_reader *reader, const struct oche_study *study,
                       const struct oche_yaml *map, struct oche_claim *claim)
{
    static const char *const confidences[] = {"high", "medium", "low", NULL};
    unsigned confidence = 0, source = 0;

    if (!oche_read_text(reader, map, "name", true, &claim->name) ||
        !oche_read_text(reader, map, "text", true, &claim->text) ||
        !oche_read_text(reader, map, "place", true, &claim->place) ||
        !oche_read_text(reader, map, "says",
                        claim->kind->published == NULL ||
                            strcmp(claim->kind->published, "bound") == 0,
                        &claim->says) ||
        !oche_read_text(reader, map, "explanation", claim->kind->conditions == OCHE_CONDITIONS_NONE,
                        &claim->explanation) ||
        !oche_read_text(reader, map, "not_testable", false, &claim->not_testable))
        return false;
    if (!read_one_of(reader, study, map, "confidence", confidences, &confidence) ||
        !read_one_of(reader, study, map, "source", oche_source_names, &source))
        return false;
    claim->confidence = confidences[confidence];
    claim->source = (enum oche_source)source;
    for (const struct oche_claim *other = study->claims; other < claim; other++)
        if (strcmp(other->name, claim->name) == 0)
            return OCHE_READ_FAIL(reader, oche_yaml_find(map, "name"), NULL,
                                  "there is another claim \"%s\"; give it a name of its own",
                                  claim->name);
    return true;
}

static const char *number_unit(const struct oche_study *study, const struct oche_claim *claim)
{
    const char *unit = oche_claim_unit(study, claim);

    return strcmp(unit, "factor") == 0 ? "ratio" : unit;
}

/* Reads the upper limit of a claim "at least". */
static bool read_limit(const struct oche_reader *reader, const struct oche_study *study,
                       const struct oche_yaml *map, struct oche_claim *claim)
{
    const struct oche_yaml *node = oche_yaml_find(map, "limit");

    claim->limit = NAN;
    if (node == NULL)
        return true;
    if (!oche_read_number(reader, node, number_unit(study, claim), &claim->limit))
        return false;
    if (claim->limit < claim->published)
        return OCHE_READ_FAIL(reader, node, NULL, "is below the bound; write more");
    return true;
}

static bool read_published(const struct oche_reader *reader, const struct oche_study *study,
                           const struct oche_yaml *map, struct oche_claim *claim)
{
    const char *key = claim->kind->published;

    claim->published = NAN;
    if (key == NULL)
        return true;
    const struct oche_yaml *node = oche_yaml_find(map, key);

    if (node == NULL)
        return OCHE_READ_FAIL(reader, map, NULL, "has no \"%s\"; add the paper's number", key);
    if (!oche_read_number(reader, node, number_unit(study, claim), &claim->published))
        return false;
    if (claim->kind->band == OCHE_BAND_FACTOR && claim->published <= 0)
        return OCHE_READ_FAIL(reader, node, NULL, "is not above 0; a factor has no meaning then");
    return true;
}

/* ---- tolerances ---- */

static bool read_band(const struct oche_reader *reader, const struct oche_yaml *node,
                      const char *key, const char *unit, double least, double *value)
{
    const struct oche_yaml *number = oche_yaml_find(node, key);

    if (number == NULL)
        return OCHE_READ_FAIL(reader, node, NULL, "has no \"%s\"; add a number", key);
    if (!oche_read_number(reader, number, unit, value))
        return false;
    if (*value < least)
        return OCHE_READ_FAIL(reader, number, NULL, "%s is less than %g; write more", number->text,
                              least);
    return true;
}

/*
 * Rejects a tolerance so wide that the claim is no test: half of the paper's number, or twice that
 * number, would pass.
 */
static bool check_width(const struct oche_reader *reader, const struct oche_yaml *node,
                        const char *key, const struct oche_claim *claim)
{
    const struct oche_tolerance *tolerance = &claim->tolerance;
    const bool both_ways = strcmp(claim->kind->name, "at_most") != 0;

    if (!both_ways || claim->published == 0 || claim->not_testable != NULL ||
        oche_tolerance_factor(claim, claim->published, tolerance->reproduced) <= 2)
        return true;
    return OCHE_READ_FAIL(reader, node, key,
                          "is wider than the paper's number, so that this is no test; narrow it, "
                          "or say why under not_testable");
}

/* Reads a tolerance: {absolute: X, in_shape: Y}, {relative: …}, {margin: …} or {factor: …}. */
static bool read_tolerance(const struct oche_reader *reader, const struct oche_study *study,
                           const struct oche_yaml *map, struct oche_claim *claim)
{
    static const char *const of_distance[] = {"absolute", "relative", "in_shape", NULL};
    static const char *const of_margin[] = {"margin", "in_shape", NULL};
    static const char *const of_factor[] = {"factor", "in_shape", NULL};
    static const char *const *const known[] = {[OCHE_BAND_DISTANCE] = of_distance,
                                               [OCHE_BAND_MARGIN] = of_margin,
                                               [OCHE_BAND_FACTOR] = of_factor,
                                               [OCHE_BAND_POINTS] = of_margin};
    const struct oche_yaml *node = oche_yaml_find(map, "tolerance");
    struct oche_tolerance *tolerance = &claim->tolerance;
    const char *unit = number_unit(study, claim), *key = known[claim->kind->band][0];
    double least = 0;

    if (claim->kind->conditions == OCHE_CONDITIONS_NONE)
        return true;
    if (node == NULL)
        return OCHE_READ_FAIL(reader, map, NULL,
                              "has no \"tolerance\"; add tolerance: {%s: …, in_shape: …}", key);
    if (!oche_read_keys(reader, node, known[claim->kind->band]))
        return false;
    if (claim->kind->band == OCHE_BAND_FACTOR)
        least = 1;
    if (claim->kind->band == OCHE_BAND_DISTANCE) {
        tolerance->relative = oche_yaml_find(node, "relative") != NULL;
        if (tolerance->relative && oche_yaml_find(node, "absolute") != NULL)
            return OCHE_READ_FAIL(reader, node, NULL, "is absolute and relative; one of them");
        if (tolerance->relative && claim->published == 0)
            return OCHE_READ_FAIL(reader, node, NULL, "is relative to 0; write absolute");
        if (tolerance->relative)
            key = "relative";
    }
    if (tolerance->relative || claim->kind->band == OCHE_BAND_FACTOR)
        unit = "ratio";
    if (!read_band(reader, node, key, unit, least, &tolerance->reproduced) ||
        !read_band(reader, node, "in_shape", unit, least, &tolerance->in_shape))
        return false;
    if (claim->kind->band == OCHE_BAND_POINTS)
        return (tolerance->reproduced < 1 && tolerance->in_shape > 0.5 &&
                tolerance->in_shape <= 1) ||
               OCHE_READ_FAIL(reader, node, "in_shape",
                              "is the share of points that suffices, above 50 %% and up to "
                              "100 %%; the margin is a share below 100 %%");
    if (tolerance->in_shape < tolerance->reproduced)
        return OCHE_READ_FAIL(reader, node, "in_shape", "is narrower than %s; make it wider", key);
    return claim->kind->band != OCHE_BAND_DISTANCE || check_width(reader, node, key, claim);
}

/* ---- conditions ---- */

static bool complete(const struct oche_reader *reader, const struct oche_study *study,
                     const struct oche_yaml *node, const struct oche_claim *claim,
                     struct oche_condition *condition)
{
    const struct oche_quantity *quantity =
        oche_claim_quantity(claim, (size_t)(condition - claim->at));

    *condition = oche_condition_merge(reader, study, &study->at, condition);
    return oche_condition_complete(reader, study, node, OCHE_ANY, quantity, condition);
}

/* Reads a list of quantities that are compared at the same condition. */
static bool read_each(const struct oche_reader *reader, const struct oche_study *study,
                      const struct oche_yaml *map, struct oche_claim *claim)
{
    const char *key = claim->kind->conditions == OCHE_CONDITIONS_TWO ? "than" : "of";
    const struct oche_yaml *more = oche_yaml_find(map, key);
    const struct oche_condition common = claim->at[0];

    if (more != NULL)
        return OCHE_READ_FAIL(reader, more, NULL,
                              "is one thing too many, as quantities are compared; one quantity, or "
                              "without this");
    claim->at = oche_read_alloc(reader, claim->at_count, sizeof(*claim->at));
    for (size_t i = 0; i < claim->at_count; i++) {
        claim->at[i] = common;
        if (!complete(reader, study, map, claim, &claim->at[i]))
            return false;
    }
    return true;
}

static bool read_two(const struct oche_reader *reader, const struct oche_study *study,
                     const struct oche_yaml *map, struct oche_claim *claim)
{
    const struct oche_yaml *than = oche_yaml_find(map, "than");

    if (than == NULL)
        return OCHE_READ_FAIL(reader, map, NULL,
                              "has no \"than\"; add what differs where it is compared to");
    if (!oche_read_condition(reader, study, than, true, &claim->at[1]))
        return false;
    claim->at_count = 2;
    claim->at[1] = oche_condition_merge(reader, study, &claim->at[0], &claim->at[1]);
    return complete(reader, study, map, claim, &claim->at[0]) &&
           complete(reader, study, than, claim, &claim->at[1]);
}

/*
 * Reads the key `of`: {AXIS: [VALUE, VALUE]}, or a list of conditions. Each condition changes only
 * some values of `at`.
 */
static bool read_list(const struct oche_reader *reader, const struct oche_study *study,
                      const struct oche_yaml *map, struct oche_claim *claim)
{
    const struct oche_yaml *of = oche_yaml_find(map, "of");
    struct oche_condition common = claim->at[0], one;
    bool axis = of != NULL && of->kind == OCHE_YAML_MAP;
    size_t count = 0;

    if (of == NULL)
        return OCHE_READ_FAIL(reader, map, NULL,
                              "has no \"of\"; add of: {AXIS: [VALUE, VALUE]}, or a list of maps");
    if (of->kind == OCHE_YAML_SCALAR || (axis && of->count != 1))
        return OCHE_READ_FAIL(reader, of, NULL,
                              "is not a list of conditions; write {AXIS: [VALUE, VALUE]}");
    if (axis && !oche_read_condition(reader, study, of, true, &one))
        return false;
    for (size_t a = 0; axis && a < study->axis_count; a++)
        count += one.axis[a].count;
    if (!axis)
        count = of->count;
    if (count < 2)
        return OCHE_READ_FAIL(reader, of, NULL, "has fewer than two conditions; name more");
    claim->at = oche_read_alloc(reader, count, sizeof(*claim->at));
    claim->at_count = count;
    for (size_t i = 0; i < count; i++) {
        struct oche_condition each = oche_no_condition(reader, study);

        if (axis)
            for (size_t a = 0; a < study->axis_count; a++)
                if (one.axis[a].count > 0)
                    each.axis[a] = (struct oche_condition_term){&one.axis[a].values[i], 1};
        if (!axis && !oche_read_condition(reader, study, of->child[i], true, &each))
            return false;
        claim->at[i] = oche_condition_merge(reader, study, &common, &each);
        if (claim->along == OCHE_ANY &&
            !complete(reader, study, axis ? of : of->child[i], claim, &claim->at[i]))
            return false;
    }
    return true;
}

/* Returns the condition with value `v` of the axis `along`. */
static struct oche_condition at_value(const struct oche_reader *reader,
                                      const struct oche_study *study,
                                      const struct oche_condition *condition, size_t along,
                                      size_t v)
{
    struct oche_condition at = oche_no_condition(reader, study);
    size_t *own = oche_read_alloc(reader, 1, sizeof(*own));

    *own = v;
    at.axis[along] = (struct oche_condition_term){own, 1};
    return oche_condition_merge(reader, study, condition, &at);
}

struct place {
    struct oche_condition at;
    double number;
};

static int compare_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

/*
 * Makes one condition for each value of the axis `along` that some grid runs with the rest of `at`.
 */
static bool read_along(const struct oche_reader *reader, struct oche_study *study,
                       const struct oche_yaml *map, struct oche_claim *claim)
{
    const struct oche_yaml *below = oche_yaml_find(map, "below");
    const struct oche_study_axis *axis = &study->axes[claim->along];
    struct oche_condition common = oche_condition_merge(reader, study, &study->at, &claim->at[0]);
    struct place *places = oche_read_alloc(reader, axis->count, sizeof(*places));
    size_t *value = oche_read_alloc(reader, study->axis_count, sizeof(*value)), count = 0;

    if (below == NULL)
        return OCHE_READ_FAIL(reader, map, NULL, "has no \"below\"; add the value to fall below");
    if (!oche_read_number(reader, below, claim->quantity->unit, &claim->below))
        return false;
    if (!oche_condition_complete(reader, study, map, claim->along, NULL, &common))
        return false;
    for (size_t v = 0; v < axis->count; v++) {
        const struct oche_condition at = at_value(reader, study, &common, claim->along, v);

        for (size_t a = 0; a < study->axis_count; a++)
            value[a] = at.axis[a].values[0];
        if (oche_study_find(study, value) != NULL && !isnan(axis->values[v].number))
            places[count++] = (struct place){at, axis->values[v].number};
    }
    if (count < 2)
        return OCHE_READ_FAIL(reader, map, "along",
                              "only %zu values of %s are run here; two or "
                              "more are wanted",
                              count, axis->key);
    qsort(places, count, sizeof(*places), compare_places);
    claim->at = oche_read_alloc(reader, count, sizeof(*claim->at));
    claim->at_count = count;
    for (size_t i = 0; i < count; i++) {
        claim->at[i] = places[i].at;
        if (!complete(reader, study, map, claim, &claim->at[i]))
            return false;
    }
    return true;
}

/* True if `at` names the value of the axis, or, if it names none, if each curve is run there. */
static bool has_point(const struct oche_reader *reader, const struct oche_study *study,
                      const struct oche_claim *claim, const struct oche_condition *curves, size_t v)
{
    const struct oche_condition_term *named = &curves[0].axis[claim->along];
    size_t *value = oche_read_alloc(reader, study->axis_count, sizeof(*value));

    for (size_t i = 0; i < named->count; i++)
        if (named->values[i] == v)
            return true;
    for (size_t c = 0; named->count == 0 && c < claim->curves; c++) {
        const struct oche_condition at = at_value(reader, study, &curves[c], claim->along, v);
        const struct oche_condition whole = oche_condition_merge(reader, study, &study->at, &at);

        for (size_t a = 0; a < study->axis_count; a++)
            value[a] = whole.axis[a].count > 0 ? whole.axis[a].values[0] : 0;
        if (oche_study_find(study, value) == NULL)
            return false;
    }
    return named->count == 0;
}

/*
 * Reads the curves `of`, and makes a condition of each at every value of the axis `along`: those
 * that `at` lists, or else all at which each curve is run.
 */
static bool read_curves(const struct oche_reader *reader, struct oche_study *study,
                        const struct oche_yaml *map, struct oche_claim *claim)
{
    static const char *const takes[] = {"median", "smallest", "largest", NULL};
    const struct oche_study_axis *axis = &study->axes[claim->along];
    unsigned take = OCHE_TAKE_MEDIAN;
    size_t points = 0;

    if (!oche_read_choice(reader, map, "take", takes, &take) ||
        !read_list(reader, study, map, claim))
        return false;
    claim->take = (enum oche_take)take;
    claim->curves = claim->at_count;
    if (claim->kind->takes && claim->curves != 2)
        return OCHE_READ_FAIL(reader, map, "of", "has %zu curves; a factor is of two",
                              claim->curves);
    const struct oche_condition *curves = claim->at;

    claim->at = oche_read_alloc(reader, axis->count * claim->curves, sizeof(*claim->at));
    claim->at_count = 0;
    for (size_t v = 0; v < axis->count; v++) {
        if (!has_point(reader, study, claim, curves, v))
            continue;
        points++;
        for (size_t c = 0; c < claim->curves; c++) {
            struct oche_condition *at = &claim->at[claim->at_count++];

            *at = at_value(reader, study, &curves[c], claim->along, v);
            if (!complete(reader, study, map, claim, at))
                return false;
        }
    }
    if (points < 2)
        return OCHE_READ_FAIL(reader, map, "along",
                              "the curves have %zu point%s of %s here; two or more are wanted",
                              points, points == 1 ? "" : "s", axis->key);
    return true;
}

static bool read_conditions(const struct oche_reader *reader, struct oche_study *study,
                            const struct oche_yaml *map, struct oche_claim *claim)
{
    const struct oche_yaml *at = oche_yaml_find(map, "at");
    bool many = claim->kind->conditions != OCHE_CONDITIONS_ALONG;

    if (claim->kind->conditions == OCHE_CONDITIONS_NONE)
        return true;
    claim->at = oche_read_alloc(reader, 2, sizeof(*claim->at));
    if (!oche_read_condition(reader, study, at, many, &claim->at[0]))
        return false;
    if (claim->each != NULL)
        return read_each(reader, study, map, claim);
    claim->at_count = 1;
    switch (claim->kind->conditions) {
    case OCHE_CONDITIONS_TWO:
        return read_two(reader, study, map, claim);
    case OCHE_CONDITIONS_LIST:
        return read_list(reader, study, map, claim);
    case OCHE_CONDITIONS_ALONG:
        return read_along(reader, study, map, claim);
    case OCHE_CONDITIONS_CURVES:
        return read_curves(reader, study, map, claim);
    default:
        return complete(reader, study, at != NULL ? at : map, claim, &claim->at[0]);
    }
}

/* ---- claims ---- */

/*
 * Reads the claim's quantity, or a list of quantities to be compared. A claim that is not judged
 * has none.
 */
static bool read_quantities(const struct oche_reader *reader, struct oche_study *study,
                            const struct oche_yaml *map, struct oche_claim *claim)
{
    const struct oche_yaml *node = oche_yaml_find(map, "quantity");
    enum oche_conditions conditions = claim->kind->conditions;

    if (conditions == OCHE_CONDITIONS_NONE)
        return true;
    if (node == NULL || node->kind != OCHE_YAML_LIST)
        return oche_read_quantity_name(reader, study, map, "quantity", &claim->quantity);
    if (conditions != OCHE_CONDITIONS_TWO && conditions != OCHE_CONDITIONS_LIST)
        return OCHE_READ_FAIL(reader, node, NULL, "is a list, but this kind has one quantity");
    if (node->count < 2 || (conditions == OCHE_CONDITIONS_TWO && node->count != 2))
        return OCHE_READ_FAIL(reader, node, NULL, "has %u quantities; %s", node->count,
                              conditions == OCHE_CONDITIONS_TWO ? "two are compared"
                                                                : "two or more are compared");
    claim->each = oche_read_alloc(reader, node->count, sizeof(struct oche_quantity *));
    for (claim->at_count = 0; claim->at_count < node->count; claim->at_count++) {
        const struct oche_quantity **quantity = &claim->each[claim->at_count];

        if (!oche_read_quantity(reader, study, node->child[claim->at_count], quantity))
            return false;
        if (strcmp((*quantity)->unit, claim->each[0]->unit) != 0)
            return OCHE_READ_FAIL(reader, node->child[claim->at_count], NULL,
                                  "is in %s and the first one in %s; they cannot be compared",
                                  (*quantity)->unit, claim->each[0]->unit);
    }
    claim->quantity = claim->each[0];
    return true;
}

/* Reads {quantity: NAME, at_least: BOUND}, or at_most. */
static bool read_proviso(const struct oche_reader *reader, struct oche_study *study,
                         const struct oche_yaml *map, struct oche_proviso *proviso)
{
    static const char *const keys[] = {"quantity", "at_least", "at_most", NULL};
    const struct oche_yaml *least, *most;

    if (map->kind != OCHE_YAML_MAP)
        return OCHE_READ_FAIL(reader, map, NULL,
                              "is not a map; write {quantity: NAME, at_least: BOUND}");
    if (!oche_read_keys(reader, map, keys) ||
        !oche_read_quantity_name(reader, study, map, "quantity", &proviso->quantity))
        return false;
    least = oche_yaml_find(map, "at_least");
    most = oche_yaml_find(map, "at_most");
    if ((least == NULL) == (most == NULL))
        return OCHE_READ_FAIL(reader, map, NULL, "has to say at_least or at_most, one of them");
    proviso->least = least != NULL;
    return oche_read_number(reader, least != NULL ? least : most, proviso->quantity->unit,
                            &proviso->bound);
}

static bool read_provided(const struct oche_reader *reader, struct oche_study *study,
                          const struct oche_yaml *map, struct oche_claim *claim)
{
    const struct oche_yaml *node = oche_yaml_find(map, "provided");
    const bool list = node != NULL && node->kind == OCHE_YAML_LIST;

    if (node == NULL)
        return true;
    claim->provided = oche_read_alloc(reader, list ? node->count : 1, sizeof(*claim->provided));
    for (uint32_t i = 0; i < (list ? node->count : 1); i++)
        if (!read_proviso(reader, study, list ? node->child[i] : node,
                          &claim->provided[claim->proviso_count++]))
            return false;
    return true;
}

static bool read_along_axis(const struct oche_reader *reader, const struct oche_study *study,
                            const struct oche_yaml *map, struct oche_claim *claim)
{
    const bool curves = claim->kind->conditions == OCHE_CONDITIONS_CURVES;

    claim->along = OCHE_ANY;
    if (claim->kind->conditions != OCHE_CONDITIONS_ALONG && !curves)
        return true;
    if (!oche_read_axis_name(reader, study, map, "along", &claim->along))
        return false;
    if (claim->along == OCHE_ANY)
        return OCHE_READ_FAIL(reader, map, NULL, "has no \"along\"; name an axis");
    if (!curves && study->axes[claim->along].unit == NULL)
        return OCHE_READ_FAIL(reader, map, "along", "%s has values that are no numbers",
                              study->axes[claim->along].key);
    return true;
}

static bool read_claim(const struct oche_reader *reader, struct oche_study *study,
                       const struct oche_yaml *map, struct oche_claim *claim)
{
    if (map->kind != OCHE_YAML_MAP)
        return OCHE_READ_FAIL(reader, map, NULL, "is not a map; write name: …, kind: …");
    return read_kind(reader, map, &claim->kind) && check_keys(reader, map, claim->kind) &&
           read_texts(reader, study, map, claim) && read_quantities(reader, study, map, claim) &&
           read_provided(reader, study, map, claim) && read_along_axis(reader, study, map, claim) &&
           read_published(reader, study, map, claim) && read_limit(reader, study, map, claim) &&
           read_tolerance(reader, study, map, claim) && read_conditions(reader, study, map, claim);
}

bool oche_read_claims(const struct oche_reader *reader, struct oche_study *study,
                      const struct oche_yaml *node)
{
    if (node->kind != OCHE_YAML_LIST || node->count == 0)
        return OCHE_READ_FAIL(reader, node, NULL,
                              "is not a list of claims; write - {name: …, kind: …} below it");
    study->claims = oche_read_alloc(reader, node->count, sizeof(*study->claims));
    for (uint32_t i = 0; i < node->count; i++)
        if (!read_claim(reader, study, node->child[i], &study->claims[study->claim_count++]))
            return false;
    return true;
}
