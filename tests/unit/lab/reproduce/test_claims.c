/* SPDX-License-Identifier: Apache-2.0 */
/* Every kind of claim, with data by hand. Each verdict can be reached, and only by its data. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"
#include "tests/unit/lab/reproduce/make.h"

#define NONE NAN

enum { R = OCHE_FINDING_REPRODUCED, S = OCHE_FINDING_IN_SHAPE, N = OCHE_FINDING_NOT_REPRODUCED };
enum { X = OCHE_FINDING_NO_DATA };

#define TEXTS "    text: t\n    place: p\n    source: text\n    confidence: high\n"

/* A claim as YAML: its kind and its own keys. */
static struct oche_study *study_with(const char *claim)
{
    char *text = NULL;

    assert_true(asprintf(&text, "claims:\n  - name: c\n" TEXTS "%s", claim) > 0);
    struct oche_study *study = make_study(text);

    free(text);
    return study;
}

/* ---- verdicts ---- */

/* goodput of scheme A, B, C at loss 1e-3, and of A at 1e-4 and 1e-2. */
struct row {
    const char *claim;
    double a, b, c, a_low, a_high;
    int finding;
    double measured;
};

#define VALUE                                                                                      \
    "    kind: value\n    quantity: speed\n    at: {recovery: A, loss.probability: 0.001}\n"       \
    "    published: 10Gbps\n"
#define AT_MOST                                                                                    \
    "    kind: at_most\n    quantity: speed\n    at: {recovery: A, loss.probability: 0.001}\n"     \
    "    bound: 10Gbps\n    says: s\n    tolerance: {absolute: 0bps, in_shape: 1Gbps}\n"
#define AT_LEAST                                                                                   \
    "    kind: at_least\n    quantity: speed\n    at: {recovery: A, loss.probability: 0.001}\n"    \
    "    bound: 10Gbps\n    says: s\n    tolerance: {relative: 0.1, in_shape: 0.5}\n"
#define BETWEEN AT_LEAST "    limit: 20Gbps\n"
#define NOTHING                                                                                    \
    "    kind: value\n    quantity: speed\n    at: {recovery: A, loss.probability: 0.001}\n"       \
    "    published: 0bps\n" ABSOLUTE
#define RATIO                                                                                      \
    "    kind: ratio\n    quantity: speed\n    at: {recovery: A, loss.probability: 0.001}\n"       \
    "    than: {recovery: B}\n    published: 1.1\n    tolerance: {absolute: 0.05, in_shape: "      \
    "0.2}\n"
#define SMALL_RATIO                                                                                \
    "    kind: ratio\n    quantity: speed\n    at: {recovery: A, loss.probability: 0.001}\n"       \
    "    than: {recovery: B}\n    published: 0.36\n    tolerance: {absolute: 0.1, in_shape: "      \
    "0.2}\n"
#define RATIO_AT_LEAST                                                                             \
    "    kind: ratio_at_least\n    quantity: speed\n"                                              \
    "    at: {recovery: A, loss.probability: 0.001}\n    than: {recovery: B}\n    bound: 2\n"      \
    "    says: much\n    tolerance: {absolute: 0, in_shape: 0.5}\n"
#define DIFFERENCE                                                                                 \
    "    kind: difference\n    quantity: speed\n    at: {recovery: A, loss.probability: 0.001}\n"  \
    "    than: {recovery: B}\n    published: 2Gbps\n"                                              \
    "    tolerance: {absolute: 0.5Gbps, in_shape: 2Gbps}\n"
#define ORDER                                                                                      \
    "    kind: order\n    quantity: speed\n    at: {loss.probability: 0.001}\n"                    \
    "    of: {recovery: [A, B, C]}\n    says: A > B > C\n"                                         \
    "    tolerance: {margin: 1Gbps, in_shape: 3Gbps}\n"
#define ORDER_OF_RUNS                                                                              \
    "    kind: order\n    quantity: speed\n    at: {loss.probability: 0.001}\n"                    \
    "    of: {recovery: [A, B]}\n    says: A > B\n"                                                \
    "    tolerance: {margin: 1Gbps, in_shape: 3Gbps}\n"
#define NEAR                                                                                       \
    "    kind: near\n    quantity: speed\n    at: {loss.probability: 0.001}\n"                     \
    "    of: [{recovery: A}, {recovery: B}, {recovery: C}]\n    says: the same\n"                  \
    "    tolerance: {margin: 1Gbps, in_shape: 3Gbps}\n"
#define FALLS_FROM                                                                                 \
    "    kind: falls_from\n    quantity: speed\n    at: {recovery: A}\n"                           \
    "    along: loss.probability\n    below: 5Gbps\n    published: 1e-4\n"                         \
    "    tolerance: {factor: 2, in_shape: 10}\n"
#define ABSOLUTE "    tolerance: {absolute: 1Gbps, in_shape: 3Gbps}\n"
#define RELATIVE "    tolerance: {relative: 0.2, in_shape: 0.4}\n"
#define WIDE     "    tolerance: {relative: 1, in_shape: 3}\n"
#define G        1e9

