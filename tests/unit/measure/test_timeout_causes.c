/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Causes of timeouts, found from both ends and the links: PSNs that wrap, stale notes, and a table
 * that drops repaired losses. (For whole worlds, see unit/sim/test_timeout_causes.c.)
 */
#include "sim/measure/timeout_causes.h"

#include "tests/support/test.h"

#define CONNECTIONS 40000

/* The result of `read_progress` for every connection. */
struct ends {
    struct oche_connection_progress at[CONNECTIONS];
    uint64_t reads;
};

static struct ends ends;

static void read_progress(void *context, uint32_t connection,
                          struct oche_connection_progress *progress)
{
    struct ends *all = context;

    all->reads++;
    *progress = all->at[connection];
}

static void lose(struct oche_timeout_causes *causes, uint32_t connection, enum oche_lost_kind kind,
                 uint64_t psn, oche_time time)
{
    oche_timeout_causes_lost(causes, connection,
                             &(struct oche_lost_packet){.time = time,
                                                        .psn = (uint32_t)psn & OCHE_PSN_MASK,
                                                        .kind = (uint32_t)kind});
}

/* The sender has sent [una, high), all of it in this pass. */
static struct oche_timed_out timeout(oche_time time, uint64_t una, uint64_t high)
{
    return (struct oche_timed_out){.time = time,
                                   .sender = {.una = (uint32_t)una & OCHE_PSN_MASK,
                                              .next = (uint32_t)high & OCHE_PSN_MASK,
                                              .high = (uint32_t)high & OCHE_PSN_MASK}};
}

static struct oche_timeout_causes *start(void)
{
    ends = (struct ends){0};
    return oche_timeout_causes_create(read_progress, &ends);
}

static void expect(uint32_t connection, uint64_t expected, uint64_t acknowledged)
{
    ends.at[connection].expected = expected;
    ends.at[connection].acknowledged = acknowledged;
    ends.at[connection].losses.epsn = (uint32_t)expected & OCHE_PSN_MASK;
}

#define ASSERT_CAUSE(causes, connection, timed_out, cause)                                         \
    assert_string_equal(oche_timeout_cause_name(oche_timeout_causes_judge(                         \
                            causes, connection, (struct oche_timed_out[]){timed_out})),            \
                        oche_timeout_cause_name(cause))

static void test_across_the_wrap(void **state)
{
    const uint64_t wrap = UINT64_C(1) << 24;
    struct oche_timeout_causes *causes = start();

    (void)state;
    for (uint64_t around = wrap; around <= 3 * wrap; around += wrap) {
        oche_time now = around;
        expect(0, around - 2, around - 2);
        for (uint64_t psn = around - 2; psn < around + 2; psn++)
            lose(causes, 0, OCHE_LOST_DATA, psn, now += 10);
        ASSERT_CAUSE(causes, 0, timeout(now + 10, around - 2, around + 2),
                     OCHE_TIMEOUT_LAST_PACKET);
        expect(0, around + 2, around - 2);
        lose(causes, 0, OCHE_LOST_ACK, around + 1, now + 20);
        ASSERT_CAUSE(causes, 0, timeout(now + 30, around - 2, around + 2), OCHE_TIMEOUT_LAST_ACK);
    }
    /* 2^24 packets later no packet was lost. The old losses are of other packets. */
    expect(0, 4 * wrap - 2, 4 * wrap - 2);
    ASSERT_CAUSE(causes, 0, timeout(5 * wrap, 4 * wrap - 2, 4 * wrap + 2), OCHE_TIMEOUT_OTHER);
    expect(0, 4 * wrap + 2, 4 * wrap - 2);
    ASSERT_CAUSE(causes, 0, timeout(5 * wrap + 1, 4 * wrap - 2, 4 * wrap + 2), OCHE_TIMEOUT_OTHER);
    oche_timeout_causes_free(causes);
}

/* A connection that expects PSN 5 of 5 … 9. It was lost at 800, and the timer expires at 1000. */
static struct oche_timed_out one_lost(struct oche_timeout_causes *causes, uint32_t connection)
{
    expect(connection, 5, 5);
    lose(causes, connection, OCHE_LOST_DATA, 5, 800);
    return timeout(1000, 5, 10);
}

static struct oche_psn_note note(uint32_t psn, oche_time first, oche_time last)
{
    return (struct oche_psn_note){.psn = psn, .first = first, .last = last};
}

/* Notes of an earlier pass of a PSN, and losses of another connection, have no effect. */
static void test_stale(void **state)
{
    struct oche_timeout_causes *causes = start();
    struct oche_timed_out timed_out;

    (void)state;
    for (uint32_t c = 1; c <= 2; c++) {
        timed_out = one_lost(causes, c);
        expect(0, 5, 5);
        lose(causes, 0, OCHE_LOST_NAK, 5, 900);
        ends.at[c].losses.missing = ends.at[c].losses.nak_sent = note(5, 100, 200);
        timed_out.sender.nak_taken = note(5, 100, 200);
        if (c == 1) { /* 6 … 9 are on their way */
            ASSERT_CAUSE(causes, c, timed_out, OCHE_TIMEOUT_OTHER);
            continue;
        }
        ends.at[c].losses.missing.last = 850;
        ASSERT_CAUSE(causes, c, timed_out, OCHE_TIMEOUT_NAK_HELD);
    }
    oche_timeout_causes_free(causes);
}

