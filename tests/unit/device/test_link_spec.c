/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of links as users write them: each form, and one clear line for each mistake. */
#include <stdio.h>
#include <string.h>

#include "tests/support/test.h"

#include "device/link/spec.h"

static struct oche_link_plan plan;

static const struct oche_link_params *only_step(const char *text)
{
    struct oche_error error = {.text = ""};

    plan = (struct oche_link_plan){.rule_count = 0};
    if (!oche_link_plan_add(&plan, OCHE_LINK_BOTH, text, &error))
        fail_msg("%s: %s", text, error.text);
    assert_int_equal(plan.rule_count, 1);
    assert_int_equal(plan.step_count, 1);
    return &plan.steps[0].params;
}

static void every_key(void **state)
{
    const struct oche_link_params *params;

    (void)state;
    params = only_step("loss=0.1%,delay=50us,jitter=10us,rate=1Gbps,queue=2MB");
    assert_float_equal(params->loss, 0.001, 1e-12);
    assert_int_equal(params->delay, 50 * OCHE_US);
    assert_int_equal(params->jitter, 10 * OCHE_US);
    assert_int_equal(params->jitter_shape, OCHE_LINK_UNIFORM);
    assert_int_equal(params->rate_bps, OCHE_GBPS);
    assert_int_equal(params->queue_bytes, 2000000);
    assert_true(params->ecn_min_bytes == OCHE_NEVER);
    assert_int_equal(params->spray, 1);
    assert_int_equal(params->seed, 0);
    params = only_step("seed=7,duplicate=1/1000,corrupt=1e-6");
    assert_int_equal(params->seed, 7);
    assert_float_equal(params->duplicate, 0.001, 1e-12);
    assert_float_equal(params->corrupt, 1e-6, 1e-15);
}

static void short_forms(void **state)
{
    const struct oche_link_params *params;

    (void)state;
    params = only_step("jitter=10us:normal,reorder=1%:by=30us,spray=4:by=5us,corrupt=1e-9:bit");
    assert_int_equal(params->jitter_shape, OCHE_LINK_NORMAL);
    assert_int_equal(params->reorder_by, 30 * OCHE_US);
    assert_int_equal(params->spray, 4);
    assert_int_equal(params->spray_by, 5 * OCHE_US);
    assert_int_equal(params->corrupt_per, OCHE_LINK_PER_BIT);
    params = only_step("rate=10Gbps,ecn=100KB..400KB:pmax=20%,flap=2s/100ms,"
                       "burst_loss=1%:length=20");
    assert_int_equal(params->ecn_min_bytes, 100000);
    assert_int_equal(params->ecn_max_bytes, 400000);
    assert_float_equal(params->ecn_pmax, 0.2, 1e-12);
    assert_int_equal(params->flap_up, 2 * OCHE_SEC);
    assert_int_equal(params->flap_down, 100 * OCHE_MS);
    assert_float_equal(params->burst_loss_length, 20, 0);
    params = only_step("reorder_by=40us,reorder=1%"); /* the long form, in any order */
    assert_int_equal(params->reorder_by, 40 * OCHE_US);
}

static void peers(void **state)
{
    struct oche_error error;

    (void)state;
    plan = (struct oche_link_plan){.rule_count = 0};
    assert_true(oche_link_plan_add_all(&plan, OCHE_LINK_OUT,
                                       "loss=1%;192.0.2.7:loss=2%;[2001:db8::7]:loss=3%", &error));
    assert_int_equal(plan.rule_count, 3);
    assert_false(plan.rules[0].of_peer);
    assert_true(plan.rules[1].of_peer && oche_address_is_ipv4(&plan.rules[1].peer));
    assert_true(plan.rules[2].of_peer && !oche_address_is_ipv4(&plan.rules[2].peer));
    assert_int_equal(plan.rules[2].directions, OCHE_LINK_OUT);
    /* the other direction may have rules of its own */
    assert_true(oche_link_plan_add(&plan, OCHE_LINK_IN, "192.0.2.7:delay=1ms", &error));
    assert_false(oche_link_plan_add(&plan, OCHE_LINK_BOTH, "192.0.2.7:delay=1ms", &error));
    assert_false(oche_link_plan_add(&plan, OCHE_LINK_OUT, "delay=1ms", &error));
}

static void steps(void **state)
{
    struct oche_error error;

    (void)state;
    plan = (struct oche_link_plan){.rule_count = 0};
    assert_true(
        oche_link_plan_add(&plan, OCHE_LINK_BOTH, "at=3s,loss=1%,delay=1ms|at=5s,loss=0", &error));
    assert_int_equal(plan.step_count, 3); /* before the first one there are no faults */
    assert_int_equal(plan.steps[0].at, 0);
    assert_float_equal(plan.steps[0].params.loss, 0, 0);
    assert_int_equal(plan.steps[1].at, 3 * OCHE_SEC);
    assert_int_equal(plan.steps[2].at, 5 * OCHE_SEC);
    assert_float_equal(plan.steps[2].params.loss, 0, 0);
    assert_int_equal(plan.steps[2].params.delay, OCHE_MS); /* stays */
}

static void the_spelling_of_drop(void **state)
{
    struct oche_error error;

    (void)state;
    plan = (struct oche_link_plan){.rule_count = 0};
    assert_true(oche_link_plan_add_loss(&plan, OCHE_LINK_OUT, 20, &error));
    assert_float_equal(plan.steps[0].params.loss, 20e-6, 1e-15);
    assert_int_equal(plan.rules[0].directions, OCHE_LINK_OUT);
}

