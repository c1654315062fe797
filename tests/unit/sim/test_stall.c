/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs without duration: until delivered, beside workloads that continue, and runs that never end.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/scenario/scenario.h"
#include "sim/world/world.h"
#include "tests/support/test.h"

#define STAR "topology: {type: star, hosts: 4, host_rate: 10Gbps}\ndefaults: paper\n"

struct ran {
    struct oche_scenario *scenario;
    struct oche_world *world;
    struct oche_world_totals totals;
};

static struct ran open_world(const char *rest, struct oche_error *error)
{
    struct oche_error message = {""};
    struct ran ran = {.world = NULL};
    char text[1024];

    snprintf(text, sizeof(text), STAR "%s", rest);
    error->text[0] = '\0';
    ran.scenario = oche_scenario_parse("s.yaml", text, strlen(text), error);
    if (ran.scenario == NULL)
        return ran;
    ran.world = oche_world_create(&ran.scenario->config, &message);
    if (ran.world == NULL)
        oche_scenario_place(ran.scenario, message.text, error);
    return ran;
}

static struct ran run(const char *rest)
{
    struct oche_error error;
    struct ran ran = open_world(rest, &error);

    if (ran.world == NULL)
        fail_msg("%s", error.text);
    oche_world_run(ran.world, NULL, NULL);
    oche_world_totals(ran.world, &ran.totals);
    return ran;
}

static void close_world(struct ran *ran)
{
    oche_world_free(ran->world);
    oche_scenario_close(ran->scenario);
}

static void assert_refused(const char *rest, const char *says)
{
    struct oche_error error;
    struct ran ran = open_world(rest, &error);

    if (ran.world != NULL || strstr(error.text, says) == NULL)
        fail_msg("%s: \"%s\", not \"%s\"", rest, error.text, says);
    close_world(&ran);
}

static void test_until_delivered(void **state)
{
    /* 75 MB at 10 Gbit/s are 60 ms. */
    struct ran ran = run("workload: {type: incast, degree: 3, bytes: 25MB}\n");

    (void)state;
    assert_int_equal(oche_world_ended(ran.world), OCHE_END_DELIVERED);
    assert_int_equal(ran.totals.flows_completed, 3);
    assert_in_range(oche_world_network(ran.world)->now, 60 * OCHE_MS, 90 * OCHE_MS);
    assert_null(oche_world_waiting_text(ran.world));
    close_world(&ran);
}

/* A run that ends by itself equals a run with a duration that it does not reach. */
static void test_as_with_duration(void **state)
{
    static const char load[] = "workload: {type: poisson_cdf, cdf: alistorage2019, stop: 2ms}\n";
    char with[200];
    struct ran one, other;

    (void)state;
    snprintf(with, sizeof(with), "%sduration: 500ms\n", load);
    one = run(load);
    other = run(with);
    assert_true(one.totals.flows > 10);
    assert_memory_equal(&one.totals, &other.totals, sizeof(one.totals));
    close_world(&one);
    close_world(&other);
}

static void test_goes_on(void **state)
{
    static const struct {
        const char *workload, *says;
    } all[] = {
        {"{type: poisson_cdf}", "poisson_cdf goes on for as long as the run; set its stop, or set "
                                "duration"},
        {"{type: incast_groups, degree: 2, load_of: host}", "set its stop, or set duration"},
        {"{type: background}", "background goes on for as long as the run; set duration"},
        {"{type: closed_cdf}", "closed_cdf goes on for as long as the run; set duration"},
        {"{type: long_flows, load_of: host}", "long_flows goes on for as long as the run; set"},
        {"{type: transfers, pairs: 0>1}", "set its messages, or set duration"},
        {"{type: permutation, messages: 0}", "set its messages to 1 or more, or set duration"},
        {"{type: incast, degree: 2, period: 1ms}", "leave out its period, or set duration"},
        {"{type: incast, degree: 2, back_to_back: true}", "leave out its back_to_back, or set"},
    };
    char text[300];

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(all); i++) {
        snprintf(text, sizeof(text), "workload:\n  - %s\n", all[i].workload);
        assert_refused(text, all[i].says);
        assert_refused(text, "s.yaml:4: workload[0]");
        snprintf(text, sizeof(text), "workload:\n  - %s\nduration: 100us\n", all[i].workload);
        struct ran ran = run(text);

        assert_in_range(oche_world_network(ran.world)->now, 0, 100 * OCHE_US);
        close_world(&ran);
        snprintf(
            text, sizeof(text),
            "workload:\n  - %s\n  - {type: transfers, pairs: 0>1, bytes: 200KB, messages: 2}\n",
            all[i].workload);
        ran = run(text);
        assert_int_equal(oche_world_ended(ran.world), OCHE_END_DELIVERED);
        for (OCHE_EACH_MADE_FLOW(f, oche_world_flows(ran.world)))
            if (oche_world_flows(ran.world)->plan[f].workload == 1)
                assert_true(oche_world_flows(ran.world)->sent[f].completed != OCHE_NEVER);
        close_world(&ran);
    }
    assert_refused("workload: {type: incast, degree: 3}\nstop_when_done: false\n",
                   "stop_when_done: false needs the time at which the run is to end");
}

