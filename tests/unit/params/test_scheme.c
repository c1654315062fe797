/* SPDX-License-Identifier: Apache-2.0 */
/* Schemes with parameters, as people write them, and the errors in bad ones. */
#include "params/scheme.h"

#include <string.h>

#include "core/cc/cc_advice.h"
#include "core/cc/timely/timely_engine.h"
#include "tests/support/test.h"
#include "params/units.h"

static uint64_t number(const struct oche_param_table *table, const char *name, const void *params)
{
    return oche_param_get(oche_param_find(table, name), params).u;
}

static void test_right(void **state)
{
    struct oche_cc_choice cc;
    struct oche_recovery_choice recovery;
    struct oche_error error;

    (void)state;
    assert_true(oche_cc_parse(&cc, "timely,t_low=5ms,t_high=50ms", &error));
    assert_string_equal(cc.cc->name, "timely");
    assert_int_equal(number(&cc.cc->table, "t_low", &cc.params), 5 * OCHE_MS);
    assert_int_equal(number(&cc.cc->table, "t_high", &cc.params), 50 * OCHE_MS);
    assert_true(oche_cc_parse(&cc, "dcqcn", &error));
    assert_true(
        oche_recovery_parse(&recovery, "selective_repeat,rto_low=5ms,rto_high=20ms", &error));
    assert_int_equal(number(&recovery.recovery->table, "rto_low", &recovery.params), 5 * OCHE_MS);
}

/*
 * On a line of 200 Mbit/s 64 KB take 2.6 ms. With a round trip of 5 ms, times follow the round
 * trip.
 */
static void test_fit_to_line(void **state)
{
    struct oche_cc_network network = {.line_rate_bps = 200 * OCHE_MBPS, .round_trip = OCHE_MS};
    const oche_time unit = oche_time_of_bytes(65536, network.line_rate_bps);
    struct oche_cc_choice cc;
    struct oche_error error;

    (void)state;
    assert_true(oche_cc_parse(&cc, "dcqcn,rhai=7Mbps", &error));
    cc.cc->advice->fit(&cc.params, cc.free, &network);
    assert_int_equal(number(&cc.cc->table, "timer", &cc.params), unit + unit / 10);
    assert_int_equal(number(&cc.cc->table, "cnp_interval", &cc.params), unit);
    assert_int_equal(number(&cc.cc->table, "rai", &cc.params), 200 * OCHE_KBPS);
    assert_int_equal(number(&cc.cc->table, "rhai", &cc.params), 7 * OCHE_MBPS);
    assert_null(cc.cc->check(&cc.params));
    network.round_trip = 5 * OCHE_MS;
    cc.cc->advice->fit(&cc.params, cc.free, &network);
    assert_int_equal(number(&cc.cc->table, "timer", &cc.params), 11 * OCHE_MS);
    assert_true(oche_cc_parse(&cc, "dart,flight=3ms", &error));
    cc.cc->advice->fit(&cc.params, cc.free, &network);
    assert_int_equal(number(&cc.cc->table, "base_rtt", &cc.params), 5 * OCHE_MS);
    assert_int_equal(number(&cc.cc->table, "flight", &cc.params), 3 * OCHE_MS);
    assert_int_equal(number(&cc.cc->table, "least_rate", &cc.params), 200 * OCHE_KBPS);
    assert_null(cc.cc->check(&cc.params));
}

/* TIMELY's times follow the round trip, or 25 KB on the line, which take 20 us at 10 Gbit/s. */
/* preset=deployed: no value is fitted, and `auto` follows the measured round trip. */
static void test_deployed_timely_notes_the_round_trip(void **state)
{
    struct oche_cc_network network = {.line_rate_bps = 100 * OCHE_GBPS};
    const struct timely_params *p;
    struct oche_cc_choice choice;
    struct oche_error error;

    (void)state;
    assert_true(oche_cc_parse(&choice, "timely,preset=deployed", &error));
    p = (const void *)&choice.params;
    choice.cc->advice->fit(&choice.params, choice.free, &network);
    assert_int_equal(timely_low(p, network.line_rate_bps), 1008 * OCHE_US);
    network.round_trip = 90 * OCHE_US;
    choice.cc->advice->fit(&choice.params, choice.free, &network);
    assert_int_equal(timely_low(p, network.line_rate_bps), 98 * OCHE_US);
    assert_int_equal(timely_high(p, network.line_rate_bps), 130 * OCHE_US);
    assert_int_equal(timely_delta(p, network.line_rate_bps), 500 * OCHE_MBPS);
    assert_int_equal(p->t_low, OCHE_NEVER);
}

