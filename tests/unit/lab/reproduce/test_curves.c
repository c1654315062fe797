/* SPDX-License-Identifier: Apache-2.0 */
/* Claims about curves, with data by hand: their ordering at each point, and the factor between. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab/reproduce/words.h"
#include "tests/support/test.h"
#include "tests/unit/lab/reproduce/make.h"

enum { R = OCHE_FINDING_REPRODUCED, S = OCHE_FINDING_IN_SHAPE, N = OCHE_FINDING_NOT_REPRODUCED };
enum { X = OCHE_FINDING_NO_DATA };
enum { POINTS = 4 };

#define TEXTS "  - name: c\n    text: t\n    place: p\n    source: text\n    confidence: high\n"
#define ORDERING                                                                                   \
    "    kind: ordering\n    quantity: speed\n    of: {recovery: [A, B, C]}\n"                     \
    "    along: loss.probability\n    says: A > B > C\n"                                           \
    "    tolerance: {margin: 10%, in_shape: 75%}\n"
#define FACTOR(more)                                                                               \
    "    kind: factor\n    quantity: speed\n    of: {recovery: [A, B]}\n"                          \
    "    along: loss.probability\n    published: 2\n" more                                         \
    "    tolerance: {relative: 0.2, in_shape: 0.5}\n"

static const char *const losses[POINTS] = {"0", "1e-4", "1e-3", "1e-2"};

static struct oche_study *study_with(const char *claim)
{
    char *text = NULL;

    assert_true(asprintf(&text, "claims:\n" TEXTS "%s", claim) > 0);
    struct oche_study *study = make_study(text);

    free(text);
    return study;
}

struct row {
    const char *claim;
    double a[POINTS], b[POINTS], c[POINTS];
    int finding;
    double measured;
    const char *words;
};

static const struct row rows[] = {
    {ORDERING, {4, 4, 4, 4}, {3, 3, 3, 3}, {2, 2, 2, 2}, R, 1, "4 of 4 points"},
    /* the margin is a share of the larger value, whatever the size */
    {ORDERING, {400, 40, 4, .4}, {300, 30, 3, .3}, {200, 20, 2, .2}, R, 1, "4 of 4 points"},
    {ORDERING, {4, 4, 4, 4}, {3, 3, 3, 3.7}, {2, 2, 2, 2}, S, .75, "3 of 4 points"},
    {ORDERING, {4, 4, 4, 2}, {3, 3, 3, 3}, {2, 2, 2, 2}, S, .75, "3 of 4 points"},
    {ORDERING, {4, 4, 2, 2}, {3, 3, 3, 3}, {2, 2, 2, 2}, N, .5, "2 of 4 points"},
    {ORDERING, {2, 2, 2, 2}, {3, 3, 3, 3}, {4, 4, 4, 4}, N, 0, "0 of 4 points"},
    {ORDERING, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, N, 0, "0 of 4 points"},
    {ORDERING, {4, 4, 4, 4}, {3, 3, NAN, 3}, {2, 2, 2, 2}, X, NAN, "–"},
    /* what never happens is later than all others, and two of these have no order */
    {ORDERING, {4, 4, 4, INFINITY}, {3, 3, 3, 3}, {2, 2, 2, 2}, R, 1, "4 of 4 points"},
    {ORDERING, {4, 4, 4, INFINITY}, {3, 3, 3, INFINITY}, {2, 2, 2, 2}, S, .75, "3 of 4 points"},
    {FACTOR(""), {4, 4, 6, 9}, {2, 2, 2, 2}, {0}, S, 2.5, "2.5"},
    {FACTOR("    take: median\n"), {4, 4, 4, 90}, {2, 2, 2, 2}, {0}, R, 2, "2"},
    {FACTOR("    take: largest\n"), {4, 4, 4, 9}, {2, 2, 2, 2}, {0}, N, 4.5, "4.5"},
    {FACTOR("    take: smallest\n"), {4, 2, 4, 9}, {2, 2, 2, 2}, {0}, N, 1, "1"},
    {FACTOR("    at: {loss.probability: [1e-4, 1e-3]}\n"),
     {NAN, 4, 4, 99},
     {NAN, 2, 2, 2},
     {0},
     R,
     2,
     "2"},
    {FACTOR(""), {4, 4, 4, 4}, {2, 2, 2, -2}, {0}, N, 2, "2"},
    {FACTOR(""), {4, 4, 4, 4}, {2, 2, 2, 0}, {0}, X, NAN, "–"},
    {FACTOR(""), {4, 4, 4, INFINITY}, {2, 2, 2, 2}, {0}, N, INFINITY, "never"},
    {FACTOR(""), {4, 4, NAN, 4}, {2, 2, 2, 2}, {0}, X, NAN, "–"},
};