static const struct row rows[] = {
    {VALUE ABSOLUTE, 10 * G, 0, 0, 0, 0, R, 10 * G},
    {VALUE ABSOLUTE, 11 * G, 0, 0, 0, 0, R, 11 * G},             /* just inside … */
    {VALUE ABSOLUTE, 10 / 1.1 * G, 0, 0, 0, 0, R, 10 / 1.1 * G}, /* … as is the same factor below */
    {VALUE ABSOLUTE, 9 * G, 0, 0, 0, 0, S, 9 * G},               /* by more than a factor of 1.1 */
    {VALUE ABSOLUTE, 7.7 * G, 0, 0, 0, 0, S, 7.7 * G},
    {VALUE ABSOLUTE, 7.6 * G, 0, 0, 0, 0, N, 7.6 * G},
    {VALUE ABSOLUTE, 13 * G, 0, 0, 0, 0, S, 13 * G},
    {VALUE ABSOLUTE, 13.1 * G, 0, 0, 0, 0, N, 13.1 * G},
    {VALUE ABSOLUTE, 0, 0, 0, 0, 0, N, 0},
    {VALUE ABSOLUTE, -10 * G, 0, 0, 0, 0, N, -10 * G}, /* of the other sign */
    {VALUE WIDE, 0, 0, 0, 0, 0, N, 0},                 /* zero never has the shape */
    {VALUE WIDE, 2.6 * G, 0, 0, 0, 0, S, 2.6 * G},
    {VALUE WIDE, 2.4 * G, 0, 0, 0, 0, N, 2.4 * G},
    {NOTHING, 0, 0, 0, 0, 0, R, 0}, /* if the published value is zero, the distance decides */
    {NOTHING, 1 * G, 0, 0, 0, 0, R, 1 * G},
    {NOTHING, -2.9 * G, 0, 0, 0, 0, S, -2.9 * G},
    {NOTHING, 3.1 * G, 0, 0, 0, 0, N, 3.1 * G},
    {VALUE ABSOLUTE, NONE, 0, 0, 0, 0, X, NONE},
    /* the time of an event that never happened */
    {VALUE ABSOLUTE, INFINITY, 0, 0, 0, 0, N, INFINITY},
    {VALUE RELATIVE, INFINITY, 0, 0, 0, 0, N, INFINITY},
    {VALUE RELATIVE, 12 * G, 0, 0, 0, 0, R, 12 * G},
    {VALUE RELATIVE, 7.2 * G, 0, 0, 0, 0, S, 7.2 * G},
    {VALUE RELATIVE, 7.1 * G, 0, 0, 0, 0, N, 7.1 * G},
    {VALUE RELATIVE, 14.1 * G, 0, 0, 0, 0, N, 14.1 * G},

    {AT_MOST, 10 * G, 0, 0, 0, 0, R, 10 * G},
    {AT_MOST, 0, 0, 0, 0, 0, R, 0},
    {AT_MOST, 10.9 * G, 0, 0, 0, 0, S, 10.9 * G},
    {AT_MOST, 11.1 * G, 0, 0, 0, 0, N, 11.1 * G},
    {AT_MOST, NONE, 0, 0, 0, 0, X, NONE},
    {AT_MOST, INFINITY, 0, 0, 0, 0, N, INFINITY},
    {AT_LEAST, INFINITY, 0, 0, 0, 0, N, INFINITY},
    {AT_LEAST, 100 * G, 0, 0, 0, 0, R, 100 * G},
    {AT_LEAST, 9.1 * G, 0, 0, 0, 0, R, 9.1 * G},
    {AT_LEAST, 6.7 * G, 0, 0, 0, 0, S, 6.7 * G},
    {AT_LEAST, 6.6 * G, 0, 0, 0, 0, N, 6.6 * G},
    {AT_LEAST, 0, 0, 0, 0, 0, N, 0},
    {BETWEEN, 10 * G, 0, 0, 0, 0, R, 10 * G},
    {BETWEEN, 20 * G, 0, 0, 0, 0, R, 20 * G},
    {BETWEEN, 22 * G, 0, 0, 0, 0, R, 22 * G},
    {BETWEEN, 29 * G, 0, 0, 0, 0, S, 29 * G}, /* above the limit, by less than half */
    {BETWEEN, 31 * G, 0, 0, 0, 0, N, 31 * G},
    {BETWEEN, 6.6 * G, 0, 0, 0, 0, N, 6.6 * G},
    {AT_LEAST, NONE, 0, 0, 0, 0, X, NONE},

    {RATIO, 11.4 * G, 10 * G, 0, 0, 0, R, 1.14},
    {RATIO, 11.5 * G, 10 * G, 0, 0, 0, R, 1.15},
    {SMALL_RATIO, 4.6 * G, 10 * G, 0, 0, 0, R,
     0.46}, /* just inside, though 0.46/0.36 > 1+0.1/0.36 */
    {RATIO, 10.6 * G, 10 * G, 0, 0, 0, R, 1.06},
    {RATIO, 9.4 * G, 10 * G, 0, 0, 0, S, 0.94},
    {RATIO, 9.2 * G, 10 * G, 0, 0, 0, N, 0.92},
    {RATIO, 8.9 * G, NONE, 0, 0, 0, X, NONE},
    {RATIO, 8.9 * G, 0, 0, 0, 0, X, NONE},      /* nothing to divide by */
    {RATIO, -11 * G, -10 * G, 0, 0, 0, N, 1.1}, /* of two numbers below 0 */
    {RATIO_AT_LEAST, -30 * G, -10 * G, 0, 0, 0, N, 3},
    {RATIO, INFINITY, 10 * G, 0, 0, 0, N, INFINITY},
    {RATIO, 10 * G, INFINITY, 0, 0, 0, N, INFINITY},
    {RATIO, INFINITY, INFINITY, 0, 0, 0, N, INFINITY},
    {RATIO, INFINITY, NONE, 0, 0, 0, X, NONE},
    {RATIO_AT_LEAST, INFINITY, 10 * G, 0, 0, 0, N, INFINITY},
    {RATIO_AT_LEAST, 10 * G, INFINITY, 0, 0, 0, N, INFINITY},
    {RATIO_AT_LEAST, INFINITY, INFINITY, 0, 0, 0, N, INFINITY},
    {RATIO_AT_LEAST, 30 * G, 10 * G, 0, 0, 0, R, 3},
    {RATIO_AT_LEAST, 16.1 * G, 10 * G, 0, 0, 0, S, 1.61},
    {RATIO_AT_LEAST, 15.9 * G, 10 * G, 0, 0, 0, N, 1.59},
    {RATIO_AT_LEAST, NONE, 10 * G, 0, 0, 0, X, NONE},
    {DIFFERENCE, 12 * G, 10 * G, 0, 0, 0, R, 2 * G},
    {DIFFERENCE, 11.1 * G, 10 * G, 0, 0, 0, S, 1.1 * G},
    {DIFFERENCE, 10.9 * G, 10 * G, 0, 0, 0, N, 0.9 * G},
    {DIFFERENCE, 10 * G, 10 * G, 0, 0, 0, N, 0},     /* "none" is not a small value */
    {DIFFERENCE, 9 * G, 10 * G, 0, 0, 0, N, -1 * G}, /* the sign matters */
    {DIFFERENCE, INFINITY, INFINITY, 0, 0, 0, N, INFINITY},
    {DIFFERENCE, NONE, 10 * G, 0, 0, 0, X, NONE},

    {ORDER, 9 * G, 6 * G, 3 * G, 0, 0, R, 3 * G},
    {ORDER, 9 * G, 7.9 * G, 6.8 * G, 0, 0, R, 1.1 * G},
    {ORDER, 9 * G, 8 * G, 6 * G, 0, 0, S, 1 * G},      /* a lead has to exceed the margin */
    {ORDER, 9 * G, 9.5 * G, 3 * G, 0, 0, S, -0.5 * G}, /* reversed is never reproduced */
    {ORDER, 9 * G, 3 * G, 5 * G, 0, 0, S, -2 * G},
    {ORDER, 3 * G, 6 * G, 9 * G, 0, 0, N, -3 * G},
    {ORDER, 9 * G, 1 * G, 5 * G, 0, 0, N, -4 * G},
    {ORDER, 5 * G, 5 * G, 5 * G, 0, 0, N, 0},          /* all tied is no order … */
    {ORDER, 5.5 * G, 5 * G, 5 * G, 0, 0, S, 0},        /* … nor is a lead below the margin */
    {ORDER, 5 * G, 4 * G, 5.1 * G, 0, 0, N, -1.1 * G}, /* the last above the first */
    {ORDER, INFINITY, 4 * G, 1 * G, 0, 0, R, 3 * G},   /* never is later than all */
    {ORDER, INFINITY, INFINITY, 1 * G, 0, 0, S, 0},    /* and tied with never */
    {ORDER, INFINITY, INFINITY, INFINITY, 0, 0, N, 0},
    {ORDER, 4 * G, 1 * G, INFINITY, 0, 0, N, -INFINITY},
    {ORDER, 5 * G, NONE, 3 * G, 0, 0, X, NONE},

    {NEAR, 9 * G, 9.5 * G, 10 * G, 0, 0, R, 1 * G},
    {NEAR, 12 * G, 9.5 * G, 10 * G, 0, 0, S, 2.5 * G},
    {NEAR, 12 * G, 9.5 * G, 8 * G, 0, 0, N, 4 * G},
    {NEAR, 12 * G, 9.5 * G, INFINITY, 0, 0, N, INFINITY},
    {NEAR, INFINITY, INFINITY, INFINITY, 0, 0, N, INFINITY},
    {NEAR, INFINITY, 9.5 * G, NONE, 0, 0, X, NONE},
    {NEAR, 12 * G, 9.5 * G, NONE, 0, 0, X, NONE},

    {FALLS_FROM, 1 * G, 0, 0, 4 * G, 1 * G, R, 1e-4},
    {FALLS_FROM, 4 * G, 0, 0, 6 * G, 1 * G, S, 1e-3},
    {FALLS_FROM, 6 * G, 0, 0, 6 * G, 1 * G, N, 1e-2},
    {FALLS_FROM, 6 * G, 0, 0, 6 * G, 6 * G, N, INFINITY},
    {FALLS_FROM, 4 * G, 0, 0, NONE, 1 * G, S, 1e-3}, /* a place without data is skipped */
    {FALLS_FROM, NONE, 0, 0, NONE, NONE, X, NONE},
};