/* Each has one line that names the word that is wrong. */
static void mistakes(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "KEY=VALUE"},
        {"loss", "\"loss\" has no value; KEY=VALUE is meant"},
        {"loss=", "loss: has no value"},
        {"loss=1%,", "nothing between two commas"},
        {"los=1%", "a link has no los; did you mean loss?"},
        {"fog=1%", "a link has no fog"},
        {"loss=2", "loss: 2 is out of range"},
        {"loss=-1", "loss: -1 is out of range"},
        {"loss=1%,loss=2%", "loss is there twice"},
        {"delay=5", "delay: 5 has no unit"},
        {"rate=1GB", "rate: "},
        {"queue=0B", "queue: "},
        {"queue=1MB", "queue: has no effect without rate; give both"},
        {"loss=1%,reorder_by=5us", "reorder_by: has no effect without reorder"},
        {"latency=1ms", "did you mean delay?"},
        {"jitter=10us:gauss", "jitter_shape: \"gauss\" is not known"},
        {"jitter=10us:by=1us", "jitter has no option by"},
        {"reorder=1%:normal", "reorder has no option normal"},
        {"reorder=1%:by=", "reorder_by: has no value"},
        {"ecn=100KB", "ecn: two values are needed, as in ecn=100KB..400KB"},
        {"ecn=100KB..400KB", "ecn: there is no queue without rate"},
        {"rate=1Gbps,ecn=400KB..100KB", "ecn: Kmin is above Kmax"},
        {"flap=2s", "flap: two values are needed, as in flap=2s/100ms"},
        {"flap=2s/0s", "flap: a time up and a time down are needed"},
        {"spray=65", "spray: 65 is out of range"},
        {"burst_loss=1", "burst_loss: 1 is out of range"},
        {"192.0.2:loss=1%", "192.0.2: not an IP address"},
        {"2001:db8::7:loss=1%", "2001: not an IP address"},
        {"[2001:db8::7]loss=1%", "a peer's IPv6 address is written"},
        {"[2001:db8::7", "a peer's IPv6 address is written"},
        {"loss=1%|loss=2%", "a step is not later"},
        {"at=3s,loss=1%|at=3s,loss=2%", "a step is not later"},
        {"at=3s,at=4s,loss=1%", "at is there twice"},
        {"at=never,loss=1%", "at: never"},
        {"at=3,loss=1%", "at: 3 has no unit"},
        {"seed=1,loss=1%|at=3s,seed=2", "seed: only the first step"},
        {"\x1b[31m=1", "a character that is no letter"},
        {"loss=1%\n", "a character that is no letter"},
    };
    struct oche_error error;

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        plan = (struct oche_link_plan){.rule_count = 0};
        if (oche_link_plan_add(&plan, OCHE_LINK_BOTH, cases[i].text, &error))
            fail_msg("%s was accepted", cases[i].text);
        if (strstr(error.text, cases[i].says) == NULL)
            fail_msg("%s: says %s, not %s", cases[i].text, error.text, cases[i].says);
        assert_null(strchr(error.text, '\n'));
    }
}

/* Limits are told, and nothing is written behind them. */
static void limits(void **state)
{
    static char many[OCHE_LINK_TEXT_BYTES * 2];
    struct oche_error error;
    size_t at = 0;

    (void)state;
    at += (size_t)sprintf(many, "loss=0");
    for (unsigned i = 1; i < OCHE_LINK_STEPS; i++)
        at += (size_t)sprintf(many + at, "|at=%us,loss=0", i);
    plan = (struct oche_link_plan){.rule_count = 0};
    assert_true(oche_link_plan_add(&plan, OCHE_LINK_BOTH, many, &error));
    assert_int_equal(plan.step_count, OCHE_LINK_STEPS);
    assert_false(oche_link_plan_add(&plan, OCHE_LINK_BOTH, "192.0.2.1:loss=0", &error));
    plan = (struct oche_link_plan){.rule_count = 0};
    sprintf(many + at, "|at=9999s,loss=0");
    assert_false(oche_link_plan_add(&plan, OCHE_LINK_BOTH, many, &error));
    memset(many, 'x', sizeof(many) - 1);
    assert_false(oche_link_plan_add(&plan, OCHE_LINK_BOTH, many, &error));
    plan = (struct oche_link_plan){.rule_count = 0};
    for (unsigned i = 0; i < OCHE_LINK_RULES; i++) {
        sprintf(many, "192.0.2.%u:loss=0", i + 1);
        assert_true(oche_link_plan_add(&plan, OCHE_LINK_BOTH, many, &error));
    }
    assert_false(oche_link_plan_add(&plan, OCHE_LINK_BOTH, "192.0.2.99:loss=0", &error));
}

/* What changes a running link: no times, no peers. */
static void changes(void **state)
{
    struct oche_link_params params;
    struct oche_error error;

    (void)state;
    oche_param_defaults(&oche_link_params, &params);
    assert_true(oche_link_params_parse(&params, "loss=1%,delay=1ms", &error));
    assert_true(oche_link_params_parse(&params, "loss=0", &error));
    assert_int_equal(params.delay, OCHE_MS);
    assert_false(oche_link_params_parse(&params, "at=3s,loss=0", &error));
    assert_non_null(strstr(error.text, "at: no time is possible here"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key),
        cmocka_unit_test(short_forms),
        cmocka_unit_test(peers),
        cmocka_unit_test(steps),
        cmocka_unit_test(the_spelling_of_drop),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(limits),
        cmocka_unit_test(changes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