static void assert_says(const struct ran *ran, const char *says)
{
    char *text = oche_world_waiting_text(ran->world);

    assert_non_null(text);
    if (strstr(text, says) == NULL || strchr(text, '\n') != NULL)
        fail_msg("\"%s\" is not in: %s", says, text);
    free(text);
}

/*
 * Queue pairs that may give up, but not soon: the run waits for their flows although they are cut
 * off.
 */
#define PATIENT "host: {ack_timeout: 50us, retry_count: 900000}\n"

static void test_stalled(void **state)
{
    struct ran ran = run("workload: {type: incast, degree: 3, bytes: 1MB, senders: next}\n" PATIENT
                         "failures: [{link: host1, at: 100us}]\n");

    (void)state;
    assert_int_equal(oche_world_ended(ran.world), OCHE_END_STALLED);
    assert_int_equal(ran.totals.flows_completed, 2);
    assert_in_range(oche_world_network(ran.world)->now, 50 * OCHE_MS, 60 * OCHE_MS);
    assert_says(&ran, "1,000 times the longest timeout (50us)");
    assert_says(&ran, "1 of 3 flows have not arrived, 1 of them under way: flow 0 from host1 to "
                      "host0");
    assert_says(&ran, "down: host1:tor0");
    assert_says(&ran, "next timer of host1: ");
    close_world(&ran);
}

/* It is detected during the warm-up, too. The run then ends before the warm-up does. */
static void test_stalled_in_warmup(void **state)
{
    struct ran ran = run("warmup: 1s\n"
                         "workload: {type: incast, degree: 3, bytes: 1MB, senders: next}\n" PATIENT
                         "failures: [{link: host1, at: 100us}]\n");

    (void)state;
    assert_int_equal(oche_world_ended(ran.world), OCHE_END_STALLED);
    assert_in_range(oche_world_network(ran.world)->now, 50 * OCHE_MS, 60 * OCHE_MS);
    assert_says(&ran, "1,000 times the longest timeout (50us)");
    close_world(&ran);
}

/* The longest timeout also includes a recovery scheme's `auto`. */
static void test_fitted_timeout(void **state)
{
    struct ran ran = run("workload: {type: incast, degree: 3, bytes: 1MB, senders: next}\n"
                         "recovery: {name: selective_repeat, rto_low: auto, rto_high: auto}\n"
                         "host: {ack_timeout: 5us, retry_count: 900000}\n"
                         "failures: [{link: host1, at: 100us}]\n");
    const struct oche_param_table *table = &ran.scenario->config.recovery->table;
    oche_time high =
        oche_param_get(oche_param_find(table, "rto_high"), oche_world_fitted_recovery(ran.world)).u;
    oche_time end = oche_world_network(ran.world)->now;

    (void)state;
    assert_in_range(high, 6 * OCHE_US, OCHE_MS);
    assert_int_equal(oche_world_ended(ran.world), OCHE_END_STALLED);
    assert_in_range(end, 1000 * high, 1300 * high);
    assert_says(&ran, "1,000 times the longest timeout (");
    close_world(&ran);
}

/* Runs it, and asserts that it ends soon after the failure: all remaining flows are cut off. */
static void assert_cut_off(const char *rest, uint64_t completed, const char *says)
{
    struct ran ran = run(rest);

    assert_int_equal(oche_world_ended(ran.world), OCHE_END_STALLED);
    assert_int_equal(ran.totals.flows_completed, completed);
    assert_in_range(oche_world_network(ran.world)->now, OCHE_MS, 40 * OCHE_MS);
    assert_says(&ran, "and links that stay down cut off every flow that is left: ");
    assert_says(&ran, says);
    close_world(&ran);
}

#define FLOWS "workload: {type: incast, degree: 3, bytes: 2MB, senders: next}\n"
#define QUICK "host: {ack_timeout: 50us}\n"

/*
 * A sender, the receiver, the switch; noticed during the warm-up; the other flows are delivered
 * first.
 */
