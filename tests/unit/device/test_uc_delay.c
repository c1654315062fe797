/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completions that wait for an answer (uc_delay.h): when they do, and for how long. How many polls
 * in vain a thread makes before it yields (poll_yield.h).
 */
#include "device/internal.h"
#include "device/verbs/poll_yield.h"
#include "device/verbs/uc_delay.h"
#include "tests/unit/device/pair.h"

/* ---- answers: when ---- */

static bool waits(struct oche_uc_delay *delay, uint32_t at_send, uint32_t now_count, oche_time now)
{
    const struct oche_uc_counts counts = {.now = now_count, .at_send = at_send};

    return oche_uc_delay_waits(delay, &counts, now);
}

static void only_answers_wait(void **state)
{
    struct oche_uc_delay answers = {0};

    (void)state;
    for (unsigned i = 0; i < 100; i++)
        assert_false(waits(&answers, 0, 0, i)); /* one way: nothing ever comes */
    assert_true(waits(&answers, 1, 1, 100));    /* something came, then this one left */
    assert_true(waits(&answers, 1, 1, 100 + OCHE_UC_DELAY - 1));
    assert_false(waits(&answers, 1, 2, 100 + OCHE_UC_DELAY - 1)); /* the answer is there */
    assert_false(waits(&answers, 2, 3, 200));                     /* it came before anybody asked */
    assert_false(waits(&answers, 2, 2, 200)); /* a second message to the same one */
    assert_true(waits(&answers, 3, 3, 300));
    assert_false(waits(&answers, 3, 3, 300 + OCHE_UC_DELAY)); /* not for ever */
}

/* The counters wrap around. */
static void counts_wrap(void **state)
{
    struct oche_uc_delay answers = {.at_send = UINT32_MAX};

    (void)state;
    assert_true(waits(&answers, 0, 0, 1));
    assert_false(waits(&answers, 0, 1, 1));
}

/* Without answers in time, only one completion in 65 waits; the others come at once. */
static void in_vain(void **state)
{
    struct oche_uc_delay answers = {0};
    unsigned held = 0;
    oche_time now = 1;

    (void)state;
    for (uint32_t i = 1; i <= 10000; i++, now += OCHE_MS) {
        if (!waits(&answers, i, i, now))
            continue;
        held++;
        assert_false(waits(&answers, i, i, now + OCHE_UC_DELAY));
    }
    assert_in_range(held, 10000 / 65, 10000 / 65 + 20);
    for (uint32_t i = 10001; answers.misses > 0; i++) { /* until an answer comes in time */
        assert_true(i < 10100);
        if (waits(&answers, i, i, now))
            assert_false(waits(&answers, i, i + 1, now));
    }
    assert_true(waits(&answers, 20000, 20000, now));
}

/* A peer that is away a few times does not change anything. */
static void pardon(void **state)
{
    struct oche_uc_delay answers = {0};

    (void)state;
    for (uint32_t i = 1; i <= OCHE_UC_DELAY_FREE_MISSES + 1; i++) {
        assert_true(waits(&answers, i, i, i * OCHE_MS));
        assert_false(waits(&answers, i, i, i * OCHE_MS + OCHE_UC_DELAY));
    }
    assert_false(waits(&answers, 100, 100, OCHE_SEC));
}

/* ---- answers: what is counted ---- */

static void assert_counts(const struct end *end, uint32_t now, uint32_t at_send)
{
    const struct oche_uc_counts counts = oche_device_uc_counts(end->device);

    assert_int_equal(counts.now, now);
    assert_int_equal(counts.at_send, at_send);
}

static void send_one(struct pair *pair, struct end *from, struct end *to)
{
    const struct oche_send_work work = work_between(from, to, OCHE_WORK_WRITE, 0, 8);

    assert_int_equal(oche_device_post_send(from->device, from->qp, &work), 0);
    assert_int_equal(pump(pair, from).status, OCHE_STATUS_SUCCESS);
    pump_quiet(pair);
}

static void counted(void **state)
{
    struct pair pair;

    (void)state;
    pair_open(&pair, &(struct oche_device_config){0}, OCHE_TRANSPORT_UC);
    send_one(&pair, &pair.a, &pair.b);
    assert_counts(&pair.a, 0, 0);
    assert_counts(&pair.b, 1, 0);
    send_one(&pair, &pair.b, &pair.a);
    assert_counts(&pair.a, 1, 0);
    assert_counts(&pair.b, 1, 1);
    send_one(&pair, &pair.a, &pair.b);
    assert_counts(&pair.a, 1, 1);
    assert_counts(&pair.b, 2, 1);
    pair_close(&pair);
}

static void not_on_reliable_ones(void **state)
{
    struct pair pair;

    (void)state;
    pair_open(&pair, &(struct oche_device_config){0}, OCHE_TRANSPORT_RC);
    send_one(&pair, &pair.a, &pair.b);
    send_one(&pair, &pair.b, &pair.a);
    assert_counts(&pair.a, 0, 0);
    assert_counts(&pair.b, 0, 0);
    pair_close(&pair);
}

/* ---- yielding ---- */

/* Polls in vain until a yield is due. Returns how many polls that took. */
static unsigned polls_to_yield(struct oche_poll_yield *yield, bool first_has_packets)
{
    bool packets = first_has_packets;

    for (unsigned polls = 1;; polls++) {
        assert_true(polls < 1000);
        if (oche_poll_yield_due(yield, packets))
            return packets ? 0 : polls - first_has_packets;
        packets = false;
    }
}

static void a_peer_on_this_processor(void **state)
{
    struct oche_poll_yield yield = {0};

    (void)state;
    for (unsigned expected = 64; expected >= 1; expected /= 2) {
        assert_int_equal(polls_to_yield(&yield, expected != 64), expected);
        oche_poll_yield_done(&yield, 10 * OCHE_US);
    }
    assert_int_equal(polls_to_yield(&yield, true), 1); /* no fewer */
    oche_poll_yield_done(&yield, 10 * OCHE_US);
    /* The peer has moved to another processor: yields bring nothing any more. */
    for (unsigned expected = 2; expected <= 64; expected *= 2) {
        assert_int_equal(polls_to_yield(&yield, false), expected);
        oche_poll_yield_done(&yield, OCHE_US);
    }
}

/* Packets prove nothing if no process ran during the yield, or one ran for long. */
static void chance(void **state)
{
    static const oche_time took[] = {OCHE_POLL_YIELD_SHORT - 1, OCHE_POLL_YIELD_LONG, 4 * OCHE_MS};

    (void)state;
    for (unsigned i = 0; i < OCHE_COUNT_OF(took); i++) {
        struct oche_poll_yield yield = {0};

        assert_int_equal(polls_to_yield(&yield, false), 64);
        for (unsigned k = 0; k < 10; k++) {
            oche_poll_yield_done(&yield, took[i]);
            assert_int_equal(polls_to_yield(&yield, true), 64);
        }
    }
}

/* A program that gets packets all the time does not yield. */
static void busy(void **state)
{
    struct oche_poll_yield yield = {0};

    (void)state;
    for (unsigned i = 0; i < 10000; i++)
        assert_false(oche_poll_yield_due(&yield, i % 60 == 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_answers_wait),
        cmocka_unit_test(counts_wrap),
        cmocka_unit_test(in_vain),
        cmocka_unit_test(pardon),
        cmocka_unit_test(counted),
        cmocka_unit_test(not_on_reliable_ones),
        cmocka_unit_test(chance),
        cmocka_unit_test(a_peer_on_this_processor),
        cmocka_unit_test(busy),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