static void test_each_kind_reaches_each_verdict(void **state)
{
    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(rows); i++) {
        const struct row *row = &rows[i];
        struct oche_study *study = study_with(row->claim);
        struct oche_samples *samples = oche_samples_create(study);

        put_run(samples, study, "goodput", "A", "0", row->a != row->a ? NONE : 40 * G);
        put_run(samples, study, "goodput", "A", "1e-3", row->a);
        put_run(samples, study, "goodput", "B", "1e-3", row->b);
        put_run(samples, study, "goodput", "C", "1e-3", row->c);
        put_run(samples, study, "goodput", "A", "1e-4", row->a_low);
        put_run(samples, study, "goodput", "A", "1e-2", row->a_high);
        oche_samples_ready(samples);
        struct oche_judgement judgement = oche_judge(study, &study->claims[0], NULL, samples);

        if ((int)judgement.finding != row->finding)
            fail_msg("row %zu: %s, not %s", i, oche_finding_name(judgement.finding),
                     oche_finding_name((enum oche_finding)row->finding));
        if (isnan(row->measured) ? !isnan(judgement.measured)
                                 : !(judgement.measured == row->measured ||
                                     fabs(judgement.measured / row->measured - 1) < 1e-9))
            fail_msg("row %zu: measured %g, not %g", i, judgement.measured, row->measured);
        oche_samples_free(samples);
        oche_study_close(study);
    }
}