static void test_curves_are_judged_at_all_points(void **state)
{
    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        struct oche_study *study = study_with(rows[i].claim);
        struct oche_samples *samples = oche_samples_create(study);

        for (size_t p = 0; p < POINTS; p++) {
            put_run(samples, study, "goodput", "A", losses[p], rows[i].a[p]);
            put_run(samples, study, "goodput", "B", losses[p], rows[i].b[p]);
            put_run(samples, study, "goodput", "C", losses[p], rows[i].c[p]);
        }
        oche_samples_ready(samples);
        const struct oche_judgement judged = oche_judge(study, &study->claims[0], NULL, samples);
        const bool same = isnan(rows[i].measured) ? isnan(judged.measured) != 0
                          : isinf(rows[i].measured)
                              ? isinf(judged.measured) != 0
                              : fabs(judged.measured - rows[i].measured) < 1e-9;
        const struct oche_words words = oche_measured_words(study, &study->claims[0], &judged);

        if ((int)judged.finding != rows[i].finding || !same)
            fail_msg("row %zu: %s, %g", i, oche_finding_name(judged.finding), judged.measured);
        assert_string_equal(words.text, rows[i].words);
        oche_samples_free(samples);
        oche_study_close(study);
    }
}

/* One point whose runs disagree puts the verdict in doubt; its interval is in points. */
static void test_an_ordering_has_an_interval(void **state)
{
    struct oche_study *study = study_with(ORDERING);
    struct oche_samples *samples = oche_samples_create(study);

    (void)state;
    for (size_t p = 0; p < POINTS; p++) {
        put_runs(samples, study, "goodput", "A", losses[p],
                 p == 3 ? (double[]){9, 1, 9, 1} : (double[]){4, 4, 4, 4});
        put_run(samples, study, "goodput", "B", losses[p], 3);
        put_run(samples, study, "goodput", "C", losses[p], 2);
    }
    oche_samples_ready(samples);
    const struct oche_judgement judged = oche_judge(study, &study->claims[0], NULL, samples);

    assert_int_equal(judged.finding, R);
    assert_true(judged.unsure);
    assert_string_equal(oche_interval_words(study, &study->claims[0], &judged).text,
                        "3 … 4 of 4 points *");
    assert_string_equal(oche_tolerance_words(study, &study->claims[0]).text,
                        "each by more than 10 %; shape 75 % of points");
    oche_samples_free(samples);
    oche_study_close(study);
}

/* Points that quick mode does not run are no part of the curve, and another reading moves it. */
static void test_points_that_are_not_run_do_not_count(void **state)
{
    static const char text[] =
        "grids:\n"
        "  - vary: {recovery: {A: go_back_n, B: selective_repeat,\n"
        "                      C: {name: go_back_n, nak_interval: 2us}},\n"
        "           loss.probability: [0, 1e-4, 1e-3]}\n"
        "    quick: {vary: {loss.probability: [0, 1e-3]}}\n"
        "quantities: {speed: {metric: goodput}}\n"
        "also: [{label: other, instead: {recovery: {B: C}}}]\n"
        "claims:\n" TEXTS "    kind: ordering\n    quantity: speed\n    of: {recovery: [A, B]}\n"
        "    along: loss.probability\n    says: A > B\n"
        "    tolerance: {margin: 0, in_shape: 100%}\n";
    struct oche_study *study = make_whole_study(text, true);
    struct oche_samples *samples = oche_samples_create(study);

    (void)state;
    for (size_t p = 0; p < POINTS; p += 2) {
        put_runs(samples, study, "goodput", "A", losses[p], (double[]){3});
        put_runs(samples, study, "goodput", "B", losses[p], (double[]){2});
        put_runs(samples, study, "goodput", "C", losses[p], (double[]){p == 0 ? 2. : 4.});
    }
    oche_samples_ready(samples);
    const struct oche_judgement judged = oche_judge(study, &study->claims[0], NULL, samples),
                                other =
                                    oche_judge(study, &study->claims[0], &study->also[0], samples);

    assert_int_equal(judged.finding, R);
    assert_string_equal(oche_measured_words(study, &study->claims[0], &judged).text,
                        "2 of 2 points");
    assert_int_equal(other.finding, N);
    assert_string_equal(oche_measured_words(study, &study->claims[0], &other).text,
                        "1 of 2 points");
    oche_samples_free(samples);
    oche_study_close(study);
}