static void test_fit_timely(void **state)
{
    static const char *const names[] = {"timely,beta=0.5", "timely_patched,beta=0.5"};
    struct oche_cc_choice cc;
    struct oche_error error;

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(names); i++) {
        struct oche_cc_network network = {.line_rate_bps = 200 * OCHE_MBPS,
                                          .round_trip = 114 * OCHE_US};

        assert_true(oche_cc_parse(&cc, names[i], &error));
        cc.cc->advice->fit(&cc.params, cc.free, &network);
        assert_int_equal(number(&cc.cc->table, "min_rtt", &cc.params), OCHE_MS);
        assert_int_equal(number(&cc.cc->table, "t_low", &cc.params), 2500 * OCHE_US);
        assert_int_equal(number(&cc.cc->table, "t_high", &cc.params), 25 * OCHE_MS);
        assert_int_equal(number(&cc.cc->table, "delta", &cc.params), 200 * OCHE_KBPS);
        assert_int_equal(number(&cc.cc->table, "segment", &cc.params), 16000);
        network.round_trip = 5 * OCHE_MS;
        cc.cc->advice->fit(&cc.params, cc.free, &network);
        assert_int_equal(number(&cc.cc->table, "t_high", &cc.params), 125 * OCHE_MS);
        network =
            (struct oche_cc_network){.line_rate_bps = 10 * OCHE_GBPS, .round_trip = 20 * OCHE_US};
        cc.cc->advice->fit(&cc.params, cc.free, &network); /* no shorter than timers are fine */
        assert_int_equal(number(&cc.cc->table, "min_rtt", &cc.params), 50 * OCHE_US);
        assert_null(cc.cc->check(&cc.params));
    }
}

/* If one of two dependent parameters is given, the other one follows. */
static void test_fit_follows(void **state)
{
    static const char *const texts[] = {"dcqcn,alpha_interval=20us", "dcqcn,cnp_interval=900ms",
                                        "dart,alpha_interval=1us",   "dart,cnp_interval=500ms",
                                        "timely,t_low=400us",        "timely,t_high=60us",
                                        "timely_patched,t_low=499us"};
    const struct oche_cc_network network = {.line_rate_bps = OCHE_GBPS};
    struct oche_cc_choice cc;
    struct oche_error error;

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(texts); i++) {
        assert_true(oche_cc_parse(&cc, texts[i], &error));
        cc.cc->advice->fit(&cc.params, cc.free, &network);
        assert_null(cc.cc->check(&cc.params));
    }
}

/* A named preset sets its values. */
static void test_preset_is_not_fitted(void **state)
{
    const struct oche_cc_network network = {.line_rate_bps = 200 * OCHE_MBPS};
    struct oche_cc_choice cc;
    struct oche_error error;

    (void)state;
    assert_true(oche_cc_parse(&cc, "dcqcn,preset=paper", &error));
    cc.cc->advice->fit(&cc.params, cc.free, &network);
    assert_int_equal(number(&cc.cc->table, "timer", &cc.params), 55 * OCHE_US);
}