/* ---- intervals ---- */

static struct oche_judgement judge_runs(const char *claim, const double a[4], const double b[4])
{
    struct oche_study *study = study_with(claim);
    struct oche_samples *samples = oche_samples_create(study);

    put_runs(samples, study, "goodput", "A", "1e-3", a);
    put_runs(samples, study, "goodput", "B", "1e-3", b);
    oche_samples_ready(samples);
    struct oche_judgement judgement = oche_judge(study, &study->claims[0], NULL, samples);

    oche_samples_free(samples);
    oche_study_close(study);
    return judgement;
}

/* Several quantities at one place, each with its own statistic. */
static void test_quantities_are_compared(void **state)
{
    static const struct {
        const char *claim;
        double measured;
        int finding;
    } cases[] = {
        {"    kind: ratio\n    quantity: [least, most]\n    published: 0.6\n"
         "    tolerance: {absolute: 0.1, in_shape: 0.2}\n",
         8.0 / 12, R},
        {"    kind: ratio_at_least\n    quantity: [most, least]\n    bound: 2\n    says: s\n"
         "    tolerance: {absolute: 0.1, in_shape: 0.8}\n",
         1.5, S},
        {"    kind: difference\n    quantity: [least, most]\n    published: 1Gbps\n"
         "    tolerance: {absolute: 1Gbps, in_shape: 2Gbps}\n",
         -4 * G, N},
        {"    kind: order\n    quantity: [most, speed, least]\n    says: s\n"
         "    tolerance: {margin: 0Gbps, in_shape: 1Gbps}\n",
         2 * G, R},
        {"    kind: near\n    quantity: [least, speed]\n    says: s\n"
         "    tolerance: {margin: 1Gbps, in_shape: 2Gbps}\n",
         2 * G, S},
    };
    const double runs[4] = {8 * G, 10 * G, 10 * G, 12 * G};
    char text[512];

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        snprintf(text, sizeof(text), "    at: {recovery: A, loss.probability: 1e-3}\n%s",
                 cases[i].claim);
        struct oche_judgement judgement = judge_runs(text, runs, runs);

        if (!(fabs(judgement.measured / cases[i].measured - 1) < 1e-9))
            fail_msg("case %zu: %g", i, judgement.measured);
        assert_int_equal(judgement.finding, cases[i].finding);
        assert_int_equal(judgement.interval, OCHE_INTERVAL_BOOTSTRAP);
        assert_true(judgement.low <= judgement.measured && judgement.high >= judgement.measured);
    }
}

/* If an event never happened in one run of four, its mean is "never", but its median is not. */
static void test_never_in_some_runs(void **state)
{
    const double runs[4] = {10 * G, INFINITY, 10 * G, 10 * G},
                 well[4] = {10 * G, 10 * G, 10 * G, 10 * G};
    struct oche_judgement mean = judge_runs(VALUE ABSOLUTE, runs, runs);
    struct oche_judgement least = judge_runs("    kind: value\n    quantity: least\n"
                                             "    at: {recovery: A, loss.probability: 1e-3}\n"
                                             "    published: 10Gbps\n" ABSOLUTE,
                                             runs, well);

    (void)state;
    assert_int_equal(mean.finding, N);
    assert_true(isinf(mean.measured) && isinf(mean.high) && mean.low == 10 * G);
    assert_int_equal(mean.interval, OCHE_INTERVAL_BOOTSTRAP);
    assert_true(mean.unsure); /* a third of the draws do not have that run */
    assert_int_equal(least.finding, R);
    assert_true(least.measured == 10 * G);
}

