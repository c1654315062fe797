/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Losses around an RNR NAK. Packets on their way behind the rejected one are no gap. After the
 * peer's wait, a loss is a gap: a NAK repairs it, not the ACK timer.
 */
#include "tests/support/test.h"

#include "core/recovery/go_back_0.h"
#include "core/recovery/go_back_n.h"
#include "core/recovery/improved_go_back_n.h"
#include "tests/unit/recovery/script.h"

/* A SEND of `packets` and a WRITE behind it; the receive is posted after 5 µs, the wait is 10. */
static void refuse_then_lose(const struct pair_options *options, uint32_t packets, const char *lose,
                             const char *sent, const char *answered, unsigned timeouts)
{
    struct oche_send_work work = pair_work(OCHE_WORK_SEND, 1, 0, 0, packets * PAIR_MTU);
    struct script script;

    script_open(&script, options, lose);
    pair_post(script.pair, 0, &work);
    script_post(&script, OCHE_WORK_WRITE, 2, 1);
    pair_run(script.pair, script.pair->now + 5 * OCHE_US);
    pair_post_recv(script.pair, 1, 1, 0, packets * PAIR_MTU);
    script_expect(&script, sent, answered);
    assert_int_equal(script_timeouts(&script), timeouts);
    pair_expect(script.pair, 0, 1, OCHE_STATUS_SUCCESS);
    pair_expect(script.pair, 0, 2, OCHE_STATUS_SUCCESS);
    pair_expect(script.pair, 1, 1, OCHE_STATUS_SUCCESS);
    pair_expect_none(script.pair, 1);
    script_close(&script);
}

static void test_go_back_n(void **state)
{
    const struct pair_options options = {.nak_interval = 50 * OCHE_US};

    (void)state;
    refuse_then_lose(&options, 2, "", "0 1 2 0 1 2", "w0 a1 a2", 0);
    refuse_then_lose(&options, 2, "0.2", "0 1 2 0! 1 2 0 1 2", "w0 n0 a1 a2", 0);
    refuse_then_lose(&options, 2, "1.2", "0 1 2 0 1! 2 1 2", "w0 n1 a1 a2", 0);
    /* No rejection arrives: the NAK that would have stopped the sender is lost. */
    refuse_then_lose(&options, 1, "w0", "0 1 0 1", "w0! a0 a1", 1);
}

/* The timer of check_epsn waits as well. The interval starts only when it may be used. */
static void test_improved_go_back_n(void **state)
{
    static const struct oche_improved_go_back_n_params params = {
        .nak_interval = 50 * OCHE_US, .nak_exception = true, .check_epsn = true};
    const struct pair_options options = {.recovery = &oche_recovery_improved_go_back_n,
                                         .own_recovery_params = &params};

    (void)state;
    refuse_then_lose(&options, 2, "", "0 1 2 0 1 2", "w0 a1 a2", 0);
    refuse_then_lose(&options, 2, "0.2", "0 1 2 0! 1 2 0 1 2", "w0 n0 a1 a2", 0);
    refuse_then_lose(&options, 2, "0.2 n0", "0 1 2 0! 1 2 0 1 2", "w0 n0! n0 a1 a2", 0);
}

static void test_go_back_0(void **state)
{
    static const struct oche_go_back_0_params params = {.nak_interval = 50 * OCHE_US,
                                                        .nak_exception = true};
    const struct pair_options options = {.recovery = &oche_recovery_go_back_0,
                                         .own_recovery_params = &params};

    (void)state;
    refuse_then_lose(&options, 2, "", "0 1 2 0 1 2", "w0 a1 a2", 0);
    refuse_then_lose(&options, 2, "1.2", "0 1 2 0 1! 2 0 1 2", "w0 n0 a0 a1 a2", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_go_back_n),
        cmocka_unit_test(test_improved_go_back_n),
        cmocka_unit_test(test_go_back_0),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