static void test_cut_off(void **state)
{
    (void)state;
    assert_cut_off(
        FLOWS QUICK "failures: [{link: host1, at: 100us}]\n", 2,
        "1 of 3 flows have not arrived, 1 of them under way: flow 0 from host1 to host0");
    assert_cut_off(FLOWS QUICK "warmup: 1s\nfailures: [{link: host1, at: 100us}]\n", 2,
                   "down: host1:tor0");
    assert_cut_off(FLOWS QUICK "failures: [{link: host0, at: 1ms}]\n", 0, "3 of 3 flows");
    assert_cut_off(FLOWS QUICK "failures: [{switch: tor0, at: 1ms}]\n", 0, "3 of 3 flows");
    assert_cut_off(FLOWS QUICK "failures:\n"
                               "  - {link: host2, at: 10us, until: 1ms}\n"
                               "  - {link: host0, at: 2ms}\n",
                   0, "3 of 3 flows");
    assert_cut_off(FLOWS "host: {ack_timeout: 50us, connections: per_pair}\n"
                         "congestion_control: {name: rogue, hardware_retries: 7}\n"
                         "failures: [{link: host0, at: 1ms}]\n",
                   0, "3 of 3 flows");
}

/* No flow is cut off for ever, or the cut ones would end in an error: these runs end as usual. */
static void test_not_cut_off(void **state)
{
    static const struct {
        const char *rest;
        enum oche_world_end end;
        uint64_t completed, failed;
    } all[] = {
        {FLOWS QUICK "failures: [{link: host0, at: 1ms, until: 30ms}]\n", OCHE_END_DELIVERED, 3, 0},
        /* two failures of one link, one of which would leave it down */
        {FLOWS QUICK "failures: [{link: host0, at: 1ms, until: 4ms}, {link: host0, at: 2ms, "
                     "until: 30ms}]\n",
         OCHE_END_DELIVERED, 3, 0},
        {FLOWS "host: {ack_timeout: 50us, retry_count: 7}\n"
               "failures: [{link: host0, at: 1ms}]\n",
         OCHE_END_DELIVERED, 0, 3},
        {FLOWS QUICK "failures: [{link: host3, at: 15ms}]\n", OCHE_END_DELIVERED, 3, 0},
    };

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(all); i++) {
        struct ran ran = run(all[i].rest);

        assert_int_equal(oche_world_ended(ran.world), all[i].end);
        assert_int_equal(ran.totals.flows_completed, all[i].completed);
        assert_int_equal(ran.totals.flows_failed, all[i].failed);
        close_world(&ran);
    }
}

/* No delivery for a long time, but a link comes back, and then a flow starts. */
static void test_is_patient(void **state)
{
    struct ran ran = run("workload:\n"
                         "  - {type: incast, degree: 3, bytes: 1MB, senders: next}\n"
                         "  - {type: incast, degree: 3, bytes: 1MB, senders: next, start: 900ms}\n"
                         "host: {ack_timeout: 50us}\n"
                         "failures: [{link: host0, at: 100us, until: 300ms}]\n");

    (void)state;
    assert_int_equal(oche_world_ended(ran.world), OCHE_END_DELIVERED);
    assert_int_equal(ran.totals.flows_completed, 6);
    close_world(&ran);
}

#define ADAPTIVE "connectx-7,timeouts=adaptive"
#define BY_TIME  ADAPTIVE ",qp_total_timeout=false,retx_total_timeout="

/* Runs 2 messages of which no packet arrives. They must fail, however long an adapter waits. */
static void assert_fails(const char *nic, unsigned exponent, unsigned retries, bool listed)
{
    char rest[700];

    snprintf(rest, sizeof(rest),
             "workload: {type: transfers, pairs: 0>1, bytes: 4KB, messages: 2}\n"
             "loss: {probability: 100%%}\n"
             "host: {mtu: 4096B, ack_timeout: %lluns, retry_count: %u%s%s%s}\n%s%s%s",
             4096ULL << exponent, retries, listed ? "" : ", nic: \"", listed ? "" : nic,
             listed ? "" : "\"", listed ? "nics: [{hosts: host0, nic: \"" : "", listed ? nic : "",
             listed ? "\"}]\n" : "");
    struct ran ran = run(rest);

    if (oche_world_ended(ran.world) != OCHE_END_DELIVERED || ran.totals.flows_failed != 2)
        fail_msg("%s%s, T %u, R %u: %llu of 2 messages failed at %llu us", listed ? "listed " : "",
                 nic, exponent, retries, (unsigned long long)ran.totals.flows_failed,
                 (unsigned long long)(oche_world_network(ran.world)->now / OCHE_US));
    close_world(&ran);
}

/*
 * Adapters wait far longer than was asked, or try far more often: the run waits until requests that
 * nobody answers have failed.
 */