/* If no network is known, as on the wire, automatic values are the paper's. */
static void test_fit_to_no_network(void **state)
{
    const struct oche_recovery_network unknown = {.packets = 0};
    struct oche_recovery_choice recovery;
    struct oche_recovery_tx tx = {.una = 0};
    struct oche_error error;

    (void)state;
    assert_true(oche_recovery_parse(&recovery, "selective_repeat,preset=deployed", &error));
    const struct oche_param_table *table = &recovery.recovery->table;

    assert_int_equal(number(table, "window", &recovery.params), 0);
    assert_int_equal(recovery.recovery->window_packets(&recovery.params), 110);
    tx.params = &recovery.params;
    assert_int_equal(recovery.recovery->rto(&tx, OCHE_NEVER), 100 * OCHE_US);
    tx.high = 50;
    assert_int_equal(recovery.recovery->rto(&tx, OCHE_NEVER), 320 * OCHE_US);
    recovery.recovery->fit(&recovery.params, &unknown);
    assert_int_equal(number(table, "window", &recovery.params), 110);
    assert_int_equal(number(table, "rto_low", &recovery.params), 100 * OCHE_US);
    assert_int_equal(number(table, "rto_high", &recovery.params), 320 * OCHE_US);
    assert_true(oche_recovery_parse(&recovery,
                                    "selective_repeat,rto_low=5ms,rto_high=auto,window=9", &error));
    recovery.recovery->fit(&recovery.params, &unknown);
    assert_int_equal(number(table, "window", &recovery.params), 9);
    assert_int_equal(number(table, "rto_low", &recovery.params), 5 * OCHE_MS);
    assert_int_equal(number(table, "rto_high", &recovery.params), 5220 * OCHE_US);
}

/* On the wire DCQCN's defaults are the paper's, unless the user asks for those of deployed NICs. */
static void test_presets(void **state)
{
    struct oche_cc_choice cc;
    struct oche_error error;

    (void)state;
    assert_true(oche_cc_parse(&cc, "dcqcn", &error));
    assert_int_equal(number(&cc.cc->table, "cnp_interval", &cc.params), 50 * OCHE_US);
    assert_true(oche_cc_parse(&cc, "dcqcn,preset=deployed", &error));
    assert_int_equal(number(&cc.cc->table, "cnp_interval", &cc.params), 4 * OCHE_US);
    assert_true(oche_cc_parse(&cc, "dcqcn,rai=7Mbps,preset=deployed,g=1/16", &error));
    assert_int_equal(number(&cc.cc->table, "cnp_interval", &cc.params), 4 * OCHE_US);
    assert_int_equal(number(&cc.cc->table, "rai", &cc.params), 7 * OCHE_MBPS);
    assert_int_equal(number(&cc.cc->table, "timer", &cc.params), OCHE_NEVER);
    assert_true(oche_cc_parse(&cc, "dcqcn,timer=auto", &error));
    assert_int_equal(number(&cc.cc->table, "timer", &cc.params), OCHE_NEVER);
    assert_false(oche_cc_parse(&cc, "dcqcn,preset=papers", &error));
    assert_non_null(strstr(error.text, "papers"));
    assert_false(oche_cc_parse(&cc, "dcqcn,g=auto", &error));
}

/* Every scheme for the wire is named, with its defaults, and no other one. */
static void test_all(void **state)
{
    struct oche_cc_choice cc;
    struct oche_recovery_choice recovery;
    char names[OCHE_SCHEME_NAMES_BYTES];
    struct oche_error error;

    (void)state;
    oche_cc_names(names, sizeof(names));
    for (size_t i = 0; i < oche_cc_scheme_count; i++) {
        const struct oche_cc_scheme *scheme = oche_cc_schemes[i];

        assert_int_equal(oche_cc_parse(&cc, scheme->name, &error), scheme->runs_on_wire);
        assert_true(!scheme->runs_on_wire || strstr(names, scheme->name) != NULL);
    }
    oche_recovery_names(names, sizeof(names));
    for (size_t i = 0; i < oche_recovery_scheme_count; i++) {
        assert_true(oche_recovery_parse(&recovery, oche_recovery_schemes[i]->name, &error));
        assert_non_null(strstr(names, oche_recovery_schemes[i]->name));
    }
}

/* Parameters that only the wire has: in the same struct, 0 by default, and no key of a scenario. */
static void test_wire_alone(void **state)
{
    struct oche_recovery_choice recovery;
    struct oche_error error;

    (void)state;
    for (size_t i = 0; i < oche_recovery_scheme_count; i++) {
        const struct oche_param_table *table = &oche_recovery_schemes[i]->table;
        const struct oche_param_table *wire = &oche_recovery_schemes[i]->wire_table;

        assert_true(wire->count == 0 || wire->struct_bytes == table->struct_bytes);
        for (size_t k = 0; k < wire->count; k++) {
            assert_int_equal(wire->params[k].preset.u, 0);
            assert_null(oche_param_find(table, wire->params[k].name));
        }
    }
    assert_true(oche_recovery_parse(&recovery, "selective_repeat", &error));
    assert_false(recovery.recovery->places_at_once(&recovery.params));
    assert_true(oche_recovery_parse(
        &recovery, "selective_repeat,preset=paper,memory=as_it_comes,window=9", &error));
    assert_true(recovery.recovery->places_at_once(&recovery.params));
    assert_int_equal(number(&recovery.recovery->table, "window", &recovery.params), 9);
    assert_true(oche_recovery_parse(&recovery, "selective_repeat,memory=in_order", &error));
    assert_false(recovery.recovery->places_at_once(&recovery.params));
}