static void test_what_is_outside_is_not_judged(void **state)
{
    struct oche_study *study = study_with("    kind: outside\n    says: 25.4 us\n"
                                          "    explanation: no host is simulated\n"
                                          "also: [{label: other, at: {recovery: B}}]\n");
    struct oche_samples *samples = oche_samples_create(study);

    (void)state;
    put_run(samples, study, "goodput", "A", "1e-3", 10 * G);
    oche_samples_ready(samples);
    for (unsigned reading = 0; reading < 2; reading++) {
        struct oche_judgement judgement =
            oche_judge(study, &study->claims[0], reading == 0 ? NULL : &study->also[0], samples);

        assert_int_equal(judgement.finding, OCHE_FINDING_NOT_JUDGED);
        assert_true(isnan(judgement.measured) && isnan(judgement.low));
        assert_int_equal(judgement.interval, OCHE_INTERVAL_NONE);
    }
    assert_string_equal(oche_finding_name(OCHE_FINDING_NOT_JUDGED), "not judged");
    assert_string_equal(oche_claim_unit(study, &study->claims[0]), "count");
    oche_samples_free(samples);
    oche_study_close(study);
}

/* A second condition on the same runs: without it nothing is reproduced, not even the shape. */
static void test_a_second_condition_has_to_hold(void **state)
{
    const double runs[4] = {9 * G, 10 * G, 10 * G, 11 * G};
    static const struct {
        const char *provided;
        int finding;
    } cases[] = {
        {"    provided: {quantity: least, at_least: 9Gbps}\n", R},
        {"    provided: {quantity: least, at_least: 9.1Gbps}\n", N},
        {"    provided: {quantity: most, at_most: 11Gbps}\n", R},
        {"    provided: {quantity: most, at_most: 10.9Gbps}\n", N},
        {"    provided: [{quantity: least, at_least: 1Gbps}, {quantity: most, at_most: 1Gbps}]\n",
         N},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        char text[1024];

        snprintf(text, sizeof(text), "%s%s", VALUE ABSOLUTE, cases[i].provided);
        struct oche_judgement judgement = judge_runs(text, runs, runs);

        assert_int_equal(judgement.finding, cases[i].finding);
        assert_true(judgement.measured == 10 * G);
    }
}

/* A claim that is not testable is measured and shown, but has no verdict. */
static void test_what_is_not_testable_is_measured(void **state)
{
    const double runs[4] = {9 * G, 10 * G, 10 * G, 11 * G}, none[4] = {NONE, NONE, NONE, NONE};
    const char *claim = VALUE "    tolerance: {relative: 3, in_shape: 5}\n"
                              "    not_testable: one case of 56\n";
    struct oche_judgement judgement = judge_runs(claim, runs, runs);

    (void)state;
    assert_int_equal(judgement.finding, OCHE_FINDING_NOT_TESTABLE);
    assert_true(judgement.measured == 10 * G && judgement.low < judgement.measured);
    assert_false(judgement.unsure);
    assert_string_equal(oche_finding_name(judgement.finding), "not testable");
    assert_int_equal(judge_runs(claim, none, none).finding, X);
}

static void test_a_mean_has_students_interval(void **state)
{
    /* Mean 10, sample deviation sqrt(2/3), three degrees of freedom: 3.182 * 0.8165 / 2. */
    const double runs[4] = {9 * G, 10 * G, 10 * G, 11 * G};
    struct oche_judgement judgement = judge_runs(VALUE ABSOLUTE, runs, runs);

    (void)state;
    assert_int_equal(judgement.interval, OCHE_INTERVAL_T);
    assert_true(fabs(oche_judgement_spread(&judgement) / G - 1.2991) < 1e-3);
    assert_true(fabs((judgement.low + judgement.high) / 2 - 10 * G) < 1);
    assert_int_equal(judgement.finding, R);
    assert_true(judgement.unsure); /* 10 +- 1.3 reaches beyond 9.1 … 11 */
    assert_int_equal(judgement.runs, 4);
}

static void test_an_interval_inside_the_band_is_sure(void **state)
{
    const double runs[4] = {9.9 * G, 10 * G, 10 * G, 10.1 * G};
    const double far[4] = {19.9 * G, 20 * G, 20 * G, 20.1 * G};
    struct oche_judgement near = judge_runs(VALUE ABSOLUTE, runs, runs);
    struct oche_judgement wide = judge_runs(VALUE ABSOLUTE, far, far);

    (void)state;
    assert_false(near.unsure);
    assert_int_equal(wide.finding, N);
    assert_false(wide.unsure);
}

/* Both ends of such a wide interval are far off; values in between are not. */
static void test_an_interval_round_the_band_is_not_sure(void **state)
{
    const double runs[4] = {1 * G, 12 * G, 13 * G, 32 * G};
    struct oche_judgement judgement = judge_runs(VALUE ABSOLUTE, runs, runs);

    (void)state;
    assert_int_equal(judgement.finding, N);
    assert_true(judgement.low < 9 * G && judgement.high > 11 * G);
    assert_true(judgement.unsure);
}

/* One run of four has no lead. One of 256 draws has only that run. */
static void test_one_seed_of_few_is_a_doubt(void **state)
{
    const double a[4] = {19 * G, 18 * G, 18 * G, 10.1 * G}, b[4] = {10 * G, 10 * G, 10 * G, 10 * G};
    const double c[4] = {19 * G, 18 * G, 18 * G, 19 * G};

    (void)state;
    assert_int_equal(judge_runs(ORDER_OF_RUNS, a, b).finding, R);
    assert_true(judge_runs(ORDER_OF_RUNS, a, b).unsure);
    assert_false(judge_runs(ORDER_OF_RUNS, c, b).unsure);
}