static void test_on_the_way(void **state)
{
    struct oche_timeout_causes *causes = start();
    struct oche_timed_out timed_out = one_lost(causes, 0);

    (void)state;
    ends.at[0].losses.missing = ends.at[0].losses.nak_sent = note(5, 850, 850);
    ASSERT_CAUSE(causes, 0, timed_out, OCHE_TIMEOUT_OTHER); /* the NAK */

    timed_out = one_lost(causes, 1);
    ends.at[1].losses.missing = ends.at[1].losses.nak_sent = note(5, 850, 850);
    timed_out.sender.nak_taken = note(5, 900, 900);
    ASSERT_CAUSE(causes, 1, timed_out, OCHE_TIMEOUT_OTHER); /* the repair */

    timed_out = one_lost(causes, 2);
    timed_out.sender.next = 5;
    ASSERT_CAUSE(causes, 2, timed_out, OCHE_TIMEOUT_OTHER); /* it has not left */

    timed_out = one_lost(causes, 3);
    timed_out.sender.nak_taken = note(5, 900, 900);
    lose(causes, 3, OCHE_LOST_DATA, 5, 920);
    ends.at[3].losses.missing = note(5, 850, 930);
    ASSERT_CAUSE(causes, 3, timed_out, OCHE_TIMEOUT_LOST_TWICE); /* the repair was lost */
    oche_timeout_causes_free(causes);
}

/* Everything sent has arrived. */
static void test_no_answer(void **state)
{
    struct oche_timeout_causes *causes = start();

    (void)state;
    for (uint32_t c = 0; c < 4; c++) {
        expect(c, 10, 5);
        if (c == 1)
            lose(causes, c, OCHE_LOST_ACK, 8, 950); /* the decisive one is on its way */
        if (c == 2)
            lose(causes, c, OCHE_LOST_ACK, 9, 950);
        lose(causes, c, OCHE_LOST_ACK, 4, 960); /* says nothing new */
        ASSERT_CAUSE(causes, c, timeout(1000, 5, 10),
                     c == 2 ? OCHE_TIMEOUT_LAST_ACK : OCHE_TIMEOUT_OTHER);
    }
    /* No retransmission of the timeout is lost, then the duplicates, then their ACK. */
    ASSERT_CAUSE(causes, 2, timeout(2000, 5, 10), OCHE_TIMEOUT_OTHER);
    lose(causes, 2, OCHE_LOST_DATA, 9, 2000);
    ASSERT_CAUSE(causes, 2, timeout(3000, 5, 10), OCHE_TIMEOUT_LAST_PACKET);
    lose(causes, 2, OCHE_LOST_ACK, 9, 3000);
    ASSERT_CAUSE(causes, 2, timeout(4000, 5, 10), OCHE_TIMEOUT_LAST_ACK);
    oche_timeout_causes_free(causes);
}

/* More losses than the table's initial size: the relevant ones stay, however often it grows. */
static void test_many(void **state)
{
    struct oche_timeout_causes *causes = start();

    (void)state;
    for (uint32_t c = 0; c < CONNECTIONS; c++) {
        expect(c, 100, 100);
        lose(causes, c, OCHE_LOST_DATA, 109, 0); /* at time 0 */
        if (c % 2 == 0)
            expect(c, 110, c % 4 == 0 ? 110 : UINT64_MAX); /* repaired; sender gone */
    }
    oche_timeout_causes_tidy(causes);
    for (uint32_t c = 1; c < CONNECTIONS; c += 2) {
        expect(c, 109, 109);
        ASSERT_CAUSE(causes, c, timeout(10, 109, 110), OCHE_TIMEOUT_LAST_PACKET);
    }
    /* The same PSNs again and again: the table does not grow, so no sweep reads all connections. */
    oche_timeout_causes_tidy(causes);
    for (uint32_t round = 0; round < 1000; round++) {
        uint64_t reads = ends.reads;
        for (uint32_t c = 1; c < 200; c += 2)
            lose(causes, c, OCHE_LOST_DATA, 109, 20 + round);
        oche_timeout_causes_tidy(causes);
        assert_true(ends.reads - reads <= 100);
    }
    oche_timeout_causes_free(causes);
}

/*
 * The last timeout ends the sender. Its cause is found despite any number of other losses before.
 */
static void test_sender_gone(void **state)
{
    (void)state;
    for (uint32_t others = 0; others < 5000; others += 100) {
        struct oche_timeout_causes *causes = start();

        expect(0, 10, UINT64_MAX);
        lose(causes, 0, OCHE_LOST_ACK, 9, 950);
        for (uint32_t c = 1; c <= others; c++) {
            expect(c, 5, 5);
            lose(causes, c, OCHE_LOST_DATA, 5, 960);
        }
        ASSERT_CAUSE(causes, 0, timeout(1000, 5, 10), OCHE_TIMEOUT_LAST_ACK);
        oche_timeout_causes_free(causes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_across_the_wrap),
        cmocka_unit_test(test_stale),
        cmocka_unit_test(test_on_the_way),
        cmocka_unit_test(test_no_answer),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_sender_gone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