/* ---- what is refused ---- */

static void test_claims_that_are_no_curves_are_refused(void **state)
{
    static const struct {
        const char *claim, *error;
    } bad[] = {
        {"    kind: ordering\n    quantity: speed\n    of: {recovery: [A, B]}\n    says: s\n"
         "    tolerance: {margin: 0, in_shape: 80%}\n",
         "claims[0]: has no \"along\"; name an axis"},
        {"    kind: ordering\n    quantity: speed\n    along: loss.probability\n    says: s\n"
         "    tolerance: {margin: 0, in_shape: 80%}\n",
         "claims[0]: has no \"of\"; add of: {AXIS: [VALUE, VALUE]}, or a list of maps"},
        {"    kind: ordering\n    quantity: speed\n    of: {recovery: [A, B]}\n    says: s\n"
         "    along: loss.probability\n    tolerance: {margin: 0, in_shape: 50%}\n",
         "claims[0].tolerance.in_shape: is the share of points that suffices, above 50 % and up to "
         "100 %; the margin is a share below 100 %"},
        {"    kind: ordering\n    quantity: speed\n    of: {recovery: [A, B]}\n    says: s\n"
         "    at: {loss.probability: 0}\n    along: loss.probability\n"
         "    tolerance: {margin: 0, in_shape: 80%}\n",
         "claims[0].along: the curves have 1 point of loss.probability here; two or more are "
         "wanted"},
        {"    kind: factor\n    quantity: speed\n    of: {recovery: [A, B, C]}\n"
         "    along: loss.probability\n    published: 2\n"
         "    tolerance: {relative: 0.2, in_shape: 0.5}\n",
         "claims[0].of: has 3 curves; a factor is of two"},
        {"    kind: factor\n    quantity: speed\n    of: {recovery: [A, B]}\n    take: mean\n"
         "    along: loss.probability\n    published: 2\n"
         "    tolerance: {relative: 0.2, in_shape: 0.5}\n",
         "claims[0].take: \"mean\" is not known; did you mean \"median\"? (median, "
         "smallest, largest)"},
        {"    kind: ordering\n    quantity: speed\n    of: {recovery: [A, B]}\n    says: s\n"
         "    take: median\n    along: loss.probability\n"
         "    tolerance: {margin: 0, in_shape: 80%}\n",
         "claims[0].take: unknown key; "},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(bad); i++) {
        char *text = NULL;
        struct oche_error error = {""};

        assert_true(
            asprintf(&text,
                     "title: T\nplace: P\nscenario: s.yaml\n"
                     "grids: [{vary: {recovery: {A: go_back_n, B: selective_repeat, C: "
                     "{name: go_back_n, nak_interval: 2us}}, loss.probability: [0, 1e-3]}}]\n"
                     "quantities: {speed: {metric: goodput}}\nclaims:\n" TEXTS "%s",
                     bad[i].claim) > 0);
        assert_null(oche_study_parse(NULL, "papers/p/fig.yaml", text, false, &error));
        const char *said = strstr(error.text, "claims");

        assert_non_null(said);
        if (strncmp(said, bad[i].error, strlen(bad[i].error)) != 0)
            fail_msg("row %zu: %s", i, error.text);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_curves_are_judged_at_all_points),
        cmocka_unit_test(test_an_ordering_has_an_interval),
        cmocka_unit_test(test_points_that_are_not_run_do_not_count),
        cmocka_unit_test(test_claims_that_are_no_curves_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