/* The second condition holds on average, but not in one run. */
static void test_a_second_condition_may_be_in_doubt(void **state)
{
    const char *claim = VALUE "    tolerance: {absolute: 5Gbps, in_shape: 8Gbps}\n"
                              "    provided: {quantity: speed, at_least: 9.9Gbps}\n";
    const double runs[4] = {9.8 * G, 10 * G, 10 * G, 10.1 * G};
    const double sure[4] = {9.95 * G, 10 * G, 10 * G, 10.1 * G};
    const double low[4] = {9.0 * G, 9.8 * G, 9.8 * G, 9.95 * G};

    (void)state;
    assert_int_equal(judge_runs(claim, runs, runs).finding, R);
    assert_true(judge_runs(claim, runs, runs).unsure);
    assert_false(judge_runs(claim, sure, sure).unsure);
    assert_int_equal(judge_runs(claim, low, low).finding, N);
    assert_true(judge_runs(claim, low, low).unsure);
}

static void test_runs_that_failed_are_left_out(void **state)
{
    const double runs[4] = {9 * G, NONE, 10 * G, 11 * G}, one[4] = {NONE, NONE, 10 * G, NONE};
    struct oche_judgement judgement = judge_runs(VALUE ABSOLUTE, runs, runs);
    struct oche_judgement alone = judge_runs(VALUE ABSOLUTE, one, one);

    (void)state;
    assert_int_equal(judgement.runs, 3);
    assert_true(judgement.measured == 10 * G);
    assert_int_equal(alone.runs, 1);
    assert_int_equal(alone.finding, R);
    assert_int_equal(alone.interval, OCHE_INTERVAL_NONE);
    assert_true(isnan(alone.low));
}

static void test_a_difference_is_drawn_run_by_run(void **state)
{
    /* Both vary with the seed. Their difference does not, and the bootstrap detects that. */
    const double a[4] = {12 * G, 22 * G, 32 * G, 42 * G}, b[4] = {10 * G, 20 * G, 30 * G, 40 * G};
    struct oche_judgement judgement = judge_runs(DIFFERENCE, a, b);

    (void)state;
    assert_int_equal(judgement.interval, OCHE_INTERVAL_BOOTSTRAP);
    assert_true(fabs(judgement.low - 2 * G) < 1 && fabs(judgement.high - 2 * G) < 1);
    assert_false(judgement.unsure);
}

static void test_the_same_data_give_the_same_interval(void **state)
{
    const double a[4] = {8 * G, 11 * G, 12 * G, 13 * G}, b[4] = {10 * G, 9 * G, 10 * G, 11 * G};
    struct oche_judgement first = judge_runs(RATIO, a, b), second = judge_runs(RATIO, a, b);

    (void)state;
    assert_true(first.low == second.low && first.high == second.high);
    assert_true(first.low < first.measured && first.measured < first.high);
    assert_true(first.unsure);
}

/* ---- quantities ---- */

static struct oche_judgement judge_quantity(const char *quantity, const char *unit_of_ten)
{
    char *text = NULL;

    assert_true(asprintf(&text,
                         "grids:\n"
                         "  - {vary: {recovery: {A: go_back_n, B: {name: go_back_n}},\n"
                         "            loss.probability: [1e-3]}, repeat: 4}\n"
                         "  - {vary: {recovery: {A: go_back_n, B: {name: go_back_n}},\n"
                         "            loss.probability: [0]}, repeat: 1}\n"
                         "quantities: {q: %s}\n"
                         "claims:\n  - name: c\n" TEXTS "    kind: value\n    quantity: q\n"
                         "    at: {recovery: A, loss.probability: 1e-3}\n    published: %s\n"
                         "    tolerance: {relative: 0.1, in_shape: 0.2}\n",
                         quantity, unit_of_ten) > 0);
    struct oche_study *study = make_whole_study(text, false);
    struct oche_samples *samples = oche_samples_create(study);
    const double tops[4] = {1, 2, 3, 10}, bottoms[4] = {2, 4, 0, 10};
    const char *metrics[] = {"pause_time", "timeouts", "naks"};
    size_t count;
    const char *const *names = oche_samples_metrics(samples, &count);

    for (size_t m = 0; m < 3; m++) {
        bool used = false;

        for (size_t i = 0; i < count; i++)
            used |= strcmp(names[i], metrics[m]) == 0;
        if (!used)
            continue;
        put_runs(samples, study, metrics[m], "A", "1e-3", m == 2 ? bottoms : tops);
        put_runs(samples, study, metrics[m], "A", "0", (double[]){8});
        put_runs(samples, study, metrics[m], "B", "0", (double[]){16});
    }
    oche_samples_ready(samples);
    struct oche_judgement judgement = oche_judge(study, &study->claims[0], NULL, samples);

    oche_samples_free(samples);
    oche_study_close(study);
    free(text);
    return judgement;
}

