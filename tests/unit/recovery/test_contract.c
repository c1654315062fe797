/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the contract besides going back: a scheme that plans the next packets, one that sets
 * the wait for an ACK, one that limits the outstanding packets.
 */
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#include "core/recovery/go_back_n.h"
#include "core/recovery/selective_repeat.h"
#include "tests/unit/recovery/script.h"

static const struct oche_go_back_n_params params = {.nak_interval = OCHE_NEVER,
                                                    .nak_exception = false};

static struct pair_options with(const struct oche_recovery_scheme *scheme)
{
    return (struct pair_options){.recovery = scheme, .own_recovery_params = &params};
}

/* ---- sent ---- */

static uint32_t turn_at, turn_to;
static char sent_log[256];

/* Goes back to turn_to once, behind turn_at. Records its calls. */
static void turn_back(struct oche_recovery_tx *tx, uint32_t psn, bool last, oche_time now)
{
    size_t end = strlen(sent_log);

    (void)now;
    assert_true(oche_psn_diff(tx->next, psn) > 0);
    assert_true(oche_psn_diff(tx->high, tx->next) >= 0);
    snprintf(sent_log + end, sizeof(sent_log) - end, "%u%s ", psn, last ? "L" : "");
    if (psn != turn_at)
        return;
    turn_at = UINT32_MAX;
    tx->next = turn_to;
}

/* Repairs one packet, then continues where it was. */
static void skip_to_high(struct oche_recovery_tx *tx, uint32_t psn, bool last, oche_time now)
{
    (void)psn;
    (void)last;
    (void)now;
    tx->next = tx->high;
}

static void test_turns_back(void **state)
{
    struct oche_recovery_scheme scheme = oche_recovery_go_back_n;
    struct pair_options options = with(&scheme);
    static const struct {
        uint32_t at, to;
        const char *sent, *told;
    } cases[] = {
        {2, 0, "0 1 2 0 1 2 3 4 5 6", "0 1 2L 0 1 2L 3 4L 5L 6L "},
        {4, 1, "0 1 2 3 4 1 2 3 4 5 6", "0 1 2L 3 4L 1 2L 3 4L 5L 6L "},
        {4, 4, "0 1 2 3 4 4 5 6", "0 1 2L 3 4L 4L 5L 6L "},
        {5, 5, "0 1 2 3 4 5 5 6", "0 1 2L 3 4L 5L 5L 6L "},
        {6, 5, "0 1 2 3 4 5 6 5 6", "0 1 2L 3 4L 5L 6L 5L 6L "},
    };

    (void)state;
    scheme.sent = turn_back;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        struct script script;

        turn_at = cases[i].at;
        turn_to = cases[i].to;
        sent_log[0] = '\0';
        script_open(&script, &options, "");
        script_post(&script, OCHE_WORK_WRITE, 1, 3);
        script_post(&script, OCHE_WORK_SEND, 2, 2);
        script_post(&script, OCHE_WORK_WRITE, 3, 0); /* no bytes, but still a packet */
        script_post(&script, OCHE_WORK_WRITE, 4, 1);
        pair_run_quiet(script.pair);
        assert_string_equal(script.sent[0], cases[i].sent);
        assert_string_equal(sent_log, cases[i].told);
        for (uint64_t w = 1; w <= 4; w++)
            pair_expect(script.pair, 0, w, OCHE_STATUS_SUCCESS);
        assert_int_equal(script_timeouts(&script), 0);
        /* It was planned, not a loss. */
        for (unsigned r = 0; r < 64; r++)
            assert_int_not_equal(script.pair->side[0].ring[r].kind, OCHE_TRACE_GO_BACK);
        script_close(&script);
    }
}

/* A READ takes the PSNs of its responses; it ends no SEND or WRITE. */
static void test_told_of_a_read(void **state)
{
    struct oche_recovery_scheme scheme = oche_recovery_go_back_n;
    struct pair_options options = with(&scheme);
    struct script script;

    (void)state;
    scheme.sent = turn_back;
    turn_at = UINT32_MAX;
    sent_log[0] = '\0';
    script_open(&script, &options, "");
    script_post(&script, OCHE_WORK_READ, 1, 3);
    script_post(&script, OCHE_WORK_WRITE, 2, 1);
    pair_run_quiet(script.pair);
    assert_string_equal(sent_log, "0 3L ");
    script_close(&script);
}

