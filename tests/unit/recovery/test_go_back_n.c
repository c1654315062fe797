/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go-Back-N by itself: the receiver's decisions, the times of NAKs, and the sender's next packet.
 */
#include "tests/support/test.h"

#include <string.h>

#include "core/recovery/go_back_n.h"

struct receiver {
    struct oche_go_back_n_params params;
    uint64_t state[4];
    struct oche_recovery_rx rx;
    struct oche_recovery_reply reply;
};

static struct receiver receiver(oche_time interval, bool exception, uint32_t epsn)
{
    assert_true(oche_recovery_go_back_n.rx_state_bytes <= sizeof(((struct receiver *)0)->state));
    return (struct receiver){.params = {.nak_interval = interval, .nak_exception = exception},
                             .rx = {.epsn = epsn, .timer = OCHE_NEVER}};
}

/* -1: dropped silently, -2: accepted, -3: duplicate; else the PSN of the NAK. */
static int64_t arrive(struct receiver *r, uint32_t psn, oche_time now)
{
    struct oche_packet packet = {.psn = psn};

    r->rx.params = &r->params;
    r->rx.state = r->state;
    r->reply = (struct oche_recovery_reply){0};
    enum oche_verdict verdict = oche_recovery_go_back_n.arrived(&r->rx, &packet, now, &r->reply);
    assert_true(r->rx.timer == OCHE_NEVER);
    if (verdict == OCHE_VERDICT_DELIVER) {
        assert_false(r->reply.send_nak);
        r->rx.epsn = oche_psn_add(r->rx.epsn, 1);
        return -2;
    }
    if (verdict == OCHE_VERDICT_DUPLICATE) {
        assert_false(r->reply.send_nak);
        return -3;
    }
    return r->reply.send_nak ? (int64_t)r->reply.nak_psn : -1;
}

static void test_verdicts(void **state)
{
    struct receiver r = receiver(OCHE_US, true, OCHE_PSN_MASK);

    (void)state;
    assert_int_equal(arrive(&r, OCHE_PSN_MASK, 0), -2);
    assert_int_equal(r.rx.epsn, 0);
    assert_int_equal(arrive(&r, OCHE_PSN_MASK, 0), -3);
    assert_int_equal(arrive(&r, OCHE_PSN_MASK - 1000000, 0), -3);
    assert_int_equal(arrive(&r, 1, 0), 0);
    assert_int_equal(arrive(&r, 0, 0), -2);
    assert_int_equal(arrive(&r, (UINT32_C(1) << 23) - 1, 0), 1);
    assert_int_equal(arrive(&r, (UINT32_C(1) << 23) + 1, 0), -3); /* half the circle behind */
}

static void test_interval(void **state)
{
    struct receiver r = receiver(500, true, 10);

    (void)state;
    assert_int_equal(arrive(&r, 11, 1000), 10);
    assert_int_equal(arrive(&r, 12, 1000), -1);
    assert_int_equal(arrive(&r, 13, 1499), -1);
    assert_int_equal(arrive(&r, 14, 1500), 10);
    assert_int_equal(arrive(&r, 15, 1999), -1);
    assert_int_equal(arrive(&r, 10, 1999), -2);
    assert_int_equal(arrive(&r, 12, 1999), 11); /* another PSN: at once */
    assert_int_equal(arrive(&r, 13, 2000), -1);
}

static void test_no_exception(void **state)
{
    struct receiver r = receiver(500, false, 10);

    (void)state;
    assert_int_equal(arrive(&r, 11, 1000), 10);
    assert_int_equal(arrive(&r, 10, 1100), -2);
    assert_int_equal(arrive(&r, 12, 1200), -1); /* a new gap waits too */
    assert_int_equal(arrive(&r, 12, 1499), -1);
    assert_int_equal(arrive(&r, 12, 1500), 11);
}

/* Interval 0: a NAK for every packet behind a gap; never: one for each gap. */
static void test_extremes(void **state)
{
    struct receiver every = receiver(0, true, 10), one = receiver(OCHE_NEVER, true, 10);

    (void)state;
    for (oche_time now = 0; now < 5; now++) {
        assert_int_equal(arrive(&every, 20, now), 10);
        assert_int_equal(arrive(&one, 20, now), now == 0 ? 10 : -1);
    }
    assert_int_equal(arrive(&one, 10, 100), -2);
    assert_int_equal(arrive(&one, 20, 100), 11);
}

static void test_sender(void **state)
{
    struct oche_recovery_tx tx = {.una = 5, .next = 20, .high = 30};

    (void)state;
    oche_recovery_go_back_n.acked(&tx, 0);
    assert_int_equal(tx.next, 20);
    oche_recovery_go_back_n.nak(&tx, 7, 0);
    assert_int_equal(tx.next, 7);
    tx.next = 20;
    oche_recovery_go_back_n.timeout(&tx, 0);
    assert_int_equal(tx.next, 5);
    assert_int_equal(tx.high, 30);
}

static void test_registry(void **state)
{
    struct oche_go_back_n_params params;

    (void)state;
    assert_ptr_equal(oche_recovery_find("go_back_n"), &oche_recovery_go_back_n);
    assert_null(oche_recovery_find("go_back_x"));
    for (size_t i = 0; i < oche_recovery_scheme_count; i++) {
        const struct oche_recovery_scheme *scheme = oche_recovery_schemes[i];
        assert_ptr_equal(oche_recovery_find(scheme->name), scheme);
        assert_non_null(scheme->acked);
        assert_non_null(scheme->nak);
        assert_non_null(scheme->timeout);
        assert_non_null(scheme->arrived);
    }
    oche_param_defaults(&oche_recovery_go_back_n.table, &params);
    assert_int_equal(params.nak_interval, 500 * OCHE_US);
    assert_true(params.nak_exception);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),     cmocka_unit_test(test_interval),
        cmocka_unit_test(test_no_exception), cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_sender),       cmocka_unit_test(test_registry),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