static void test_quantities_come_from_metrics_as_they_say(void **state)
{
    static const struct {
        const char *quantity;
        double value;
    } quantities[] = {
        {"{metric: timeouts}", 4},
        {"{metric: timeouts, statistic: median}", 2},
        {"{metric: timeouts, statistic: minimum}", 1},
        {"{metric: timeouts, statistic: maximum}", 10},
        {"{metric: timeouts, statistic: p75}", 3},
        {"{metric: [timeouts, naks]}", 8},
        {"{metric: timeouts, over: naks}", 2.0 / 3},              /* 1/2, 2/4, none, 1 */
        {"{metric: timeouts, over: naks, statistic: pooled}", 1}, /* 16 of 16 */
        {"{metric: timeouts, over: [naks, timeouts], statistic: pooled}", 0.5},
        {"{metric: timeouts, relative_to: {loss.probability: 0}}", 0.5},
        {"{metric: timeouts, relative_to: {loss.probability: 0, recovery: B}}", 0.25},
        {"{metric: timeouts, relative_to: {loss.probability: 0}, as: reduction}", 0.5},
        {"{metric: timeouts, relative_to: {loss.probability: 0, recovery: B}, as: reduction}",
         0.75},
        {"{metric: timeouts, relative_to: {loss.probability: 0, recovery: B}, as: factor}", 4},
        {"{metric: timeouts, relative_to: {loss.probability: 0, recovery: B}, as: increase}",
         -0.75},
        {"{metric: timeouts, over: naks, statistic: pooled, relative_to: {loss.probability: 0}}",
         1},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(quantities); i++) {
        struct oche_judgement judgement = judge_quantity(quantities[i].quantity, "10");

        if (fabs(judgement.measured - quantities[i].value) > 1e-9)
            fail_msg("%s: %g, not %g", quantities[i].quantity, judgement.measured,
                     quantities[i].value);
    }
    assert_true(judge_quantity("{metric: pause_time, since: 3s}", "10s").measured == 1);
}

static void test_a_list_of_values_is_a_mean_over_them(void **state)
{
    struct oche_study *study =
        study_with("    kind: value\n    quantity: speed\n"
                   "    at: {recovery: A, loss.probability: [1e-4, 1e-3]}\n    published: 10Gbps\n"
                   "    tolerance: {relative: 0.2, in_shape: 0.4}\n");
    struct oche_samples *samples = oche_samples_create(study);

    (void)state;
    put_run(samples, study, "goodput", "A", "1e-4", 6 * G);
    put_run(samples, study, "goodput", "A", "1e-3", 16 * G);
    oche_samples_ready(samples);
    assert_true(oche_judge(study, &study->claims[0], NULL, samples).measured == 11 * G);
    oche_samples_free(samples);
    oche_study_close(study);
}

/* ---- readings ---- */

/* Only conditions that name the value change, and a claim without it has no such reading. */
static void test_a_reading_replaces_one_of_those_that_are_compared(void **state)
{
    struct oche_study *study =
        make_study("also: [{label: other, instead: {recovery: {A: C}}}]\n"
                   "claims:\n"
                   "  - name: order\n" TEXTS "    kind: order\n    quantity: speed\n"
                   "    at: {loss.probability: 1e-3}\n    of: {recovery: [A, B]}\n"
                   "    says: A is faster\n"
                   "    tolerance: {margin: 1Gbps, in_shape: 2Gbps}\n"
                   "  - name: own\n" TEXTS "    kind: value\n    quantity: speed\n"
                   "    at: {recovery: B, loss.probability: 1e-3}\n    published: 5Gbps\n"
                   "    tolerance: {relative: 0.1, in_shape: 0.2}\n");
    struct oche_samples *samples = oche_samples_create(study);

    (void)state;
    put_run(samples, study, "goodput", "A", "1e-3", 1 * G);
    put_run(samples, study, "goodput", "B", "1e-3", 5 * G);
    put_run(samples, study, "goodput", "C", "1e-3", 8 * G);
    oche_samples_ready(samples);
    assert_int_equal(oche_judge(study, &study->claims[0], NULL, samples).finding, N);
    assert_int_equal(oche_judge(study, &study->claims[0], &study->also[0], samples).finding, R);
    assert_true(oche_judge(study, &study->claims[0], &study->also[0], samples).measured == 3 * G);
    assert_int_equal(oche_judge(study, &study->claims[1], NULL, samples).finding, R);
    assert_int_equal(oche_judge(study, &study->claims[1], &study->also[0], samples).finding, X);
    oche_samples_free(samples);
    oche_study_close(study);
}

/* A reading may measure another quantity. A claim that names neither has no such reading. */
static void test_a_reading_replaces_a_quantity(void **state)
{
    struct oche_study *study =
        make_study("also: [{label: other, quantities: {speed: least}}]\n"
                   "claims:\n"
                   "  - name: one\n" TEXTS "    kind: value\n    quantity: speed\n"
                   "    at: {recovery: A, loss.probability: 1e-3}\n    published: 10Gbps\n"
                   "    tolerance: {relative: 0.1, in_shape: 0.2}\n"
                   "  - name: own\n" TEXTS "    kind: value\n    quantity: least\n"
                   "    at: {recovery: A, loss.probability: 1e-3}\n    published: 10Gbps\n"
                   "    tolerance: {relative: 0.1, in_shape: 0.2}\n");
    struct oche_samples *samples = oche_samples_create(study);

    (void)state;
    put_runs(samples, study, "goodput", "A", "1e-3", (double[]){1 * G, 10 * G, 10 * G, 19 * G});
    oche_samples_ready(samples);
    assert_int_equal(oche_judge(study, &study->claims[0], NULL, samples).finding, R);
    assert_int_equal(oche_judge(study, &study->claims[0], &study->also[0], samples).finding, N);
    assert_true(oche_judge(study, &study->claims[0], &study->also[0], samples).measured == 1 * G);
    assert_int_equal(oche_judge(study, &study->claims[1], NULL, samples).finding, N);
    assert_int_equal(oche_judge(study, &study->claims[1], &study->also[0], samples).finding, X);
    oche_samples_free(samples);
    oche_study_close(study);
}