static void test_skips(void **state)
{
    struct oche_recovery_scheme scheme = oche_recovery_go_back_n;
    struct pair_options options = with(&scheme);
    struct script script;

    (void)state;
    scheme.sent = skip_to_high;
    script_open(&script, &options, "2 n2");
    script_post(&script, OCHE_WORK_WRITE, 1, 6);
    script_post(&script, OCHE_WORK_WRITE, 2, 2);
    /* This receiver keeps nothing: each timeout delivers one more. */
    script_expect(&script, "0 1 2! 3 4 5 6 7 0 2 3 4 5 6 7", "n2! a1 a2 a3 a4 a5 a6 a7");
    assert_int_equal(script_timeouts(&script), 7);
    pair_expect(script.pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(script.pair, 0, 2, OCHE_STATUS_SUCCESS);
    assert_true(oche_qp_idle(script.pair->side[0].qp[0]));
    script_close(&script);
}

/* ---- rto ---- */

static unsigned rtos_asked;

/* Short while little is outstanding. */
static oche_time rto(const struct oche_recovery_tx *tx, oche_time most)
{
    assert_int_equal(most, 500 * OCHE_US); /* the connection's ACK timeout */
    rtos_asked++;
    return oche_psn_diff(tx->next, tx->una) <= 2 ? 30 * OCHE_US : 90 * OCHE_US;
}

static void test_rto(void **state)
{
    struct oche_recovery_scheme scheme = oche_recovery_go_back_n;
    struct pair_options options = with(&scheme);
    struct script script;

    (void)state;
    scheme.rto = rto;
    script_open(&script, &options, "0");
    script_post(&script, OCHE_WORK_WRITE, 1, 1);
    script_expect(&script, "0! 0", "a0");
    struct oche_completion done = pair_expect(script.pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_in_range(done.time, 31 * OCHE_US, 36 * OCHE_US);
    script_close(&script);

    script_open(&script, &options, "5");
    script_post(&script, OCHE_WORK_WRITE, 1, 6);
    pair_run_quiet(script.pair);
    done = pair_expect(script.pair, 0, 1, OCHE_STATUS_SUCCESS);
    assert_in_range(done.time, 91 * OCHE_US, 96 * OCHE_US);
    script_close(&script);

    options.ack_timeout = OCHE_NEVER;
    rtos_asked = 0;
    script_open(&script, &options, "0");
    script_post(&script, OCHE_WORK_WRITE, 1, 1);
    pair_run_quiet(script.pair);
    pair_expect_none(script.pair, 0);
    assert_int_equal(rtos_asked, 0);
    script_close(&script);
}

static enum pair_fate lose(struct pair *pair, int from, const struct oche_packet *packet)
{
    (void)pair, (void)from, (void)packet;
    return PAIR_DROP;
}

/*
 * Measured timeouts double. A peer that is gone is given up after ACK timeout times retries, at
 * most twice that.
 */
static void test_given_up_in_time(void **state)
{
    const oche_time limit = 8 * 500 * OCHE_US;
    struct oche_selective_repeat_params measured;
    const struct pair_options options = {.recovery = &oche_recovery_selective_repeat,
                                         .own_recovery_params = &measured,
                                         .extensions = true};
    struct oche_send_work work = pair_work(OCHE_WORK_WRITE, 1, 0, 0, 100);
    struct pair *pair;
    oche_time lost;

    (void)state;
    oche_param_defaults(&oche_recovery_selective_repeat.table, &measured);
    measured.rto = OCHE_SELECTIVE_RTO_MEASURED;
    measured.rto_low = 300 * OCHE_US;
    measured.rto_high = 1000 * OCHE_US;
    measured.window = 128;
    pair = pair_open(&options);
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    pair_expect(pair, 0, 1, OCHE_STATUS_SUCCESS);
    lost = pair->now;
    pair->fate = lose;
    pair_post(pair, 0, &work);
    pair_run_quiet(pair);
    assert_in_range(pair_expect(pair, 0, 1, OCHE_STATUS_RETRY_EXCEEDED).time - lost, limit,
                    2 * limit);
    pair_close(pair);
}

/* ---- window_packets ---- */

static uint32_t three(const void *values)
{
    assert_ptr_equal(values, &params);
    return 3;
}

static void test_window(void **state)
{
    struct oche_recovery_scheme scheme = oche_recovery_go_back_n;
    struct pair_options options = with(&scheme);
    static const struct {
        uint32_t connection;
        const char *first; /* packets that leave before an answer comes */
    } cases[] = {{0, "0 1 2"}, {100, "0 1 2"}, {3, "0 1 2"}, {2, "0 1"}};

    (void)state;
    scheme.window_packets = three;
    for (size_t i = 0; i < OCHE_COUNT_OF(cases); i++) {
        struct script script;

        options.window_packets = cases[i].connection;
        script_open(&script, &options, "");
        script_post(&script, OCHE_WORK_WRITE, 1, 20);
        pair_run(script.pair, script.pair->now + OCHE_US);
        assert_string_equal(script.sent[0], cases[i].first);
        pair_run_quiet(script.pair);
        pair_expect(script.pair, 0, 1, OCHE_STATUS_SUCCESS);
        assert_int_equal(script_timeouts(&script), 0);
        script_close(&script);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns_back),       cmocka_unit_test(test_skips),
        cmocka_unit_test(test_told_of_a_read),   cmocka_unit_test(test_rto),
        cmocka_unit_test(test_given_up_in_time), cmocka_unit_test(test_window),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
