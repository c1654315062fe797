/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Improved Go-Back-N: the four causes of a timeout (the paper's Fig 4) for plain Go-Back-N, with
 * each addition and with both, packet by packet. The timer of Fig 5 step by step;
 * error-recovery.md#l4, #l5, #l8.
 */
#include "tests/support/test.h"

#include <stdio.h>
#include <string.h>

#include "core/recovery/go_back_n.h"
#include "core/recovery/improved_go_back_n.h"
#include "core/wire/opcode.h"
#include "tests/unit/recovery/script.h"

#define INTERVAL (50 * OCHE_US)

static struct oche_improved_go_back_n_params improved(bool twice, bool check)
{
    return (struct oche_improved_go_back_n_params){
        .nak_interval = INTERVAL, .nak_exception = true, .send_twice = twice, .check_epsn = check};
}

static struct pair_options with(const struct oche_improved_go_back_n_params *params)
{
    return (struct pair_options){.recovery = &oche_recovery_improved_go_back_n,
                                 .own_recovery_params = params};
}

/* ---- Fig 4 ---- */

enum variant { PLAIN, ST, CE, BOTH, VARIANTS };

/* A message of six packets. 0 asks for an ACK if it is the first one after a timeout. */
static const struct {
    const char *lose;
    struct {
        const char *sent, *answered;
        unsigned timeouts;
    } want[VARIANTS];
} figure_4[] = {
    /* Reason 1: the last packet is lost. */
    {"5",
     {[PLAIN] = {"0 1 2 3 4 5! 0 1 2 3 4 5", "a4 a5", 1},
      [ST] = {"0 1 2 3 4 5! 5", "a5", 0},
      [CE] = {"0 1 2 3 4 5! 0 1 2 3 4 5", "a4 a5", 1},
      [BOTH] = {"0 1 2 3 4 5! 5", "a5", 0}}},
    /* Reason 2: the ACK of it is lost. */
    {"a5",
     {[PLAIN] = {"0 1 2 3 4 5 0 1 2 3 4 5", "a5! a5 a5", 1},
      [ST] = {"0 1 2 3 4 5 5", "a5! a5", 0},
      [CE] = {"0 1 2 3 4 5 0 1 2 3 4 5", "a5! a5 a5", 1},
      [BOTH] = {"0 1 2 3 4 5 5", "a5! a5", 0}}},
    /* Reason 3: a NAK is lost. */
    {"2 n2",
     {[PLAIN] = {"0 1 2! 3 4 5 0 1 2 3 4 5", "n2! a1 a5", 1},
      [ST] = {"0 1 2! 3 4 5 5 0 1 2 3 4 5 5", "n2! a1 a5 a5", 1},
      [CE] = {"0 1 2! 3 4 5 2 3 4 5", "n2! n2 a5", 0},
      [BOTH] = {"0 1 2! 3 4 5 5 2 3 4 5 5", "n2! n2 a5 a5", 0}}},
    /* Reason 4: the same packet is lost twice. */
    {"2 2.2",
     {[PLAIN] = {"0 1 2! 3 4 5 2! 3 4 5 2 3 4 5", "n2 a2 a5", 1},
      [ST] = {"0 1 2! 3 4 5 5 2! 3 4 5 5 2 3 4 5 5", "n2 a2 a5 a5", 1},
      [CE] = {"0 1 2! 3 4 5 2! 3 4 5 2 3 4 5", "n2 n2 a5", 0},
      [BOTH] = {"0 1 2! 3 4 5 5 2! 3 4 5 5 2 3 4 5 5", "n2 n2 a5 a5", 0}}},
};

static void run_case(unsigned number, enum variant variant, const struct pair_options *options)
{
    struct script script;

    script_open(&script, options, figure_4[number].lose);
    script_post(&script, OCHE_WORK_SEND, 7, 6);
    script_expect(&script, figure_4[number].want[variant].sent,
                  figure_4[number].want[variant].answered);
    assert_int_equal(script_timeouts(&script), figure_4[number].want[variant].timeouts);
    struct oche_completion done = pair_expect(script.pair, 0, 7, OCHE_STATUS_SUCCESS);
    if (figure_4[number].want[variant].timeouts > 0)
        assert_in_range(done.time, 500 * OCHE_US, 510 * OCHE_US);
    else
        assert_in_range(done.time, 0, INTERVAL + 10 * OCHE_US);
    pair_expect(script.pair, 1, 7, OCHE_STATUS_SUCCESS);
    pair_expect_none(script.pair, 1);
    assert_memory_equal(script.pair->side[0].memory, script.pair->side[1].memory, 6 * PAIR_MTU);
    script_close(&script);
}

static void test_figure_4(void **state)
{
    (void)state;
    for (unsigned number = 0; number < OCHE_COUNT_OF(figure_4); number++) {
        struct pair_options plain = {.nak_interval = INTERVAL};
        run_case(number, PLAIN, &plain);
        for (enum variant variant = PLAIN; variant < VARIANTS; variant++) {
            struct oche_improved_go_back_n_params params =
                improved(variant == ST || variant == BOTH, variant == CE || variant == BOTH);
            struct pair_options options = with(&params);
            run_case(number, variant, &options);
        }
    }
}

/* ---- send twice ---- */

/* Each message's last packet, and again in a retransmission (error-recovery.md#l5). */
static void test_pipelined(void **state)
{
    struct oche_improved_go_back_n_params params = improved(true, false);
    struct pair_options options = with(&params);
    struct script script;

    (void)state;
    script_open(&script, &options, "2 4.2 4.3");
    script_post(&script, OCHE_WORK_WRITE, 1, 2);
    script_post(&script, OCHE_WORK_SEND, 2, 2);
    script_post(&script, OCHE_WORK_WRITE_IMM, 3, 1);
    script_expect(&script, "0 1 1 2! 3 3 4 4! 2 3 3 4! 4", "a1 a1 n2 a3 a3 a4");
    for (uint64_t i = 1; i <= 3; i++)
        pair_expect(script.pair, 0, i, OCHE_STATUS_SUCCESS);
    pair_expect(script.pair, 1, 2, OCHE_STATUS_SUCCESS);
    pair_expect(script.pair, 1, 3, OCHE_STATUS_SUCCESS);
    pair_expect_none(script.pair, 1);
    script_close(&script);
}

/* The ACK comes before the second copy leaves: the port was paused between the two. */
static void test_repeat_is_cancelled(void **state)
{
    struct oche_improved_go_back_n_params params = improved(true, false);
    struct pair_options options = with(&params);
    struct script script;

    (void)state;
    script_open(&script, &options, "");
    script_post(&script, OCHE_WORK_WRITE, 1, 3);
    while (strcmp(script.sent[0], "0 1 2") != 0)
        assert_true(pair_step(script.pair, OCHE_SEC));
    script.pair->side[0].classes = 1; /* control only */
    pair_run(script.pair, script.pair->now + 20 * OCHE_US);
    script.pair->side[0].classes = UINT8_MAX;
    script_post(&script, OCHE_WORK_WRITE, 2, 1);
    script_expect(&script, "0 1 2 3 3", "a2 a3 a3");
    pair_expect(script.pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(script.pair, 0, 2, OCHE_STATUS_SUCCESS);
    assert_true(oche_qp_idle(script.pair->side[0].qp[0]));
    script_close(&script);
}

/*
 * A NAK or a timeout between the two copies: the second one does not leave. In the next pass the
 * last packet leaves twice, as in any other (error-recovery.md#l5).
 */
static void test_gone_back_between_the_copies(void **state)
{
    const struct oche_recovery_scheme *scheme = &oche_recovery_improved_go_back_n;
    const struct oche_improved_go_back_n_params params = improved(true, false);

    (void)state;
    for (int timeout = 0; timeout < 2; timeout++) {
        uint64_t memory[8] = {0};
        struct oche_recovery_tx tx = {
            .una = 3, .next = 6, .high = 6, .params = &params, .state = memory};
        assert_true(scheme->tx_state_bytes <= sizeof(memory));
        scheme->sent(&tx, 5, true, 0);
        assert_int_equal(tx.next, 5);
        if (timeout)
            scheme->timeout(&tx, 1);
        else
            scheme->nak(&tx, 3, 1);
        for (uint32_t psn = 3; psn < 5; psn++) {
            assert_int_equal(tx.next, psn);
            tx.next++;
            scheme->sent(&tx, psn, false, 2);
        }
        for (uint32_t copy = 0; copy < 2; copy++) {
            assert_int_equal(tx.next, 5);
            tx.next++;
            scheme->sent(&tx, 5, true, 3);
        }
        assert_int_equal(tx.next, 6);
    }
}

static void test_read_goes_once(void **state)
{
    struct oche_improved_go_back_n_params params = improved(true, true);
    struct pair_options options = with(&params);
    struct script script;

    (void)state;
    script_open(&script, &options, "");
    script_post(&script, OCHE_WORK_READ, 1, 2);
    script_post(&script, OCHE_WORK_WRITE, 2, 1);
    script_expect(&script, "r0 2 2", "d0 d1 a2 a2");
    script_close(&script);
}

/* ---- check EPSN ---- */

/*
 * A last packet that is lost in its retransmission: by the timeout, or by check_last
 * (error-recovery.md#l4).
 */
static void test_last_lost_again(void **state)
{
    struct oche_improved_go_back_n_params params = improved(false, true);
    struct pair_options options = with(&params);
    struct script script;

    (void)state;
    script_open(&script, &options, "2 5.2");
    script_post(&script, OCHE_WORK_SEND, 1, 6);
    script_expect(&script, "0 1 2! 3 4 5 2 3 4 5! 2 3 4 5", "n2 a4 a5");
    assert_int_equal(script_timeouts(&script), 1);
    script_close(&script);

    params.check_last = true;
    script_open(&script, &options, "2 5.2");
    script_post(&script, OCHE_WORK_SEND, 1, 6);
    script_expect(&script, "0 1 2! 3 4 5 2 3 4 5! 5", "n2 n5 a5");
    assert_int_equal(script_timeouts(&script), 0);
    script_close(&script);
}

/*
 * Three messages, one loss in the first: one timer, for the last of the three
 * (error-recovery.md#l8, #l11).
 */
static void test_several_messages(void **state)
{
    struct oche_improved_go_back_n_params params = improved(false, true);
    struct pair_options options = with(&params);
    struct script script;

    (void)state;
    script_open(&script, &options, "1 n1 3.2");
    for (uint64_t i = 1; i <= 3; i++)
        script_post(&script, OCHE_WORK_WRITE, i, 2);
    /* The gap at 3 is a new one: its NAK does not wait. */
    script_expect(&script, "0 1! 2 3 4 5 1 2 3! 4 5 3 4 5", "n1! n1 a1 n3 a3 a5");
    assert_int_equal(script_timeouts(&script), 0);
    script_close(&script);
}

struct receiver {
    struct oche_improved_go_back_n_params params;
    uint64_t state[8];
    struct oche_recovery_rx rx;
};

static void receiver_open(struct receiver *r, bool exception, bool last)
{
    const size_t bytes = oche_recovery_improved_go_back_n.rx_state_bytes;

    assert_true(bytes <= sizeof(r->state));
    *r = (struct receiver){.params = {.nak_interval = 500,
                                      .nak_exception = exception,
                                      .check_epsn = true,
                                      .check_last = last},
                           .rx = {.epsn = 10, .timer = OCHE_NEVER}};
    r->rx.params = &r->params;
    r->rx.state = r->state;
}

enum { SILENT = -1, TAKEN = -2, AGAIN = -3 };

/* SILENT, TAKEN, AGAIN (a duplicate), or the PSN of the NAK. */
static int64_t arrive(struct receiver *r, uint32_t psn, uint8_t opcode, oche_time now)
{
    struct oche_packet packet = {.psn = psn, .opcode = opcode};
    struct oche_recovery_reply reply = {0};

    switch (oche_recovery_improved_go_back_n.arrived(&r->rx, &packet, now, &reply)) {
    case OCHE_VERDICT_DELIVER:
        assert_false(reply.send_nak);
        r->rx.epsn = oche_psn_add(r->rx.epsn, 1);
        oche_recovery_improved_go_back_n.accepted(&r->rx, &packet, now);
        return TAKEN;
    case OCHE_VERDICT_DUPLICATE:
        assert_false(reply.send_nak);
        return AGAIN;
    default:
        assert_false(reply.restart);
        return reply.send_nak ? (int64_t)reply.nak_psn : SILENT;
    }
}

/* The timer must be due now. Returns the PSN of the NAK, or SILENT. */
static int64_t due(struct receiver *r, oche_time now)
{
    struct oche_recovery_reply reply = {0};

    assert_int_equal(r->rx.timer, now);
    r->rx.timer = OCHE_NEVER;
    oche_recovery_improved_go_back_n.rx_timer(&r->rx, now, &reply);
    return reply.send_nak ? (int64_t)reply.nak_psn : SILENT;
}

#define MIDDLE OCHE_RC_SEND_MIDDLE
#define LAST   OCHE_RC_SEND_LAST

static void test_figure_5(void **state)
{
    struct receiver r;

    (void)state;
    receiver_open(&r, true, false);
    assert_int_equal(arrive(&r, 11, MIDDLE, 1000), 10); /* the NAK interval begins */
    assert_true(r.rx.timer == OCHE_NEVER);
    assert_int_equal(arrive(&r, 13, MIDDLE, 1100), SILENT);
    assert_int_equal(arrive(&r, 14, LAST, 1200), SILENT); /* 300 of it are left */
    assert_int_equal(due(&r, 1500), 10);
    assert_int_equal(due(&r, 2000), 10); /* then every 500 */
    assert_int_equal(arrive(&r, 12, MIDDLE, 2100), SILENT);
    assert_int_equal(r.rx.timer, 2500);
    assert_int_equal(arrive(&r, 10, MIDDLE, 2200), TAKEN); /* the whole interval again */
    assert_int_equal(r.rx.timer, 2700);
    assert_int_equal(arrive(&r, 11, MIDDLE, 2300), TAKEN);
    assert_int_equal(r.rx.timer, 2800);
    assert_int_equal(arrive(&r, 9, MIDDLE, 2350), AGAIN);
    assert_int_equal(r.rx.timer, 2800);
    assert_int_equal(arrive(&r, 13, MIDDLE, 2400), 12); /* another loss, at once */
    assert_int_equal(arrive(&r, 14, LAST, 2450), SILENT);
    assert_int_equal(due(&r, 2900), 12);
    assert_int_equal(arrive(&r, 12, MIDDLE, 3000), TAKEN);
    assert_int_equal(r.rx.timer, 3500);
    assert_int_equal(arrive(&r, 13, MIDDLE, 3100), TAKEN);
    assert_true(r.rx.timer == OCHE_NEVER); /* EPSN < LPSN no longer holds */
    assert_int_equal(arrive(&r, 14, LAST, 3200), TAKEN);
    assert_true(r.rx.timer == OCHE_NEVER);
}

static void test_check_last(void **state)
{
    struct receiver r;

    (void)state;
    receiver_open(&r, true, true);
    assert_int_equal(arrive(&r, 11, LAST, 1000), 10);
    assert_int_equal(arrive(&r, 10, MIDDLE, 1100), TAKEN);
    assert_int_equal(due(&r, 1600), 11);
    assert_int_equal(arrive(&r, 11, LAST, 1700), TAKEN);
    assert_true(r.rx.timer == OCHE_NEVER);
}

/* Without the exception the interval also suppresses other NAKs; the timer compensates. */
static void test_no_exception(void **state)
{
    struct receiver r;

    (void)state;
    receiver_open(&r, false, false);
    assert_int_equal(arrive(&r, 11, MIDDLE, 1000), 10);
    assert_int_equal(arrive(&r, 10, MIDDLE, 1100), TAKEN);
    assert_int_equal(arrive(&r, 12, MIDDLE, 1200), SILENT);
    assert_int_equal(arrive(&r, 14, LAST, 1300), SILENT);
    assert_int_equal(due(&r, 1500), 11);
    assert_int_equal(arrive(&r, 12, MIDDLE, 1999), SILENT); /* that NAK counts as one */
}

/* The packets that end a message. The highest counts. */
static void test_lasts(void **state)
{
    static const uint8_t lasts[] = {
        OCHE_RC_SEND_LAST,  OCHE_RC_SEND_LAST_IMM,  OCHE_RC_SEND_ONLY,  OCHE_RC_SEND_ONLY_IMM,
        OCHE_RC_WRITE_LAST, OCHE_RC_WRITE_LAST_IMM, OCHE_RC_WRITE_ONLY, OCHE_RC_WRITE_ONLY_IMM,
    };
    struct receiver r;

    (void)state;
    for (size_t i = 0; i < sizeof(lasts); i++) {
        receiver_open(&r, true, false);
        assert_int_equal(arrive(&r, 12, lasts[i], 1000), 10); /* it shows the gap itself */
        assert_int_equal(r.rx.timer, 1500);
    }
    receiver_open(&r, true, false);
    assert_int_equal(arrive(&r, 15, LAST, 1000), 10);
    assert_int_equal(arrive(&r, 12, LAST, 1001), SILENT);
    for (uint32_t psn = 10; psn < 14; psn++)
        assert_int_equal(arrive(&r, psn, MIDDLE, 1010), TAKEN);
    assert_int_equal(r.rx.timer, 1510);
    assert_int_equal(arrive(&r, 14, MIDDLE, 1020), TAKEN);
    assert_true(r.rx.timer == OCHE_NEVER);
    r.params.check_epsn = false;
    assert_int_equal(arrive(&r, 17, LAST, 2000), 15);
    assert_true(r.rx.timer == OCHE_NEVER);
}

/* A sender that is gone, or one packet that it never sent: the NAKs end. */
static void test_ends(void **state)
{
    struct receiver r;
    oche_time now = 1000;
    unsigned naks = 0;

    (void)state;
    receiver_open(&r, true, false);
    assert_int_equal(arrive(&r, 14, LAST, now), 10);
    for (; r.rx.timer != OCHE_NEVER && naks < 1000; naks++)
        due(&r, now += 500);
    assert_int_equal(naks, 65); /* the last one said nothing */
    assert_int_equal(arrive(&r, 14, LAST, now += 500), 10);
    assert_int_equal(due(&r, now += 500), 10);
    for (unsigned i = 0; i < 1000; i++) { /* while packets come, NAKs continue */
        assert_int_equal(due(&r, now += 500), 10);
        arrive(&r, 13, MIDDLE, now);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figure_4),
        cmocka_unit_test(test_pipelined),
        cmocka_unit_test(test_repeat_is_cancelled),
        cmocka_unit_test(test_gone_back_between_the_copies),
        cmocka_unit_test(test_read_goes_once),
        cmocka_unit_test(test_last_lost_again),
        cmocka_unit_test(test_several_messages),
        cmocka_unit_test(test_figure_5),
        cmocka_unit_test(test_check_last),
        cmocka_unit_test(test_no_exception),
        cmocka_unit_test(test_lasts),
        cmocka_unit_test(test_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