static void test_another_reading_moves_claims_that_are_where_the_figure_is(void **state)
{
    struct oche_study *study =
        make_study("at: {recovery: A}\n"
                   "also: [{label: other, at: {recovery: B}}]\n"
                   "claims:\n"
                   "  - name: one\n" TEXTS "    kind: value\n    quantity: speed\n"
                   "    at: {loss.probability: 1e-3}\n    published: 10Gbps\n"
                   "    tolerance: {relative: 0.1, in_shape: 0.2}\n"
                   "  - name: own\n" TEXTS "    kind: value\n    quantity: speed\n"
                   "    at: {recovery: C, loss.probability: 1e-3}\n    published: 10Gbps\n"
                   "    tolerance: {relative: 0.1, in_shape: 0.2}\n");
    struct oche_samples *samples = oche_samples_create(study);

    (void)state;
    put_run(samples, study, "goodput", "A", "1e-3", 10 * G);
    put_run(samples, study, "goodput", "B", "1e-3", 1 * G);
    put_run(samples, study, "goodput", "C", "1e-3", 10 * G);
    oche_samples_ready(samples);
    assert_int_equal(oche_judge(study, &study->claims[0], NULL, samples).finding, R);
    assert_int_equal(oche_judge(study, &study->claims[0], &study->also[0], samples).finding, N);
    assert_int_equal(oche_judge(study, &study->claims[1], NULL, samples).finding, R);
    assert_int_equal(oche_judge(study, &study->claims[1], &study->also[0], samples).finding, X);
    oche_samples_free(samples);
    oche_study_close(study);
}

static void test_what_quick_mode_does_not_run_has_no_data(void **state)
{
    static const char text[] =
        "grids:\n"
        "  - vary: {recovery: {A: go_back_n, B: {name: go_back_n}}, loss.probability: [0, 1e-3]}\n"
        "    repeat: 4\n"
        "    quick: {repeat: 2, vary: {loss.probability: [1e-3]}}\n"
        "quantities: {speed: {metric: goodput}}\n"
        "claims:\n"
        "  - name: run\n" TEXTS "    kind: value\n    quantity: speed\n"
        "    at: {recovery: A, loss.probability: 1e-3}\n    published: 10Gbps\n"
        "    tolerance: {relative: 0.1, in_shape: 0.2}\n"
        "  - name: not_run\n" TEXTS "    kind: value\n    quantity: speed\n"
        "    at: {recovery: A, loss.probability: 0}\n    published: 10Gbps\n"
        "    tolerance: {relative: 0.1, in_shape: 0.2}\n";
    struct oche_study *study = make_whole_study(text, true);
    struct oche_samples *samples = oche_samples_create(study);

    (void)state;
    put_runs(samples, study, "goodput", "A", "1e-3", (double[]){10 * G, 10 * G});
    oche_samples_ready(samples);
    struct oche_judgement judgement = oche_judge(study, &study->claims[0], NULL, samples);

    assert_int_equal(judgement.finding, R);
    assert_int_equal(judgement.runs, 2);
    assert_int_equal(oche_judge(study, &study->claims[1], NULL, samples).finding, X);
    oche_samples_free(samples);
    oche_study_close(study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_kind_reaches_each_verdict),
        cmocka_unit_test(test_quantities_are_compared),
        cmocka_unit_test(test_never_in_some_runs),
        cmocka_unit_test(test_what_is_outside_is_not_judged),
        cmocka_unit_test(test_a_second_condition_has_to_hold),
        cmocka_unit_test(test_what_is_not_testable_is_measured),
        cmocka_unit_test(test_a_mean_has_students_interval),
        cmocka_unit_test(test_an_interval_inside_the_band_is_sure),
        cmocka_unit_test(test_an_interval_round_the_band_is_not_sure),
        cmocka_unit_test(test_one_seed_of_few_is_a_doubt),
        cmocka_unit_test(test_a_second_condition_may_be_in_doubt),
        cmocka_unit_test(test_runs_that_failed_are_left_out),
        cmocka_unit_test(test_a_difference_is_drawn_run_by_run),
        cmocka_unit_test(test_the_same_data_give_the_same_interval),
        cmocka_unit_test(test_quantities_come_from_metrics_as_they_say),
        cmocka_unit_test(test_a_list_of_values_is_a_mean_over_them),
        cmocka_unit_test(test_a_reading_replaces_one_of_those_that_are_compared),
        cmocka_unit_test(test_a_reading_replaces_a_quantity),
        cmocka_unit_test(test_another_reading_moves_claims_that_are_where_the_figure_is),
        cmocka_unit_test(test_what_quick_mode_does_not_run_has_no_data),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
