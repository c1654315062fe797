/* SPDX-License-Identifier: Apache-2.0 */
/* ExpressPass's feedback loop against tables computed by hand from expresspass.md#feedback. */
#include <math.h>

#include "sim/endpoint/expresspass/feedback.h"
#include "tests/support/test.h"

#define MOST   1e6 /* bytes a second */
#define CREDIT 84.0

static void same(double is, double should)
{
    if (fabs(is - should) > 1e-9 * should)
        fail_msg("%.9g, and should be %.9g", is, should);
}

/* A round trip of 1 ms: the credits used and lost, then the expected rate and w. */
struct step {
    uint32_t used, lost;
    double rate, w;
};

static void follow(struct oche_xpass_feedback *f, const struct oche_xpass_params *params,
                   const struct step *steps, size_t count)
{
    oche_time now = f->updated;

    for (size_t i = 0; i < count; i++) {
        assert_false(oche_xpass_feedback_update(f, params, now + OCHE_MS));
        for (uint32_t k = 0; k < steps[i].used; k++)
            oche_xpass_feedback_data(f, k == 0 ? steps[i].lost : 0, OCHE_MS);
        assert_false(oche_xpass_feedback_update(f, params, now + OCHE_MS - 1));
        now += OCHE_MS;
        assert_true(oche_xpass_feedback_update(f, params, now));
        same(f->rate, steps[i].rate);
        same(f->w, steps[i].w);
    }
}

static void begin(struct oche_xpass_feedback *f, struct oche_xpass_params *params,
                  enum oche_xpass_feedback_kind kind)
{
    *f = (struct oche_xpass_feedback){0};
    oche_param_defaults(&oche_xpass_table, params);
    params->feedback = kind;
    oche_xpass_feedback_start(f, params, MOST, CREDIT, 7 * OCHE_MS);
    same(f->rate, 500000);
    same(f->w, 0.5);
}

static void test_code(void **state)
{
    static const struct step steps[] = {
        {5, 0, 750000, 0.5},        /* w is at its maximum; 0.5 * 1e6 + 0.5 * 5e5 */
        {6, 2, 519750, 0.25},       /* 1/4 > 0.125 / 4: 84 * 6 / 1 ms * 1.03125 */
        {5, 0, 639812.5, 0.25},     /* w does not grow after a loss */
        {7, 0, 747868.75, 0.3},     /* now it does, by 0.05 */
        {1, 99, 86647.378125, 0.15} /* 84 / 1 ms * (1 + 0.125 * 0.25213125) */
    };
    struct oche_xpass_params params;
    struct oche_xpass_feedback f;

    (void)state;
    begin(&f, &params, OCHE_XPASS_AUTHORS_CODE);
    follow(&f, &params, steps, OCHE_COUNT_OF(steps));

    /* The credits of five round trips are below one a round trip, the minimum. */
    oche_xpass_feedback_data(&f, 9, OCHE_MS);
    assert_true(oche_xpass_feedback_update(&f, &params, f.updated + 5 * OCHE_MS));
    same(f.rate, 84000);
    same(f.w, 0.075);
    for (unsigned i = 0; i < 8; i++) {
        oche_xpass_feedback_data(&f, 9, OCHE_MS);
        assert_true(oche_xpass_feedback_update(&f, &params, f.updated + OCHE_MS));
    }
    same(f.w, 0.01);
    /* Losses never raise the rate: 84 * 20 / 1 ms would be higher. */
    for (unsigned i = 0; i < 20; i++)
        oche_xpass_feedback_data(&f, 1, OCHE_MS);
    assert_true(oche_xpass_feedback_update(&f, &params, f.updated + OCHE_MS));
    same(f.rate, 84000);
}

static void test_paper(void **state)
{
    static const struct step steps[] = {
        {5, 0, 800000, 0.5},       /* 0.5 * 5e5 + 0.5 * 1e6 * 1.1 */
        {6, 2, 660000, 0.25},      /* 8e5 * 0.75 * 1.1 */
        {5, 0, 770000, 0.25},      /* 0.75 * 6.6e5 + 0.25 * 1.1e6 */
        {7, 0, 893750, 0.375},     /* w = (0.25 + 0.5) / 2 */
        {9, 1, 983984.375, 0.4375} /* a tenth is not above the target */
    };
    struct oche_xpass_params params;
    struct oche_xpass_feedback f;

    (void)state;
    begin(&f, &params, OCHE_XPASS_PAPER);
    follow(&f, &params, steps, OCHE_COUNT_OF(steps));
    for (unsigned i = 0; i < 100; i++) {
        oche_xpass_feedback_data(&f, 0, OCHE_MS);
        assert_true(oche_xpass_feedback_update(&f, &params, f.updated + OCHE_MS));
        assert_true(f.rate <= 1.1 * MOST);
    }
    same(f.rate, 1.1 * MOST);
}

/* The scenario's target applies to both. With 0 each has its own. */
static void test_target(void **state)
{
    struct oche_xpass_params params;
    struct oche_xpass_feedback f;

    (void)state;
    begin(&f, &params, OCHE_XPASS_AUTHORS_CODE);
    same(oche_xpass_target_loss(&params), 0.125);
    params.target_loss = 0.5;
    /* 0.2 < 0.5 * 0.5: no congestion */
    follow(&f, &params, &(struct step){4, 1, 750000, 0.5}, 1);
    begin(&f, &params, OCHE_XPASS_PAPER);
    same(oche_xpass_target_loss(&params), 0.1);
    params.target_loss = 0.5;
    follow(&f, &params, &(struct step){4, 1, 1000000, 0.5}, 1);
}

/* The round trip is smoothed and survives a stop. Feedback starts only when it is known. */
static void test_round_trip(void **state)
{
    struct oche_xpass_params params;
    struct oche_xpass_feedback f;

    (void)state;
    begin(&f, &params, OCHE_XPASS_AUTHORS_CODE);
    assert_false(oche_xpass_feedback_update(&f, &params, 100 * OCHE_MS));
    oche_xpass_feedback_data(&f, 0, 0); /* not measured */
    assert_false(oche_xpass_feedback_update(&f, &params, 100 * OCHE_MS));
    oche_xpass_feedback_data(&f, 0, 1000);
    assert_int_equal(f.rtt, 1000);
    oche_xpass_feedback_data(&f, 0, 2000);
    assert_int_equal(f.rtt, 1200);
    oche_xpass_feedback_start(&f, &params, MOST, CREDIT, 100 * OCHE_MS);
    assert_int_equal(f.rtt, 1200);
    assert_int_equal(f.used, 0);
    same(f.rate, 500000);
}

static void test_check(void **state)
{
    struct oche_xpass_params params;

    (void)state;
    oche_param_defaults(&oche_xpass_table, &params);
    assert_null(oche_xpass_check(&params));
    params.w_initial = 0.6;
    assert_non_null(oche_xpass_check(&params));
    params.w_most = 0.6;
    assert_null(oche_xpass_check(&params));
    params.w_least = 0.61;
    assert_non_null(oche_xpass_check(&params));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code),   cmocka_unit_test(test_paper),
        cmocka_unit_test(test_target), cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_check),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