static void test_adapters_fail(void **state)
{
    static const char *const all[] = {"ideal",      "connectx-5",
                                      "connectx-6", "connectx-6-no-floor",
                                      ADAPTIVE,     ADAPTIVE ",time_base=1us,range_num=4",
                                      BY_TIME "10", BY_TIME "17,time_base=1us"};
    static const unsigned exponents[] = {1, 2, 6, 10, 14, 17, 20}, retries[] = {0, 1, 7};

    (void)state;
    for (size_t i = 0; i < OCHE_COUNT_OF(all); i++)
        for (size_t t = 0; t < OCHE_COUNT_OF(exponents); t++)
            for (size_t r = 0; r < OCHE_COUNT_OF(retries); r++)
                assert_fails(all[i], exponents[t], retries[r], (t + r) % 2 != 0);
    assert_fails("connectx-6", 1, 7, false);
    assert_fails("connectx-6", 1, 7, true);
}

/* Without a limit of retries a run stalls after 1,000 of the adapter's own timeouts. */
static void test_adapter_stalls(void **state)
{
    struct ran ran = run("workload: {type: transfers, pairs: 0>1, bytes: 1KB, messages: 2}\n"
                         "loss: {probability: 100%}\n"
                         "host: {ack_timeout: 8us, nic: connectx-5}\n");

    (void)state;
    assert_int_equal(oche_world_ended(ran.world), OCHE_END_STALLED);
    assert_int_equal(ran.totals.flows_failed, 0);
    assert_in_range(oche_world_network(ran.world)->now, 16 * OCHE_SEC, 18 * OCHE_SEC);
    assert_says(&ran, "1,000 times the longest timeout (16ms)");
    close_world(&ran);
}

/* After the last flow a run goes on for so long, also if that is longer than any stall. */
static void test_runs_on(void **state)
{
    static const char load[] = "workload: {type: incast, degree: 3, bytes: 1MB}\n";
    static const oche_time all[] = {0, 1, OCHE_MS, 3000 * OCHE_SEC};
    struct ran none = run(load);
    const oche_time over_at = oche_world_over_at(none.world);

    (void)state;
    assert_int_equal(over_at, oche_world_network(none.world)->now);
    for (size_t i = 0; i < OCHE_COUNT_OF(all); i++) {
        struct oche_error error;
        struct ran ran = open_world(load, &error);

        assert_non_null(ran.world);
        ran.scenario->config.run_on = all[i];
        oche_world_run(ran.world, NULL, NULL);
        assert_int_equal(oche_world_ended(ran.world), OCHE_END_DELIVERED);
        assert_int_equal(oche_world_over_at(ran.world), over_at);
        assert_in_range(oche_world_network(ran.world)->now, over_at + all[i],
                        over_at + all[i] + oche_world_network(ran.world)->window);
        close_world(&ran);
    }
    close_world(&none);
}

/* A flow that never arrives, beside traffic that continues: the run has a bound. */
static void test_bound(void **state)
{
    struct ran ran = run("workload:\n"
                         "  - {type: transfers, pairs: 0>1, bytes: 10KB, messages: 2}\n"
                         "  - {type: transfers, pairs: 2>3, bytes: 100KB}\n"
                         "host: {ack_timeout: 50us}\n"
                         "failures: [{link: host1, at: 1us}]\n");

    (void)state;
    assert_int_equal(oche_world_ended(ran.world), OCHE_END_BOUND);
    assert_int_equal(oche_world_network(ran.world)->now, oche_world_until(ran.world));
    assert_in_range(oche_world_until(ran.world), OCHE_MS, 100 * OCHE_MS);
    assert_says(&ran, "2 of 2 flows have not arrived, 1 of them under way: flow 0 from host0");
    close_world(&ran);
}

static void test_interrupted(void **state)
{
    static volatile sig_atomic_t flag = 1;
    struct oche_error error;
    struct ran ran = open_world("workload: {type: incast, degree: 3, bytes: 25MB}\n", &error);

    (void)state;
    assert_non_null(ran.world);
    oche_world_interrupt_by(ran.world, &flag);
    oche_world_run(ran.world, NULL, NULL);
    assert_int_equal(oche_world_ended(ran.world), OCHE_END_INTERRUPTED);
    assert_true(oche_world_network(ran.world)->now < OCHE_MS);
    close_world(&ran);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_until_delivered),   cmocka_unit_test(test_as_with_duration),
        cmocka_unit_test(test_goes_on),           cmocka_unit_test(test_stalled),
        cmocka_unit_test(test_stalled_in_warmup), cmocka_unit_test(test_cut_off),
        cmocka_unit_test(test_not_cut_off),       cmocka_unit_test(test_is_patient),
        cmocka_unit_test(test_adapters_fail),     cmocka_unit_test(test_adapter_stalls),
        cmocka_unit_test(test_runs_on),           cmocka_unit_test(test_bound),
        cmocka_unit_test(test_interrupted),       cmocka_unit_test(test_fitted_timeout),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