static void test_wrong(void **state)
{
    static const struct {
        const char *text, *says;
    } wrong[] = {
        {"dqcn", "no such congestion control; choose one of none, cubic, dcqcn"},
        {"", "no such congestion control"},
        {"rcp", "needs switches that no network has; choose one of none, cubic, dcqcn"},
        {"timely,t_lo=5ms", "timely has no parameter t_lo; did you mean t_low?"},
        {"timely,qqqqq=5ms", "docs/scenario-reference.md"},
        {"timely,t_low", "t_low: no value; t_low=VALUE is meant"},
        {"dart,weights=3:2", "weights can only be set in a scenario"},
        {"timely,t_low=5", "t_low: "},
        {"timely,t_low=", "t_low: "},
        {"timely,=5", "no parameter"},
        {"none,t_low=5ms", "none has no parameters"},
        {"timely,t_low=50ms,t_high=5ms", "timely: "},
        {"dcqcn,", "dcqcn,: a comma with nothing"},
        {",dcqcn", ",dcqcn: a comma with nothing"},
        {"timely,,t_low=5ms", "a comma with nothing"},
        {",", "a comma with nothing"},
    };
    struct oche_cc_choice cc;
    struct oche_recovery_choice recovery;
    char longest[5000];
    struct oche_error error;

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(wrong); i++) {
        error.text[0] = '\0';
        if (oche_cc_parse(&cc, wrong[i].text, &error) || strstr(error.text, wrong[i].says) == NULL)
            fail_msg("%s: %s", wrong[i].text, error.text);
        assert_null(strchr(error.text, '\n'));
    }
    assert_false(oche_recovery_parse(&recovery, "selective_repeat,memory=ordered", &error));
    assert_non_null(strstr(error.text, "in_order, as_it_comes"));
    assert_false(oche_recovery_parse(&recovery, "selective_repeat,memry=in_order", &error));
    assert_non_null(strstr(error.text, "did you mean memory?"));
    assert_false(oche_recovery_parse(
        &recovery, "selective_repeat,memory=in_order,undo=true,memory=in_order", &error));
    assert_non_null(strstr(error.text, "memory is there twice"));
    assert_false(oche_recovery_parse(&recovery, "go_back_n,memory=in_order", &error));
    assert_non_null(strstr(error.text, "go_back_n has no parameter memory"));
    assert_false(oche_recovery_parse(&recovery, "go_back_q", &error));
    assert_non_null(strstr(error.text, "there are go_back_0, go_back_n"));
    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    assert_false(oche_cc_parse(&cc, longest, &error));
    assert_false(oche_recovery_parse(&recovery, longest, &error));
}

static void test_values(void **state)
{
    struct oche_error error;
    oche_time time;
    uint64_t rate;

    (void)state;
    assert_true(oche_time_parse("20ms", &time, &error));
    assert_int_equal(time, 20 * OCHE_MS);
    assert_false(oche_time_parse("20", &time, &error));
    assert_true(oche_rate_parse("10Gbps", &rate, &error));
    assert_int_equal(rate, 10 * OCHE_GBPS);
    assert_false(oche_rate_parse("0Gbps", &rate, &error));
    assert_false(oche_rate_parse("fast", &rate, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),
        cmocka_unit_test(test_fit_to_no_network),
        cmocka_unit_test(test_fit_to_line),
        cmocka_unit_test(test_fit_timely),
        cmocka_unit_test(test_deployed_timely_notes_the_round_trip),
        cmocka_unit_test(test_fit_follows),
        cmocka_unit_test(test_preset_is_not_fitted),
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_wire_alone),
        cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
